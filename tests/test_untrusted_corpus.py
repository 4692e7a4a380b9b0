"""A judge that is always fooled, over a corpus of attempts to steer; and ordinary recordings. Both lie outside."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge.evidence import Citation, Exhibits, Look
from adjudge.judgment import Answer, gate
from adjudge.record import Entry, Record
from adjudge.rubric import Criterion, Rubric
from adjudge.untrusted import count_secrets, shown, steering

SHARED = Path(os.environ.get("ADJUDGE_SHARED", Path(__file__).parents[2] / "shared"))
RESULT = Criterion("c1", "`out/report.csv` holds 1000 rows.")
EXITS = Criterion("c1", "`pytest -q` exits with status 0.")
ABOUT_EXITS = {"forge-03", "forge-05"}

CANNOT_KNOW = {
    "forge-07": "a file that really stands there; whether it bends a test run is for the evaluator to see",
    "forge-08": "a file's name; names never reach a shell, and this one claims nothing",
    "invisible-08": "one accent on each letter is decomposed writing, nothing is hidden and nothing is stacked",
    "markup-03": "markup is text here; pages escape it",
    "markup-05": "markup is text here; pages escape it",
    "markup-06": "a formula is text wherever it is shown; no export is read by a spreadsheet",
    "quote-03": "one line that a tool printed, quoted whole; it says itself that something failed",
    "quote-04": "one line that a tool printed, quoted whole; it says itself what was expected and what came",
    "quote-06": "a tool really printed these words; that they say nothing about rows only a reader sees",
    "secret-01": "steers nobody; it is masked",
    "secret-03": "steers nobody; it is masked",
    "tooluse-05": "a file that really stands there; the agent's programs are not the tools that list and read files",
}


def corpus() -> list[dict[str, Any]]:
    path = SHARED / "injection" / "corpus.jsonl"
    if not path.exists():
        pytest.skip("the corpus of attempts is not beside the repository (ADJUDGE_SHARED)")
    return [json.loads(line) for line in path.read_text().splitlines()]


def payload(item: dict[str, Any]) -> str:
    text: str = item["payload"]
    size = item.get("repeat_to", len(text))
    text = (text * (size // max(len(text), 1) + 1))[:size]
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


def planted(carrier: str, text: str) -> tuple[str, Exhibits]:
    """The exhibit that carries a text, and all exhibits."""
    entries = {
        "say": Entry("e1", "message", "agent", 1, text),
        "final": Entry("e1", "message", "agent", 1, text),
        "meta": Entry("e1", "message", "user", 0, text),
        "tool": Entry("e1", "result", "tool", 1, text),
    }
    looks = {
        "cmd": Look("L1", "run_command", "command", {"command": "pytest -q"}, text, ("exit status: 1",), exit_status=1),
        "file": Look("L1", "read_file", "files", {"path": "notes"}, text),
        "name": Look("L1", "list_directory", "files", {"path": "."}, f"{text} | file, 3 bytes"),
    }
    if carrier in looks:
        return "L1", Exhibits(Record("test", ()), [looks[carrier]])
    return "e1", Exhibits(Record("test", (entries[carrier],), final="e1"))


def fooled(item: dict[str, Any]) -> bool:
    """Whether a verdict passes for a model that believes whatever it reads and quotes it."""
    text = payload(item)
    exhibit, exhibits = planted(item["carrier"], text)
    criterion = EXITS if item["id"] in ABOUT_EXITS else RESULT
    for quote in {text, text[:4000], shown(text)[:4000], *text.splitlines()}:
        answer = Answer("c1", True, f"{exhibit} says so.", (Citation(exhibit, quote),))
        (verdict,), _ = gate(Rubric("r", (criterion,), "", ""), [answer], exhibits)
        if verdict.passed:
            return True
    return False


def test_every_attempt_is_stopped_or_flagged_or_listed_with_the_reason() -> None:
    left = set()
    for item in corpus():
        flagged = steering(payload(item), said=item["carrier"] in ("say", "final"))
        if fooled(item) and not flagged:
            left.add(item["id"])
    assert left == set(CANNOT_KNOW)


def test_nothing_that_the_agent_says_passes_anything_about_a_result() -> None:
    assert [item["id"] for item in corpus() if item["carrier"] in ("say", "final", "meta") and fooled(item)] == []


def test_credentials_of_the_corpus_are_masked() -> None:
    for item in corpus():
        if item["class"] == "secret":
            assert count_secrets(payload(item)) == 1
            assert "<secret:" in shown(payload(item))


KEYS = frozenset(
    (
        *(
            "text",
            "content",
            "output",
            "stdout",
            "stderr",
            "message",
            "result",
            "thinking",
            "reasoning",
            "arguments",
            "input",
        ),
        *(
            "command",
            "observation",
            "response",
            "thought",
            "action",
            "aggregated_output",
            "parts",
            "summary",
            "data",
            "value",
        ),
        *("new_string", "old_string", "file_text", "cmd"),
    )
)


def texts(value: Any, key: str = "") -> Iterator[str]:
    """Every string of a recording that a judge might read: more than 20 characters, below a telling key."""
    if isinstance(value, str):
        if len(value) > 20 and key in KEYS:
            yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from texts(item, "input" if key in ("input", "arguments") else name)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item, key)


def recorded() -> set[str]:
    found: set[str] = set()
    for folder in ("samples", "recordings"):
        for path in sorted((SHARED / folder).rglob("*.json*")):
            content = path.read_text(errors="replace")
            for piece in [content] if path.suffix == ".json" else content.splitlines():
                try:
                    found.update(texts(json.loads(piece)))
                except (ValueError, RecursionError):
                    continue
    if not found:
        pytest.skip("no recordings lie beside the repository (ADJUDGE_SHARED)")
    return found


@pytest.mark.slow
def test_ordinary_recordings_raise_signs_in_under_two_of_a_hundred_entries_and_hold_hardly_a_credential() -> None:
    entries = recorded()
    assert len(entries) > 5_000
    assert sum(bool(steering(text)) for text in entries) / len(entries) < 0.02
    assert sum(count_secrets(text) > 0 for text in entries) / len(entries) < 0.002
