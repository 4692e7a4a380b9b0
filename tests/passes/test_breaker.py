from __future__ import annotations

import msgspec
import pytest
from tests.passes.provider import judgment

from adjudge.judgment import Call, Failure, Judgment
from adjudge.passes.breaker import Breaker
from adjudge.record import Usage

ANSWERED = Call("m", Usage(cost=0.1), 1.0)
UNANSWERED = Call("m", Usage(cost=0.0), 1.0, error="no answer")


def ended(failure: Failure | None, *calls: Call) -> Judgment:
    made = judgment("a", "r-1", list(calls), timeout=failure is not None)
    return msgspec.structs.replace(made, failure=failure, reason=f"it was {failure}" if failure else None)


def tripped_by(*judgments: Judgment) -> bool:
    breaker = Breaker()
    for each in judgments:
        breaker.heed(each)
    return breaker.tripped


@pytest.mark.parametrize("failure", ["refused", "busy", "broken", "timeout"])
def test_eight_failed_calls_in_a_row_mean_that_the_provider_is_down(failure: Failure) -> None:
    assert not tripped_by(*[ended(failure)] * 7)
    assert tripped_by(*[ended(failure)] * 8)


def test_the_reason_says_what_failed_last() -> None:
    breaker = Breaker()
    for failure in ("busy",) * 7 + ("broken",):
        breaker.heed(ended(failure))
    assert breaker.reason == "8 calls in a row failed, the last one so: it was broken"


def test_an_answer_ends_the_row() -> None:
    assert not tripped_by(*[ended("broken")] * 7, ended(None, ANSWERED), *[ended("broken")] * 7)


def test_a_call_that_failed_after_an_answer_begins_a_new_row() -> None:
    down = [ended("broken")] * 7
    assert not tripped_by(*down, ended("timeout", ANSWERED, UNANSWERED), *[ended("broken")] * 6)
    assert tripped_by(*down, ended("timeout", ANSWERED, UNANSWERED), *[ended("broken")] * 7)


@pytest.mark.parametrize("failure", ["context", "filtered", "budget", "judge_parse_failed", "differs"])
def test_what_says_nothing_of_the_provider_is_not_counted(failure: Failure) -> None:
    assert not tripped_by(*[ended(failure)] * 20)
