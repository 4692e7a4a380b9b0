"""Reviewing in the browser: nothing of the judge's side before the reviewer's own answer, all of it afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from litestar.testing import TestClient
from tests.conftest import RUBRIC as DIMENSIONS
from tests.web import sample

from adjudge.judgment import Judgment, Score, Verdict
from adjudge.reviews.values import Said
from adjudge.settings import Settings
from adjudge.store.reviews import add_review, reviews_of
from adjudge.store.store import Store, open_store
from adjudge.web.app import create_app
from adjudge.web.guard import Doors
from adjudge.web.views.review import notes_of

from .conftest import ACCESS, BASE, TOKEN, Client, text_of

RUN = sample.long_run()
EVALUATION, READING = sample.evaluation(RUN), sample.reading(RUN)
CHANGE = {"x-adjudge": "1", "content-type": "application/json"}
ITEM = f"/review/{EVALUATION.id}/saves"


def client_of(store: Store, reviewer: str | None = None) -> Client:
    client = TestClient(create_app(store, Settings(reviewer="Ada"), ACCESS, Doors()), base_url=BASE)
    client.headers["authorization"] = f"Bearer {TOKEN}"
    if reviewer:
        assert client.put("/api/reviewer", json={"name": reviewer}, headers=CHANGE).status_code == 200
    return client


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store") as store:
        store.add_run(RUN)
        store.add_judgment(EVALUATION, sample.RUBRIC)
        store.add_judgment(READING, DIMENSIONS)
        yield store


def send(client: Client, address: str, **given: Any) -> Any:
    answer = client.post(f"/api{address}", json={"reviewer": "Bea", "reason": "e40 shows it."} | given, headers=CHANGE)
    assert answer.status_code == 201, answer.text
    return answer.json()


# --- blind


def opposite(judgment: Judgment) -> Judgment:
    """The same judgment with the contrary of each answer, other citations, notes, doubts and costs."""
    verdicts = tuple(
        Verdict(
            verdict.criterion,
            not verdict.passed,
            f"contrary of {verdict.note}",
            cause=None if not verdict.passed else "agent",
        )
        for verdict in judgment.verdicts
    )
    scores = tuple(
        Score(score.dimension, None if score.value else 1.0, "contrary", worse=not score.worse) for score in judgment.scores
    )
    nothing: dict[str, Any] = dict.fromkeys(("steering", "looks", "steps", "tampering"), ())
    return msgspec.structs.replace(judgment, verdicts=verdicts, scores=scores, summary="", decided="forced", **nothing)


def seen_of(folder: Path, judgments: tuple[tuple[Judgment, Any], ...], paths: tuple[str, ...]) -> dict[str, str]:
    with open_store(folder) as store:
        store.add_run(RUN)
        for judgment, rubric in judgments:
            store.add_judgment(judgment, rubric)
        add_review(
            store, Said(EVALUATION.id, "saves", "Cid", "blind", "So it is.", passed=not judgments[0][0].verdicts[2].passed)
        )
        client = client_of(store, "Bea")
        return {path: client.get(path).text for path in paths}


def test_while_blind_no_byte_differs_whatever_the_judge_said(tmp_path: Path) -> None:
    """Pages, pieces and the API over two stores in which the judge says the contrary, byte by byte."""
    sitting = "order=random&seed=5"
    items = [f"{EVALUATION.id}/{verdict.criterion}" for verdict in EVALUATION.verdicts]
    items += [f"{READING.id}/{score.dimension}" for score in READING.scores]
    paths = [f"/review/{item}?{sitting}" for item in items]
    paths += [f"/review/{item}/entries?start=0&end=30&{sitting}" for item in items[:1] + items[-1:]]
    paths += [f"/review/{items[0]}?q=pytest&{sitting}", f"/review?{sitting}", f"/api/review?{sitting}&reviewer=Bea"]
    paths += [f"/api/review/{item}?reviewer=Bea" for item in items]
    said = ((EVALUATION, sample.RUBRIC), (READING, DIMENSIONS))
    contrary = tuple((opposite(judgment), rubric) for judgment, rubric in said)
    first, second = (seen_of(tmp_path / name, each, tuple(paths)) for name, each in (("a", said), ("b", contrary)))
    assert [path for path in paths if first[path] != second[path]] == []
    assert all("status" not in text[:20] for text in first.values())


def test_while_blind_nothing_of_the_judge_or_of_others_stands_on_the_page(kept: Store) -> None:
    add_review(kept, Said(EVALUATION.id, "saves", "Cid", "blind", "Cid saw three saves.", passed=True))
    html = client_of(kept, "Bea").get(f"{ITEM}?order=disagreement").text
    for words in (
        *(
            "Three saves, three lines",
            "OL saved\nOD saved",
            "Cid",
            EVALUATION.summary[:30],
            "disagreement:",
            "uncertain",
            "<mark",
        ),
        *('class="back"', 'class="cite', 'class="card', "L5", "evaluator", "strong-model"),
    ):
        assert words not in html, words
    text = text_of(html)
    assert "On the machine, saving bytes with a backslash under OL raises nothing." in text
    assert "What the judge said is hidden" in text


def test_the_record_of_a_blind_page_does_not_lead_to_the_run_page(kept: Store) -> None:
    html = client_of(kept, "Bea").get(ITEM).text
    leads = set(re.findall(r'(?:href|data-load|action)="(/[^"#?]*)', html))
    assert not [lead for lead in leads if lead.startswith("/runs/") and "/exhibits/" not in lead]


def test_an_answer_shows_the_judges_side_at_the_same_address(kept: Store) -> None:
    client = client_of(kept, "Bea")
    said = send(client, f"{ITEM}?order=random&seed=5", verdict="fail")
    assert said["href"] == f"{ITEM}?order=random&seed=5"
    assert (said["review"]["mode"], said["review"]["passed"], said["review"]["picked"]) == ("blind", False, "random")
    html = client.get(said["href"]).text
    text = text_of(html)
    assert "Three saves, three lines, exit status 0." in text
    assert "You differ on the verdict" in text
    assert re.search(r'<mark id="judgec1">OL saved</mark>', html)
    assert "e40 shows it." in text


def test_what_the_gate_changed_is_said_afterwards(kept: Store) -> None:
    client, path = client_of(kept, "Bea"), f"/review/{EVALUATION.id}/as-written"
    assert "changed by the gate" not in client.get(path).text
    send(client, path, verdict="fail")
    text = text_of(client.get(path).text)
    assert "Its model pass changed by the gate" in text
    assert "You agree on the verdict" in text


def test_a_score_is_answered_with_a_value_and_compared(kept: Store) -> None:
    client, path = client_of(kept, "Bea"), f"/review/{READING.id}/loop"
    assert [value in client.get(path).text for value in ('value="0" data-key="0"', 'value="3" data-key="3"')] == [
        True,
        True,
    ]
    send(client, path, value=3)
    assert "You differ on the value" in text_of(client.get(path).text)
    assert "Near-identical searches between turns 2 and 19." in text_of(client.get(path).text)


def test_a_ratio_is_typed(kept: Store) -> None:
    client, path = client_of(kept, "Bea"), f"/review/{READING.id}/tool_efficiency"
    assert 'type="number" name="value" data-as="number" required min="0" max="1" step="any"' in client.get(path).text
    assert send(client, path, value=0.5)["review"]["value"] == 0.5


VERDICTS = {verdict.criterion: verdict.passed for verdict in EVALUATION.verdicts}


@pytest.mark.parametrize("same", [True, False])
def test_an_answer_after_the_judges_side_was_shown_is_kept_as_seen_and_says_why(kept: Store, same: bool) -> None:
    client = client_of(kept, "Bea")
    assert client.get(f"{ITEM}?seen=true").status_code == 200
    told = send(client, ITEM, verdict="pass" if VERDICTS["saves"] == same else "fail")
    assert (told["review"]["mode"], told["review"]["approved"]) == ("seen", same)
    assert "had been shown what the judge said" in told["why"]
    (review,) = reviews_of(kept, EVALUATION.id)
    assert (review.mode, review.passed, review.worse) == ("seen", None, None)
    figures = client.get(f"/api/agreement?judgment={EVALUATION.id}").json()["whole"]
    assert (figures["blind"]["pairs"], figures["endorsement"]["reviews"]) == (0, 1)


def test_a_blank_beside_a_name_makes_nobody_else_of_it(kept: Store) -> None:
    client = client_of(kept, "Bea")
    assert client.get(f"/api{ITEM}", params={"reviewer": " Bea ", "seen": "true"}).json()["shown"] is True
    assert send(client, ITEM, verdict="pass")["review"]["mode"] == "seen"


def test_a_value_after_the_judges_side_was_shown_is_an_endorsement_or_none(kept: Store) -> None:
    client = client_of(kept)
    address = f"/review/{READING.id}/loop"
    (score,) = (each for each in READING.scores if each.dimension == "loop")
    assert client.get(f"/api{address}?reviewer=Bea&seen=true").json()["shown"] is True
    off = client.post(f"/api{address}", json={"reviewer": "Bea", "reason": "So.", "value": 77}, headers=CHANGE)
    assert off.status_code == 400  # as it would be of one who is blind
    assert send(client, address, value=score.value)["review"]["approved"] is True


def test_who_was_shown_the_judges_side_finds_it_open_and_nobody_else_does(kept: Store) -> None:
    client = client_of(kept, "Bea")
    client.get(f"{ITEM}/entries?start=0&end=3&seen=true")
    html = client.get(ITEM).text
    assert "What the judge said" in html
    assert "your answer is no longer blind" in html
    assert "your answer is no longer blind" not in client.get(f"/review/{EVALUATION.id}/suite").text
    assert client.get(f"/api{ITEM}?reviewer=Bea").json()["shown"] is True
    assert "answered" not in client.get(f"/api{ITEM}?reviewer=Cid").json()
    assert send(client, ITEM, reviewer="Cid", verdict="pass")["why"] is None


def test_who_answered_blind_and_looked_then_has_been_blind(kept: Store) -> None:
    client = client_of(kept, "Bea")
    send(client, ITEM, verdict="pass")
    client.get(f"{ITEM}?seen=true")
    assert client.get(f"/api{ITEM}?reviewer=Bea").json().get("shown", False) is False
    assert [review.mode for review in reviews_of(kept, EVALUATION.id)] == ["blind"]


def test_who_read_all_reviews_of_a_judgment_is_blind_to_none_of_its_reviewed_items(kept: Store) -> None:
    client = client_of(kept)
    send(client, ITEM, reviewer="Cid", verdict="pass")
    client.get(f"/api/judgments/{EVALUATION.id}/reviews?reviewer=Bea&seen=true")
    assert send(client, ITEM, verdict="pass")["review"]["mode"] == "seen"
    assert send(client, f"/review/{EVALUATION.id}/suite", verdict="pass")["review"]["mode"] == "blind"


def test_reviews_of_a_judgment_are_those_of_what_the_reviewer_has_answered(kept: Store) -> None:
    client = client_of(kept)
    reviews = f"/api/judgments/{EVALUATION.id}/reviews"
    for reviewer in ("Cid", "Dee"):
        for item in ("saves", "suite"):
            send(client, f"/review/{EVALUATION.id}/{item}", reviewer=reviewer, verdict="pass")
    assert client.get(reviews).json() == {"judgment": EVALUATION.id, "reviews": [], "hidden": {"saves": 2, "suite": 2}}
    assert "e40 shows it." not in client.get(f"{reviews}?reviewer=Bea").text
    send(client, ITEM, verdict="fail")
    told = client.get(f"{reviews}?reviewer=Bea").json()
    assert [(each["reviewer"], each["item"]) for each in told["reviews"]] == [
        ("Cid", "saves"),
        ("Dee", "saves"),
        ("Bea", "saves"),
    ]
    assert told["hidden"] == {"suite": 2}
    assert len(client.get(f"{reviews}?seen=true").json()["reviews"]) == 5
    assert client.get("/api/judgments/j-none/reviews").status_code == 404


# --- having seen it


def test_from_the_runs_page_a_card_leads_to_its_review_which_is_an_endorsement(kept: Store) -> None:
    client = client_of(kept, "Bea")
    assert f'href="{ITEM}?seen=true"' in client.get(f"/runs/{RUN.id}").text
    text = text_of(client.get(f"{ITEM}?seen=true").text)
    assert "Three saves, three lines" in text
    assert "This is an endorsement" in text
    said = send(client, ITEM, approval="approve")
    assert (said["review"]["mode"], said["review"]["approved"]) == ("seen", True)
    assert said["href"] == f"/runs/{RUN.id}?judgment={EVALUATION.id}"


def test_a_review_takes_the_place_of_an_earlier_one_and_both_are_shown(kept: Store) -> None:
    client = client_of(kept, "Bea")
    first = send(client, ITEM, verdict="pass")["review"]["id"]
    assert f'name="supersedes" value="{first}"' in client.get(ITEM).text
    second = send(client, f"{ITEM}?order=random", approval="deny", reason="L5 shows it.", supersedes=first)
    assert second["href"] == "/review/next?order=random"
    assert [review.supersedes for review in reviews_of(kept, EVALUATION.id, "saves")] == [None, first]
    text = text_of(client.get(ITEM).text)
    assert "pass, blind, superseded" in text
    assert "denies, having seen it" in text


REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"verdict": "fail", "reason": None}, "a review needs a reason"),
    ({"verdict": "fail", "reason": " . "}, "a review needs a reason"),
    ({}, "the answer to it is pass or fail"),
    ({"value": 2}, "the answer to it is pass or fail"),
    ({"verdict": "fail", "approval": "deny"}, "gives no answer beside"),
    ({"verdict": "fail", "reviewer": " "}, "must be a name"),
    ({"verdict": "fail", "supersedes": "v-none"}, "none of theirs"),
)


@pytest.mark.parametrize(("given", "words"), REFUSED)
def test_what_is_no_review_is_refused_with_a_sentence(kept: Store, given: dict[str, Any], words: str) -> None:
    sent = {"reviewer": "Bea", "reason": "e40 shows it."} | given
    answer = client_of(kept).post(f"/api{ITEM}", json=sent, headers=CHANGE)
    assert answer.status_code == 400
    assert words in answer.json()["detail"]
    assert reviews_of(kept, EVALUATION.id) == []


@pytest.mark.parametrize("more", [{"verdict": "maybe"}, {"more": 1}, {"reason": "a" * 10_001}, {"reviewer": "a" * 101}])
def test_what_is_of_the_wrong_shape_is_refused(kept: Store, more: dict[str, Any]) -> None:
    sent = {"reviewer": "Bea", "reason": "e40 shows it.", "verdict": "fail"} | more
    assert client_of(kept).post(f"/api{ITEM}", json=sent, headers=CHANGE).status_code == 400


# --- the queue


def test_the_queue_counts_what_is_open_and_done(kept: Store) -> None:
    client = client_of(kept, "Bea")
    total = len(EVALUATION.verdicts) + len(READING.scores)
    assert f"open {total} reviewed by you 0 reviewed by others 0" in text_of(client.get("/review").text)
    send(client, ITEM, verdict="fail")
    send(client, f"/review/{READING.id}/loop", value=1, reviewer="Cid")
    assert f"open {total - 1} reviewed by you 1 reviewed by others 1" in text_of(client.get("/review").text)
    assert client.get("/api/review?reviewer=Bea").json()["counts"] == {"open": total - 1, "mine": 1, "others": 1}


def test_one_goes_through_the_queue_and_skips_come_again_later(kept: Store) -> None:
    client = client_of(kept, "Bea")
    order = [
        f"/review/{one['judgment']}/{one['item']}" for one in client.get("/api/review?order=random&seed=5").json()["items"]
    ]
    page = client.get("/review/next?order=random&seed=5")
    assert page.url.path == order[0]
    skip = re.search(r'href="([^"]*)" data-key="s"', page.text)
    assert skip
    second = client.get(skip[1].replace("&amp;", "&"))
    assert second.url.path == order[1]
    said = send(
        client,
        f"{order[1]}?{second.url.query.decode()}",
        **({"verdict": "fail"} if EVALUATION.id in order[1] else {"value": 1}),
    )
    review = said["review"]["id"]
    said = send(client, f"{order[1]}?{second.url.query.decode()}", approval="approve", supersedes=review)
    assert client.get(said["href"]).url.path == order[2]
    assert client.get("/review/next?order=random&seed=5").url.path == order[0]


def test_the_queue_is_narrowed_by_what_is_asked_for(kept: Store) -> None:
    client = client_of(kept, "Bea")
    items = client.get(
        f"/api/review?rubric={sample.RUBRIC.name}&criterion=saves&agent=claude-code&in_judgment={EVALUATION.id}"
    ).json()["items"]
    assert [one["item"] for one in items] == ["saves"]
    assert client.get("/review?rubric=nowhere").status_code == 404


def test_an_empty_queue_says_why(kept: Store) -> None:
    client = client_of(kept, "Bea")
    assert "Nothing of what is chosen is open" in text_of(client.get("/review?criterion=none").text)
    assert client.get("/review/next?order=random&criterion=none").url.path == "/review"


def test_the_queue_gives_no_doubts_away(kept: Store) -> None:
    (first, *_) = client_of(kept).get("/api/review?order=uncertainty").json()["items"]
    assert set(first) == {"judgment", "item", "kind", "run", "rubric", "rubric_hash", "harness", "judge", "model"}


# --- who reviews


def test_the_name_is_asked_once_and_kept_in_the_browser(kept: Store) -> None:
    client = client_of(kept)
    html = client.get("/review").text
    assert "Who reviews?" in html
    assert 'value="Ada"' in html
    assert "Who reviews?" in client.get(ITEM).text
    answer = client.put("/api/reviewer", json={"name": "Bea Löwe"}, headers=CHANGE)
    cookie = answer.headers["set-cookie"]
    assert all(part in cookie for part in ("adjudge-8710-reviewer=Bea%20L%C3%B6we", "HttpOnly", "SameSite=strict"))
    assert "You review as Bea Löwe" in text_of(client.get("/review").text)


@pytest.mark.parametrize("name", ["", "  ", "...", "a\nb", "\u202eevil", None])
def test_what_is_no_name_is_not_kept(kept: Store, name: str | None) -> None:
    answer = client_of(kept).put("/api/reviewer", json={"name": name}, headers=CHANGE)
    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("value", ["%00", "%ff", "a%0ab", "x" * 500, "<script>"])
def test_a_forged_cookie_is_text_or_nothing(kept: Store, value: str) -> None:
    answer = client_of(kept).get("/review", headers={"cookie": f"adjudge-8710={TOKEN}; adjudge-8710-reviewer={value}"})
    assert answer.status_code == 200
    assert "<script>" not in answer.text.replace('<script src="/static/app.js" defer></script>', "")


@pytest.mark.parametrize("path", ["/review/j-none/saves", f"/review/{EVALUATION.id}/none"])
def test_what_is_not_there_is_said(kept: Store, path: str) -> None:
    for address in (path, f"/api{path}"):
        assert client_of(kept).get(address).status_code == 404
    assert client_of(kept).get(f"{ITEM}?order=sideways").status_code == 400


def test_what_guidance_says_of_each_value_stands_at_its_choice() -> None:
    guidance = "Look at all.\n0: nothing was\nrepeated.\n1: a few times\n\n2: often"
    assert notes_of(guidance) == {0: "nothing was repeated.", 1: "a few times", 2: "often"}
