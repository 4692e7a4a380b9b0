"""What is judged is hostile: none of it becomes markup, a link or a control character, on any page, in any view."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
from litestar.testing import TestClient

from adjudge.evidence import Citation, Exhibits, Look
from adjudge.judgment import Answer, Judge, Judgment, Steering, Step, gate, score
from adjudge.rubric import Criterion, Rubric, rubric_hash
from adjudge.run import Outcome
from adjudge.settings import Settings
from adjudge.store.store import open_store
from adjudge.testing import calls, make_record, make_run, says, user
from adjudge.web.app import create_app
from adjudge.web.guard import Access, Doors

from .conftest import BASE

HOSTILE = (
    "<script>alert(1)</script>",
    "</pre></article><script src=//evil.example/x.js></script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</title><script>alert(1)</script>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    '<a href="javascript:alert(1)">click</a>',
    "[click](javascript:alert(1)) ![x](http://evil.example/leak.png)",
    "<style>@import 'http://evil.example/x.css'</style>",
    "<meta http-equiv=refresh content='0;url=http://evil.example'>",
    "<base href=http://evil.example/>",
    "{{ 7 * 7 }} {% raw %} ${7*7} #{7*7}",
    "`<script>alert(1)</script>`",
    "\u202ereversed\u202c and \u200b hidden",
    "\x1b]8;;http://evil.example\x07link\x1b]8;;\x07 \x1b[2J",
    "FAILED\rPASSED",
    "<|im_start|>system",
    "http://evil.example/visible",
    "-->\n<!-- ]]> <![CDATA[ <script>alert(1)</script>",
    "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-<b>old</b>\n+<script>alert(1)</script>",
)

TAGS = frozenset(
    (
        *("html", "head", "meta", "title", "link", "script", "body", "a", "header", "b", "nav", "ul", "li", "div"),
        *("button", "main", "h1", "h2", "h3", "p", "span", "dl", "dt", "dd", "small", "figure", "figcaption", "i", "br"),
        *(
            "svg",
            "path",
            "rect",
            "g",
            "defs",
            "pattern",
            "section",
            "article",
            "q",
            "mark",
            "pre",
            "details",
            "summary",
            "datalist",
        ),
        *("code", "table", "tbody", "thead", "tr", "td", "th", "caption", "form", "label", "input", "select", "option"),
        *("kbd", "dialog"),
    )
)
"""Every element that the templates use."""


class Seen(HTMLParser):
    """What a browser would make of a page: its elements, its scripts, where it leads and what it fetches."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.handlers: list[str] = []
        self.leads: list[str] = []
        self.inside_script = ""
        self._script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self._script = tag == "script"
        for name, value in attrs:
            if name.startswith("on") or name == "style" or name == "srcdoc":
                self.handlers.append(f"{tag} {name}={value}")
            if name in ("href", "src", "action", "data-load"):
                self.leads.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        self._script = False

    def handle_data(self, data: str) -> None:
        self.inside_script += data.strip() if self._script else ""


def pages_of(payload: str, folder: Path) -> dict[str, str]:
    """Every page and piece of a run in which the payload stands wherever something of others can."""
    criteria = (Criterion("c", f"It prints {payload}"), Criterion(payload[:40], "It exits 0"))
    rubric = Rubric(payload, criteria, rubric_hash(criteria), "x.yaml")
    record = make_record(
        user(payload),
        says(payload),
        calls(payload, {"command": payload, payload: payload}, result=f"seen: {payload}\nmore {payload}", exit_status=1),
        calls("Edit", {"file_path": payload, "old_string": payload, "new_string": payload + payload}, result=payload),
    )
    run = make_run(
        record,
        task=payload,
        agent=payload,
        agent_version=payload,
        model=payload,
        task_name=payload,
        patch=payload,
        context=payload,
        notes=(payload,),
        outcome=Outcome(1, "unresolved", detail=payload, grading=payload),
        source=payload,
    )
    looks = (Look("L1", payload, "command", {"command": payload}, payload, (payload,), exit_status=0),)
    said = (
        Answer(
            "c", True, payload, (Citation("e4", f"seen: {payload}"), Citation(payload, payload), Citation("L1", payload))
        ),
        Answer(payload[:40], False, payload, (Citation("e2", payload),), "agent"),
    )
    verdicts, _ = gate(rubric, said, Exhibits(run.record, looks))
    judgment = Judgment(
        "j-hostile",
        run.id,
        rubric.name,
        rubric.hash,
        Judge("evaluator", payload, "p", {"looks": 4}, "0"),
        "judged",
        payload,
        1.0,
        verdicts,
        score(verdicts),
        payload,
        (Steering("e2", payload, payload),),
        looks=looks,
        warnings=(payload,),
        steps=(Step(payload, payload, payload, (payload,), ("L1",), (payload,), payload),),
        machine={payload: payload},
    )
    with open_store(folder / "store") as store:
        store.add_run(run)
        store.add_judgment(judgment, rubric)
        client = TestClient(create_app(store, Settings(), Access(frozenset({"127.0.0.1"})), Doors()), base_url=BASE)
        queries = {"q": payload, "agent": payload, "model": payload, "task": payload}
        addresses = (
            ("/runs", None),
            ("/runs", queries),
            (f"/runs/{run.id}", None),
            (f"/runs/{run.id}", {"at": payload[:90]}),
            (f"/runs/{run.id}", {"q": payload}),
            (f"/runs/{run.id}", {"outline": "0"}),
            (f"/runs/{run.id}/entries", {"start": "0", "end": "9"}),
            (f"/runs/{run.id}/map", None),
            (f"/runs/{run.id}/exhibits/e4", None),
            ("/judgments/j-hostile/looks/L1", None),
            (f"/runs/{run.id}", {"judgment": payload[:90]}),
        )
        answers = [(f"{path} {query}", client.get(path, params=query)) for path, query in addresses]
        assert {answer.status_code for _, answer in answers[:-1]} == {200}, [
            (n, a.status_code, a.text[-400:]) for n, a in answers if a.status_code != 200
        ]
        return {name: answer.text for name, answer in answers}


@pytest.mark.parametrize("payload", HOSTILE)
def test_nothing_hostile_becomes_part_of_a_page(payload: str, tmp_path: Path) -> None:
    for name, html in pages_of(payload, tmp_path).items():
        seen = Seen()
        seen.feed(html)
        assert seen.tags <= TAGS, (name, seen.tags - TAGS)
        assert seen.handlers == [], name
        assert seen.inside_script == "", name
        assert [lead for lead in seen.leads if not lead.startswith(("/", "#", "?"))] == [], name
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", html), name


def test_hostile_text_is_there_to_be_read(tmp_path: Path) -> None:
    pages = pages_of("<script>alert(1)</script>", tmp_path)
    assert all("&lt;script&gt;alert(1)&lt;/script&gt;" in html for name, html in pages.items() if "/map" not in name)


@pytest.mark.parametrize("text", [payload for payload in HOSTILE if "\r" not in payload])
def test_the_api_gives_it_as_json_that_no_browser_takes_for_a_page(text: str, tmp_path: Path) -> None:
    run = make_run(make_record(user(text)), task=text)
    with open_store(tmp_path / "store") as store:
        store.add_run(run)
        client = TestClient(create_app(store, Settings(), Access(frozenset({"127.0.0.1"})), Doors()), base_url=BASE)
        answer = client.get(f"/api/runs/{run.id}/entries")
        assert answer.headers["content-type"] == "application/json"
        assert msgspec.json.decode(answer.content)["entries"][0]["text"] == text
