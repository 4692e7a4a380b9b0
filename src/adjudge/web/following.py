"""Agents at work as the steps of a job: what each is at, what it prints, how it is judged, and what came of it."""

from __future__ import annotations

import time

import msgspec

from adjudge.agents.attempt import Assignment
from adjudge.agents.comparison import Result
from adjudge.exports.telling import told
from adjudge.judges.evaluator.loop import Progress
from adjudge.judgment import Judgment
from adjudge.record import dollars
from adjudge.run import Run
from adjudge.web.jobs import Tell
from adjudge.web.text import clock, counted, size
from adjudge.wiring.starting import Doing, Watch

PIECE = 4_000
"""Bytes of what an agent printed that are told in one step."""
MOST = 256_000
"""Bytes of one attempt that are told; of more it is only said how much it is."""
PATIENCE = 2.0
"""Seconds after which what was printed is told, though it is little."""


class Printed(msgspec.Struct):
    """What an attempt has printed and nobody was told yet, and how much there was in all."""

    waiting: bytes = b""
    told: int = 0
    size: int = 0
    since: float = 0.0


class Following:
    """Tells a job's steps. All happens in the event loop."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._printed: dict[int, Printed] = {}

    def watch(self) -> Watch:
        """Who shall be told."""
        return Watch(self._on_stage, self._on_output, self._on_progress, self._on_result)

    def _on_stage(self, assignment: Assignment, doing: Doing) -> None:
        self._flush(assignment)
        self._tell(f"{_name(assignment)}: {doing}", "")

    def _on_output(self, assignment: Assignment, data: bytes) -> None:
        printed = self._printed.setdefault(id(assignment), Printed(since=time.monotonic()))
        printed.size += len(data)
        room = MOST - printed.told - len(printed.waiting)
        printed.waiting += data[: max(0, room)]
        if len(printed.waiting) >= PIECE or time.monotonic() - printed.since > PATIENCE:
            self._tell_printed(assignment, printed)

    def _on_progress(self, assignment: Assignment, progress: Progress) -> None:
        words, detail = told(progress)
        self._tell(f"{_name(assignment)}: {words}", detail)

    def _on_result(self, assignment: Assignment, result: Result, _run: Run | None, _judgment: Judgment | None) -> None:
        self._flush(assignment)
        printed = self._printed.pop(id(assignment), None)
        if printed is not None and printed.size > printed.told:
            self._tell(f"{_name(assignment)}: printed {size(printed.size - printed.told)} more, which its run holds", "")
        grading = result.outcome.grading if result.outcome else None
        notes = [*([grading] if grading else []), *result.notes]
        self._tell(f"{_name(assignment)}: {ending_of(result)}", "\n".join(notes))

    def _flush(self, assignment: Assignment) -> None:
        printed = self._printed.get(id(assignment))
        if printed is not None and printed.waiting:
            self._tell_printed(assignment, printed)

    def _tell_printed(self, assignment: Assignment, printed: Printed) -> None:
        """Tell it up to its last whole line, if there is one, so that no line and no letter is torn."""
        end = printed.waiting.rfind(b"\n") + 1 or len(printed.waiting)
        text, printed.waiting = printed.waiting[:end], printed.waiting[end:]
        printed.told += len(text)
        printed.since = time.monotonic()
        last = text.decode("utf-8", "replace").strip().rpartition("\n")[2]
        self._tell(f"{_name(assignment)} printed: {last[:200]}", text.decode("utf-8", "replace"))


def _name(assignment: Assignment) -> str:
    return f"{assignment.connection.name}, attempt {assignment.number}"


def ending_of(result: Result) -> str:
    """What came of an attempt, in one line."""
    outcome = result.outcome
    if outcome is None:
        return f"not made: {result.error or 'nothing came of it'}"
    parts = [outcome.ending or "", outcome.grade or ""]
    if result.status == "judged" and result.criteria:
        parts.append(f"{result.passed} of {counted(result.criteria, 'criterion', 'criteria')} passed")
    elif result.error:
        parts.append(f"not judged: {result.error}")
    parts += [clock(result.seconds), f"run {dollars(result.cost)}" if result.cost else ""]
    return ", ".join(part for part in parts if part)
