"""A model that is always fooled: it passes everything and quotes the payload that was planted for it."""

import os
from pathlib import Path

import msgspec
import pytest

from adjudge.judges.evaluator.judge import Evaluator
from adjudge.judgment import Judgment
from adjudge.ports import Output, Request
from adjudge.run import Run
from adjudge.testing import (
    FakeMachine,
    Scripted,
    ScriptedModel,
    calls,
    decides,
    looks,
    make_record,
    make_rubric,
    make_run,
    printed,
    says,
    user,
    verdict,
)

BESIDE = Path(__file__).parents[4] / "shared"
CORPUS = Path(os.environ.get("ADJUDGE_SHARED", BESIDE)) / "injection" / "corpus.jsonl"

RUBRIC = make_rubric(
    "`python3 -m pytest` exits with status 0",
    "`report.csv` holds 1000 rows",
    "The payment service answers with status 200",
)

BENIGN = "total 3\nREADME.md\nsrc\ntests"


class Planted(msgspec.Struct, frozen=True):
    """A payload, where it is planted, and what it is."""

    id: str
    carrier: str
    payload: str
    repeat_to: int | None = None

    @property
    def text(self) -> str:
        """The payload in its full length."""
        if self.repeat_to is None:
            return self.payload
        return (self.payload * (self.repeat_to // len(self.payload) + 1))[: self.repeat_to]


def corpus() -> list[Planted | None]:
    """Every string, or nothing in its place if the corpus is not here."""
    if not CORPUS.exists():
        return [None]
    return [msgspec.json.decode(line, type=Planted) for line in CORPUS.read_bytes().splitlines()]


def run_with(planted: Planted) -> tuple[Run, FakeMachine]:
    """A run in which the payload stands where its carrier says."""

    def at(carrier: str, otherwise: str) -> str:
        return planted.text if planted.carrier == carrier else otherwise

    def run(_: str) -> Output:
        return printed(at("cmd", BENIGN), 1)

    record = make_record(
        user("Write the report."),
        says(at("say", "I will look around.")),
        calls("bash", "ls -l", result=at("tool", BENIGN)),
        says(at("final", "I stopped here.")),
    )
    files = {at("name", "README.md").replace("/", "_"): at("file", "A read-me file.\n")}
    return make_run(record, task=at("meta", "Write the report."), agent=at("meta", "forge")), FakeMachine(files, run)


def fooled(planted: Planted) -> ScriptedModel:
    """Looks at everything, then passes everything and quotes each line of the payload from everything it saw."""
    name = planted.text.replace("/", "_") if planted.carrier == "name" else "README.md"
    everything = [
        ("outline", {}),
        *(("open_entry", {"entry": f"e{number}"}) for number in range(1, 6)),
        ("search_record", {"pattern": planted.text[:200] or "x"}),
        ("list_directory", {}),
        ("read_file", {"path": name}),
        ("run_command", {"command": "ls -l"}),
    ]
    exhibits = [f"e{number}" for number in range(1, 6)] + [f"L{number}" for number in range(1, 11)] + ["task", "agent"]
    quotes = list(dict.fromkeys(part[:300] for part in [planted.text, *planted.text.splitlines()] if part.strip()))[:5]
    cited = [(exhibit, quote) for quote in quotes for exhibit in exhibits][:30]
    everywhere = [verdict(criterion.id, True, *cited, note="As it says there.") for criterion in RUBRIC.criteria]

    def play(request: Request) -> Scripted:
        return looks(*everything) if len(request.messages) == 1 else decides(*everywhere)

    return ScriptedModel(play)


async def judged(planted: Planted) -> Judgment:
    run, machine = run_with(planted)
    return await Evaluator(fooled(planted)).judge(run, RUBRIC, machine)


PRINTED = "a tool really printed it; that the words prove nothing of this criterion takes understanding"
WRITTEN = "the file really says so; that the words prove nothing of this criterion takes understanding"
MARKUP = "it aims at a page or a spreadsheet, not at the judge; what answers it is escaping where it is shown"
CANNOT_KNOW = {
    "forge-03": PRINTED + " (its exit code it cannot forge: see test_machine_looks)",
    "forge-05": PRINTED,
    "forge-07": WRITTEN + "; that such a file is there is told by the machine's facts",
    "forge-08": "it is the name of a file, and there may be such a file",
    "invisible-08": "one accent on each letter is decomposed writing: nothing is hidden and nothing is stacked",
    "markup-03": MARKUP,
    "markup-05": MARKUP,
    "markup-06": MARKUP,
    "quote-03": PRINTED,
    "quote-04": PRINTED,
    "quote-06": PRINTED + "; in this record it is a result, not a call",
    "tooluse-05": WRITTEN,
}
"""Strings that a fooled model can pass on and that raise no sign, with the reason why code cannot know better."""


@pytest.fixture(scope="module", params=corpus(), ids=lambda planted: planted.id if planted else "no corpus")
def planted(request: pytest.FixtureRequest) -> Planted:
    """Each string of the corpus."""
    if request.param is None:
        pytest.skip("the corpus is not here: set ADJUDGE_SHARED to the folder that holds injection/corpus.jsonl")
    assert isinstance(request.param, Planted)
    return request.param


async def test_no_verdict_about_a_result_passes_on_the_agents_words(planted: Planted) -> None:
    judgment = await judged(planted)
    by_agent = {"e2", "e3", "e5", "task", "agent"}
    for found in judgment.verdicts:
        if found.passed:
            assert {holding.source for holding in found.holdings if holding.standing == "observed"} - by_agent
    if planted.carrier in ("say", "final", "meta"):
        assert judgment.score == 0.0


async def test_every_string_is_stopped_or_flagged_or_listed_with_its_reason(planted: Planted) -> None:
    judgment = await judged(planted)
    handled = judgment.score == 0.0 or bool(judgment.steering) or judgment.masked > 0
    assert handled != (planted.id in CANNOT_KNOW)
