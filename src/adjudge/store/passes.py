"""The passes of a store: read by anyone, written by the one process that holds their lock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import Connection, func, select

from adjudge.errors import InputError, OutsideError
from adjudge.judgment import Judge, Judgment
from adjudge.record import Usage
from adjudge.rubric import Rubric
from adjudge.store import pass_rows, rows, schema
from adjudge.store.codec import StoredPass, packed_pass, packed_rubric, unpacked
from adjudge.store.deriving import catch_up, take_over
from adjudge.store.faults import DiskFullError, patiently
from adjudge.store.gathering import Gathered
from adjudge.store.judgment_blobs import Landing, judgment_in, with_data
from adjudge.store.locks import LEASE, Holder, Lock, living_holder, take_lock
from adjudge.store.pass_counts import PassCounts, counts_of
from adjudge.store.pass_rows import CandidateRow, PassItem, PassRow, PassStatus
from adjudge.store.pass_steps import Keeping, Reserving, Step, write_steps
from adjudge.store.rows import JudgmentRow
from adjudge.store.schema import pass_runs, passes

if TYPE_CHECKING:
    from adjudge.store.store import Store

Work = Callable[[Connection], Any]

AT_ONCE = 10_000
"""Rows of a pass's runs that are written in one statement."""

FAR = 500
"""Judgments from which nothing follows yet, with which the next to land do not wait for `catch_up`."""


class Passes:
    """What a store knows of its passes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def rows(self) -> list[PassRow]:
        """All passes, the latest first."""
        with self._store.reading() as connection:
            return pass_rows.pass_rows(connection)

    def page(self, after: str | None, most: int) -> list[PassRow]:
        """The latest passes, or the first behind the pass `after`; at most `most` of them."""
        with self._store.reading() as connection:
            return pass_rows.pass_rows(connection, pass_rows.ids_behind(connection, after, most))

    def row(self, identifier: str) -> PassRow:
        """One pass. Raises InputError if there is none."""
        with self._store.reading() as connection:
            found = pass_rows.pass_rows(connection, [identifier])
        if not found:
            raise InputError(f"there is no pass {identifier!r} in the store")
        return found[0]

    def counted(self, identifier: str, since: str) -> PassCounts:
        """What a pass's rows come to at this moment; `since` is where its latest time begins, as times stand in rows."""
        with self._store.reading() as connection:
            return counts_of(connection, identifier, since)

    def find(self, prefix: str) -> str:
        """The id that begins so. Raises InputError if there is none or more than one, and names them."""
        with self._store.reading() as connection:
            return rows.found(connection, passes, prefix, "pass")

    def plan(self, identifier: str) -> StoredPass:
        """What a pass was started with. Raises InputError and OutsideError as `Store.run` does."""
        with self._store.reading() as connection:
            name = rows.blob_of(connection, passes, identifier, "pass")
        return unpacked(self._store.blobs.read(name), StoredPass)

    def candidates(self, rubric: str, judge_hash: str) -> Iterator[CandidateRow]:
        """All stored runs, and whether this judge has judged them with the rubric of this hash."""
        with self._store.reading() as connection:
            yield from pass_rows.candidate_rows(connection, rubric, judge_hash)

    def judgments(self, identifier: str) -> Iterator[JudgmentRow]:
        """The judgments that stand for a pass's runs, in the order of the pass."""
        with self._store.reading() as connection:
            yield from pass_rows.judgments_of(connection, identifier)

    def consumed(self, kind: str, model: str | None, prune: str | None, most: int) -> list[Usage]:
        """What the latest judgments of such judges consumed, each in all its calls; at most `most` of them."""
        with self._store.reading() as connection:
            found = connection.execute(with_data(pass_rows.latest(kind, model, prune, most))).all()
        judgments = (judgment_in(row, self._store.blobs) for row in found)
        return [judgment.usage() for judgment in judgments if judgment.calls]

    def under_way(self) -> str | None:
        """The id of the pass that a living process judges now, `None` if there is none."""
        holder = self.holder()
        return holder.what if holder else None

    def holder(self) -> Holder | None:
        """The living process that judges a pass or is about to, `None` if there is none."""
        return living_holder(self._store.database.tokens, self._store.reading)

    def hold(self, what: str, lease: float = LEASE) -> PassWriter:
        """Become the one that writes passes. `what` says who that is, for those who come too late.

        Raises:
            LockHeldError: another process is.
        """
        store = self._store
        store.prepare()
        return PassWriter(store, take_lock(what, store.database.tokens, store.reading, store.writing, lease))


class PassWriter:
    """Writes passes, as long as no other process has taken its lock over.

    Each method raises LockLostError then, and OutsideError if the disk is full or fails; what returned before is kept.
    """

    def __init__(self, store: Store, lock: Lock) -> None:
        self._store, self._lock = store, lock
        self._gathered = Gathered[Step](lambda steps: store.writer.land(lambda: self._together(steps)))
        self._behind: list[Landing] = []

    def begin(self, judge: Judge, plan: dict[str, Any], rubric: Rubric, runs: Sequence[str]) -> str:
        """Write a new pass over these runs, in this order, and give its id. `plan` is JSON; `Passes.plan` gives it back."""
        identifier = f"p-{token_hex(8)}"
        of_rubric = rows.values_of_rubric(rubric, self._store.blobs.write([packed_rubric(rubric)]))
        blob = self._store.blobs.write([packed_pass(judge, plan)])
        values = pass_rows.values_of_pass(identifier, judge, rubric, len(runs)) | {"blob": blob}

        def write(connection: Connection) -> None:
            if rows.is_there(connection, passes, identifier):
                return
            take_over(connection)
            if not rows.is_there(connection, schema.rubrics, rubric.hash):
                connection.execute(schema.rubrics.insert().values(of_rubric))
            connection.execute(passes.insert().values(values))
            self._lock.rename(connection, identifier)
            for start in range(0, len(runs), AT_ONCE):
                part = enumerate(runs[start : start + AT_ONCE], start)
                items = [{"pass": identifier, "position": position, "run": run} for position, run in part]
                connection.execute(pass_runs.insert(), items)

        self._land(write)
        return identifier

    def reopen(self, identifier: str, retry: bool = False, again: bool = False) -> int:
        """Take a pass up again, and give how many runs it has still to judge.

        Runs that the same judge has judged with the same rubric meanwhile have that judgment, unless they were to be judged
        `again`.

        Runs whose failure says nothing of the run are judged again, and with `retry` all without a verdict. What was
        reserved for calls of which nobody saw the end counts as lost.
        """

        def write(connection: Connection) -> int:
            take_over(connection)
            _lose(connection, identifier)
            connection.execute(pass_runs.update().where(pass_rows.open_again(identifier, retry)).values(judgment=None))
            if not again:
                connection.execute(pass_rows.judged_meanwhile(identifier))
            opened = passes.update().where(passes.c.id == identifier)
            connection.execute(opened.values(status="running", reason=None, ended=None))
            left = (pass_runs.c["pass"] == identifier, pass_runs.c.judgment.is_(None))
            return connection.scalar(select(func.count()).select_from(pass_runs).where(*left)) or 0

        left: int = self._land(write)
        return left

    def open_items(self, identifier: str, after: int, most: int) -> list[PassItem]:
        """The next runs of a pass without a judgment, behind a position."""
        with self._store.reading() as connection:
            return pass_rows.open_items(connection, identifier, after, most)

    async def reserve(self, identifier: str, position: int, dollars: float) -> None:
        """Note, before a call is made, what all calls for this run may cost together that have not landed."""
        await self._gathered.done(Reserving(identifier, position, dollars))

    def require_room(self) -> None:
        """Do nothing if a judgment that begins now could be kept. Raises OutsideError if the disk is almost full."""
        self._store.require_room()

    async def land(self, identifier: str, item: PassItem, judgment: Judgment, unseen: float = 0.0) -> None:
        """Keep a run's judgment; its reservation is over in the same moment. What follows from it waits for `catch_up`.

        `unseen`, in US dollars, counts as lost: what its calls may have cost beyond what it knows of.

        Raises:
            InputError: the run has a judgment in this pass already.
        """
        landing = await asyncio.to_thread(self._landing, identifier, item, judgment)
        await self._gathered.done(Keeping(identifier, item.position, landing, unseen))

    async def catch_up(self) -> None:
        """Write what follows from what has landed: the judgments' items, and where their runs stand."""
        if self._behind:
            await asyncio.wrap_future(self._store.writer.land(lambda: self._caught_up(lambda _: None)))

    def end(self, identifier: str, status: PassStatus, reason: str | None = None) -> None:
        """Write how a pass ended, and what follows from all that has landed."""

        def write(connection: Connection) -> None:
            _lose(connection, identifier)
            ended = {"status": status, "reason": rows.plain(reason), "ended": rows.now()}
            connection.execute(passes.update().where(passes.c.id == identifier).values(ended))

        self._store.writer.land(lambda: self._caught_up(write)).result()

    async def beat(self) -> None:
        """Give a sign of life."""
        await asyncio.wrap_future(self._store.writer.land(lambda: self._written(lambda _: None)))

    def release(self) -> None:
        """Give the lock back; where the store takes nothing more, its token alone, which is enough."""
        try:
            with suppress(OutsideError):
                if self._behind:
                    self._store.writer.land(lambda: self._caught_up(lambda _: None)).result()
                self._store.writer.land(self._lock.release).result()
        finally:
            self._lock.let_go()

    def _landing(self, identifier: str, item: PassItem, judgment: Judgment) -> Landing:
        """The judgment as it is kept. Since it was paid for, the reserve is given up for its blob if that is large."""
        try:
            landing = self._store.landing_of(judgment, item.workspace)
        except DiskFullError:
            self._store.make_room()  # or another thread has, a moment ago
            landing = self._store.landing_of(judgment, item.workspace)
        return msgspec.structs.replace(landing, values=landing.values | {"pass": identifier})

    def _land(self, work: Work) -> Any:
        return self._store.writer.land(lambda: self._written(work)).result()

    # --- in the writer's thread

    def _together(self, steps: Sequence[Step]) -> Sequence[InputError | None]:
        """Several steps in one transaction, which one sync brings to the disk."""
        try:
            written = self._caught_up if len(self._behind) >= FAR else self._written
            written(lambda connection: write_steps(connection, steps))
        except InputError as error:
            if len(steps) == 1:
                return [error]
            return [self._together([step])[0] for step in steps]  # it is of one of them: the others shall land
        landings = (step.landing for step in steps if isinstance(step, Keeping))
        self._behind += (msgspec.structs.replace(landing, data=None) for landing in landings)
        return [None] * len(steps)

    def _caught_up(self, work: Work) -> Any:
        """What work gives in a transaction that also writes what follows from all that had landed before."""

        def whole(connection: Connection) -> Any:
            catch_up(connection, self._behind)
            return work(connection)

        result = self._written(whole)
        self._behind.clear()
        return result

    def _written(self, work: Work) -> Any:
        """What work in a transaction gives.

        It may be done twice: a database that went away may have kept it, and is waited for.
        """
        try:
            return patiently(lambda: self._once(work))
        except DiskFullError:
            self._store.make_room()  # or a thread that wrote a blob has, a moment ago
            return self._once(work)

    def _once(self, work: Work) -> Any:
        with self._lock.writing() as connection:
            return work(connection)


def _lose(connection: Connection, identifier: str) -> None:
    """What is reserved for runs that nobody judges any more counts as spent: who knows what reached the provider."""
    pending = (pass_runs.c["pass"] == identifier, pass_runs.c.reserved.is_not(None))
    lost = connection.scalar(select(func.sum(pass_runs.c.reserved)).where(*pending))
    if lost is not None:
        _add_lost(connection, identifier, lost)
        connection.execute(pass_runs.update().where(*pending).values(reserved=None))


def _add_lost(connection: Connection, identifier: str, amount: float) -> None:
    connection.execute(passes.update().where(passes.c.id == identifier).values(lost=passes.c.lost + amount))
