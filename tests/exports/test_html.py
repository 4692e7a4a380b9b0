from __future__ import annotations

import base64
import hashlib
import html
import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from adjudge.entries import EntryWriter
from adjudge.evidence import Citation, Exhibits
from adjudge.exports.html import html_page
from adjudge.exports.judged import Judged
from adjudge.judges.process import ProcessJudge
from adjudge.judgment import Answer, Verdict, gate
from adjudge.record import Entry, Record
from adjudge.rubric import Criterion, Rubric
from adjudge.untrusted import shown

from .pages import Page, hostile


def test_the_page_is_whole_and_each_id_is_there_once(judged: Judged) -> None:
    page = Page(html_page(judged))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))


def test_every_link_leads_to_something_on_the_page(judged: Judged) -> None:
    page = Page(html_page(judged))
    assert len(page.links) > 30
    assert [link for link in page.links if link.removeprefix("#") not in page.ids] == []


def test_a_citation_leads_to_the_marked_words(judged: Judged) -> None:
    page = html_page(judged)
    assert '<a href="#v3c1">e5</a>' in page  # the third verdict cites the fifth entry first
    assert '<mark><span class="at" id="v3c1"></span>cat src/slug.py</mark>' in page
    assert '<mark><span class="at" id="v4c1"></span>tests/test_slug.py | 4 ----</mark>' in page


def test_a_citation_of_an_exit_status_leads_to_the_look(judged: Judged) -> None:
    page = html_page(judged)
    look = page.index('<article class="exhibit look cited" id="L1">')
    assert look < page.index('id="v2c1"') < page.index("7 passed in 0.05s")


def test_an_exhibit_leads_back_to_the_verdict_that_cites_it(judged: Judged) -> None:
    assert re.search(r'id="e12">\s*<header>.*?<a class="fail" href="#v4" [^>]*>✕ tests-kept</a>', html_page(judged))


def test_a_quote_that_is_nowhere_is_struck_out_with_the_reason(judged: Judged) -> None:
    page = html_page(judged)
    broken = page[page.index('<li class="broken">') :]
    assert "every test was listed with its result" in broken
    assert "<small>the quote is not in e16</small>" in broken
    assert "The evaluator answered pass; the check made it a fail" in page


def test_files_that_could_have_shaped_looks_are_listed_with_links_to_them(judged: Judged) -> None:
    page = Page(html_page(judged))
    assert "conftest.py the agent made or changed it" in page.words
    assert "it could have shaped L1 L3" in page.words
    assert "no look was shaped by it" in page.words
    assert page.links.count("#L1") >= 1


def test_a_verdict_that_rests_on_such_looks_alone_says_so(judged: Judged) -> None:
    words = Page(html_page(judged)).words
    assert "It rests on L1, which conftest.py (the agent's) could have shaped." in words
    assert "It rests on L4" not in words


def test_what_is_cited_is_open_and_the_rest_is_folded(judged: Judged) -> None:
    page = Page(html_page(judged))
    shapes = {
        attributes["id"]: tag for tag, attributes in page.tags if tag in ("article", "details") and "id" in attributes
    }
    assert {name for name, tag in shapes.items() if tag == "article" and str(name)[0] in "eL"} == {
        *("e5", "e6", "e12", "L1", "L3", "L4", "L5"),
    }
    assert shapes["e13"] == shapes["s1.e1"] == shapes["L2"] == "details"


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Verdict("digits", True, "It is so."), "The one criterion passes."),
        (
            Verdict("digits", False, "It is not.", cause="agent"),
            "The one criterion does not pass: it is the agent’s doing.",
        ),
    ],
)
def test_of_one_criterion_it_speaks_as_of_one(judged: Judged, verdict: Verdict, said: str) -> None:
    one = msgspec.structs.replace(judged.judgment, verdicts=(verdict,))
    assert said in Page(html_page(msgspec.structs.replace(judged, judgment=one))).words


def test_the_page_says_what_a_reader_must_know(judged: Judged) -> None:
    words = Page(html_page(judged)).words
    for said in (
        "4 of 7 criteria pass. Of the fails, 1 is the agent’s doing, 1 rests on evidence that did not hold, "
        "1 was skipped by the evaluator.",
        "$0.0421",
        "$0.0124",
        "The judge and the judged agent use models of the same family.",
        "asks for a pass found by the evaluator",
        "by a probe, no model",
        "0 matches for try.py in 14 files the look found nothing",
        "Refused: unknown tool `grep`",
        "isolation bubblewrap",
        "adjudge verify j-9f00d2a4c1b35e77",
    ):
        assert said in words


def test_there_is_no_script_no_request_and_one_style_that_the_policy_names(judged: Judged) -> None:
    page = html_page(hostile(judged))
    style = page[page.index("<style>") + len("<style>") : page.index("</style>")]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    parsed = Page(page)
    policy = [attributes["content"] for tag, attributes in parsed.tags if attributes.get("http-equiv")]
    assert policy == [f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"]
    assert not {tag for tag, _ in parsed.tags} & {"script", "img", "link", "iframe", "object", "form", "svg", "base"}
    names = {name for _, attributes in parsed.tags for name in attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"style", "src", "srcset", "action"})
    assert all(link.startswith("#") for link in parsed.links)
    assert "url(" not in style
    assert "@import" not in style


def test_markup_in_any_text_stays_text(judged: Judged) -> None:
    page = Page(html_page(hostile(judged)))
    assert page.open == []
    assert page.words.count("<script>alert(1)</script>") > 60
    assert "{{ 7*7 }}" in page.words


def test_every_text_goes_through_the_one_view_of_untrusted_text(judged: Judged) -> None:
    secret = "sk-or-v1-" + "0123456789abcdef" * 4
    run = msgspec.structs.replace(judged.run, task=f"Use {secret}", patch=f"+{secret}")
    judgment = msgspec.structs.replace(judged.judgment, summary=f"It printed {secret}\u202e.", warnings=(secret,))
    page = html_page(Judged(judgment, run, judged.rubric))
    assert html.escape(shown(f"It printed {secret}\u202e.")) in page
    assert (secret in page) == (shown(secret) == secret)


def test_an_errored_judgment_has_no_score_on_its_page(errored: Judged) -> None:
    words = Page(html_page(errored)).words
    assert "errored" in words
    assert "No key: set OPENROUTER_API_KEY." in words
    assert " of 0" not in words


async def test_a_run_judged_by_its_process_alone_has_a_page_without_a_score(judged: Judged) -> None:
    judgment = await ProcessJudge().judge(judged.run, None, None)
    words = Page(html_page(Judged(judgment, judged.run))).words
    assert "There was no rubric" in words
    assert "Score none" in words
    assert "process ✓ pass by the exit status The agent's process ended with exit status 0." in words


def test_a_fail_by_a_probe_has_no_cause_and_says_who_decided(judged: Judged) -> None:
    first, probe, *others = judged.judgment.verdicts
    verdicts = (first, msgspec.structs.replace(probe, passed=False), *others)
    judgment = msgspec.structs.replace(judged.judgment, verdicts=verdicts)
    words = Page(html_page(msgspec.structs.replace(judged, judgment=judgment))).words
    assert "1 was decided by a probe" in words
    assert "✕ fail by a probe, no model" in words


def long_judged(judged: Judged, count: int) -> Judged:
    """A judgment of a record with that many entries, one of which, in the middle, is cited."""
    writer, cited = EntryWriter(), f"e{count // 2}"
    for number in range(1, count + 1):
        kind, writer_of = ("call", "agent") if number % 2 else ("result", "tool")
        answers = None if number % 2 else f"e{number - 1}"
        text = f"the count is {number} files " + "y" * 200
        writer.add(Entry(f"e{number}", kind, writer_of, number // 2, text, "bash", answers=answers))  # type: ignore[arg-type]
    record = Record("chat", writer.finish())
    rubric = Rubric("count", (Criterion("count", "`ls` prints the count"),), "77" * 32, "c.yaml")
    answer = Answer("count", True, "It printed it.", (Citation(cited, f"the count is {count // 2} files"),))
    verdicts, _ = gate(rubric, [answer], Exhibits(record))
    judgment = msgspec.structs.replace(judged.judgment, verdicts=verdicts, steps=(), looks=(), steering=())
    return Judged(judgment, msgspec.structs.replace(judged.run, record=record), rubric)


def test_a_long_record_is_an_outline_around_what_is_cited(judged: Judged) -> None:
    page = html_page(long_judged(judged, 50_000))
    parsed = Page(page)
    assert len(page) < 200_000
    assert "This record is too long for one page." in parsed.words
    assert "e1 – e24998 turns 0 to 12499: 12,499 calls, 12,499 results; cited by nothing and left out" in parsed.words
    assert "e25001 – e50000" in parsed.words
    assert {"e24999", "e25000"} <= set(parsed.ids)  # what is cited, and the call that it answers
    assert "<mark>" in page


def test_a_long_entry_is_cut_around_its_quotes_and_says_so(judged: Judged) -> None:
    text = "a" * 150_000 + " the needle itself " + "b" * 150_000
    record = Record("chat", (Entry("e1", "result", "tool", 1, text),))
    verdict = Verdict("needle", True, "There.", (Exhibits(record).check(Citation("e1", "the needle itself")),))
    judgment = msgspec.structs.replace(judged.judgment, verdicts=(verdict,), steps=(), looks=(), steering=())
    page = html_page(Judged(judgment, msgspec.structs.replace(judged.run, record=record), judged.rubric))
    assert "the needle itself</mark>" in page
    assert page.count("147,001 characters left out") == 2
    assert len(page) < 100_000


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("what", ["judged", "reading"])
def test_a_browser_shows_the_page_and_runs_nothing(
    what: str, request: pytest.FixtureRequest, tmp_path: Path, width: int
) -> None:
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("no chromium is installed")
    path = tmp_path / "page.html"
    path.write_text(html_page(hostile(request.getfixturevalue(what))), encoding="utf-8")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0"]
    size = [f"--user-data-dir={tmp_path}/profile", f"--window-size={width},1000", "--dump-dom", path.as_uri()]
    done = subprocess.run([*command, *size], capture_output=True, text=True, timeout=60, check=False)
    assert "</html>" in done.stdout
    assert "Content Security Policy" not in done.stderr
