"""What is shown while a pass goes on: a moving line on a terminal, and a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from adjudge.cli.printing import messages, say
from adjudge.record import dollars

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from adjudge.passes.progress import Progress

EVERY = 10.0
"""Seconds between two lines where standard error is no terminal."""


class Display:
    """Shows how far a pass has come, on standard error."""

    def __init__(self) -> None:
        self._live: Live | None = None
        self._progress: Progress | None = None
        self._said = time.monotonic()

    def __enter__(self) -> Self:
        """Start, with a moving line if standard error is a terminal."""
        if sys.stderr.isatty():
            from rich.live import Live

            self._live = Live(self, console=messages(), refresh_per_second=4, transient=True)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Take the moving line away."""
        if self._live is not None:
            self._live.stop()

    def show(self, progress: Progress) -> None:
        """Show this from now on."""
        self._progress = progress
        if self._live is None and time.monotonic() - self._said >= EVERY:
            self._said = time.monotonic()
            say(told(progress))

    def __rich__(self) -> Text:
        """The line of this moment."""
        from rich.text import Text

        return Text(told(self._progress) if self._progress else "waiting for the first judgment", no_wrap=True)


def told(progress: Progress) -> str:
    """How far it has come, in one line."""
    parts = [f"{progress.landed} of {progress.selected} done"]
    parts += [f"{progress.rate:.1f}/s" if progress.rate >= 1 else f"{progress.rate * 60:.1f}/min"] if progress.rate else []
    parts += [dollars(progress.spent), f"{progress.under_way} under way (at most {progress.limit})"]
    parts += [f"{number} {kind}" for kind, number in sorted(progress.failures.items())]
    parts += [f"{progress.empty} empty"] if progress.empty else []
    parts += [f"{_clock(progress.left)} left"] if progress.left else []
    return " · ".join(parts)


def _clock(seconds: float) -> str:
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours} h {rest // 60} min" if hours else f"{rest // 60}:{rest % 60:02}"
