"""The lock that one pass at a time holds: a row with an epoch, and a token that tells whether its holder lives.

A lease alone does not protect a store: a holder that slept through it would wake up and write. So each holder has an epoch
of its own, which every write of it checks in the same transaction (fencing; M. Kleppmann, "How to do distributed locking",
2016), and a token that the kernel or the database gives back when the holder dies, so that a dead one is known at once.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

import msgspec
from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from adjudge.errors import OutsideError
from adjudge.store.faults import LockHeldError, LockLostError
from adjudge.store.rows import now
from adjudge.store.schema import locks
from adjudge.store.tokens import Token, Tokens

LEASE = 60.0
"""Seconds without a sign of life after which a holder that still exists may be replaced."""

LOOKS, LOOK = 5, 0.05
"""How often a lock that is held is looked at again before it is refused, and the seconds in between."""

NAME = "pass"

Opened = Callable[[], AbstractContextManager[Connection]]


class Holder(msgspec.Struct, frozen=True):
    """Who holds the lock: process `pid` of `host`, since an ISO time, for the pass `what`.

    The store concludes nothing from it. Whoever started a process himself may know it by it.
    """

    host: str
    pid: int
    since: str
    what: str


class Lock:
    """The lock, held. `writing` opens transactions that fail once somebody else has it."""

    def __init__(self, epoch: int, token: Token, tokens: Tokens, writing: Opened) -> None:
        self.epoch = epoch
        self._token, self._tokens, self._writing = token, tokens, writing

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction in which the lock is held; it is a sign of life as well.

        Raises:
            LockLostError: another process has taken the lock over; nothing is written.
        """
        with self._writing() as connection:
            self._set(connection, beat=self._tokens.now(connection))
            yield connection

    def rename(self, connection: Connection, what: str) -> None:
        """Say what it is held for, in a transaction of `writing`."""
        self._set(connection, holder=_holder(what))

    def release(self) -> None:
        """Give it back, if it is still held."""
        with suppress(LockLostError), self._writing() as connection:
            self._set(connection, holder=None)
        self.let_go()

    def let_go(self) -> None:
        """Give the token back, so that the lock counts as that of a dead holder."""
        self._token.release()

    def _set(self, connection: Connection, **values: Any) -> None:
        mine = locks.update().where(locks.c.name == NAME, locks.c.epoch == self.epoch)
        if connection.execute(mine.values(**values)).rowcount != 1:
            raise LockLostError(
                "another process has taken this pass's lock over, since it gave no sign of life: it ends here"
            )


def take_lock(what: str, tokens: Tokens, reading: Opened, writing: Opened, lease: float = LEASE) -> Lock:
    """Take the lock, from a dead holder at once, from one that gave no sign of life for `lease` seconds as well.

    Raises:
        LockHeldError: another process has it, or has just taken it; the message says which.
    """
    epoch = _patiently_free(tokens, reading, lease)
    token = tokens.take(epoch + 1)
    if token is None:
        raise LockHeldError("another pass is just being started in this store; wait for it")
    try:
        with writing() as connection:
            _claim(connection, epoch, what, tokens.now(connection))
    except BaseException:
        token.release()
        raise
    return Lock(epoch + 1, token, tokens, writing)


def _patiently_free(tokens: Tokens, reading: Opened, lease: float) -> int:
    """As `_require_free`; whoever only looks whether a holder lives has its token for a moment, so it is asked again."""
    for _ in range(LOOKS):
        with suppress(LockHeldError):
            return _require_free(tokens, reading, lease)
        time.sleep(LOOK)
    return _require_free(tokens, reading, lease)


def _require_free(tokens: Tokens, reading: Opened, lease: float) -> int:
    """The epoch of the lock's last holder, who has it no more."""
    with reading() as connection:
        row = connection.execute(select(locks).where(locks.c.name == NAME)).one_or_none()
        if row is None:
            return 0
        silent = tokens.now(connection) - row.beat
    if row.holder is not None:
        token = tokens.take(row.epoch)
        if token is not None:
            token.release()
        elif silent <= lease:
            raise LockHeldError(_held(row.holder, silent, lease))
    return int(row.epoch)


def _claim(connection: Connection, epoch: int, what: str, beat: float) -> None:
    values = {"epoch": epoch + 1, "holder": _holder(what), "beat": beat}
    try:
        if epoch == 0:
            connection.execute(locks.insert().values(name=NAME, **values))
            return
        last = locks.update().where(locks.c.name == NAME, locks.c.epoch == epoch)
        if connection.execute(last.values(values)).rowcount == 1:
            return
    except IntegrityError:
        pass
    raise LockHeldError("another pass was just started in this store; wait for it")


def _holder(what: str) -> str:
    """This process as the holder, as JSON."""
    return msgspec.json.encode(Holder(socket.gethostname(), os.getpid(), now(), what)).decode()


def living_holder(tokens: Tokens, reading: Opened) -> Holder | None:
    """Who holds the lock and lives, `None` if nobody does. Where nothing can be told, the holder lives."""
    with reading() as connection:
        row = connection.execute(select(locks).where(locks.c.name == NAME)).one_or_none()
    if row is None or row.holder is None:
        return None
    with suppress(OutsideError):
        if token := tokens.take(row.epoch):
            token.release()
            return None
    return msgspec.json.decode(row.holder, type=Holder)


def _held(holder: str, silent: float, lease: float) -> str:
    who = msgspec.json.decode(holder, type=Holder)
    what = f"pass {who.what}" if who.what.startswith("p-") else who.what
    there = "" if who.host == socket.gethostname() else f" on {who.host}"
    return (
        f"{what} is under way in this store: process {who.pid} on {who.host}, since {who.since[:19]} UTC, last sign of "
        f"life {silent:.0f} s ago. One pass at a time: wait for it, or stop it with `kill {who.pid}`{there}. "
        f"If it gives no sign of life for {lease:.0f} s, it can be replaced"
    )
