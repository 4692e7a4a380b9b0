"""Which runs a pass takes."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.errors import InputError
from adjudge.passes.selection import read_sampling, select, unmatched
from adjudge.passes.values import Candidate, Sampling, Selection, Stratum

ALL = Sampling(None, None, (), 7)

strata = st.tuples(
    st.sampled_from(["codex", "opencode", "org/agent"]), st.sampled_from(["resolved", "unresolved", "exit 1"])
)
seeds = st.integers(0, 2**63 - 1)
shares = st.integers(1, 100).map(lambda percent: percent / 100)


@st.composite
def many(draw: st.DrawFn) -> list[Candidate]:
    """Candidates with ids of their own."""
    numbers = draw(st.lists(st.integers(0, 10**6), unique=True, max_size=40))
    return [
        Candidate(f"r-{number:016x}", *draw(strata), turns=3, judged=draw(st.booleans()), recorded=draw(st.booleans()))
        for number in numbers
    ]


@st.composite
def samplings(draw: st.DrawFn) -> Sampling:
    quota, share = draw(
        st.one_of(st.tuples(st.integers(1, 20), st.none()), st.tuples(st.none(), shares), st.just((None, None)))
    )
    return Sampling(
        quota, share, tuple(draw(st.sets(st.sampled_from(["*/unresolved", "codex/*", "org/*/exit 1"])))), draw(seeds)
    )


def unjudged(candidates: list[Candidate]) -> list[Candidate]:
    return [msgspec.structs.replace(each, judged=False) for each in candidates]


def of(candidates: list[Candidate], stratum: Stratum) -> list[Candidate]:
    return [each for each in candidates if (each.harness, each.outcome) == (stratum.harness, stratum.outcome)]


def some(count: int, harness: str = "codex", outcome: str = "unresolved", judged: bool = False) -> list[Candidate]:
    return [Candidate(f"r-{harness}-{outcome}-{number}", harness, outcome, 3, judged, True) for number in range(count)]


@settings(deadline=None)
@given(st.data(), many(), samplings())
def test_the_order_in_which_runs_come_changes_nothing(
    data: st.DataObject, candidates: list[Candidate], by: Sampling
) -> None:
    assert select(data.draw(st.permutations(candidates)), by) == select(candidates, by)


@settings(deadline=None)
@given(many(), samplings())
def test_what_was_judged_before_changes_nothing_but_that_it_is_left_out(candidates: list[Candidate], by: Sampling) -> None:
    judged = {each.run for each in candidates if each.judged}
    assert select(candidates, by).runs == tuple(run for run in select(unjudged(candidates), by).runs if run not in judged)


@settings(deadline=None)
@given(many(), samplings())
def test_a_pass_that_is_planned_again_when_all_of_it_is_judged_selects_nothing(
    candidates: list[Candidate], by: Sampling
) -> None:
    first = set(select(candidates, by).runs)
    again = [msgspec.structs.replace(each, judged=each.judged or each.run in first) for each in candidates]
    assert select(again, by).runs == ()


@settings(deadline=None)
@given(many(), samplings())
def test_runs_without_a_record_are_never_selected_and_never_count(candidates: list[Candidate], by: Sampling) -> None:
    unrecorded = {each.run for each in candidates if not each.recorded}
    selection = select(candidates, by)
    assert unrecorded.isdisjoint(selection.runs)
    assert sum(stratum.unrecorded for stratum in selection.strata) == len(unrecorded)
    assert select([each for each in candidates if each.recorded], by).runs == selection.runs


@settings(deadline=None)
@given(many(), samplings())
def test_the_table_counts_what_there_is(candidates: list[Candidate], by: Sampling) -> None:
    selection = select(candidates, by)
    selected = Counter((each.harness, each.outcome) for each in candidates if each.run in selection.runs)
    for stratum in selection.strata:
        runs = of(candidates, stratum)
        assert stratum.candidates == sum(each.recorded for each in runs)
        assert stratum.judged == sum(each.recorded and each.judged for each in runs)
        assert stratum.candidates + stratum.unrecorded == len(runs)
        assert stratum.selected == selected[stratum.harness, stratum.outcome]
    assert sum(stratum.selected for stratum in selection.strata) == len(selection.runs)
    assert all(one < two for one, two in pairwise((each.harness, each.outcome) for each in selection.strata))


@settings(deadline=None)
@given(many(), st.integers(1, 20), seeds)
def test_a_quota_is_filled_in_each_stratum_and_not_passed(candidates: list[Candidate], quota: int, seed: int) -> None:
    for stratum in select(unjudged(candidates), Sampling(quota, None, (), seed)).strata:
        assert stratum.selected == min(quota, stratum.candidates)


@settings(deadline=None)
@given(many(), st.integers(1, 100), seeds)
def test_a_share_is_rounded_up_in_each_stratum(candidates: list[Candidate], percent: int, seed: int) -> None:
    for stratum in select(unjudged(candidates), read_sampling(share=f"{percent}%", seed=seed)).strata:
        assert stratum.selected == math.ceil(Fraction(percent, 100) * stratum.candidates)


@settings(deadline=None)
@given(many(), seeds)
def test_strata_that_are_always_judged_are_taken_whole(candidates: list[Candidate], seed: int) -> None:
    runs = select(unjudged(candidates), Sampling(1, None, ("*/unresolved",), seed)).runs
    assert {each.run for each in candidates if each.recorded and each.outcome == "unresolved"} <= set(runs)


@settings(deadline=None)
@given(many(), many(), samplings())
def test_more_runs_in_one_stratum_change_nothing_in_another(
    one: list[Candidate], two: list[Candidate], by: Sampling
) -> None:
    more = [msgspec.structs.replace(each, run=f"{each.run}-new", harness="codex", outcome="resolved") for each in two]
    others = {each.run for each in one if (each.harness, each.outcome) != ("codex", "resolved")}
    before, after = select(one, by).runs, select([*one, *more], by).runs
    assert [run for run in after if run in others] == [run for run in before if run in others]


@settings(deadline=None)
@given(many(), st.integers(1, 20), st.integers(0, 20), shares, shares, seeds)
def test_a_larger_sample_with_the_same_seed_contains_the_smaller_one(
    candidates: list[Candidate], quota: int, more: int, one: float, two: float, seed: int
) -> None:
    small, large = (set(select(candidates, Sampling(size, None, (), seed)).runs) for size in (quota, quota + more))
    assert small <= large
    small, large = (set(select(candidates, Sampling(None, size, (), seed)).runs) for size in sorted((one, two)))
    assert small <= large


def test_another_seed_draws_other_runs_and_each_run_equally_often() -> None:
    # 400 seeds, 5 of 20: each run 100 times, with a standard deviation of 8.7.
    drawn = Counter(run for seed in range(400) for run in select(some(20), Sampling(5, None, (), seed)).runs)
    assert len(drawn) == 20
    assert all(60 < times < 140 for times in drawn.values())


def test_a_seed_draws_the_same_runs_on_every_machine_and_in_every_version() -> None:
    # The least three of BLAKE2b with 16 bytes and the person "draw" over "7 r-codex-unresolved-0" to "…-9".
    assert sorted(select(some(10), Sampling(3, None, (), 7)).runs) == [
        "r-codex-unresolved-3",
        "r-codex-unresolved-6",
        "r-codex-unresolved-8",
    ]


def test_a_pass_that_is_stopped_has_judged_of_each_stratum_alike() -> None:
    large, small = some(2000, "codex"), some(100, "opencode")
    runs = select([*large, *small], Sampling(100, None, (), 7)).runs
    assert 30 <= sum(run.startswith("r-opencode") for run in runs[:100]) <= 70  # of 200, the standard deviation is 3.5


def test_seven_per_cent_of_a_hundred_are_seven() -> None:
    assert len(select(some(100), read_sampling(share="7%")).runs) == 7


def test_a_share_of_few_runs_takes_one() -> None:
    assert len(select(some(3), read_sampling(share="1%")).runs) == 1


def test_without_a_quota_all_are_selected() -> None:
    assert len(select([*some(9), *some(4, "opencode")], ALL).runs) == 13


def test_of_nothing_nothing_is_selected() -> None:
    assert select([], ALL) == Selection((), ())


def test_judged_runs_that_were_not_drawn_do_not_fill_the_quota() -> None:
    drawn = select(some(30), Sampling(10, None, (), 7)).runs
    by_hand = [msgspec.structs.replace(each, judged=each.run not in drawn) for each in some(30)]
    assert select(by_hand, Sampling(10, None, (), 7)) == Selection(drawn, (Stratum("codex", "unresolved", 30, 0, 20, 10),))


def test_a_quota_of_none_beside_always_judges_only_those() -> None:
    runs = select([*some(5), *some(5, outcome="resolved")], read_sampling(quota=0, always=["*/unresolved"])).runs
    assert sorted(runs) == [each.run for each in some(5)]


def test_a_harness_with_a_slash_in_its_name_is_matched_by_its_whole_name() -> None:
    both = [*some(5, "org/agent"), *some(5, "org")]
    runs = select(both, read_sampling(quota=1, always=["org/unresolved"])).runs
    assert Counter(run.rpartition("-unresolved")[0] for run in runs) == {"r-org": 5, "r-org/agent": 1}
    runs = select(both, read_sampling(quota=1, always=["org/agent/unresolved"])).runs
    assert Counter(run.rpartition("-unresolved")[0] for run in runs) == {"r-org": 1, "r-org/agent": 5}


def test_a_pattern_that_is_of_no_stratum_is_told() -> None:
    sampling = read_sampling(quota=1, always=["*/unresolve", "cod*/unresolved"])
    assert unmatched(select(some(2), sampling), sampling) == ("*/unresolve",)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("10%", 0.1),
        ("0.1", 0.1),
        (".5", 0.5),
        ("33.3%", 0.333),
        ("100%", 1.0),
        (" 2.5 % ", 0.025),
        ("1%", 0.01),
        ("5.%", 0.05),
    ],
)
def test_a_share_is_a_number_below_one_or_a_percentage(text: str, share: float) -> None:
    assert read_sampling(share=text).share == share


@pytest.mark.parametrize(
    "text",
    ["", "%", ".", "10", "1", "1.0", "0", "0%", "101%", "-5%", "ten", "nan", "inf", "1e-3", "10%%", "0,1", "٣%", "1/3"],
)
def test_a_share_that_is_none_is_refused_with_what_would_be_right(text: str) -> None:
    with pytest.raises(InputError, match=r"^--share .*as in 0\.1 or 10%$"):
        read_sampling(share=text)


def test_a_bare_one_is_refused_as_it_may_mean_one_per_cent() -> None:
    with pytest.raises(InputError, match=r"^--share 1: a share of 1 or more needs a percent sign"):
        read_sampling(share="1")


@pytest.mark.parametrize(
    ("sampling", "words"),
    [
        (
            Sampling(0, None, (), 0),
            r"^--quota 0: must be a whole number from 1, or 0 to judge only the strata of --always$",
        ),
        (Sampling(-1, None, ("*/unresolved",), 0), r"^--quota -1: must be"),
        (Sampling(None, 1.5, (), 0), r"^--share 1.5: must be above 0 and at most 1"),
        (Sampling(None, math.nan, (), 0), r"^--share nan: must be"),
        (Sampling(5, 0.1, (), 0), r"^--quota and --share both say .*; give one of them$"),
        (Sampling(None, None, (), -1), r"^--seed -1: must be a whole number from 0 to 9223372036854775807$"),
        (Sampling(None, None, (), 2**63), r"^--seed 9223372036854775808: must be"),
        (Sampling(None, None, ("unresolved",), 0), r"^--always unresolved: must be HARNESS/OUTCOME, as in '\*/unresolved'"),
        (Sampling(None, None, ("codex/",), 0), r"^--always codex/: must be"),
        (Sampling(None, None, ("/unresolved",), 0), r"^--always /unresolved: must be"),
    ],
)
def test_a_sampling_that_cannot_be_used_is_refused_by_its_option(sampling: Sampling, words: str) -> None:
    with pytest.raises(InputError, match=words):
        select([], sampling)
