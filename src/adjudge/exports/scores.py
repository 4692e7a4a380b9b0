"""What a reader's scores come to, in words: the same on a terminal, on a page and in a build server's list."""

from __future__ import annotations

from adjudge.judgment import CauseFound, Judgment, Omitted, Prepared, Score
from adjudge.rubric import Dimension

FAULTS = {
    "evidence_missing": "it accused without a turn that shows it",
    "missing_reasoning": "it was given without reasoning",
    "unanswered": "the reader gave no answer, or several",
}
RUNGS = {
    "schema": "answered at the first call",
    "again": "answered when asked once more",
    "transcribed": "its reasoning was transcribed, since it gave no answer",
    "prose": "answered in prose",
}


def figure(value: float | None) -> str:
    """A value as a person writes it, a dash where there is none."""
    return "–" if value is None else f"{value:g}"


def scale_of(dimension: Dimension | None) -> str:
    """Where a value lies: its scale and the blameless value."""
    if dimension is None:
        return "its scale is not at hand"
    scale = dimension.scale
    return f"from {scale.least:g} to {scale.most:g}, blameless is {dimension.baseline:g}"


def why_none(score: Score) -> str | None:
    """Why a score has no value, with what the model had answered; `None` if it has one."""
    if score.value is not None:
        return None
    if score.fault is None:
        return "no value: the reader established none"
    answered = score.answer.value if score.answer else None
    had = "" if answered is None or score.fault == "unanswered" else f"; the reader had answered {answered:g}"
    return f"no value: {FAULTS[score.fault]}{had}"


def percent(share: float) -> str:
    """A share of all tokens and calls."""
    return f"{share * 100:.3g} % of all tokens and calls"


def share_of_cause(cause: CauseFound) -> str:
    """A cause's share, or why it has none."""
    if cause.fault:
        return "no share, since no turn shows it"
    return "no share given" if cause.share is None else percent(cause.share)


def request_not_kept(judgment: Judgment, step: int) -> str | None:
    """What stands in place of a reader's request, which is not kept; `None` where a step has what was told.

    `step` counts from 1. All steps but a transcription ask about the same input, in one form or another.
    """
    if judgment.judge.kind != "reader" or judgment.prepared is None or judgment.steps[step - 1].told:
        return None
    if step > 1:
        return "The same was asked once more, or with less input; that request is not kept either."
    prepared = judgment.prepared
    return (
        f"The request is not kept. It had {prepared.characters:,} characters and the SHA-256 {prepared.sha256}; "
        f"`adjudge read {judgment.run} --dry-run` prints it again, "
        f"given the same rubric, model and --prune {prepared.asked}."
    )


def done_to_input(prepared: Prepared) -> str:
    """In one line, what was done to a reader's input."""
    mode = prepared.mode if prepared.asked == prepared.mode else f"{prepared.mode} ({prepared.asked} was asked for)"
    omitted = [
        _omitted(prepared.tool_output_pruned, "tool output left out", "tool outputs left out"),
        _omitted(prepared.events_elided, "entry left out whole", "entries left out whole"),
        _omitted(prepared.input_truncated, "text cut", "texts cut"),
        _omitted(prepared.boilerplate, "text of the harness put as a marker", "texts of the harness put as markers"),
    ]
    told = ", ".join(filter(None, omitted)) or "nothing left out"
    return f"{mode}: {told}; {prepared.characters:,} characters, estimated as {prepared.tokens:,} tokens"


def _omitted(omitted: Omitted, one: str, many: str) -> str:
    if not omitted.pieces:
        return ""
    return f"{omitted.pieces:,} {one if omitted.pieces == 1 else many} ({omitted.characters:,} characters)"
