"""How an attempt ended: from the process, from what its model's endpoint answered, and from the record's end.

An exit status alone proves nothing. Several agents end with 0 when their model refuses every request, or when an answer was
cut at the token limit.
"""

from __future__ import annotations

from adjudge.agents.traffic import Traffic
from adjudge.importers.ending import ending_of
from adjudge.ports import Ended, Output
from adjudge.run import Grade, Outcome, Run, RunFailure
from adjudge.untrusted import one_line

NO_REQUEST = "it ended without a request to its model"


def outcome_of(ended: Ended, traffic: Traffic | None, run: Run) -> Outcome:
    """The outcome of a run whose process ended so. `traffic` is `None` if the agent had no model of ours to ask."""
    failure, detail = _failure(ended, traffic, run)
    return Outcome(ended.exit_status, detail=detail or run.outcome.detail, failure=failure)


def _failure(ended: Ended, traffic: Traffic | None, run: Run) -> tuple[RunFailure | None, str | None]:
    if ended.stopped:
        return ended.stopped, None
    if ended.full:
        return "disk", None
    if traffic is not None and not traffic.asked:
        return "nothing", NO_REQUEST
    if traffic is not None and traffic.answered is False:
        return "model", traffic.last_error or None
    told = ending_of(run)
    if told == "nothing" and traffic is None:  # an agent of which only the output is known, or one with a model of its own
        return None, None
    return told, None


def grade_of(output: Output) -> tuple[Grade, str | None]:
    """What a grader's end means: 0 is `resolved`; an error if it could not do its work, which says nothing of the agent."""
    if output.ended:
        return "error", f"the grader was stopped at its limit of {output.ended}"
    if output.exit_status < 0 or output.exit_status in (126, 127):
        return "error", f"the grader ended with {output.exit_status}: {_end(output)}"
    if output.exit_status == 0:
        return "resolved", None
    return "unresolved", f"the grader ended with {output.exit_status}: {_end(output)}"


def _end(output: Output) -> str:
    """The end of what was printed, on one line."""
    return one_line(output.text.strip()[-200:], 200) or "it printed nothing"
