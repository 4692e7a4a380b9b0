"""Asking a process that judges a pass what it is judging, and following one of its judgments look by look."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import suppress
from threading import Lock

import msgspec

from adjudge.errors import InputError, OutsideError
from adjudge.passes.under_way import Answer, Question
from adjudge.web.addresses import of_run
from adjudge.web.jobs import Tell, Work

PATIENCE = 2.0
"""Seconds for which an answer is waited for."""
SILENCE = 10.0
"""Seconds for which a process that did not answer is asked nothing, so that no page waits for it again."""
EVERY = 0.5
"""Seconds between two questions about a judgment that is followed."""
PIECE = 1 << 16
"""Bytes that are received at once."""


class Questions:
    """Our end of a pair of sockets, whose other end goes to the process. It has no name, so nobody else can ask.

    Any thread may ask, one at a time. Nothing is sent unless something is asked.
    """

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._ours.settimeout(PATIENCE)
        self._lock, self._number, self._received = Lock(), 0, b""
        self._silent_until = 0.0

    @property
    def descriptor(self) -> int:
        """The number of the other end, to be handed down."""
        return self._theirs.fileno()

    def hand_down(self) -> None:
        """Let go of the other end, as the process has it: so its end is noticed here."""
        self._theirs.close()

    def ask(self, run: str | None = None, after: int = 0) -> Answer | None:
        """What is under way, or what has been said of a run; `None` if no answer comes in time.

        Raises:
            OutsideError: the process has ended.
        """
        if time.monotonic() < self._silent_until or not self._lock.acquire(timeout=PATIENCE):
            return None
        try:
            return self._answer(run, after)
        except TimeoutError:
            self._silent_until = time.monotonic() + SILENCE
            return None
        except OSError as error:
            raise OutsideError("The process that judged this pass has ended") from error
        finally:
            self._lock.release()

    def close(self) -> None:
        """Ask no more."""
        with self._lock:
            self._ours.close()

    def _answer(self, run: str | None, after: int) -> Answer:
        self._number += 1
        self._ours.sendall(msgspec.json.encode(Question(self._number, run, after)) + b"\n")
        while (answer := msgspec.json.decode(self._line(), type=Answer)).number != self._number:
            pass  # one that came too late for the question before
        return answer

    def _line(self) -> bytes:
        while b"\n" not in self._received:
            piece = self._ours.recv(PIECE)
            if not piece:
                raise ConnectionResetError
            self._received += piece
        line, _, self._received = self._received.partition(b"\n")
        return line


def following(questions: Questions, run: str) -> Work:
    """The job that tells what the judge of a run says, until it has come to an end; it leads to the run."""

    async def work(tell: Tell) -> str:
        after = 0
        try:
            while (steps := await asyncio.to_thread(_steps, questions, run, after)) is not None:
                for step in steps:
                    tell(*step)
                after += len(steps)
                await asyncio.sleep(EVERY)
            tell("Its judge has come to an end; the page of the run has what it found.", "")
        except OutsideError as error:
            tell(f"{error}; the page of the run has what had landed.", "")
        return str(of_run(run).unescape())

    return work


def require_followed(questions: Questions, run: str) -> None:
    """Do nothing if a run is being judged.

    Raises:
        InputError: it is not.
    """
    with suppress(OutsideError):
        if _steps(questions, run, 0) is not None:
            return
    raise InputError(f"run {run} is not being judged any more; its page has what came of it")


def _steps(questions: Questions, run: str, after: int) -> tuple[tuple[str, str], ...] | None:
    """The next steps of a judgment, none if the process is too busy to answer; `None` once it has ended."""
    answer = questions.ask(run, after)
    return () if answer is None else answer.steps
