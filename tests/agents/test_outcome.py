"""How an attempt ended, from the process, from its model's endpoint and from the record."""

import pytest

from adjudge.agents.outcome import grade_of, outcome_of
from adjudge.agents.traffic import Traffic
from adjudge.ports import Ended
from adjudge.run import Run, RunFailure
from adjudge.testing import make_record, make_run, printed, says, user

DONE = make_run(make_record(user("Do it."), says("Done.")))
SILENT = make_run(make_record(user("Do it.")))
ANSWERED = Traffic(requests=3, asked=2, answered=True, last_status=200)


def ended(status: int = 0, **more: object) -> Ended:
    return Ended(status, 1.0, 10, 0, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("how", "traffic", "run", "failure"),
    [
        (ended(), ANSWERED, DONE, None),
        (ended(1), ANSWERED, DONE, None),
        (ended(-15, stopped="time"), ANSWERED, DONE, "time"),
        (ended(-9, stopped="memory"), None, DONE, "memory"),
        (ended(0, full=True), ANSWERED, DONE, "disk"),
        (ended(), Traffic(), SILENT, "nothing"),
        (ended(), Traffic(requests=4), SILENT, "nothing"),  # it asked for a list of models, never for an answer
        (ended(), Traffic(requests=2, asked=2, failed=1, answered=False, last_status=400), DONE, "model"),
        (ended(), ANSWERED, SILENT, "nothing"),
        (ended(), None, SILENT, None),  # a command without a model of ours: its record tells of none
    ],
)
def test_a_run_fails_for_what_happened_whatever_its_exit_status(
    how: Ended, traffic: Traffic | None, run: Run, failure: RunFailure | None
) -> None:
    outcome = outcome_of(how, traffic, run)
    assert (outcome.exit_status, outcome.failure) == (how.exit_status, failure)


def test_the_endpoints_words_for_its_failure_are_kept() -> None:
    traffic = Traffic(requests=1, asked=1, failed=1, answered=False, last_status=400, last_error="context too long")
    assert outcome_of(ended(), traffic, DONE).detail == "context too long"


@pytest.mark.parametrize(
    ("status", "stopped", "grade"),
    [(0, None, "resolved"), (1, None, "unresolved"), (127, None, "error"), (-9, None, "error"), (-9, "time", "error")],
)
def test_a_grader_that_could_not_do_its_work_says_nothing_of_the_agent(
    status: int, stopped: str | None, grade: str
) -> None:
    output = printed("what it printed", status)
    found, reason = grade_of(type(output)(output.text, status, output.size, 1.0, stopped))  # type: ignore[arg-type]
    assert found == grade
    assert (reason is None) == (grade == "resolved")
