from __future__ import annotations

from typing import Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.evidence import Citation, Exhibits, Holding, Look, suffices
from adjudge.judgment import Answer, Judge, Judgment, Verdict, gate, score
from adjudge.record import Entry, Record
from adjudge.rubric import CommandProbe, Criterion, Rubric
from adjudge.verifying import verify

RECORD = Record(
    "chat",
    (
        Entry("e1", "message", "user", 0, "Make the tests pass."),
        Entry("e2", "call", "agent", 1, "bash\ncommand: pytest", "bash"),
        Entry("e3", "result", "tool", 1, "12 passed in 0.31s", "bash", answers="e2", exit_status=0),
        Entry("e4", "message", "agent", 2, "All tests pass now."),
    ),
)
RUBRIC = Rubric(
    "tests",
    (
        Criterion("pass", "`pytest` exits with 0"),
        Criterion("ran", "The agent ran `pytest`"),
        Criterion("said", "The final message says that the tests pass"),
        Criterion("clean", "No file named `scratch.py` is there"),
    ),
    "aa" * 32,
    "tests.yaml",
)
LOOKS = (
    Look("L1", "search", "files", {"pattern": "scratch.py"}, "", ("0 matches for scratch.py in 40 files",), found=0),
    Look("L2", "run", "command", {"command": "pytest"}, "12 passed", ("exit status: 0",), exit_status=0),
)


def judged(verdicts: tuple[Verdict, ...], rubric: Rubric = RUBRIC) -> Judgment:
    judge = Judge("evaluator", "m", "p", {}, "0.1.0")
    return Judgment(
        "j-1", "r-1", "tests", rubric.hash, judge, "judged", "2026-01-01", 1.0, verdicts, score(verdicts), looks=LOOKS
    )


exhibits = st.sampled_from(["e1", "e2", "e3", "e4", "L1", "L2", "e9", "L7", ""])
quotes = st.sampled_from(
    ["12 passed", "All tests pass now.", "pytest", "exit status: 0", "0 matches for scratch.py", "invented words", "x", ""]
)
answers = st.builds(
    Answer,
    criterion=st.sampled_from([*(criterion.id for criterion in RUBRIC.criteria), "none of them"]),
    passed=st.booleans(),
    note=st.sampled_from(["", "Twelve tests passed.", "The agent ran `pytest`"]),
    citations=st.lists(st.builds(Citation, exhibits, quotes), max_size=3).map(tuple),
    cause=st.sampled_from([None, "agent", "environment", "unproven"]),
)


@given(st.lists(answers, max_size=6))
def test_whatever_the_gate_lets_through_verifies(given_answers: list[Answer]) -> None:
    verdicts, _ = gate(RUBRIC, given_answers, Exhibits(RECORD, LOOKS))
    assert verify(judged(verdicts), RECORD, RUBRIC).findings == ()


holdings = st.builds(
    Holding,
    st.builds(Citation, exhibits, quotes),
    st.sampled_from([None, "observed", "done", "said", "absence"]),
    st.none(),
    st.sampled_from([None, "e3", "e4", "L1", "L2"]),
)


def verdicts_for(criterion: Criterion) -> st.SearchStrategy[Verdict]:
    """Verdicts as a forger might write them; half of the holdings are those that the check really gives."""
    honest = st.builds(Citation, exhibits, quotes).map(Exhibits(RECORD, LOOKS).check)
    return st.builds(
        Verdict,
        st.just(criterion.id),
        st.booleans(),
        st.just("Twelve tests passed."),
        st.lists(honest | holdings, max_size=2).map(tuple),
        st.sampled_from([None, "agent", "evidence", "skipped"]),
        st.none(),
        st.none() | answers,
    )


@settings(max_examples=400)
@given(st.tuples(*(verdicts_for(criterion) for criterion in RUBRIC.criteria)))
def test_no_pass_verifies_whose_citations_do_not_prove_it(verdicts: tuple[Verdict, ...]) -> None:
    found = {finding.place for finding in verify(judged(verdicts), RECORD, RUBRIC).findings}
    check = Exhibits(RECORD, LOOKS).check
    for criterion, verdict in zip(RUBRIC.criteria, verdicts, strict=True):
        if verdict.passed and criterion.id not in found:
            assert suffices(criterion, [check(holding.citation) for holding in verdict.holdings]) is None


def probed(standing: Literal["observed"] | None, quote: str, passed: bool = True) -> Judgment:
    holding = Holding(Citation("L2", quote), standing, None if standing else "?", "L2")
    return judged((Verdict("p", passed, "Decided by a probe.", (holding,), probe=True),), PROBED)


PROBED = Rubric("probe", (Criterion("p", "tests", CommandProbe("pytest", 0, stdout="12 passed\n")),), "bb" * 32, "p.yaml")


def test_a_probes_verdict_verifies_without_the_gate() -> None:
    assert verify(probed("observed", "exit status: 0"), RECORD, PROBED).sound


def test_a_probe_that_passed_on_another_exit_status_is_found() -> None:
    looks = (msgspec.structs.replace(LOOKS[1], exit_status=1, facts=("exit status: 1",)),)
    changed = msgspec.structs.replace(probed("observed", "exit status: 0"), looks=looks)
    words = " ".join(found.words for found in verify(changed, RECORD, PROBED).findings)
    assert "L2 ended with exit status 1, not 0" in words


def test_a_probe_that_passed_on_other_output_is_found() -> None:
    looks = (msgspec.structs.replace(LOOKS[1], text="1 failed"),)
    changed = msgspec.structs.replace(probed("observed", "exit status: 0"), looks=looks)
    (found,) = verify(changed, RECORD, PROBED).findings
    assert "did not print what the probe asks for" in found.words


@pytest.mark.parametrize("holdings", [(), (Holding(Citation("L9", "exit status: 0"), None, "no such exhibit"),)])
def test_a_probe_cannot_pass_on_nothing(holdings: tuple[Holding, ...]) -> None:
    verdict = Verdict("p", True, "Decided by a probe.", holdings, probe=True)
    assert not verify(judged((verdict,), PROBED), RECORD, PROBED).sound


def test_a_verdict_cannot_claim_a_probe_that_its_criterion_has_not() -> None:
    verdicts, _ = gate(RUBRIC, [], Exhibits(RECORD, LOOKS))
    forged = msgspec.structs.replace(verdicts[0], passed=True, cause=None, probe=True)
    places = [found.place for found in verify(judged((forged, *verdicts[1:])), RECORD, RUBRIC).findings]
    assert "pass" in places


def test_two_looks_of_one_id_are_found() -> None:
    twice = msgspec.structs.replace(probed("observed", "exit status: 0"), looks=(LOOKS[1], LOOKS[1]))
    assert [found.words for found in verify(twice, RECORD, PROBED).findings] == ["L2 is there 2 times"]


def test_without_its_rubric_no_verdict_is_called_sound() -> None:
    checked = verify(probed("observed", "exit status: 0"), RECORD, None)
    assert [found.place for found in checked.findings] == ["rubric"]


def test_a_score_of_an_errored_judgment_is_found() -> None:
    errored = msgspec.structs.replace(judged(()), status="errored", score=0.5, verdicts=())
    assert [found.place for found in verify(errored, RECORD, RUBRIC).findings] == ["score"]
