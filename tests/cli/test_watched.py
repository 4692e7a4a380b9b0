"""A pass answers whoever started it what it is judging."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import msgspec
import pytest

from adjudge.cli.watched import MOST_RUNS, MOST_STEPS, answer_at
from adjudge.errors import InputError, OutsideError
from adjudge.evidence import Look
from adjudge.judges.evaluator.loop import Progress
from adjudge.passes.under_way import MOST_KEPT, Answer, UnderWay
from adjudge.web.doing.asking_pass import Questions

LOOKED = Progress(1, 1, 40, Look("L1", "read_file", "files", {"path": "made.txt"}, "made"))
ASKED = Progress(2, 1, 40)


@pytest.fixture
def under_way() -> UnderWay:
    return UnderWay()


@pytest.fixture
def questions(under_way: UnderWay) -> Iterator[Questions]:
    """How a pass is asked, which has the other end as its own."""
    questions = Questions()
    answer_at(os.dup(questions.descriptor), under_way)
    questions.hand_down()
    yield questions
    questions.close()


def answered(questions: Questions, run: str | None = None, after: int = 0) -> Answer:
    answer = questions.ask(run, after)
    assert answer is not None
    return answer


def test_a_run_is_under_way_from_its_beginning_to_its_end(under_way: UnderWay, questions: Questions) -> None:
    with under_way.judging("r-1") as tell:
        (run,) = answered(questions).runs
        assert (run.run, run.words) == ("r-1", "Its judge is being prepared.")
        tell(LOOKED)
        tell(ASKED)
        (run,) = answered(questions).runs
        assert run.words == "Look 1 of at most 40: read_file  path made.txt"
    assert answered(questions).runs == ()


def test_of_many_the_first_are_named_and_the_others_counted(under_way: UnderWay, questions: Questions) -> None:
    with ExitStack() as stack:
        for number in range(MOST_RUNS + 3):
            stack.enter_context(under_way.judging(f"r-{number}"))
        answer = answered(questions)
    assert [run.run for run in answer.runs] == [f"r-{number}" for number in range(MOST_RUNS)]
    assert answer.more == 3


def test_who_follows_a_judgment_is_told_all_of_it_though_it_has_ended(under_way: UnderWay, questions: Questions) -> None:
    with under_way.judging("r-1") as tell:
        assert answered(questions, "r-1").steps == ()
        for _ in range(MOST_STEPS + 1):
            tell(LOOKED)
    steps = answered(questions, "r-1").steps
    assert steps == (("Look 1 of at most 40: read_file  path made.txt", "made"),) * MOST_STEPS
    assert len(answered(questions, "r-1", MOST_STEPS).steps or ()) == 1
    assert answered(questions, "r-1", MOST_STEPS + 1).steps is None


def test_of_what_nobody_followed_nothing_is_kept_and_of_what_was_only_so_much(under_way: UnderWay) -> None:
    for number in range(MOST_KEPT + 1):
        with under_way.judging(f"r-{number}") as tell:
            tell(LOOKED)
            under_way.follow(f"r-{number}", 0)
    with under_way.judging("r-unseen") as tell:
        tell(LOOKED)
    assert under_way.follow("r-unseen", 0) is None
    assert under_way.follow("r-0", 0) is None
    assert under_way.follow("r-1", 0) == [LOOKED]


def test_an_answer_that_comes_too_late_is_not_taken_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.web.doing.asking_pass.SILENCE", 0.0)
    monkeypatch.setattr("adjudge.web.doing.asking_pass.PATIENCE", 0.05)
    questions = Questions()
    process = socket.socket(fileno=os.dup(questions.descriptor))
    assert questions.ask() is None
    for answer in (Answer(1, more=1), Answer(2, more=2)):
        process.sendall(msgspec.json.encode(answer) + b"\n")
    assert answered(questions).more == 2
    process.close()
    questions.hand_down()
    with pytest.raises(OutsideError, match="has ended"):
        questions.ask()
    questions.close()


def test_a_process_that_did_not_answer_is_asked_nothing_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.web.doing.asking_pass.PATIENCE", 0.05)
    questions = Questions()
    process = socket.socket(fileno=os.dup(questions.descriptor))
    assert [questions.ask() for _ in range(3)] == [None, None, None]
    assert process.recv(1 << 16).count(b"\n") == 1
    process.close()
    questions.hand_down()
    questions.close()


def test_what_is_no_socket_is_refused(under_way: UnderWay) -> None:
    for number in (999, -1, 2**31):
        with pytest.raises(InputError, match=f"--watched-at {number}: no socket is open under this number"):
            answer_at(number, under_way)
