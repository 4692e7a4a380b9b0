"""The injection corpus, planted wherever something of others can stand: on no page does it run, load or lead away."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
from playwright.sync_api import Browser, sync_playwright
from tests.web.sample_asking import KeptJob, an_asking
from tests.web.served import ARGUMENTS, CHROMIUM, served

from adjudge.asking.values import Cited, Holding, Look, Statement, Untold
from adjudge.evidence import Citation, Exhibits
from adjudge.evidence import Look as JudgesLook
from adjudge.exports.html import html_page
from adjudge.exports.judged import Judged
from adjudge.judgment import (
    Answer,
    CauseAnswer,
    DimensionAnswer,
    Judge,
    Judgment,
    Steering,
    Step,
    gate,
    gate_scores,
    score,
)
from adjudge.reviews.values import Said
from adjudge.rubric import SEVERITY, Criterion, Dimension, Rubric, hash_of_dimensions, rubric_hash
from adjudge.run import Outcome, Run
from adjudge.store.reviews import add_review
from adjudge.store.store import Store, open_store
from adjudge.testing import calls, make_record, make_run, says, user
from adjudge.web.guard import Guard

from .test_browser import Looking
from .walk import addresses

SHARED = Path(os.environ.get("ADJUDGE_SHARED") or Path(__file__).parents[3] / "shared")
CORPUS = SHARED / "injection" / "corpus.jsonl"
LONGEST = 4_000
"""Characters of one payload in fields that a page shows without a fold; the whole stands in the record."""

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here (Debian's package `chromium`)"),
    pytest.mark.skipif(not CORPUS.is_file(), reason="ADJUDGE_SHARED names no folder that holds injection/corpus.jsonl"),
    pytest.mark.xdist_group("browser"),
]
NAMES = {"judgment": "j-00000000000000c0", "exhibit": "e3", "look": "L1", "item": "c1"}


def payloads() -> list[str]:
    """Every payload, the flooding ones in their full length."""
    lines = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    found = [(line["payload"], line.get("repeat_to", 0)) for line in lines if line["payload"].strip()]
    return [text * max(1, -(-length // len(text))) for text, length in found]


def a_run(planted: list[str], everything: str) -> Run:
    """A run in which it stands in messages, tools' names, arguments and outputs, the patch, names and notes."""
    record = make_record(
        user(everything),
        *(says(each) for each in planted),
        *(
            calls(each[:80], {"command": each[:LONGEST], "path": each[:200]}, result=each, exit_status=1)
            for each in planted
        ),
        *(
            calls("Edit", {"file_path": p[:200], "old_string": p[:LONGEST], "new_string": p[:90]}, result=p)
            for p in planted
        ),
    )
    patch = "".join(
        f"diff --git a/{p[:90]} b/{p[:90]}\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{p[:90]}\n+{p[:90]}\n" for p in planted
    )
    run = make_run(
        record,
        task=everything,
        agent=planted[0][:200],
        model=planted[1][:200],
        task_name=next(each for each in planted if "<svg" in each),
        patch=patch,
        context=everything,
        notes=tuple(planted),
        source=everything[:LONGEST],
        outcome=Outcome(1, "unresolved", detail=everything[:LONGEST], grading=everything[:LONGEST]),
    )
    return msgspec.structs.replace(run, id="r-00000000000000c0")


def cited(at: int, planted: str) -> tuple[Citation, ...]:
    return (Citation(f"L{at}", planted[:300]), Citation(planted[:90], planted[:300]))


def judged(run: Run, planted: list[str], everything: str) -> tuple[Judged, Judged]:
    """An evaluation and a reading in which it stands in criteria, dimensions, notes, quotes, looks and steps."""
    criteria = tuple(Criterion(f"c{at}", f"It prints {each[:LONGEST]}") for at, each in enumerate(planted, 1))
    rubric = Rubric(planted[2][:200], criteria, rubric_hash(criteria), "x.yaml")
    looks = tuple(
        JudgesLook(f"L{at}", each[:80], "command", {"command": each[:LONGEST]}, each, (each[:LONGEST],), exit_status=0)
        for at, each in enumerate(planted, 1)
    )
    said = tuple(
        Answer(f"c{at}", at % 2 == 0, each[:LONGEST], cited(at, each), None if at % 2 == 0 else "agent")
        for at, each in enumerate(planted, 1)
    )  # fmt: skip
    verdicts, _ = gate(rubric, said, Exhibits(run.record, looks))
    steps = tuple(
        Step(each, each, each, (each[:80],), (f"L{at}",), (each[:LONGEST],)) for at, each in enumerate(planted, 1)
    )
    evaluation = Judgment(
        NAMES["judgment"], run.id, rubric.name, rubric.hash, Judge("evaluator", planted[3][:90], "p", {"looks": 99}, "0"),
        "judged", "2026-11-30T10:00:00+00:00", 1.0, verdicts, score(verdicts), everything,
        (Steering("e2", planted[4][:90], planted[4][:LONGEST]),), looks=looks, steps=steps, warnings=tuple(planted),
        machine={each[:90]: each[:LONGEST] for each in planted},
    )  # fmt: skip
    dimensions = tuple(
        Dimension(f"d{at}", SEVERITY, 0, "higher", each[:LONGEST], each[:LONGEST], (each[:LONGEST],), (each[:90],))
        for at, each in enumerate(planted, 1)
    )
    conduct = Rubric(planted[5][:90], (), hash_of_dimensions(dimensions, "1"), "x.yaml", dimensions, "1")
    answers = tuple(
        DimensionAnswer(
            f"d{at}", 2, each[:LONGEST], (Citation("t1", each[:300]),), 0.2, (CauseAnswer(each[:90], 0.2, each[:LONGEST]),)
        )
        for at, each in enumerate(planted, 1)
    )
    reading = Judgment(
        "j-00000000000000c1", run.id, conduct.name, conduct.hash, Judge("reader", planted[3][:90], "p", {}, "0"),
        "judged", "2026-11-30T10:00:00+00:00", 1.0, scores=gate_scores(conduct, answers, Exhibits(run.record)),
        summary=everything, steps=(Step("", everything, everything),), decided="schema",
    )  # fmt: skip
    return Judged(evaluation, run, rubric), Judged(reading, run, conduct)


def a_job(run: Run, planted: list[str]) -> KeptJob:
    """An asking whose question, statements, looks and steps are made of it."""
    looks = tuple(
        Look(f"L{at}", "search_runs", "record", {"pattern": p[:200]}, (p[:LONGEST],), p) for at, p in enumerate(planted, 1)
    )
    statements = tuple(
        Statement(
            p[:LONGEST], (Holding(Cited(f"{run.id}/{p[:90]}", p[:300])), Holding(Cited(p[:90], p[:300]), fault=p[:300]))
        )
        for p in planted
    )
    wrong = tuple(Statement(p[:LONGEST], (), p[:LONGEST]) for p in planted)
    asking = an_asking(
        question="".join(planted)[:LONGEST], statements=statements, unsupported=wrong, looks=looks,
        untold=tuple(Untold(p[:LONGEST], ("L1",)) for p in planted), reason=planted[6][:LONGEST], model=planted[7][:90],
        steering=tuple(Steering(p[:90], p[:90], p[:LONGEST]) for p in planted),
    )  # fmt: skip
    return KeptJob(asking, "\n".join(planted))


class Planted(msgspec.Struct, frozen=True):
    """A store full of it, the judgments to export, and the job."""

    store: Store
    exported: tuple[Judged, Judged]
    job: KeptJob
    rubric: str


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    texts = payloads()
    everything = "\n".join(text[:LONGEST] for text in texts)
    run = a_run(texts, everything)
    evaluation, reading = judged(run, texts, everything)
    with open_store(tmp_path_factory.mktemp("injected") / "store") as store:
        store.add_run(run)
        for each in (evaluation, reading):
            store.add_judgment(each.judgment, each.rubric)
        for at, text in enumerate(texts[::6], 1):
            reviewer = f"<img src=x onerror=alert({at})>"
            add_review(
                store, Said(NAMES["judgment"], "c1", reviewer, "seen", f"seen: {text[:9_000]}", approved=at % 2 == 0)
            )
        everything_said = f"seen: {everything}"[:10_000]
        add_review(store, Said(NAMES["judgment"], "c1", "Bea", "seen", everything_said, approved=True))
        yield Planted(store, (evaluation, reading), a_job(run, texts), evaluation.judgment.rubric_hash or "")


@pytest.fixture(scope="module")
def browser(planted: Planted) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=[*ARGUMENTS, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        )
        yield browser
        browser.close()


FOREIGN = """() => ({
    scripts: [...document.scripts].map(each => each.outerHTML),
    handlers: [...document.querySelectorAll("*")].flatMap(each => each.getAttributeNames()).filter(name => /^on|^style$|^srcdoc$/.test(name)),
    loaded: document.querySelectorAll("img, iframe, object, embed, base, style, video, audio").length,
    leads: [...document.links].map(each => each.href),
})"""  # noqa: E501
SCRIPT = '<script src="/static/app.js" defer=""></script>'
LOADED = {"/static/app.js", "/static/app.css", "/static/icon.svg"}


def test_nothing_of_it_runs_loads_or_leads_away_on_any_page(browser: Browser, planted: Planted, guard: Guard) -> None:
    with served(planted.store, prepare=planted.job) as door:
        looking = Looking(browser, door)
        looking.page.request.put(f"{looking.base}/api/reviewer", data={"name": "Ada"}, headers={"x-adjudge": "1"})
        values = NAMES | {"run": planted.exported[0].run.id, "job": planted.job.id, "hash": planted.rubric}
        seen = f"/review/{NAMES['judgment']}/c1?seen=true"
        for path in (*addresses(guard, values), seen, f"/review/{planted.exported[1].judgment.id}/d1?seen=true"):
            looking.asked.clear()
            looking.page.goto(looking.base + path)
            looking.page.wait_for_load_state("networkidle")
            found = looking.page.evaluate(FOREIGN)
            assert set(found["scripts"]) <= {SCRIPT}, path
            assert found["handlers"] == [], path
            assert found["loaded"] == 0, path
            assert [lead for lead in found["leads"] if not lead.startswith(looking.base)] == [], path
            assert [url for url in looking.asked if not url.startswith(looking.base)] == [], path
            fetched = {urlsplit(url).path for url in looking.asked} - LOADED
            assert not [one for one in fetched if re.search(r"\.(js|css|svg|png|ico)$", one)], path
            complaints = [words for words in looking.complaints if "404" not in words]
            assert complaints == [], path
        looking.context.close()


def test_nothing_of_it_runs_or_loads_in_the_exported_page(browser: Browser, planted: Planted, tmp_path: Path) -> None:
    for number, each in enumerate(planted.exported):
        file = tmp_path / f"{number}.html"
        file.write_text(html_page(each), encoding="utf-8", errors="replace")
        found, asked, complaints = looked_at(browser, file.as_uri())
        assert (found["scripts"], found["handlers"]) == ([], [])
        assert [lead for lead in found["leads"] if not lead.startswith(f"{file.as_uri()}#")] == []
        assert asked == [file.as_uri()]
        assert complaints == []


def looked_at(browser: Browser, address: str) -> tuple[Any, list[str], list[str]]:
    """What a browser makes of a page, what it asks for, and what it complains of."""
    asked: list[str] = []
    complaints: list[str] = []
    context = browser.new_context()
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    page.goto(address)
    found = page.evaluate(FOREIGN)
    context.close()
    return found, asked, complaints
