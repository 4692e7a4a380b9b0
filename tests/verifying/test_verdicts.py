from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.evidence import Citation, Exhibits, Holding, Look, suffices
from adjudge.judges.evaluator.judge import Evaluator
from adjudge.judges.process import ProcessJudge
from adjudge.judgment import Answer, Judge, Judgment, Verdict, gate, score
from adjudge.record import Entry, Record
from adjudge.rubric import CommandProbe, Criterion, FileProbe, Rubric, rubric_hash
from adjudge.testing import (
    FakeMachine,
    ScriptedModel,
    calls,
    decides,
    looks,
    make_record,
    make_run,
    printed,
    says,
    user,
    verdict,
)
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


def rubric_of(name: str, *criteria: Criterion) -> Rubric:
    return Rubric(name, criteria, rubric_hash(criteria), f"{name}.yaml")


RUBRIC = rubric_of(
    "tests",
    Criterion("pass", "`pytest` exits with 0"),
    Criterion("ran", "The agent ran `pytest`"),
    Criterion("said", "The final message says that the tests pass"),
    Criterion("clean", "No file named `scratch.py` is there"),
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


@settings(deadline=None)
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


@settings(max_examples=400, deadline=None)
@given(st.tuples(*(verdicts_for(criterion) for criterion in RUBRIC.criteria)))
def test_no_pass_verifies_whose_citations_do_not_prove_it(verdicts: tuple[Verdict, ...]) -> None:
    found = {finding.place for finding in verify(judged(verdicts), RECORD, RUBRIC).findings}
    check = Exhibits(RECORD, LOOKS).check
    for criterion, each in zip(RUBRIC.criteria, verdicts, strict=True):
        if each.passed and criterion.id not in found:
            assert suffices(criterion, [check(holding.citation) for holding in each.holdings]) is None


def probed(look: Look, probe: CommandProbe | FileProbe, passed: bool = True) -> tuple[Judgment, Rubric]:
    rubric = rubric_of("probe", Criterion("p", "what the probe says", probe))
    holding = Exhibits(RECORD, [look]).check(Citation(look.id, look.facts[0]))
    verdict = Verdict("p", passed, "Decided by a probe.", (holding,), probe=True)
    return msgspec.structs.replace(judged((verdict,), rubric), looks=(look,)), rubric


COMMAND = Look("L1", "probe_command", "command", {"command": "x"}, "12 passed\n", ("exit status: 0",), exit_status=0)
FILE = Look("L1", "probe_file", "files", {"file": "a"}, "red\n", ("size: 4 bytes",))
LONG = Look("L1", "probe_file", "files", {"file": "a"}, "red" * 9, ("size: 99 bytes", "cut: only its beginning is kept"))
ABSENT = Look("L1", "probe_file", "files", {"file": "a"}, "", ("matches: 0", "no file of this name"), found=0)


@pytest.mark.parametrize(
    ("look", "probe"),
    [
        (COMMAND, CommandProbe("x")),
        (COMMAND, CommandProbe("x", stdout="12 passed\n")),
        (COMMAND, CommandProbe("x", stdout_matches=r"\d+ passed")),
        (FILE, FileProbe("a", equals="red\n")),
        (FILE, FileProbe("a", matches="^red$")),
        (FILE, FileProbe("a", exists=True)),
        (LONG, FileProbe("a", equals="red" * 33)),
        (LONG, FileProbe("a", matches="seen only further down")),
        (ABSENT, FileProbe("a", exists=False)),
    ],
)
def test_a_probes_pass_is_decided_again_from_its_look(look: Look, probe: CommandProbe | FileProbe) -> None:
    judgment, rubric = probed(look, probe)
    assert verify(judgment, RECORD, rubric).findings == ()
    turned, _ = probed(look, probe, passed=False)
    (found,) = verify(turned, RECORD, rubric).findings
    assert found.words == "stored is fail (None), what L1 shows makes it a pass"


@pytest.mark.parametrize(
    ("look", "probe"),
    [
        (COMMAND, CommandProbe("x", exit=1)),
        (COMMAND, CommandProbe("x", stdout="13 passed\n")),
        (COMMAND, CommandProbe("x", stdout_matches="failed")),
        (COMMAND, CommandProbe("x", stdout_matches="(unclosed")),
        (FILE, FileProbe("a", equals="red")),
        (FILE, FileProbe("a", matches="blue")),
        (FILE, FileProbe("a", exists=False)),
        (LONG, FileProbe("a", equals="blue" * 30)),
        (ABSENT, FileProbe("a", exists=True)),
        (ABSENT, FileProbe("a", equals="")),
    ],
)
def test_a_pass_that_the_probes_look_does_not_show_is_found(look: Look, probe: CommandProbe | FileProbe) -> None:
    judgment, rubric = probed(look, probe)
    (found,) = verify(judgment, RECORD, rubric).findings
    assert found.words == "stored is pass, what L1 shows makes it a fail"
    honest, _ = probed(look, probe, passed=False)
    assert verify(honest, RECORD, rubric).sound


PROBED = rubric_of("probe", Criterion("p", "tests", CommandProbe("pytest")))


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
    judgment, rubric = probed(COMMAND, CommandProbe("x"))
    twice = msgspec.structs.replace(judgment, looks=(COMMAND, COMMAND))
    assert [found.words for found in verify(twice, RECORD, rubric).findings] == ["L1 is there 2 times"]


def test_without_its_rubric_no_verdict_is_called_sound() -> None:
    judgment, _ = probed(COMMAND, CommandProbe("x"))
    assert [found.place for found in verify(judgment, RECORD, None).findings] == ["rubric"]


def test_a_score_of_an_errored_judgment_is_found() -> None:
    errored = msgspec.structs.replace(judged(()), status="errored", score=0.5, verdicts=())
    assert [found.place for found in verify(errored, RECORD, RUBRIC).findings] == ["score"]


def test_verdicts_that_answer_no_rubric_are_found() -> None:
    judgment, _ = probed(COMMAND, CommandProbe("x"))
    bare = msgspec.structs.replace(judgment, rubric=None, rubric_hash=None, score=None)
    assert [found.place for found in verify(bare, RECORD, None).findings] == ["rubric"]


async def test_judging_by_the_process_alone_verifies() -> None:
    judgment = await ProcessJudge().judge(make_run(), None, None)
    assert verify(judgment, make_run().record, None).findings == ()


async def test_what_the_evaluator_really_judges_verifies() -> None:
    run = make_run(make_record(user("Fix it."), calls("bash", "pytest", result="12 passed", exit_status=0), says("Done.")))
    criteria = (Criterion("c1", "`pytest` exits with 0"), Criterion("c2", "`notes.txt` is there"))
    rubric = rubric_of("made", *criteria, Criterion("p", "x", CommandProbe("true")))
    machine = FakeMachine(commands=lambda _: printed(""))
    model = ScriptedModel(
        [
            looks(("open_entry", {"entry": "e3"})),
            decides(verdict("c1", True, ("e3", "12 passed")), verdict("c2", True, ("e9", "invented"))),
            decides(verdict("c1", True, ("e3", "12 passed")), verdict("c2", True, ("e9", "invented"))),
        ]
    )
    judgment = await Evaluator(model).judge(run, rubric, machine)
    assert [each.passed for each in judgment.verdicts] == [True, False, True]
    assert verify(judgment, run.record, rubric).findings == ()
