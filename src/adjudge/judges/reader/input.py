"""What a reader may see of a run, as a type: whatever has no field here cannot reach its model."""

from __future__ import annotations

import msgspec

from adjudge.record import Record
from adjudge.run import Run


class ReaderInput(msgspec.Struct, frozen=True):
    """All that a reader is shown of a run.

    Neither the grader's result nor a reference solution is among it: whether a result was earned is what one may want to
    know, and a judge that knows the solution measures likeness to it. `hidden_tests` are ids of tests that the agent could
    not see.
    """

    record: Record
    task: str | None = None
    context: str | None = None
    agent: str | None = None
    exit_status: int | None = None
    patch: str | None = None
    hidden_tests: tuple[str, ...] = ()


def seen_of(run: Run) -> ReaderInput:
    """What a reader is shown of this run."""
    return ReaderInput(
        record=run.record,
        task=run.task,
        context=run.context,
        agent=run.agent,
        exit_status=run.outcome.exit_status,
        patch=run.patch,
        hidden_tests=run.hidden_tests,
    )
