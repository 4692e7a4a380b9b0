"""Results, comparisons and figures of trust: the pages say what the judgments and reviews of a store come to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from litestar.testing import TestClient
from tests.conftest import RUBRIC as DIMENSIONS
from tests.passes.stored import CONDUCT, EVALUATOR, FILES, READER, SHOWN, a_run, add_pass, evaluated, read
from tests.web.test_hostile import HOSTILE, TAGS, Seen

from adjudge.errors import OutsideError
from adjudge.judgment import Judge, Score
from adjudge.reviews.values import Said
from adjudge.rubric import Rubric
from adjudge.run import Outcome, Run
from adjudge.settings import Settings
from adjudge.store.reviews import add_review
from adjudge.store.store import Store, open_store
from adjudge.web.app import create_app
from adjudge.web.guard import Access, Doors
from adjudge.wiring.reviews import trust

from .conftest import BASE, Client, text_of

AGENTS = ("codex", "opencode")
CODEX, OPENCODE = "codex=m-1", "opencode=m-1"


def inside(store: Store) -> Client:
    """A client of a store that needs no token."""
    return TestClient(create_app(store, Settings(), Access(frozenset({"127.0.0.1"})), Doors()), base_url=BASE)


class Site:
    """A store with a pass of an evaluator and one of a reader over two agents at four tasks, and a client."""

    def __init__(self, store: Store) -> None:
        self.store = store
        runs = [_run(number) for number in range(8)]
        # codex passes `tests` in all its runs, opencode in none; `notes` passes in every run.
        self.judgments = [evaluated(run, number % 2 == 0, True) for number, run in enumerate(runs[:7])]
        late = evaluated(runs[7], failure="timeout", reason="No answer.", calls=())
        self.evaluation = add_pass(store, FILES, EVALUATOR, runs, [*self.judgments, late])
        values = (0, 3, 0, 1, 0, 2)
        scores = [(Score("loop", each, f"It looped {each}.", (SHOWN,), worse=each > 0), FINE) for each in values]
        self.readings = [read(run, *each) for run, each in zip(runs, scores, strict=False)]
        self.readings.append(read(runs[6], LOST, LOST_TOO))
        self.reading = add_pass(store, CONDUCT, READER, runs, self.readings, {"strata": [STRATUM]})
        self.client: Client = TestClient(
            create_app(store, Settings(), Access(frozenset({"127.0.0.1"})), Doors()), base_url=BASE
        )

    def page(self, address: str) -> str:
        answer = self.client.get(address)
        assert answer.status_code == 200, answer.text[:2000]
        return answer.text

    def json(self, address: str) -> Any:
        answer = self.client.get(address)
        assert answer.status_code == 200, answer.text[:2000]
        return answer.json()

    def review(self, number: int, item: str, **answer: Any) -> None:
        given = {"reviewer": "Ada", "mode": "blind", **answer}
        add_review(self.store, Said(self.judgments[number].id, item, reason="e2 says so.", **given))


FINE = Score("gave_up_early", 0, "It went on.")
LOST = Score("loop", None, "It went around.", fault="evidence_missing")
LOST_TOO = Score("gave_up_early", None, "", fault="missing_reasoning")
STRATUM = {"harness": "codex", "outcome": "resolved", "candidates": 8, "unrecorded": 3, "judged": 0, "selected": 8}


def _run(number: int) -> Run:
    outcome = Outcome(0, "resolved" if number < 4 else "unresolved")
    return a_run(number, AGENTS[number % 2], task_name=f"task-{number // 2}", outcome=outcome, cost=0.25)


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_store(tmp_path_factory.mktemp("figures") / "store") as store:
        yield Site(store)


def row(html: str, name: str) -> str:
    """The words of a row of the first table."""
    table = html[html.index("<tbody>") : html.index("</tbody>")]
    return next(text_of(each) for each in table.split("<tr") if f">{name}<" in each)


# --- results


def test_results_say_what_is_judged_failed_empty_open_and_without_a_record(site: Site) -> None:
    words = text_of(site.page(f"/results/{site.evaluation}"))
    assert "7 of 8 judgments have an answer; 1 failed: 1 timeout." in words
    words = text_of(site.page(f"/results/{site.reading}"))
    assert "7 of 7 judgments have an answer, 1 of them empty, which is not clean; none failed." in words
    assert "1 of 8 selected runs are not judged yet." in words
    assert "3 more runs have no record and cannot be judged: that is not clean." in words


def test_costs_of_judging_and_of_the_runs_stand_apart(site: Site) -> None:
    words = text_of(site.page(f"/results/{site.evaluation}"))
    assert "Cost of judging $0.0700 1 not known" in words
    assert "Cost of the judged runs $2.0000 never added to judging" in words


def test_a_criterion_has_its_share_with_wilsons_interval_and_fails_by_cause(site: Site) -> None:
    words = row(site.page(f"/results/{site.evaluation}"), "tests")
    assert "4 of 7 pass, 0.25 to 0.84" in words  # R's binom.confint(4, 7, methods = "wilson"): 0.2505 to 0.8418
    assert "4 of 4 pass" in words  # codex
    assert "0 of 3 pass" in words  # opencode
    assert "3 the agent’s doing" in words


def test_a_dimension_has_how_often_each_value_was_given_and_what_has_none(site: Site) -> None:
    html = site.page(f"/results/{site.reading}")
    assert "3 of 6 worse, 0.19 to 0.81 1 at 1, 1 at 2, 1 at 3" in row(html, "loop")
    assert "1 evidence_missing" in row(html, "loop")
    assert "1 missing_reasoning" in row(html, "gave_up_early")


def test_a_bar_is_as_wide_as_what_it_stands_for(site: Site) -> None:
    html = site.page(f"/results/{site.reading}?by=task")
    svg = html[html.index('<svg class="dist"') :].partition("</svg>")[0]
    widths = {kind: float(width) for kind, width in re.findall(r'class="(\w+)" x="[\d.]+" y="0" width="([\d.]+)"', svg)}
    # Of seven judgments three are blameless, one each at 1, 2 and 3, and one lost its value: 98.4 left by four gaps of 0.4.
    assert widths == pytest.approx({"s0": 42.17, "s1": 14.06, "s2": 14.06, "s3": 14.06, "demoted": 14.06}, abs=0.01)


def test_the_worst_case_comes_first_and_leads_to_the_run_at_that_dimension(site: Site) -> None:
    html = site.page(f"/results/{site.reading}")
    cases = html[html.index("Worst cases of loop") :].partition("</table>")[0]
    hrefs = re.findall(r'class="main" href="([^"]+)"', cases)
    judgment = site.readings[1].id
    assert hrefs[0] == f"/runs/r-{1:016x}?judgment={judgment}#d1"
    assert f"/runs/r-{1:016x}?at=e2&amp;judgment={judgment}#d1c1" in cases
    assert "<q>3 passed</q>" in cases
    assert site.client.get(hrefs[0].partition("#")[0]).status_code == 200
    assert 'id="d1"' in site.page(hrefs[0].partition("#")[0])


def test_results_are_split_as_the_form_says(site: Site) -> None:
    html = site.page(f"/results/{site.evaluation}?by=task&by=outcome")
    assert '<input type="checkbox" name="by" value="task" checked>' in html
    assert '<input type="checkbox" name="by" value="harness">' in html
    section = text_of(html[html.index('id="i1"') :].partition("</table>")[0])
    assert "resolved task-0 2 1 of 2 pass" in section


def test_agreement_stands_beside_what_it_qualifies_and_is_not_yet_meaningful(site: Site) -> None:
    for number in range(4):
        site.review(number, "tests", passed=number % 2 == 0 or number == 1)
    site.review(5, "notes", mode="seen", approved=False)
    html = site.page(f"/results/{site.evaluation}")
    assert "not yet meaningful agree 3/4, 4 items" in row(html, "tests")
    assert "no blind review endorsed 0/1, verdict seen" in row(html, "notes")
    assert "under 20 items each, so not yet meaningful" in text_of(html)
    trust = text_of(html[html.index('id="trust-h"') :].partition("</table>")[0])
    assert "Blind agreement, raw not yet meaningful, under 20 4" in trust
    assert "Endorsement rate (the reviewer had seen the verdict) not yet meaningful, under 20 1" in trust


def test_figures_are_split_by_agent_and_by_judge(site: Site) -> None:
    for number in range(20, 42):
        site.store.add_run(run := a_run(number, AGENTS[number % 2]))
        site.store.add_judgment(judgment := evaluated(run, number % 4 < 2, True), FILES)
        if run.agent == "codex":
            passed = number % 4 < 2 or number == 22
            said = Said(judgment.id, "tests", "Ada", "blind", "e2 says so.", passed=passed)
            for reviewer in ("Ada", "Bea"):
                add_review(site.store, msgspec.structs.replace(said, reviewer=reviewer))
    site.review(1, "tests", passed=False)
    html = site.page(f"/results?rubric={FILES.hash}")
    words = text_of(html[html.index("Figures by agent and by judge") :].partition("</table>")[0])
    # Two said the same of 11 items of codex, so that 22 pairs are still of too few; one item of opencode.
    assert "By agent codex not yet meaningful, under 20 11 items" in words
    assert "opencode not yet meaningful, under 20 1 item" in words
    assert f"By judge openrouter/judge-a {EVALUATOR.hash[:12]} not yet meaningful, under 20 12 items" in words
    assert "agree 20/22" not in row(html, "tests")  # a column has no figure before that is meaningful
    told = site.json(f"/api/results?rubric={FILES.hash}")["agreement"]
    assert told["items_of"]["codex"]["tests"]["blind"]["pairs"] == 22
    assert [(each["key"]["judge_hash"], each["blind"]["items"]) for each in told["judges"]] == [(EVALUATOR.hash, 12)]


def test_a_run_shows_the_kappa_of_its_own_agent_once_that_is_meaningful(site: Site) -> None:
    # Of twenty runs of codex Ada and the judge agree in all but one: 10 pass for both, 9 fail for both. By chance
    # (10 * 11 + 10 * 9) / 400 would agree, so that kappa is (0.95 - 0.5) / 0.5 = 0.9.
    for number in range(50, 70):
        site.store.add_run(run := a_run(number, "codex"))
        site.store.add_judgment(judgment := evaluated(run, number % 2 == 0, True), FILES)
        passed = number % 2 == 0 or number == 51
        add_review(site.store, Said(judgment.id, "tests", "Ada", "blind", "e2 says so.", passed=passed))
    site.review(1, "tests", passed=True)
    site.store.add_run(other := a_run(70, "opencode"))
    site.store.add_judgment(evaluated(other, False, True), FILES)
    ours, others = (site.page(f"/runs/r-{number:016x}") for number in (50, 70))
    assert re.search(r"agree 19/20, κ 0\.90 \(0\.71 to 1\.00\), with codex", text_of(ours))
    # Whoever reads a run of opencode is told of all agents together, of which it is one.
    assert "agree 19/21, κ 0.81" in text_of(others)
    assert "with codex" not in text_of(others[others.index('id="v1"') :].partition("</article>")[0])
    assert "κ 0.90" in row(site.page(f"/results?rubric={FILES.hash}"), "tests")


def test_all_judgments_with_a_rubric_are_counted_and_several_judges_are_told(site: Site) -> None:
    other = Judge("evaluator", "openrouter/judge-b", "ef" * 32, {"looks": 40}, "0.1.0")
    site.store.add_judgment(evaluated(_run(0), False, False, judge=other, id="j-other"), FILES)
    words = text_of(site.page(f"/results?rubric={FILES.hash}"))
    assert "1 earlier judgment left out, since the latest of each run counts." in words
    assert "2 judges What differs between parts may be a difference between judges." in words
    alone = site.page(f"/results?rubric={FILES.hash}&judge={other.hash}")
    assert "1 of 1 judgment has an answer" in text_of(alone)
    assert "0 of 1 pass" in row(alone, "tests")


def test_the_list_has_every_pass_and_rubric_and_says_what_fills_it(site: Site, tmp_path: Path) -> None:
    html = site.page("/results")
    assert f'href="/results/{site.reading}"' in html
    assert f'href="/results?rubric={FILES.hash}"' in html
    with open_store(tmp_path / "store") as store:
        client = inside(store)
        for address in ("/results", "/compare"):
            assert "Nothing is judged yet" in client.get(address).text


def test_the_api_gives_the_same_results(site: Site) -> None:
    told = site.json(f"/api/results/{site.evaluation}?by=harness")
    detail = told["results"]["detail"]
    assert [(group["key"], group["criteria"][0]["passed"]) for group in detail["groups"]] == [
        ({"harness": "codex"}, 4),
        ({"harness": "opencode"}, 0),
    ]
    assert detail["worst"]["tests"][0]["quote"] == "3 passed"
    assert site.json("/api/results?rubric=conduct")["results"]["detail"]["whole"]["empty"] == 1


def test_results_are_counted_anew_when_something_landed(site: Site) -> None:
    assert "7 of 8 judgments" in text_of(site.page(f"/results?rubric={FILES.hash}"))
    site.store.add_run(a_run(20))
    site.store.add_judgment(evaluated(a_run(20), True, True), FILES)
    assert "8 of 9 judgments" in text_of(site.page(f"/results?rubric={FILES.hash}"))


# --- comparisons


def test_agents_are_columns_with_their_shares_and_the_difference_of_two(site: Site) -> None:
    html = site.page(f"/compare?pass={site.evaluation}")
    words = row(html, "tests")
    assert "4/4" in words
    assert "0/3" in words
    # Of three tasks that both have verdicts of, codex passes all and opencode none.
    assert "+100" in words or "−100" in words
    assert "3 tasks, not yet meaningful" in words
    assert "not yet meaningful" in text_of(html[html.index("<h1>") : html.index("<form")])


def test_each_agent_is_held_against_a_chosen_one(site: Site) -> None:
    site.store.add_run(third := a_run(30, "gemini", task_name="task-0"))
    site.store.add_judgment(evaluated(third, True, True), FILES)
    html = site.page(f"/compare?rubric={FILES.hash}&first=&against={OPENCODE}")
    assert row(html, "tests").count("not yet meaningful") == 2
    assert "+100" in row(html, "tests")


def test_a_cell_opens_two_runs_of_one_task_with_their_evidence(site: Site) -> None:
    html = site.page(f"/compare?pass={site.evaluation}")
    href = re.search(r'class="cell" href="(/compare/pair[^"]+item=tests[^"]+)"', html)
    assert href is not None
    pair = site.page(href[1].replace("&amp;", "&"))
    words = text_of(pair)
    assert "tests on one task, side by side" in words
    assert "1 of 3 tasks where A passes and B fails." in words or "1 of 3 tasks where A fails and B passes." in words
    assert pair.count("<q>3 passed</q>") == 4  # two runs, each cites it under both criteria
    assert f"/runs/r-{0:016x}?at=e2&amp;judgment={site.judgments[0].id}#v1c1" in pair
    assert 'data-key="]"' in pair


def test_the_api_gives_the_pair_that_a_page_shows(site: Site) -> None:
    query = f"?pass={site.evaluation}&item=tests&first={CODEX}&second={OPENCODE}"
    first, last = site.json(f"/api/compare/pair{query}"), site.json(f"/api/compare/pair{query}&at=99")
    # Three of four tasks have a verdict of both; codex passes `tests` in each, opencode in none.
    assert (first["at"], first["pairs"], first["says"], first["same_task"]) == (0, 3, "first", True)
    assert last["at"] == 2
    assert [each["agent"] for each in first["runs"]] == ["codex", "opencode"]
    page = site.page(f"/compare/pair{query}")
    assert [each["judgment"] for each in first["runs"] if each["judgment"] not in page] == []
    assert site.client.get(f"/api/compare/pair?pass={site.evaluation}&item=none&first={CODEX}").status_code == 404


def test_the_api_names_who_judged_with_a_rubric(site: Site) -> None:
    told = site.json(f"/api/judges?rubric={FILES.hash}")
    assert [(each["judge_hash"], each["kind"]) for each in told] == [(EVALUATOR.hash, "evaluator")]
    assert told[0]["judgments"] == 8


def test_the_api_gives_the_figures_of_trust_alone(site: Site) -> None:
    site.review(0, "tests", passed=True)
    told = site.json(f"/api/trust?rubric=files&judge={EVALUATOR.hash}")
    assert told == site.json(f"/api/results/{site.evaluation}")["agreement"]
    assert told["harnesses"]["codex"]["blind"]["pairs"] == 1


def test_the_exhibits_of_the_opened_criterion_stand_below_it(site: Site) -> None:
    pair = site.page(f"/compare/pair?pass={site.evaluation}&item=tests&first={CODEX}&second={OPENCODE}")
    opened = pair[pair.index('id="i1"') : pair.index('id="i2"')]
    assert opened.count("It is mended.") == 2  # the text of e2 of each run
    assert "It is mended." not in pair[pair.index('id="i2"') :]


def test_selected_runs_stand_side_by_side(site: Site) -> None:
    names = [f"r-{number:016x}" for number in (0, 1, 7)]
    html = site.page("/compare?" + "&".join(f"run={name}" for name in names) + f"&rubric={FILES.hash}")
    words = text_of(html)
    assert "3 runs side by side" in words
    assert "They are of different tasks, so that they are not one measure." in words
    assert "Their judgments differ in 1 of 2." in words
    assert "no verdict: timeout" in words


def test_runs_that_nobody_judged_say_so(site: Site) -> None:
    site.store.add_run(a_run(40, task="Another."))
    assert "None of them was judged with a rubric." in text_of(site.page(f"/compare?run=r-{40:016x}"))


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/compare?" + "&".join(f"run=r-{number:016x}" for number in range(7)), "at most 6 runs are put side by side"),
        ("/compare?run=r-none", "there is no run"),
        ("/compare?rubric=none", "no stored judgment was made with it"),
        ("/compare?pass=p-none", "there is no pass"),
        ("/results/p-none", "there is no pass"),
        (f"/compare/pair?rubric={FILES.hash}&item=none&first={CODEX}&second={OPENCODE}", "asks nothing called"),
        (
            f"/compare/pair?rubric={FILES.hash}&item=tests&first=nobody&second={OPENCODE}",
            "there is no judged run of nobody",
        ),
        ("/api/compare", "name a rubric, or passes"),
    ],
)
def test_what_is_not_there_is_told_in_a_sentence(site: Site, address: str, words: str) -> None:
    answer = site.client.get(address)
    assert answer.status_code == 404
    assert words in answer.text


def test_judgments_of_several_judges_are_compared_only_if_that_is_asked_for(site: Site) -> None:
    other = Judge("evaluator", "openrouter/judge-b", "ef" * 32, {"looks": 40}, "0.1.0")
    site.store.add_judgment(evaluated(_run(1), True, False, judge=other, id="j-other"), FILES)
    html = site.page(f"/compare?rubric={FILES.hash}")
    assert "A difference between agents may be one between judges." not in html
    assert "0/3" in row(html, "tests")
    both = site.page(f"/compare?rubric={FILES.hash}&judge=all")
    assert "A difference between agents may be one between judges." in both
    assert "1/3" in row(both, "tests")


def test_the_api_compares_and_puts_runs_side_by_side(site: Site) -> None:
    told = site.json(f"/api/compare?pass={site.evaluation}&against={CODEX}")
    assert [agent["who"] for agent in told["agents"]] == [OPENCODE, CODEX]
    assert {each["first"] for each in told["contrasts"]} == {OPENCODE}
    beside = site.json(f"/api/compare/runs?run=r-{0:016x}&run=r-{7:016x}&rubric={FILES.hash}")
    assert [len(each["verdicts"]) for each in beside] == [2, 0]


# --- trust on the page of a run


def test_a_runs_cards_say_how_far_reviewers_agree_and_what_that_is_once(site: Site) -> None:
    for number in range(4):
        site.review(number, "tests", passed=number != 1 and number % 2 == 0)
    site.review(0, "notes", mode="seen", reviewer="Bea", approved=True)
    site.page(f"/results/{site.evaluation}")  # counts them, so that the page of the run need not
    html = site.page(f"/runs/r-{0:016x}")
    card = text_of(html[html.index('id="v1" data-v') :].partition("</article>")[0])
    assert "agree 4/4 1 review" in card
    card = text_of(html[html.index('id="v2" data-v') :].partition("</article>")[0])
    assert "endorsed 1/1 1 review" in card
    assert text_of(html).count("under 20 items each, so not yet meaningful") == 1
    assert "Blind agreement 4/4 not yet meaningful, 4 items" in text_of(html)


def test_a_runs_page_says_where_nobody_reviewed(site: Site) -> None:
    site.page(f"/results/{site.evaluation}")
    html = site.page(f"/runs/r-{0:016x}")
    assert "The evaluator : nobody has reviewed this judge with this rubric yet" in text_of(html).replace(
        "evaluator:", "evaluator :"
    )
    assert "not reviewed" in text_of(html[html.index('id="v1" data-v') :].partition("</article>")[0])


def test_the_figures_of_a_runs_judge_are_a_piece_of_their_own(site: Site) -> None:
    site.review(0, "tests", passed=True)
    site.page(f"/results/{site.evaluation}")
    assert "Blind agreement, raw" in text_of(site.page(f"/runs/r-{0:016x}/trust/evaluator"))
    assert site.client.get(f"/runs/r-{0:016x}/trust/nobody").status_code in (400, 404)


def test_agreement_over_the_api_is_split_and_scoped(site: Site) -> None:
    site.review(0, "tests", passed=True)
    site.review(1, "tests", passed=True)
    told = site.json("/api/agreement?by=harness&rubric=files")
    assert {group["key"]["harness"]: group["blind"]["pairs"] for group in told["groups"]} == {"codex": 1, "opencode": 1}


# --- hostile words


@pytest.mark.parametrize("payload", HOSTILE)
def test_nothing_hostile_becomes_part_of_a_page_of_figures(payload: str, tmp_path: Path) -> None:
    with open_store(tmp_path / "store") as store:
        more: dict[str, Any] = {"model": payload, "task_name": payload, "outcome": Outcome(1, detail=payload)}
        runs = [a_run(number, f"{payload}{number}", **more) for number in range(2)]
        _ = [
            a_run(n, f"{payload}{n}", model=payload, task_name=payload, outcome=Outcome(1, detail=payload))
            for n in range(2)
        ]
        judge = Judge("evaluator", payload, "ab" * 32, {}, "0.1.0")
        verdict = evaluated(runs[0], False, True).verdicts
        said = tuple(type(each)(each.criterion, each.passed, payload, each.holdings, each.cause) for each in verdict)
        judgments = [evaluated(run, False, True, judge=judge, verdicts=said) for run in runs]
        identifier = add_pass(store, FILES, judge, runs, judgments)
        add_review(store, Said(judgments[0].id, "tests", "Ada", "blind", payload + " and words", passed=False))
        client = inside(store)
        pair = {"pass": identifier, "item": "tests", "first": f"{payload}0={payload}", "second": f"{payload}1={payload}"}
        asked: list[tuple[str, dict[str, Any]]] = [
            ("/results", {}),
            (f"/results/{identifier}", {"by": ["harness", "task"]}),
            ("/compare", {}),
            ("/compare", {"pass": identifier}),
            ("/compare/pair", pair),
            ("/compare", {"run": [run.id for run in runs]}),
        ]
        for path, query in asked:
            answer = client.get(path, params=query)
            assert answer.status_code == 200, (path, answer.text[-300:])
            seen = Seen()
            seen.feed(answer.text)
            assert seen.tags <= TAGS | {"fieldset", "legend"}, (path, seen.tags - TAGS)
            assert seen.handlers == [], path
            assert seen.inside_script == "", path
            assert [lead for lead in seen.leads if not lead.startswith(("/", "#", "?"))] == [], path
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", answer.text), path


def test_a_judge_without_dimensions_of_the_readers_rubric_is_not_mixed_in(site: Site) -> None:
    assert site.client.get(f"/results?rubric={DIMENSIONS.hash}").status_code == 404


def test_a_damaged_rubric_does_not_hide_how_far_another_can_be_trusted(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Store.rubric

    def damaged(self: Store, hash: str) -> Rubric:
        if hash != FILES.hash:
            raise OutsideError(f"rubric {hash}: is damaged")
        return whole(self, hash)

    before = trust(site.store, FILES.hash, None)
    monkeypatch.setattr(Store, "rubric", damaged)
    assert trust(site.store, FILES.hash, None) == before
    with pytest.raises(OutsideError, match="is damaged"):
        trust(site.store, CONDUCT.hash, None)
