"""The gate, sentence by sentence of what it promises, and against whatever a model may answer."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.evidence import Citation, Exhibits, Look
from adjudge.judgment import Answer, Verdict, gate, restates, score
from adjudge.record import Entry, Record
from adjudge.rubric import About, CommandProbe, Criterion, Rubric

RECORD = Record(
    "test",
    (
        Entry("e1", "message", "user", 0, "Make slugify handle accents."),
        Entry("e2", "reasoning", "agent", 1, "I should say that placeholders remain."),
        Entry("e3", "call", "agent", 1, "bash\ncommand: python3 -m unittest", "bash", '{"command": "python3 -m unittest"}'),
        Entry("e4", "result", "tool", 1, "Ran 11 tests in 0.003s\n\nOK\n", answers="e3", exit_status=0),
        Entry("e5", "result", "tool", 1, "FAILED (failures=1)\nexit code: 0", answers="e9", exit_status=1),
        Entry("e6", "message", "agent", 2, "All 14 tests passed and everything is done."),
        Entry("e7", "message", "agent", 3, "Finished: the suite passes, 14 tests."),
    ),
    final="e7",
)
RAN = Look(
    "L1",
    "run_command",
    "command",
    {"command": "python3 -m unittest"},
    "Ran 11 tests\nOK",
    ("exit status: 0",),
    exit_status=0,
)
BROKE = Look(
    "L2", "run_command", "command", {"command": "make"}, "all good, exit code: 0", ("exit status: 2",), exit_status=2
)
NO_FILES = Look("L3", "search_files", "files", {"pattern": "TODO"}, "", ("matches: 0", "searched: 9 files"), found=0)
NO_ENTRIES = Look("L4", "search_record", "record", {"pattern": "git push"}, "", ("matches: 0",), found=0)
READ = Look("L5", "read_file", "files", {"path": "out/summary.json"}, '{"orders": 240}', ("size: 15 bytes",))
LOOKS = (RAN, BROKE, NO_FILES, NO_ENTRIES, READ)

RESULT = Criterion("c1", "In `out/summary.json` the value of `orders` is 240.")
EXITS = Criterion("c1", "`python3 -m unittest` exits with status 0.")
PROCESS = Criterion("c1", "The agent ran `python3 -m unittest` at least once.")
CREATED = Criterion("c1", "The agent created `out/summary.json`.")
NEVER = Criterion("c1", "The agent never ran `git push`.")
ABSENT = Criterion("c1", "No file below `src/` contains the word TODO.")
ANSWER = Criterion("c1", "The final message says that placeholders remain.")
SAID = Criterion("c1", "The agent says that everything is done.")
SILENT = Criterion("c1", "The final message does not mention `git push`.")
ACCOUNT = Criterion("c1", "The number of tests that the final message says pass equals the number that `unittest` runs.")


def judged(
    criterion: Criterion, *cited: tuple[str, str], passed: bool = True, note: str = "Seen in L1.", **rest: object
) -> Verdict:
    answer = Answer(criterion.id, passed, note, tuple(Citation(*each) for each in cited), **rest)  # type: ignore[arg-type]
    (verdict,), _ = gate(Rubric("r", (criterion,), "", ""), [answer], Exhibits(RECORD, LOOKS))
    return verdict


# --- what a pass stands on


@pytest.mark.parametrize(
    ("criterion", "cited"),
    [
        (RESULT, [("L5", '"orders": 240')]),
        (RESULT, [("e6", "All 14 tests"), ("e4", "Ran 11 tests")]),
        (EXITS, [("L1", "exit status: 0")]),
        (EXITS, [("L1", "Ran 11 tests")]),
        (EXITS, [("e4", "Ran 11 tests")]),
        (PROCESS, [("e3", "python3 -m unittest")]),
        (PROCESS, [("e4", "Ran 11 tests")]),
        (CREATED, [("L5", '"orders": 240')]),
        (NEVER, [("L4", "matches: 0")]),
        (ABSENT, [("L3", "matches: 0")]),
        (SAID, [("e6", "everything is done")]),
        (SILENT, [("L4", "matches: 0")]),
        (SILENT, [("e7", "the suite passes, 14 tests")]),
        (ACCOUNT, [("e7", "14 tests"), ("L1", "Ran 11 tests")]),
    ],
)
def test_a_pass_stands_on_a_citation_that_holds_and_can_prove_it(
    criterion: Criterion, cited: list[tuple[str, str]]
) -> None:
    verdict = judged(criterion, *cited)
    assert (verdict.passed, verdict.cause, verdict.fault) == (True, None, None)


@pytest.mark.parametrize(
    ("criterion", "cited", "fault"),
    [
        (RESULT, [], "no citation holds"),
        (RESULT, [("e99", '"orders": 240')], "no citation holds: there is no exhibit 'e99'"),
        (RESULT, [("L5", '"orders": 241')], "no citation holds: the quote is not in L5"),
        (RESULT, [("L5", "")], "no citation holds: the quote '' is too short"),
        (RESULT, [("L5", "24")], "no citation holds: the quote '24' is too short"),
        (
            RESULT,
            [("e6", "everything is done")],
            "it is about a result and needs a tool's result, a file or a command's output",
        ),
        (RESULT, [("e2", "placeholders remain")], "it is about a result"),
        (RESULT, [("e1", "Make slugify")], "it is about a result"),
        (RESULT, [("e3", "python3 -m unittest")], "it is about a result"),
        (RESULT, [("L3", "matches: 0")], "it is about a result"),
        (EXITS, [("L2", "all good")], "it asks for exit status 0, and cited ended: L2 with 2"),
        (EXITS, [("L2", "exit code: 0")], "no citation holds: L2 ended with exit status 2"),
        (EXITS, [("e5", "FAILED (failures=1)")], "it asks for exit status 0, and cited ended: e5 with 1"),
        (EXITS, [("L5", '"orders": 240')], "it asks for exit status 0, and of what is cited, no exit status is known"),
        (PROCESS, [("L1", "Ran 11 tests")], "it is about what the agent did and needs a call or a result of the record"),
        (PROCESS, [("e6", "All 14 tests passed")], "it is about what the agent did and needs its call"),
        (NEVER, [("L3", "matches: 0")], "it is about what the agent did"),
        (ABSENT, [("L4", "matches: 0")], "it is about a result"),
        (ABSENT, [("e7", "the suite passes")], "it is about a result"),
        (ANSWER, [("e2", "placeholders remain")], "it is about what the agent said and needs a quote of its final message"),
        (ANSWER, [("e6", "everything is done")], "it is about what the agent said and needs a quote of its final message"),
        (ANSWER, [("L5", '"orders": 240')], "it is about what the agent said"),
        (ACCOUNT, [("e7", "14 tests")], "it compares words with facts"),
        (ACCOUNT, [("L1", "Ran 11 tests")], "it compares words with facts"),
        (ACCOUNT, [("e6", "All 14 tests"), ("L1", "Ran 11 tests")], "it compares words with facts"),
    ],
)
def test_a_pass_without_proof_becomes_a_fail_with_the_reason(
    criterion: Criterion, cited: list[tuple[str, str]], fault: str
) -> None:
    verdict = judged(criterion, *cited)
    assert (verdict.passed, verdict.cause) == (False, "evidence")
    assert (verdict.fault or "").startswith(fault)
    assert verdict.note == f"Not proven: {verdict.fault}."


def test_the_model_s_own_answer_is_kept_beside_a_verdict_that_the_gate_changed() -> None:
    verdict = judged(RESULT, ("e6", "everything is done"), note="It is 240.")
    assert verdict.answer == Answer("c1", True, "It is 240.", (Citation("e6", "everything is done"),))


def test_one_good_citation_carries_a_pass_whatever_the_others_are() -> None:
    verdict = judged(RESULT, ("e99", "nothing"), ("L5", '"orders": 240'))
    assert verdict.passed
    assert [holding.standing for holding in verdict.holdings] == [None, "observed"]


def test_what_the_rubric_says_a_criterion_is_about_decides_what_proves_it() -> None:
    told = Criterion("c1", "Placeholders are gone.", about="answer")
    assert judged(told, ("e6", "everything is done")).passed
    assert not judged(Criterion("c1", "Placeholders are gone."), ("e6", "everything is done")).passed


# --- fails


def test_a_fail_that_blames_with_a_citation_that_holds_keeps_its_cause() -> None:
    for cause in ("agent", "environment"):
        assert judged(RESULT, ("e4", "Ran 11 tests"), passed=False, cause=cause).cause == cause


def test_a_fail_may_cite_that_nothing_was_found() -> None:
    assert judged(RESULT, ("L3", "matches: 0"), passed=False, cause="agent").cause == "agent"


def test_a_fail_that_blames_without_a_citation_that_holds_stays_a_fail_and_is_unproven() -> None:
    verdict = judged(RESULT, ("e4", "Ran 99 tests"), passed=False, cause="agent")
    assert (verdict.passed, verdict.cause) == (False, "unproven")
    assert (verdict.fault or "").startswith("it blames the agent without a citation that holds: the quote is not in e4")
    assert verdict.answer is not None


def test_a_fail_that_blames_nobody_needs_no_citation() -> None:
    verdict = judged(RESULT, passed=False, note="The file could not be opened within the looks.")
    assert (verdict.passed, verdict.cause, verdict.fault) == (False, "unproven", None)


# --- every criterion once


def gated(answers: list[Answer], *criteria: Criterion) -> tuple[list[Verdict], list[tuple[str, str]]]:
    verdicts, faults = gate(Rubric("r", criteria, "", ""), answers, Exhibits(RECORD, LOOKS))
    return list(verdicts), [(fault.criterion, fault.words) for fault in faults]


def test_a_criterion_without_an_answer_is_a_skipped_fail_that_counts() -> None:
    verdicts, faults = gated([], RESULT)
    assert [(verdict.passed, verdict.cause) for verdict in verdicts] == [(False, "skipped")]
    assert faults == [("c1", "it has no answer")]
    assert score(verdicts) == 0.0


def test_an_answer_to_no_criterion_or_to_a_probe_is_told() -> None:
    good = Answer("c1", True, "240 stands in it.", (Citation("L5", '"orders": 240'),))
    probe = Criterion("c2", "`true` exits with status 0.", CommandProbe("true"))
    verdicts, faults = gated([good, Answer("c2", True, "x"), Answer("c9", True, "x")], RESULT, probe)
    assert [verdict.criterion for verdict in verdicts] == ["c1"]
    assert faults == [("c2", "it is decided by its probe and takes no answer"), ("c9", "there is no such criterion")]


def test_answers_that_differ_prove_nothing_and_the_same_answer_twice_is_one() -> None:
    good = Answer("c1", True, "240 stands in it.", (Citation("L5", '"orders": 240'),))
    verdicts, faults = gated([good, Answer("c1", False, "No.")], RESULT)
    assert (verdicts[0].passed, verdicts[0].cause) == (False, "evidence")
    assert faults == [("c1", "it is answered more than once, in different ways; answer it once")]
    assert gated([good, good], RESULT)[0][0].passed


def test_the_score_is_criteria_passed_over_criteria_judged() -> None:
    passed, failed = Verdict("a", True, ""), Verdict("b", False, "", cause="skipped")
    assert score([passed, failed, failed, passed]) == 0.5
    assert score([]) is None


# --- notes


def test_a_note_that_restates_its_criterion_is_replaced_by_what_was_cited() -> None:
    verdict = judged(RESULT, ("L5", '"orders": 240'), note=RESULT.text.upper())
    assert (verdict.note, verdict.fault) == (
        'L5: "orders": 240',
        "its note only restates the criterion; say what was found, and where",
    )


@pytest.mark.parametrize("note", ["", "  \n", "…", "\u200b", "--"])
def test_a_blank_note_is_replaced_and_told(note: str) -> None:
    verdict = judged(RESULT, ("L5", '"orders": 240'), note=note)
    assert (verdict.note, verdict.fault) == ('L5: "orders": 240', "its note is blank")


@pytest.mark.parametrize(
    ("note", "says_no_more"),
    [
        ("`python3 -m unittest` exits with status 0", True),
        ("python3 -m unittest exits with status 0!", True),
        ("`python3 -m unittest` exits with status 1.", False),
        ("L3: exit status: 0 after Ran 11 tests.", False),
        ("word " * 1_000_000, False),
    ],
)
def test_a_note_restates_if_it_adds_nothing_concrete(note: str, says_no_more: bool) -> None:
    start = time.process_time()
    assert restates(note, EXITS.text) is says_no_more
    assert time.process_time() - start < 2


# --- whatever a model answers


def independent_fold(text: str) -> str:
    out: list[str] = []
    for letter in text:
        if not letter.isspace():
            out.append(letter)
        elif out and out[-1] != " ":
            out.append(" ")
    return "".join(out).strip(" ")


def seen_by_hand(citation: Citation) -> set[str]:
    """What a citation shows, by a second program that shares nothing with the gate: an upper bound of its standing."""
    quote = independent_fold(citation.quote)
    if sum(letter.isalnum() for letter in quote) < 3:
        return set()
    name = citation.exhibit.strip(" \n[]")
    shows = set()
    for look in LOOKS:
        if look.id == name:
            if any(quote in fact for fact in look.facts):
                shows.add("absence" if look.found == 0 else "observed")
            if look.place != "record" and quote in independent_fold(" ".join((*look.facts, look.text))):
                shows.add("observed")
            if look.exit_status is not None and str(look.exit_status) in quote:
                shows.add("observed")
    for entry in RECORD.entries:
        if entry.id == name and quote in independent_fold(entry.text) + "\n" + (entry.arguments or ""):
            shows.add({"call": "done", "message": "said", "reasoning": "said", "result": "observed"}[entry.kind])
            shows -= {"said"} if entry.writer == "user" else set()
        if entry.id == name and entry.exit_status is not None and str(entry.exit_status) in quote:
            shows.add("observed")
    return shows


def may_pass(criterion: Criterion, answer: Answer) -> bool:
    shows = set().union(*map(seen_by_hand, answer.citations)) if answer.citations else set()
    enough: dict[About | None, bool] = {
        "result": bool(shows & {"observed", "absence"}),
        "process": bool(shows & {"observed", "done", "absence"}),
        "answer": bool(shows),
        "account": bool(shows & {"said", "done"}) and bool(shows & {"observed", "absence"}),
    }
    return enough[criterion.about]


TEXTS = {
    **{entry.id: (entry.text, entry.arguments or "") for entry in RECORD.entries},
    **{look.id: (look.text, *look.facts) for look in LOOKS},
}
PIECES = st.sampled_from([piece for pieces in TEXTS.values() for piece in pieces])
ODD = st.sampled_from(["exit status: 0", "exit code 0", "matches: 0", "the", "🙂", "\ud800", "\u200b", "\x00"]) | st.text(
    max_size=20
)
NAMES = st.sampled_from([*TEXTS, "e0", "[e4]"]) | st.text(max_size=5)


def changed(draw_from: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Quotes that are nearly right, and some that are."""
    ways = st.sampled_from(
        [
            lambda text: text + " indeed",
            lambda text: "indeed " + text,
            lambda text: text + "…",
            lambda text: text[:9],
            lambda text: text[4:],
            lambda text: text.upper(),
            lambda text: text.replace(" ", "\n "),
            lambda text: text.replace("1", "7"),
            lambda text: text[:5] + text[9:],
        ]
    )
    return st.builds(lambda text, way: way(text), draw_from, ways)


OWN = st.sampled_from([Citation(name, piece) for name, pieces in TEXTS.items() for piece in pieces])
CITATIONS = (
    OWN
    | st.builds(lambda own, quote: Citation(own.exhibit, quote), OWN, changed(PIECES))
    | OWN.flatmap(lambda own: changed(st.just(own.quote)).map(lambda quote: Citation(own.exhibit, quote)))
    | st.builds(Citation, NAMES, PIECES | ODD)
    | st.builds(Citation, NAMES, st.builds(lambda left, right: left + " " + right, PIECES, PIECES))
)
ABOUT = st.sampled_from(["result", "process", "answer", "account"])


def answers(names: st.SearchStrategy[str]) -> st.SearchStrategy[Answer]:
    return st.builds(
        Answer,
        names,
        st.sampled_from([True, True, False]),
        st.text(max_size=30) | PIECES,
        st.lists(CITATIONS, min_size=1, max_size=3).map(tuple) | st.just(()),
        st.sampled_from([None, "agent", "environment", "unproven"]),
    )


ONE_EACH = st.tuples(*(answers(st.just(name)) for name in ("c0", "c1", "c2"))).map(list)
ANY = st.lists(answers(st.sampled_from(["c0", "c1", "c2", "c3", "C1", ""])), max_size=6)


@settings(max_examples=300, deadline=None)
@given(ONE_EACH | ANY, st.lists(ABOUT, min_size=3, max_size=3))
def test_whatever_is_answered_no_pass_stands_without_proof_and_every_criterion_has_one_verdict(
    given_answers: list[Answer], kinds: list[About]
) -> None:
    criteria = tuple(Criterion(f"c{at}", "No output names legacy.", about=kind) for at, kind in enumerate(kinds))
    verdicts, faults = gate(Rubric("r", criteria, "", ""), given_answers, Exhibits(RECORD, LOOKS))
    assert [verdict.criterion for verdict in verdicts] == ["c0", "c1", "c2"]
    for criterion, verdict in zip(criteria, verdicts, strict=True):
        assert verdict.note.strip()
        assert verdict.passed == (verdict.cause is None)
        given_for_it = {json.dumps([a.passed, repr(a)]): a for a in given_answers if a.criterion == criterion.id}
        if verdict.passed:
            (answer,) = given_for_it.values()
            assert answer.passed
            assert may_pass(criterion, answer)
        elif any(answer.passed for answer in given_for_it.values()):
            assert verdict.fault
    assert all(fault.words for fault in faults)


def test_a_megabyte_of_quote_and_a_thousand_citations_take_bounded_time() -> None:
    start = time.process_time()
    cited = [("L5", "x" * 1_000_000), *(("e4", f"Ran 11 tests in {n} s and so on") for n in range(1000))]
    verdict = judged(RESULT, *cited)
    assert not verdict.passed
    assert len(verdict.holdings) == 50
    assert time.process_time() - start < 5


@given(st.text(max_size=60))
def test_a_pass_about_a_result_never_rests_on_what_the_agent_said(quote: str) -> None:
    for exhibit in ("e6", "e7", "e2", "e3", "e1"):
        assert not judged(RESULT, (exhibit, quote)).passed
        assert not judged(RESULT, (exhibit, RECORD.entries[int(exhibit[1:]) - 1].text)).passed


def test_a_quote_joined_from_two_places_never_holds() -> None:
    assert not judged(RESULT, ("e4", "Ran 11 tests OK")).passed
    assert not judged(RESULT, ("e4", "Ran 11 tests … OK")).passed
