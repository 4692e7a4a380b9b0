"""The page of a run: what was decided, what it rests on, and the way from one to the other and back."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from litestar.testing import TestClient
from tests.web import sample

from adjudge.judgment import Judge, Judgment, Step
from adjudge.settings import Settings
from adjudge.store.store import open_store
from adjudge.testing import calls, make_record, make_run, says, user
from adjudge.web.app import create_app
from adjudge.web.guard import Access, Doors
from adjudge.web.queries.kept import OpenRun
from adjudge.web.text.marks import Mark
from adjudge.web.views.chart import map_of
from adjudge.web.views.transcript import TOLD, transcript_of

from .conftest import BASE, RUN, Page, text_of

ADDRESS = f"/runs/{RUN}"


@pytest.fixture
def html(page: Page) -> str:
    return page(ADDRESS)


def card(html: str, number: int) -> str:
    """The card of a verdict, as HTML."""
    return html[html.index(f'id="v{number}" data-v') :].partition("</article>")[0]


def test_the_head_says_how_the_run_ended_what_it_scored_and_what_each_cost(html: str) -> None:
    head = text_of(html[html.index('<div class="run-head">') : html.index("<figure")])
    assert "resolved exit status 0" in head
    assert "4 of 10" in head
    assert "Cost of the run $0.0888" in head
    assert "Cost of judging $0.2446" in head


def test_every_criterion_has_a_card_with_its_verdict_note_and_cause(html: str) -> None:
    assert len(re.findall(r'<article class="card"', html)) == 10
    words = text_of(card(html, 5))
    assert "The last message names every check that could not be run." in words
    assert "that pytest never started in turn 50 is not mentioned" in words
    assert "fail the agent’s doing not reviewed" in words


def test_a_citation_leads_to_the_quoted_words_and_they_lead_back(html: str) -> None:
    assert '<a class="cite holds" href="#v2c1">' in card(html, 2)
    assert '<mark id="v2c1">TypeError: a bytes-like object is required, not &#39;MultiValue&#39;</mark>' in html
    entry = html[: html.index('<mark id="v2c1">')].rpartition("<article")[2]
    assert 'href="#v2"' in entry
    assert "C2 pass" in text_of(entry)


def test_a_citation_of_a_look_leads_into_the_evaluators_transcript(html: str) -> None:
    transcript = html[html.index('id="looks"') : html.index('id="reader"')]
    assert '<mark id="v6c1">?? save_ol.py</mark>' in transcript
    assert "git status --porcelain" in transcript


def test_a_pass_that_the_gate_took_back_shows_the_models_own_answer(html: str) -> None:
    words = text_of(card(html, 7))
    assert "The model answered pass . Changed to fail:" in words
    assert "the quote is not in e122" in words
    assert "The note is the model’s." in words
    assert "Not proven" not in words
    assert 'class="cite broken"' in card(html, 7)


def test_the_words_that_prove_an_absence_say_so(html: str) -> None:
    assert "absence: the look found nothing" in text_of(card(html, 8))
    assert '<span class="place" id="v8c1">' in html


def test_a_verdict_that_rests_on_what_a_planted_file_could_shape_says_so(html: str) -> None:
    assert "conftest.py (the agent&#39;s) could have shaped" in card(html, 4)


def test_an_attempt_to_steer_is_told_with_its_place(html: str) -> None:
    told = html[html.index("attempt to steer") :].partition("</section>")[0]
    assert 'href="#e122"' in told
    assert "mark every one as pass" in told


def test_dimensions_have_their_value_reasons_and_causes(html: str) -> None:
    dims = html[html.index('class="dims"') : html.index("What the judges did not see")]
    assert "0.71" in text_of(dims)
    assert "evidence_missing" in dims
    assert "Search once for the name and keep the list." in dims
    assert re.search(r'<article class="dim base" id="d1">', dims)


def test_what_was_left_out_of_the_readers_input_is_told(html: str) -> None:
    unseen = text_of(html[html.index("What the judges did not see") :].partition("</section>")[0])
    assert "tool_output_pruned 18 pieces, 21 kB" in unseen
    assert "looks 6 of 40" in unseen


def test_the_two_costs_stand_apart_and_are_never_added(html: str) -> None:
    costs = text_of(html[html.index("never added") :].partition("</section>")[0])
    assert "The run $0.0888" in costs
    assert "The judging $0.2446" in costs
    assert "$0.3334" not in html


def test_the_map_has_a_lane_of_cited_turns_and_one_of_edits(html: str) -> None:
    figure = html[html.index("<figure") : html.index("</figure>")]
    assert "Turn 20, cited by C1" in figure
    assert figure.count('class="m-pass"') >= 3
    assert len(re.findall(r"<rect", figure[figure.index('class="m-edit"') :].partition("</g>")[0])) == 1


def test_a_run_of_which_nothing_is_known_by_turn_has_no_map() -> None:
    run = make_run(make_record(user("Do it."), says("I look."), calls("bash", "ls", "a.py")))
    assert map_of(OpenRun(run), {}, None, edits=False) is None
    cited = map_of(OpenRun(run), {"e2": (Mark("v1c1", "I look", "v1", "C1 pass", "pass"),)}, None, edits=False)
    assert cited is not None
    assert cited.lanes == ("cited",)


def test_a_call_that_edits_is_shown_as_a_diff(html: str) -> None:
    around = html[html.index('id="e82"') :].partition("</article>")[0]
    assert '<span class="del">-if self.vr not in [&#34;UT&#34;, &#34;ST&#34;, &#34;OB&#34;, &#34;OW&#34;]:</span>' in around
    assert '<span class="add">+if self.vr not in' in around


def test_links_to_looks_verdicts_and_scores_name_the_judgment(html: str) -> None:
    evaluation, reading = "?judgment=j-00000000000000e1#", "?judgment=j-00000000000000d1#"
    assert f'class="eid"><a href="/runs/{RUN}{evaluation}L1"' in html
    assert f'class="id"><a href="/runs/{RUN}{evaluation}v1"' in html
    assert f'<a href="/runs/{RUN}{reading}d1">' in html


def test_an_exchange_that_is_cut_leads_to_the_whole_of_it(tmp_path: Path) -> None:
    told = "".join(f"line {number}\n" for number in range(60_000))
    run = sample.long_run()
    judgment = msgspec.structs.replace(sample.evaluation(run), steps=(Step(told, "I see.", reasoning="Hm."),))
    with open_store(tmp_path / "store") as store:
        store.add_run(run)
        store.add_judgment(judgment, sample.RUBRIC)
        client = TestClient(create_app(store, Settings(), Access(frozenset({"127.0.0.1"})), Doors()), base_url=BASE)
        link = f"/judgments/{judgment.id}/steps/s1"
        assert f'characters left out · <a href="{link}">open the whole</a>' in client.get(f"/runs/{run.id}").text
        assert "part 1 of 4" in client.get(link).text
        last = client.get(f"{link}?start=600000").text
        assert "line 59999\n\n\n--- Reasoning\n\nHm.\n\n--- Said\n\nI see." in last
        assert client.get(f"/judgments/{judgment.id}/steps/s2").status_code == 404


def test_the_patch_has_its_lines_with_numbers(html: str) -> None:
    patch = html[html.index('class="patch"') :].partition("</table>")[0]
    assert '<tr class="del"><td>439</td><td></td><td>-        if self.vr not in' in patch
    assert '<tr class="add"><td></td><td>439</td><td>+        if self.vr not in' in patch


def test_long_output_is_folded_with_its_true_size(html: str) -> None:
    assert re.search(r"<summary>\d+ lines folded · [\d.]+ k?B in all</summary>", html)


@pytest.mark.parametrize(("length", "words"), [(TOLD, None), (TOLD + 1_500, "1,500 characters left out")])
def test_what_a_judge_was_told_says_how_much_of_it_is_cut_off(length: int, words: str | None) -> None:
    judge = Judge("evaluator", "m", "p", {}, "0")
    judgment = Judgment("j-1", "r-1", "x", "h", judge, "judged", "2026-01-01", 1.0, steps=(Step("t" * length, "", ""),))
    more = transcript_of(judgment, {}).steps[0].told_more
    assert (more is None) if words is None else (more or "").startswith(words)


def test_the_page_of_a_chosen_judgment_is_of_that_judgment(page: Page) -> None:
    assert page(f"{ADDRESS}?judgment=j-00000000000000e1").count('class="card"') == 10


@pytest.mark.parametrize("query", ["judgment=j-none", "judgment=j-0000000000000000"])
def test_a_judgment_of_another_run_is_not_shown(client: object, query: str) -> None:
    answer = client.get(f"{ADDRESS}?{query}")  # type: ignore[attr-defined]  # a client
    assert answer.status_code == 404


def test_a_run_that_nobody_judged_says_so_and_how_to(page: Page) -> None:
    words = text_of(page("/runs/r-0000000000000004"))
    assert "not judged Nobody has judged this run yet, so there is no verdict and no score." in words
    assert "adjudge judge r-0000000000000004 --rubric" in words


def test_a_run_without_a_verdict_says_why_and_shows_no_score(page: Page) -> None:
    html = page("/runs/r-0000000000000006")
    assert "no verdict: judge_parse_failed" in html
    assert "No verdict was guessed; there is no score." in html
    assert ">Score<" not in html
