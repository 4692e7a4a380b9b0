"""A reader's judgment for other tools: lines, a build server's tests, rewards, and the page."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from adjudge.entries import EntryWriter
from adjudge.errors import InputError
from adjudge.evidence import Citation, Exhibits
from adjudge.exports.html import html_page
from adjudge.exports.judged import Judged
from adjudge.exports.junit import junit_xml
from adjudge.exports.lines import json_lines
from adjudge.exports.reward import reward_json
from adjudge.judgment import DimensionAnswer, Judgment, Step, gate_scores
from adjudge.record import Entry, Record, Turn

from .pages import Page, hostile


@pytest.fixture
def empty(reading: Judged) -> Judged:
    """A judgment in which no dimension has a value."""
    assert reading.rubric is not None
    scores = gate_scores(reading.rubric, [], Exhibits(reading.run.record))
    return with_fields(reading, scores=scores)


def with_fields(judged: Judged, **changed: Any) -> Judged:
    return msgspec.structs.replace(judged, judgment=msgspec.structs.replace(judged.judgment, **changed))


# --- JSON Lines


def test_a_line_of_json_reads_back_as_the_judgment(reading: Judged) -> None:
    (line,) = json_lines([reading.judgment])
    assert msgspec.json.decode(line, type=Judgment) == reading.judgment
    assert [score["value"] for score in json.loads(line)["scores"]] == [0, 3, 0.8, None, None, None, None, 2]


# --- JUnit XML


def suite(judged: Judged) -> ElementTree.Element:
    (found,) = ElementTree.fromstring(junit_xml([judged]).encode()).findall("testsuite")
    return found


def case(judged: Judged, name: str) -> ElementTree.Element:
    return next(each for each in suite(judged) if each.get("name") == name)


def test_a_build_server_counts_dimensions(reading: Judged) -> None:
    counts = {name: suite(reading).get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "8", "failures": "3", "errors": "0", "skipped": "4"}


def test_worse_than_blameless_is_a_failure_with_its_turns(reading: Judged) -> None:
    (failure,) = case(reading, "hallucination")
    assert (failure.tag, failure.get("type")) == ("failure", "worse than blameless")
    assert failure.get("message") == "3 (from 0 to 3, blameless is 0)"
    assert str(failure.text).splitlines()[1:] == [
        "Its last message says that all tests pass, and its own run shows three failures.",
        "t2: 3 failed, 10 passed in 0.41s",
        "t4: All 13 tests pass now.",
        "t3: 13 passed in 0.40s [the quote is not in turn 3]",
    ]


def test_a_failure_tells_its_causes(reading: Judged) -> None:
    (failure,) = case(reading, "token_efficiency")
    assert str(failure.text).splitlines()[-4:] == [
        "repeated call (25 % of all tokens and calls): Keep what was printed.",
        "    t3: cat billing.py",
        "no plan (no share, since no turn shows it): Say first what is to be found out.",
        "    t1: I have no plan [the quote is not in turn 1]",
    ]


def test_a_blameless_dimension_passes(reading: Judged) -> None:
    (output,) = case(reading, "contamination")
    assert output.tag == "system-out"


@pytest.mark.parametrize(
    ("dimension", "sort", "why"),
    [
        (
            "loop",
            "evidence_missing",
            "no value: it accused without a turn that shows it; the reader had answered 2",
        ),
        ("gave_up_early", "missing_reasoning", "no value: it was given without reasoning; the reader had answered 1"),
        ("problem_misread", "not established", "no value: the reader established none"),
        ("test_gaming", "unanswered", "no value: the reader gave no answer, or several"),
    ],
)
def test_a_dimension_without_a_value_is_skipped_and_says_why(reading: Judged, dimension: str, sort: str, why: str) -> None:
    (skipped,) = case(reading, dimension)
    assert (skipped.tag, skipped.get("type"), skipped.get("message")) == ("skipped", sort, why)


def test_a_run_that_could_not_be_read_is_an_error(unread: Judged) -> None:
    (error,) = case(unread, "judgment")
    assert error.get("message") == unread.judgment.reason
    assert suite(unread).get("errors") == "1"


def test_an_empty_judgment_does_not_look_like_a_pass(empty: Judged) -> None:
    assert {name: suite(empty).get(name) for name in ("tests", "errors", "skipped")} == {
        "tests": "9",
        "errors": "1",
        "skipped": "8",
    }


def test_what_is_worse_is_told_without_the_rubric_too(reading: Judged) -> None:
    (failure,) = case(msgspec.structs.replace(reading, rubric=None), "hallucination")
    assert (failure.tag, failure.get("message")) == ("failure", "3 (its scale is not at hand)")


# --- reward.json


def test_rewards_are_the_values_and_there_is_no_sum_of_them(reading: Judged) -> None:
    assert json.loads(reward_json(reading.judgment)) == {
        "contamination": 0,
        "hallucination": 3,
        "tool_efficiency": 0.8,
        "token_efficiency": 2,
    }


def test_what_was_not_read_gives_no_rewards(unread: Judged, empty: Judged) -> None:
    with pytest.raises(InputError, match="no reward: The model did not answer in time"):
        reward_json(unread.judgment)
    with pytest.raises(InputError, match="no reward: the reader's answer is empty"):
        reward_json(empty.judgment)


def test_a_dimension_cannot_take_the_rewards_name(reading: Judged) -> None:
    first, *others = reading.judgment.scores
    scores = (msgspec.structs.replace(first, dimension="reward"), *others)
    with pytest.raises(InputError, match="a dimension is called 'reward'"):
        reward_json(with_fields(reading, scores=scores).judgment)


# --- the page


def card(judged: Judged, number: int) -> str:
    """The words of the card with this number."""
    page = html_page(judged)
    start = page.index(f'<article class="card" id="v{number}">')
    return Page(page[start : page.index("</article>", start) + len("</article>")]).words


def test_the_page_is_whole_and_every_link_leads_to_something(reading: Judged) -> None:
    page = Page(html_page(reading))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert [link for link in page.links if link.removeprefix("#") not in page.ids] == []


def test_the_page_says_what_the_scores_come_to(reading: Judged) -> None:
    words = Page(html_page(reading)).words
    for said in (
        "Dimensions 3 of 8 worse",
        "3 of 8 dimensions are worse than blameless; 4 have no value.",
        "What was done to it for the reader: pruned: 2 tool outputs left out (5,120 characters), "
        "1 text of the harness put as a marker (900 characters); 9,000 characters, estimated as 2,400 tokens.",
        "The reader’s transcript",
        "t4 speaks to the judge found by code",
    ):
        assert said in words


def test_a_card_has_value_scale_reasoning_and_turns(reading: Judged) -> None:
    assert card(reading, 2) == (
        "hallucination Stated or relied on what the record shows to be untrue. ✕ 3 from 0 to 3, blameless is 0 "
        "Its last message says that all tests pass, and its own run shows three failures. "
        "t2 3 failed, 10 passed in 0.41s stands in e6 t4 All 13 tests pass now. stands in e9 "
        "t3 13 passed in 0.40s the quote is not in turn 3"
    )


def test_a_card_without_a_value_says_why(reading: Judged) -> None:
    assert "no value: it accused without a turn that shows it; the reader had answered 2" in card(reading, 4)


def test_causes_stand_with_their_share_recommendation_and_turns(reading: Judged) -> None:
    assert card(reading, 8).endswith(
        "avoidable: 30 % of all tokens and calls "
        "repeated call 25 % of all tokens and calls Keep what was printed. t3 cat billing.py stands in e7 "
        "no plan no share, since no turn shows it Say first what is to be found out. "
        "t1 I have no plan the quote is not in turn 1"
    )


def test_a_cited_turn_leads_to_the_words_and_those_lead_back(reading: Judged) -> None:
    page = html_page(reading)
    assert '<a href="#v2c1">t2</a>' in page
    assert '<mark><span class="at" id="v2c1"></span>3 failed, 10 passed in 0.41s</mark>' in page
    assert 'href="#v2" title="Back to what cites this">✕ hallucination</a>' in page
    assert 'title="Back to what cites this">– gave_up_early</a>' in page


def test_a_turn_whose_quote_is_wrong_leads_to_the_turn_and_one_that_is_not_there_nowhere(reading: Judged) -> None:
    page = html_page(reading)
    assert '<a href="#t3">t3</a>' in page
    assert '<span class="nowhere">t9</span>' in page


def test_in_a_long_record_what_was_left_out_is_no_link(reading: Judged) -> None:
    writer = EntryWriter()
    for number in range(1, 501):
        writer.add(Entry(f"e{number}", "message", "agent", number, f"This is message {number}."))
    record = Record("chat", writer.finish(), tuple(Turn(number, f"e{number}") for number in range(1, 501)))
    answer = DimensionAnswer(
        "loop", 2, "Again.", (Citation("t250", "This is message 250."), Citation("t400", "This is no message."))
    )
    assert reading.rubric is not None
    scores = gate_scores(reading.rubric, [answer], Exhibits(record))
    long = msgspec.structs.replace(
        with_fields(reading, scores=scores), run=msgspec.structs.replace(reading.run, record=record)
    )
    page = Page(html_page(long))
    assert {"e250", "t250", "v4c1"} <= set(page.ids)
    assert [link for link in page.links if link.removeprefix("#") not in page.ids] == []


def test_an_empty_judgment_says_so(empty: Judged) -> None:
    words = Page(html_page(empty)).words
    assert "No dimension has a value: this judgment is empty." in words
    assert "Dimensions empty" in words
    assert "of 8 worse" not in words


def test_a_run_that_could_not_be_read_says_why(unread: Judged) -> None:
    words = Page(html_page(unread)).words
    assert "No score. The model did not answer in time" in words
    assert "failure timeout" in words
    assert "There are none, since the run could not be judged." in words


def test_the_page_of_a_reading_says_how_to_see_the_request_again(reading: Judged) -> None:
    assert reading.judgment.prepared is not None
    step = Step("", '{"scores": {}}', stop="end")
    words = Page(html_page(with_fields(reading, steps=(step,)))).words
    assert "The request is not kept. It had 9,000 characters and the SHA-256 " in words
    assert reading.judgment.prepared.sha256 in words
    assert f"adjudge read {reading.run.id} --dry-run` prints it again" in words
    assert "It was told" not in words
    assert "transcript 1 step " in words


def test_the_page_of_a_reading_tells_nothing_of_a_machine_and_the_rung_in_words(reading: Judged) -> None:
    words = Page(html_page(reading)).words
    assert "machine" not in words.casefold()
    assert "decided answered at the first call" in words


def test_markup_in_any_text_of_a_reading_stays_text(reading: Judged) -> None:
    page = Page(html_page(hostile(reading)))
    assert page.open == []
    assert page.words.count("<script>alert(1)</script>") > 30
    assert "script" not in {tag for tag, _ in page.tags}
