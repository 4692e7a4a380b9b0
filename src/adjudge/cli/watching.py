"""What is shown while agents work: a line for each of them, moving on a terminal, what they print, and each result."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

import msgspec

from adjudge.cli.printing import counted, messages, say
from adjudge.record import dollars
from adjudge.untrusted import one_line

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

    from adjudge.agents.attempt import Assignment
    from adjudge.agents.comparison import Result
    from adjudge.judges.evaluator.loop import Progress
    from adjudge.judgment import Judgment
    from adjudge.run import Run
    from adjudge.wiring.starting import Doing, Watch

LONGEST_LINE = 4096
"""Bytes of a line that is not ended, of which no more is kept."""


class Working(msgspec.Struct):
    """An attempt that is under way: its name, what it is at since when, and the last line of its agent or its judge."""

    name: str
    doing: str
    since: float
    line: str = ""
    open: bytes = b""


class Display:
    """Shows attempts on standard error; `verbose` prints every stage and look of them, and all that agents print."""

    def __init__(self, verbose: bool) -> None:
        self._verbose = verbose
        self._working: dict[int, Working] = {}
        self._live: Live | None = None
        self.judged: list[tuple[Run, Judgment]] = []

    def __enter__(self) -> Self:
        """Start, with moving lines if standard error is a terminal."""
        if sys.stderr.isatty():
            from rich.live import Live

            self._live = Live(self, console=messages(), refresh_per_second=4, transient=True)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Take the moving lines away."""
        if self._live is not None:
            self._live.stop()

    def __rich__(self) -> Text:
        """One line for each attempt that is under way."""
        from rich.text import Text

        now = time.monotonic()
        lines = [
            f"{each.name}  {each.doing} {_clock(now - each.since)}  {one_line(each.line, 80)}"
            for each in self._working.values()
        ]
        return Text("\n".join(lines), overflow="ellipsis", no_wrap=True)

    def watch(self) -> Watch:
        """Who shall be told."""
        from adjudge.wiring.starting import Watch

        return Watch(self._on_stage, self._on_output, self._on_progress, self._on_result)

    def _on_stage(self, assignment: Assignment, doing: Doing) -> None:
        key = id(assignment)
        known = self._working.get(key)
        line, rest = (known.line, known.open) if known else ("", b"")
        self._working[key] = Working(_name(assignment), doing, time.monotonic(), line, rest)
        if self._verbose:
            say(f"{_name(assignment)}: {doing}")
        elif known is None and self._live is None:
            say(f"{_name(assignment)}: started")

    def _on_output(self, assignment: Assignment, data: bytes) -> None:
        working = self._working[id(assignment)]
        *lines, working.open = (working.open + data).split(b"\n")
        working.open = working.open[-LONGEST_LINE:]
        for line in lines if self._verbose else lines[-1:]:
            working.line = line[:LONGEST_LINE].decode("utf-8", "replace").strip() or working.line
            if self._verbose:
                say(f"{working.name}: {one_line(working.line, LONGEST_LINE)}")

    def _on_progress(self, assignment: Assignment, progress: Progress) -> None:
        from adjudge.exports.telling import told

        working = self._working[id(assignment)]
        working.line, _ = told(progress)
        if self._verbose:
            say(f"{working.name}: {working.line}")

    def _on_result(self, assignment: Assignment, result: Result, run: Run | None, judgment: Judgment | None) -> None:
        self._working.pop(id(assignment), None)
        if run is not None and judgment is not None:
            self.judged.append((run, judgment))
        say(f"{_name(assignment)}: {_result(result)}")
        grading = result.outcome.grading if result.outcome else None
        for note in (*([grading] if grading else []), *result.notes):
            say(f"    {one_line(note, 300)}")


def _name(assignment: Assignment) -> str:
    return one_line(f"{assignment.task.name} · {assignment.connection.name} · {assignment.number}", 120)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}"


def _result(result: Result) -> str:
    """What came of an attempt, in one line."""
    if result.error and result.outcome is None:
        return f"not made: {one_line(result.error, 300)}"
    outcome = result.outcome
    parts = [outcome.ending if outcome else "", (outcome.grade or "") if outcome else ""]
    parts += (
        [f"{result.passed} of {counted(result.criteria, 'criterion', 'criteria')} passed"]
        if result.status == "judged"
        else []
    )
    parts += [f"not judged: {one_line(result.error, 200)}"] if result.status == "errored" and result.error else []
    parts += [f"{result.seconds:.0f} s" if result.seconds is not None else ""]
    parts += [f"run {dollars(result.cost)}" if result.cost else ""]
    return " · ".join(part for part in parts if part)
