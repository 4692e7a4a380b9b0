"""A page taken apart as a browser does, and a judgment that is hostile in every text."""

from __future__ import annotations

from html.parser import HTMLParser

import msgspec

from adjudge.exports.judged import Judged

VOID = {"meta", "br", "link", "img", "input", "hr"}
HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\" onclick='x' &lt; {{ 7*7 }} <!--"


class Page(HTMLParser):
    """What a browser would make of a page: its tags, ids and links, and whether all that opens is closed."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    @property
    def ids(self) -> list[str]:
        return [str(attributes["id"]) for _, attributes in self.tags if "id" in attributes]

    @property
    def links(self) -> list[str]:
        return [str(attributes["href"]) for _, attributes in self.tags if "href" in attributes]

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


def hostile(judged: Judged) -> Judged:
    """The same judgment with markup in every text that someone else wrote."""

    run = msgspec.structs.replace(
        judged.run,
        record=msgspec.structs.replace(judged.run.record, entries=tuple(judged.run.record.entries), children=()),
    )
    return msgspec.convert(spoiled(msgspec.to_builtins(msgspec.structs.replace(judged, run=run))), Judged)


def spoiled(value: object) -> object:
    if isinstance(value, str):
        return value if value in KEPT else value + HOSTILE
    if isinstance(value, dict):
        return {name: spoiled(item) for name, item in value.items()}
    return [spoiled(item) for item in value] if isinstance(value, list | tuple) else value


KEPT = {
    *("message", "reasoning", "call", "result", "event", "user", "agent", "tool", "harness", "command", "file", "files"),
    *("record", "observed", "done", "said", "absence", "given", "code", "model", "evaluator", "judged", "freely"),
    *(
        "environment",
        "unproven",
        "skipped",
        "evidence",
        "resolved",
        "results",
        "exit_statuses",
        "errors",
        "times",
        "tokens",
    ),
    *("cost", "reasoning", "reader", "pruned", "schema", "higher", "lower"),
    *("conftest", "script", "task"),
    *("evidence_missing", "missing_reasoning", "unanswered"),
}
