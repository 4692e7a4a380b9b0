"""What a pass is judging right now, for whoever asks: each run under way, since when, and what its judge has told.

Nothing is written and nothing put in words before somebody asks, so that a pass that nobody watches pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import msgspec

from adjudge.judges.evaluator.loop import Progress
from adjudge.judges.reader.judge import Asking

MOST_KEPT = 50
"""Judgments that have ended of which it is kept what their judges told, as somebody follows them."""

Said = Progress | Asking


class Judged(msgspec.Struct):
    """A run that is being judged: since when, as an ISO time, all that its judge has said, and whether that is followed."""

    run: str
    since: str
    said: list[Said]
    followed: bool = False


class UnderWay:
    """The runs that this process judges. Any thread may ask; they begin and end in the event loop."""

    def __init__(self) -> None:
        self._runs: dict[str, Judged] = {}
        self._ended: dict[str, Judged] = {}

    @contextmanager
    def judging(self, run: str) -> Iterator[Callable[[Said], None]]:
        """For as long as a run is being judged; gives whom its judge tells how it goes."""
        judged = self._runs[run] = Judged(run, datetime.now(UTC).isoformat(timespec="seconds"), [])
        try:
            yield judged.said.append
        finally:
            if judged.followed:
                self._keep(judged)
            del self._runs[run]

    def all(self) -> Sequence[Judged]:
        """The runs under way, the one that began first first."""
        return tuple(self._runs.copy().values())

    def follow(self, run: str, after: int) -> Sequence[Said] | None:
        """What the judge of a run has said behind the first so many; `None` once it has ended and all was told."""
        if judged := self._runs.get(run):
            judged.followed = True
            return judged.said[after:]
        ended = self._ended.get(run)
        if ended is not None and len(ended.said) > after:
            return ended.said[after:]
        self._ended.pop(run, None)
        return None

    def _keep(self, judged: Judged) -> None:
        self._ended[judged.run] = judged
        while len(self._ended) > MOST_KEPT:
            del self._ended[next(iter(self._ended))]


# --- what is asked and answered between processes


class Question(msgspec.Struct, frozen=True):
    """What is under way, or what the judge of `run` has said behind the first `after`. `number` stands in the answer."""

    number: int
    run: str | None = None
    after: int = 0


class RunUnderWay(msgspec.Struct, frozen=True):
    """A run that is being judged since an ISO time, and its last look in words, or what else its judge is at."""

    run: str
    since: str
    words: str


class Answer(msgspec.Struct, frozen=True):
    """The runs under way and how many more there are, or what the judge of the one that was asked about has said.

    Each of `steps` is a sentence and what belongs to it in full; they are `None` if that run is not being judged.
    """

    number: int
    runs: tuple[RunUnderWay, ...] = ()
    more: int = 0
    steps: tuple[tuple[str, str], ...] | None = None
