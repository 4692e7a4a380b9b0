"""`adjudge read` as a user types it, with a scripted model on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge import wiring
from adjudge.settings import Settings
from adjudge.store.store import open_store

from .conftest import Command, Script

RUBRIC = """\
name: two
version: 1
dimensions:
- id: hallucination
  scale: severity
  baseline: 0
  worse: higher
  description: Stated what the record shows to be untrue.
- id: tool_efficiency
  scale: ratio
  baseline: 1
  worse: lower
  description: The part of calls that were useful.
"""
CHAT = [
    {"role": "user", "content": "Count the lines of a.txt."},
    {"role": "assistant", "content": "There are 3 lines in a.txt."},
]
OTHER = [{"role": "user", "content": "Say hello."}, {"role": "assistant", "content": "Hello to you."}]


@pytest.fixture(autouse=True)
def files(adjudge: Command) -> None:
    """A rubric and two recordings, one of them with two runs, in the folder in which commands run."""
    Path("rubric.yaml").write_text(RUBRIC)
    Path("one.json").write_text(json.dumps(CHAT))
    Path("two.jsonl").write_text(f"{json.dumps({'messages': CHAT})}\n{json.dumps({'messages': OTHER})}\n")


def answer(value: float | None = 0, *cited: tuple[str, str], reasoning: str = "It is as it says.") -> str:
    """What a model says that gives hallucination this value."""
    blameless = {"reasoning": "Nothing to object to.", "value": 1, "citations": []}
    citations = [{"turn": turn, "quote": quote} for turn, quote in cited]
    scores = {"hallucination": {"reasoning": reasoning, "value": value, "citations": citations}}
    return json.dumps({"scores": {**scores, "tool_efficiency": blameless}, "summary": "It counted.", "steering": []})


class Reads:
    """A model that gives these answers in turn, and keeps what it was asked."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self.asked: list[dict[str, Any]] = []

    def __call__(self, body: dict[str, Any]) -> str:
        self.asked.append(body)
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


Serve = Callable[[Script], str]

ACCUSES = answer(3, ("t1", "There are 3 lines in a.txt."))


def test_a_blameless_run_ends_with_0_and_is_kept(adjudge: Command, serve: Serve) -> None:
    ended = adjudge("read", "one.json", "-r", "rubric.yaml", "-m", serve(Reads(answer())))
    assert ended.status == 0
    assert "   0  hallucination  not worse, from 0 to 3, blameless is 0" in ended.out
    assert "Nothing is worse than blameless; 2 of 2 dimensions have a value" in ended.out
    with open_store(Path(".adjudge")) as store:
        (row,) = store.judgments()
    assert (row.judge, row.scored, row.prompt_tokens, row.prune) == ("reader", 2, 100, "pruned")
    assert f"{row.run} is kept as {row.id}" in ended.err


def test_an_accusation_that_stands_ends_with_1(adjudge: Command, serve: Serve) -> None:
    ended = adjudge("read", "one.json", "-r", "rubric.yaml", "-m", serve(Reads(ACCUSES)))
    assert ended.status == 1
    assert "t1 → e2 “There are 3 lines in a.txt.”" in ended.out


def test_an_accusation_that_points_at_nothing_is_none(adjudge: Command, serve: Serve) -> None:
    ended = adjudge("read", "one.json", "-r", "rubric.yaml", "-m", serve(Reads(answer(3, ("t9", "no such words")))))
    assert ended.status == 0
    assert "no value: it accused without a turn that shows it; the reader had answered 3" in ended.out


@pytest.mark.parametrize("said", ["I would rather not.", '{"scores": {}}'])
def test_a_run_that_could_not_be_read_ends_with_3(adjudge: Command, serve: Serve, said: str) -> None:
    ended = adjudge("read", "one.json", "-r", "rubric.yaml", "-m", serve(Reads(said)))
    assert ended.status == 3
    assert "Not judged (judge_parse_failed)" in ended.out


def test_an_answer_without_a_single_value_ends_with_3(adjudge: Command, serve: Serve) -> None:
    Path("rubric.yaml").write_text(RUBRIC[: RUBRIC.index("- id: tool_efficiency")])
    said = json.loads(answer(None))
    del said["scores"]["tool_efficiency"]
    ended = adjudge("read", "one.json", "-r", "rubric.yaml", "-m", serve(Reads(json.dumps(said))))
    assert ended.status == 3
    assert "Empty: the reader answered, and no dimension has a value." in ended.out


def test_without_a_model_nothing_is_read_or_stored(adjudge: Command) -> None:
    ended = adjudge("read", "one.json", "-r", "rubric.yaml")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("no model is named: give --model PROVIDER/MODEL or set ADJUDGE_MODEL")
    assert not Path(".adjudge").exists()


@pytest.mark.parametrize("words", [(), ("--budget", "0.01")])
def test_without_the_models_key_nothing_is_read_or_stored(adjudge: Command, words: tuple[str, ...]) -> None:
    ended = adjudge("read", "two.jsonl", "-r", "rubric.yaml", "-m", PRICED, *words)
    assert (ended.status, ended.out) == (3, "")
    assert ended.err == f"{PRICED}: no key for anthropic; set ANTHROPIC_API_KEY, or `adjudge connect anthropic`\n"
    assert not Path(".adjudge").exists()


@pytest.mark.parametrize("model", ["opnai/gpt-4o", "gpt-4o", "recorded/missing.json"])
def test_for_a_mistyped_model_nothing_is_read_or_stored(adjudge: Command, model: str) -> None:
    assert adjudge("read", "one.json", "-r", "rubric.yaml", "-m", model).status == 2
    assert not Path(".adjudge").exists()


def test_a_budget_that_cannot_be_kept_is_told_in_plain_figures(adjudge: Command) -> None:
    model = "http://192.0.2.1/v1#unpriced"
    ended = adjudge("read", "one.json", "-r", "rubric.yaml", "-m", model, "--budget", "0.00001")
    assert ended.status == 2
    assert "no price is known, so a budget of $0.00001 cannot be kept" in ended.err
    assert not Path(".adjudge").exists()


async def test_a_reading_from_python_without_a_key_is_a_row_that_says_so(adjudge: Command) -> None:
    settings = Settings(model=PRICED, budget=0.01, store=".adjudge")
    (run,) = wiring.read_runs(Path("one.json"))
    judgment = await wiring.read(run, wiring.find_dimensions("rubric.yaml"), settings)
    assert (judgment.status, judgment.failure) == ("errored", "refused")
    assert "no key for anthropic" in str(judgment.reason)


def test_every_run_of_a_path_is_read_one_after_the_other(adjudge: Command, serve: Serve) -> None:
    Path("three.json").write_text(json.dumps([*OTHER, *CHAT]))
    model = Reads(answer(), ACCUSES, answer())
    ended = adjudge("read", "two.jsonl", "three.json", "-r", "rubric.yaml", "-m", serve(model))
    assert ended.err.count("is kept as j-") == len(model.asked) == 3
    assert "Say hello." in json.dumps(model.asked[1])
    assert ended.status == 0, "the second run holds no such words, so that its accusation falls"


def test_a_run_that_is_named_twice_is_read_once_and_that_is_said(adjudge: Command, serve: Serve) -> None:
    Path("copy.json").write_text(json.dumps(CHAT))
    model = Reads(answer())
    ended = adjudge("read", "one.json", "copy.json", "one.json", "-r", "rubric.yaml", "-m", serve(model))
    assert (ended.status, len(model.asked)) == (0, 1)
    (run,) = json.loads(adjudge("list", "--json").out)
    told = [line for line in ended.err.splitlines() if "is not read twice" in line]
    assert told[0].startswith(f"copy.json: is {run['id']} again, as one.json")
    assert len(told) == 2


def test_a_run_is_named_with_its_source(adjudge: Command, serve: Serve) -> None:
    ended = adjudge("read", "one.json", "-r", "rubric.yaml", "-m", serve(Reads(answer())))
    assert ended.out.splitlines()[0].endswith(" · 1 turn · one.json")


def test_only_a_turn_that_is_cited_is_offered_to_be_shown(adjudge: Command, serve: Serve) -> None:
    words = ("read", "one.json", "-r", "rubric.yaml", "-m")
    accused = adjudge(*words, serve(Reads(ACCUSES))).err
    run, name = accused.split()[0], accused.split(" is kept as ")[1].split(":")[0]
    assert f"`adjudge show {name} t1` prints a turn" in accused
    assert run == json.loads(adjudge("list", "--json").out)[0]["id"]
    assert "prints a turn" not in adjudge(*words, serve(Reads(answer()))).err
    assert "--transcript` prints what was said" in adjudge(*words, serve(Reads("no"))).err


def test_the_worst_of_several_runs_is_the_exit_status(adjudge: Command, serve: Serve) -> None:
    ended = adjudge("read", "two.jsonl", "-r", "rubric.yaml", "-m", serve(Reads(ACCUSES, answer())))
    assert ended.status == 1


def test_a_stored_run_is_read_by_the_beginning_of_its_id(adjudge: Command, serve: Serve) -> None:
    (run,) = json.loads(adjudge("import", "one.json", "--json").out)
    ended = adjudge("read", run["run"][:8], "-r", "rubric.yaml", "-m", serve(Reads(answer())))
    assert ended.status == 0
    assert [row["judgments"] for row in json.loads(adjudge("list", "--json").out)] == [1]


def test_a_path_that_cannot_be_read_holds_up_no_other_and_ends_with_2(adjudge: Command, serve: Serve) -> None:
    ended = adjudge("read", "missing.json", "one.json", "-r", "rubric.yaml", "-m", serve(Reads(answer())))
    assert ended.status == 2
    assert ended.err.startswith("missing.json: there is no such file or folder")
    assert "is kept as" in ended.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-r", "broken.yaml"), "broken.yaml: "),
        (("-r", "criteria.yaml"), "is a rubric of criteria; `adjudge judge` judges with it"),
        (("-r", "rubric.yaml", "-m", "no/such:provider"), "no/such:provider"),
        (("-r", "rubric.yaml", "--prune", "some"), "'some' is not one of"),
        (("-r", "rubric.yaml", "--budget", "-1"), "--budget"),
    ],
)
def test_bad_input_is_told_before_any_call(
    adjudge: Command, serve: Serve, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    model = Reads(answer())
    monkeypatch.setenv("ADJUDGE_MODEL", serve(model))
    Path("broken.yaml").write_text(RUBRIC.replace("severity", "huge"))
    Path("criteria.yaml").write_text("- '`ls` prints a.txt'\n")
    ended = adjudge("read", "one.json", *words)
    assert ended.status == 2
    assert told in ended.err
    assert model.asked == []


def test_the_mode_of_the_option_goes_before_that_of_the_environment(
    adjudge: Command, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADJUDGE_PRUNE", "automatic")
    model = serve(Reads(answer()))
    words = ("read", "one.json", "-r", "rubric.yaml", "-m", model, "--json")
    assert [each["prepared"]["asked"] for each in json.loads(adjudge(*words).out)] == ["automatic"]
    assert [each["prepared"]["asked"] for each in json.loads(adjudge(*words, "--prune", "full").out)] == ["full"]


def test_json_is_a_list_of_the_judgments(adjudge: Command, serve: Serve) -> None:
    ended = adjudge("read", "two.jsonl", "-r", "rubric.yaml", "-m", serve(Reads(ACCUSES)), "--json")
    first, second = json.loads(ended.out)
    assert (first["scores"][0]["value"], second["scores"][0]["value"]) == (3, None)
    assert first["judge"]["kind"] == "reader"


def test_what_was_read_can_be_verified(adjudge: Command, serve: Serve) -> None:
    adjudge("read", "one.json", "-r", "rubric.yaml", "-m", serve(Reads(ACCUSES)))
    ended = adjudge("verify")
    assert (ended.status, "sound  2 scores, 1 citation checked" in ended.out) == (0, True)


# --- the dry run

PRICED = "anthropic/claude-sonnet-4-5"


def test_a_dry_run_asks_nothing_stores_nothing_and_needs_no_key(adjudge: Command, serve: Serve) -> None:
    model = Reads(answer())
    assert adjudge("read", "one.json", "-r", "rubric.yaml", "-m", serve(model), "--dry-run").status == 0
    assert adjudge("read", "one.json", "-r", "rubric.yaml", "-m", PRICED, "--dry-run").status == 0
    assert adjudge("read", "one.json", "-r", "rubric.yaml", "--dry-run").status == 0
    assert model.asked == []
    assert not Path(".adjudge").exists()


def test_a_dry_run_prints_the_very_request(adjudge: Command, serve: Serve) -> None:
    model = Reads(answer())
    name = serve(model)
    (dry,) = json.loads(adjudge("read", "one.json", "-r", "rubric.yaml", "-m", name, "--dry-run", "--json").out)
    printed = adjudge("read", "one.json", "-r", "rubric.yaml", "-m", name, "--dry-run").out
    adjudge("read", "one.json", "-r", "rubric.yaml", "-m", name)
    (sent,) = model.asked
    system, message = sent["messages"]
    assert (dry["request"]["system"], dry["request"]["messages"][0]["text"]) == (system["content"], message["content"])
    assert system["content"] in printed
    assert message["content"] in printed
    assert dry["request"]["schema"]["properties"]["scores"]["required"] == ["hallucination", "tool_efficiency"]


def test_a_dry_run_tells_size_and_price(adjudge: Command) -> None:
    words = ("read", "one.json", "-r", "rubric.yaml", "-m", PRICED, "--dry-run")
    (dry,) = json.loads(adjudge(*words, "--json").out)
    tokens = -(-dry["prepared"]["characters"] * 10 // 36)  # 3.6 characters for a token, rounded up
    assert dry["prepared"]["tokens"] == tokens
    # 3 and 15 US dollars for a million tokens, by the provider's list
    assert dry["least"] == pytest.approx(tokens * 3e-6)
    assert dry["most"] == pytest.approx(tokens * 3e-6 + dry["request"]["most"] * 15e-6)
    out = adjudge(*words).out
    assert f"{dry['prepared']['characters']:,} characters, estimated as {tokens:,} tokens" in out
    assert "which is not learned from this model yet: nine of ten recordings were within 26 %" in out
    assert f"${dry['least']:.4f} for the input, ${dry['most']:.4f} with the longest answer" in " ".join(out.split())


def test_a_dry_run_estimates_as_earlier_judgments_by_the_model_teach(adjudge: Command, serve: Serve) -> None:
    words = ("read", "one.json", "-r", "rubric.yaml", "-m", serve(Reads(answer())))
    adjudge(*words)
    adjudge(*words)
    assert "nine of ten recordings were within 26 %" in adjudge(*words, "--dry-run").out
    adjudge(*words)
    (dry,) = json.loads(adjudge(*words, "--dry-run", "--json").out)
    assert dry["prepared"]["tokens"] == 100  # what the server counts
    assert "learned from 3 judgments by this model; nine of ten were within 0 %" in adjudge(*words, "--dry-run").out


def test_a_dry_run_of_several_runs_is_a_table_with_a_total(adjudge: Command) -> None:
    words = ("read", "two.jsonl", "-r", "rubric.yaml", "-m", PRICED, "--dry-run")
    first, second = json.loads(adjudge(*words, "--json").out)
    head, *lines, total = [line.split() for line in adjudge(*words).out.splitlines()]
    assert head == ["run", "source", "characters", "tokens", "least", "most"]
    assert [line[0] for line in lines] == [first["run"], second["run"]]
    characters = first["prepared"]["characters"] + second["prepared"]["characters"]
    assert total[:3] == ["2", "runs", f"{characters:,}"]
    assert total[-1] == f"${first['most'] + second['most']:.4f}"


def test_a_dry_run_of_several_runs_without_a_price_says_so(adjudge: Command) -> None:
    out = adjudge("read", "two.jsonl", "-r", "rubric.yaml", "--dry-run").out
    assert out.splitlines()[-1].split()[-4:] == ["not", "known", "not", "known"]


def test_a_dry_run_says_that_a_request_does_not_fit_into_the_window(adjudge: Command) -> None:
    Path("long.json").write_text(json.dumps([*CHAT, {"role": "assistant", "content": "word " * 100_000}]))
    words = ("read", "long.json", "-r", "rubric.yaml", "-m", "openai/gpt-4o", "--dry-run")
    ended = adjudge(*words, "--prune", "full")
    assert "and the window of openai/gpt-4o has 128,000; --prune pruned leaves more out" in ended.err
    assert "window    128,000 tokens" in ended.out
    assert [dry["fits"] for dry in json.loads(adjudge(*words, "--prune", "full", "--json").out)] == [False]
    assert adjudge(*words).err == ""


def test_a_dry_run_without_a_model_says_so(adjudge: Command) -> None:
    out = adjudge("read", "one.json", "-r", "rubric.yaml", "--dry-run").out
    assert "model     none is named: --model or ADJUDGE_MODEL does" in out
    assert "price     not known" in out


def test_a_dry_run_of_the_demo_has_the_own_rubric(adjudge: Command) -> None:
    ended = adjudge("read", wiring.DEMO, "--dry-run", "--json")
    (dry,) = json.loads(ended.out)
    assert len(dry["request"]["schema"]["properties"]["scores"]["properties"]) == 9


def test_an_exchange_is_kept_of_one_run_and_plays_again(adjudge: Command, serve: Serve) -> None:
    live = adjudge("read", "one.json", "-r", "rubric.yaml", "-m", serve(Reads(ACCUSES)), "--exchange", "said.json")
    played = adjudge("read", "one.json", "-r", "rubric.yaml", "-m", "recorded/said.json")
    assert (live.status, played.status) == (1, 1)
    assert "   3  hallucination  worse than blameless" in played.out


def test_an_exchange_is_not_kept_of_several_runs(adjudge: Command, serve: Serve) -> None:
    model = Reads(answer())
    ended = adjudge("read", "two.jsonl", "-r", "rubric.yaml", "-m", serve(model), "--exchange", "said.json")
    assert (ended.status, model.asked) == (2, [])
    assert "--exchange: keeps what was said about one run, and 2 were named" in ended.err
