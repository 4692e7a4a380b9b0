"""Agents side by side: what counts, over what a difference is taken, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from adjudge.errors import InputError
from adjudge.judgment import Score
from adjudge.passes.comparing import AgentComparison, Contrast
from adjudge.passes.pairing import Wanted
from adjudge.store.store import Store, open_store
from adjudge.wiring.results import compare

from .stored import CONDUCT, EVALUATOR, FILES, READER, SHOWN, a_run, add_pass, evaluated, read

OTHER = msgspec.structs.replace(EVALUATOR, model="openrouter/judge-b")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as opened:
        yield opened


def contrast(compared: AgentComparison, item: str, what: str) -> Contrast:
    (found,) = (each for each in compared.contrasts if (each.measure.item, each.measure.what) == (item, what))
    return found


def paired_pass(store: Store, outcomes: list[tuple[bool, bool]]) -> str:
    """Both agents attempt every task once; the pairs say whether the first criterion passed."""
    runs, judgments = [], []
    for task, pair in enumerate(outcomes):
        for side, passed in enumerate(pair):
            run = a_run(2 * task + side, ("codex", "opencode")[side], task_name=f"task {task}")
            runs.append(run)
            judgments.append(evaluated(run, passed, True))
    return add_pass(store, FILES, EVALUATOR, runs, judgments)


def test_over_tasks_that_both_attempted_once_the_paired_interval_is_the_published_one(store: Store) -> None:
    outcomes = [(True, True)] * 36 + [(True, False)] * 12 + [(False, True)] * 2
    found = contrast(compare(store, [paired_pass(store, outcomes)], None), "tests", "passed")
    # As in tests/passes/test_differences.py: Newcombe (1998), 36, 12, 2, 0.
    difference = found.difference
    assert (difference.value, difference.low, difference.high) == pytest.approx((0.2, 0.0569, 0.3404), abs=0.00005)
    assert (found.paired, found.tasks, found.runs, found.meaningful) == (True, 50, (50, 50), True)
    assert found.values == pytest.approx((0.96, 0.76))


def test_under_twenty_tasks_a_difference_is_not_yet_meaningful(store: Store) -> None:
    compared = compare(store, [paired_pass(store, [(True, False)] * 19)], None)
    assert [each.meaningful for each in compared.contrasts] == [False] * 4


def test_of_several_attempts_at_a_task_their_mean_is_paired(store: Store) -> None:
    runs = [a_run(number, "codex", task_name="a") for number in (1, 2)]
    runs += [a_run(3, "opencode", task_name="a"), a_run(4, "codex", task_name="b"), a_run(5, "opencode", task_name="b")]
    passed = (True, False, True, True, False)
    judgments = [evaluated(run, each, True) for run, each in zip(runs, passed, strict=True)]
    found = contrast(compare(store, [add_pass(store, FILES, EVALUATOR, runs, judgments)], None), "tests", "passed")
    assert (found.tasks, found.runs, found.values) == (2, (3, 2), (0.75, 0.5))
    assert found.difference.method == "bootstrap paired"


def test_without_a_common_task_runs_are_compared_unpaired(store: Store) -> None:
    runs = [a_run(number, "codex", task_name="a") for number in range(70)]
    runs += [a_run(100 + number, "opencode", task_name="b") for number in range(80)]
    judgments = [evaluated(run, number < 56 or 70 <= number < 118, True) for number, run in enumerate(runs)]
    found = contrast(compare(store, [add_pass(store, FILES, EVALUATOR, runs, judgments)], None), "tests", "passed")
    # Newcombe (1998), 56 of 70 and 48 of 80.
    assert (found.difference.low, found.difference.high) == pytest.approx((0.0524, 0.3339), abs=0.00005)
    assert (found.paired, found.runs) == (False, (70, 80))


def test_runs_without_a_name_for_their_task_are_paired_by_its_text(store: Store) -> None:
    runs = [a_run(1, "codex", task="Mend a."), a_run(2, "opencode", task="Mend a.\n"), a_run(3, "opencode", task="Mend b.")]
    judgments = [evaluated(run, True, True) for run in runs]
    compared = compare(store, [add_pass(store, FILES, EVALUATOR, runs, judgments)], None)
    assert contrast(compared, "tests", "passed").tasks == 1


def test_runs_without_a_task_are_no_pair(store: Store) -> None:
    runs = [a_run(1, "codex", task=None), a_run(2, "opencode", task=None)]
    compared = compare(store, [add_pass(store, FILES, EVALUATOR, runs, [evaluated(run, True, True) for run in runs])], None)
    assert not contrast(compared, "tests", "passed").paired


def test_agents_differ_by_model_too(store: Store) -> None:
    runs = [a_run(1, "codex"), a_run(2, "codex", model="m-2")]
    compared = compare(store, [add_pass(store, FILES, EVALUATOR, runs, [evaluated(run, True, True) for run in runs])], None)
    assert [agent.who for agent in compared.agents] == ["codex=m-1", "codex=m-2"]


def test_what_has_no_answer_is_a_run_and_counts_for_nothing_else(store: Store) -> None:
    runs = [a_run(number) for number in (1, 2)]
    judgments = [evaluated(runs[0], True, False), evaluated(runs[1], failure="timeout")]
    (agent,) = compare(store, [add_pass(store, FILES, EVALUATOR, runs, judgments)], None).agents
    assert (agent.runs, agent.judged, agent.means) == (2, 1, (0.0, 0.5, 1.0, 0.0))


def test_a_demoted_score_says_nothing_and_the_others_of_its_judgment_do(store: Store) -> None:
    runs = [a_run(number, agent, task_name="a") for number, agent in enumerate(("codex", "opencode"))]
    demoted = Score("loop", None, "Again.", fault="evidence_missing")
    judgments = [
        read(runs[0], demoted, Score("gave_up_early", 2, "It stopped.", (SHOWN,), worse=True)),
        read(runs[1], Score("loop", 0, "No."), Score("gave_up_early", 0, "No.")),
    ]
    compared = compare(store, [add_pass(store, CONDUCT, READER, runs, judgments)], None)
    assert [each.measure.item for each in compared.contrasts] == ["gave_up_early", "gave_up_early"]
    assert contrast(compared, "gave_up_early", "value").difference.value == 2
    assert [(agent.judged, agent.partial, agent.means[0]) for agent in compared.agents] == [(1, 1, None), (1, 0, 1.0)]


# --- which pairs are compared


def of_agents(store: Store, runs_of: dict[str, int]) -> str:
    """A pass over so many runs of each agent, all of which passed everything."""
    runs = [a_run(0, agent) for agent, number in runs_of.items() for _ in range(number)]
    runs = [msgspec.structs.replace(run, id=f"r-{at:016x}") for at, run in enumerate(runs)]
    return add_pass(store, FILES, EVALUATOR, runs, [evaluated(run, True, True) for run in runs])


def pairs(compared: AgentComparison) -> list[tuple[str, str]]:
    return list(dict.fromkeys((each.first.split("=")[0], each.second.split("=")[0]) for each in compared.contrasts))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted(), [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]),
        (Wanted(("d=m-1", "a=m-1")), [("a", "d")]),
        (Wanted(against="b=m-1"), [("a", "b"), ("c", "b"), ("d", "b")]),
        (Wanted(("a=m-1", "d=m-1"), "b=m-1"), [("a", "b"), ("d", "b")]),
        (Wanted(most=2), [("a", "b"), ("a", "d")]),  # of two runs each; a has three and b and d two
        (Wanted(most=6), [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]),
        (Wanted(("c=m-1", "a=m-1", "b=m-1"), most=1), [("a", "b"), ("a", "c"), ("b", "c")]),
    ],
)
def test_only_the_pairs_that_are_wanted_are_compared(store: Store, wanted: Wanted, found: list[tuple[str, str]]) -> None:
    identifier = of_agents(store, {"a": 3, "b": 2, "c": 1, "d": 2})
    assert pairs(compare(store, [identifier], None, wanted=wanted)) == found


def test_of_too_many_pairs_those_of_agents_with_a_single_run_are_left_out(store: Store) -> None:
    compared = compare(store, [of_agents(store, {"a": 3, "b": 2, "c": 1, "d": 2})], None, wanted=Wanted(most=5))
    assert (pairs(compared), compared.left_out) == ([("a", "b"), ("a", "d"), ("b", "d")], 3)


def test_an_agent_is_named_as_it_is_printed(store: Store) -> None:
    identifier = of_agents(store, {"open\x1bcode": 1, "codex": 1})
    wanted = Wanted(against="open<U+001B>code=m-1")
    assert pairs(compare(store, [identifier], None, wanted=wanted)) == [("codex", "open\x1bcode")]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Wanted(("a=m-1", "z")), "--agent z: no agent has this name; there are a=m-1, b=m-1"),
        (Wanted(against="z"), "--against z: no agent has this name; there are a=m-1, b=m-1"),
        (Wanted(("a=m-1",)), "--agent a=m-1: is one agent; name another, or one with --against"),
    ],
)
def test_an_agent_that_is_not_there_is_told_with_those_that_are(store: Store, wanted: Wanted, message: str) -> None:
    identifier = of_agents(store, {"a": 1, "b": 1})
    with pytest.raises(InputError, match=message):
        compare(store, [identifier], None, wanted=wanted)


# --- which judgments count


def test_of_several_judgments_of_a_run_the_latest_with_an_answer_counts(store: Store) -> None:
    run = a_run(1)
    first = add_pass(store, FILES, EVALUATOR, [run], [evaluated(run, False, False, id="j-1")])
    second = add_pass(store, FILES, EVALUATOR, [run], [evaluated(run, True, True, id="j-2")])
    third = add_pass(store, FILES, EVALUATOR, [run], [evaluated(run, id="j-3", failure="timeout")])
    compared = compare(store, [first, second, third], None)
    assert (compared.agents[0].means[0], compared.agents[0].runs, compared.earlier) == (1.0, 1, 2)


def test_a_rubric_takes_all_judgments_of_the_store_with_it(store: Store) -> None:
    paired_pass(store, [(True, False)] * 3)
    run = a_run(99, "codex")
    store.add_run(run)
    store.add_judgment(evaluated(run, True, True), FILES)
    for name in (FILES.name, FILES.hash[:8]):
        assert sum(agent.runs for agent in compare(store, [], name).agents) == 7


def test_another_rubric_is_refused(store: Store) -> None:
    runs = [a_run(1), a_run(2)]
    first = add_pass(store, FILES, EVALUATOR, runs[:1], [evaluated(runs[0], True, True)])
    second = add_pass(store, CONDUCT, READER, runs[1:], [read(runs[1], Score("loop", 0, "No."))])
    with pytest.raises(InputError, match=r"made with 2 rubrics, .*files \([0-9a-f]{12}\).*cannot be compared"):
        compare(store, [first, second], None, across_judges=True)


def test_another_judge_is_refused_unless_it_is_asked_for(store: Store) -> None:
    runs = [a_run(1), a_run(2, "opencode")]
    first = add_pass(store, FILES, EVALUATOR, runs[:1], [evaluated(runs[0], True, True)])
    second = add_pass(store, FILES, OTHER, runs[1:], [evaluated(runs[1], True, True, judge=OTHER)])
    with pytest.raises(InputError, match=r"2 judges, .*judge-a .*judge-b .*--across-judges"):
        compare(store, [first, second], None)
    assert len(compare(store, [first, second], None, across_judges=True).judges) == 2


def test_a_judge_whose_judgments_do_not_count_is_no_hindrance(store: Store) -> None:
    run = a_run(1)
    first = add_pass(store, FILES, OTHER, [run], [evaluated(run, True, True, judge=OTHER)])
    second = add_pass(store, FILES, EVALUATOR, [run], [evaluated(run, True, True)])
    assert [judge.model for judge in compare(store, [first, second], None).judges] == ["openrouter/judge-a"]


@pytest.mark.parametrize(
    ("passes", "rubric", "message"),
    [([], None, "give passes, or --rubric"), ([], "none", r"no stored judgment was made with it; there are files \(")],
)
def test_what_cannot_be_compared_is_told(store: Store, passes: list[str], rubric: str | None, message: str) -> None:
    paired_pass(store, [(True, True)])
    with pytest.raises(InputError, match=message):
        compare(store, passes, rubric)


def test_a_pass_without_a_judgment_cannot_be_compared(store: Store) -> None:
    identifier = add_pass(store, FILES, EVALUATOR, [a_run(1)], [])
    with pytest.raises(InputError, match="there is no judgment"):
        compare(store, [identifier], None)
