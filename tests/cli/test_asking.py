"""`adjudge ask` as a user types it, with a scripted model on loopback."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.store.postgres_server import Server

from adjudge.asking.values import Asking, Look, Progress
from adjudge.cli.asking import account_of_stopped, told
from adjudge.errors import InputError, ModelError
from adjudge.settings import Settings
from adjudge.store.store import open_store
from adjudge.wiring.asking import follow

from .conftest import Command, Script

CHAT = [
    {"role": "user", "content": "Count the lines of a.txt."},
    {"role": "assistant", "content": "There are 3 lines in a.txt."},
]
Serve = Callable[[Script], str]
Said = str | Sequence[tuple[str, dict[str, Any]]]


def answer(*statements: dict[str, Any], **more: Any) -> list[tuple[str, dict[str, Any]]]:
    return [("answer", {"statements": list(statements), **more})]


def counted(number: int) -> dict[str, Any]:
    return {"text": f"The store has {number} run.", "citations": [{"exhibit": "L1", "quote": "runs: 1"}]}


class Plays:
    """A model that answers so in turn, and for ever with the last of it."""

    def __init__(self, *script: Said) -> None:
        self._script = list(script)

    def __call__(self, body: dict[str, Any]) -> Said:
        return self._script.pop(0) if len(self._script) > 1 else self._script[0]


COUNT: Said = [("count_runs", {})]


@pytest.fixture
def filled(adjudge: Command) -> None:
    Path("one.json").write_text(json.dumps(CHAT))
    assert adjudge("import", "one.json").status == 0


@pytest.mark.usefixtures("filled")
def test_an_answer_is_printed_with_what_it_rests_on(adjudge: Command, serve: Serve) -> None:
    read: Said = [("search_runs", {"pattern": "lines in"}), ("count_runs", {})]

    def play(body: dict[str, Any]) -> Said:
        tools = [message["content"] for message in body["messages"] if message["role"] == "tool"]
        if not tools:
            return read
        run = next(word for word in tools[0].split() if word.startswith("r-"))
        cited = {"exhibit": f"{run}/e2", "quote": "There are 3 lines in a.txt."}
        return answer({"text": "It says that there are 3 lines.", "citations": [cited]})

    ended = adjudge("ask", "How many lines are there?", "-m", serve(play))
    assert ended.status == 0, ended.err
    assert "1. It says that there are 3 lines." in ended.out
    assert "/e2 (message of agent) “There are 3 lines in a.txt.”" in ended.out
    assert "2 looks" in ended.out
    assert "prints an entry that it cites" in ended.err


@pytest.mark.usefixtures("filled")
def test_what_does_not_stand_is_shown_apart_and_alone_it_is_no_answer(adjudge: Command, serve: Serve) -> None:
    ended = adjudge("ask", "How many?", "-m", serve(Plays(COUNT, answer(counted(7)))))
    assert ended.status == 3
    assert "No answer that rests on anything" in ended.out
    assert "Not supported, and no part of the answer:\n  - The store has 7 run.\n    7: in none of its quotes" in ended.out


@pytest.mark.usefixtures("filled")
def test_what_the_store_does_not_tell_is_an_answer(adjudge: Command, serve: Serve) -> None:
    untold = answer(untold=[{"text": "who paid for it", "looks": ["L1"]}])
    ended = adjudge("ask", "Who paid?", "-m", serve(Plays(COUNT, untold)))
    assert ended.status == 0
    assert "The store does not tell: who paid for it\n   L1 (count_runs): runs: 1" in ended.out


@pytest.mark.usefixtures("filled")
def test_json_has_question_looks_statements_model_and_cost(adjudge: Command, serve: Serve) -> None:
    ended = adjudge("ask", "How many?", "-m", serve(Plays(COUNT, answer(counted(1)))), "--json")
    asking = json.loads(ended.out)
    assert (asking["question"], asking["status"], asking["statements"][0]["text"]) == (
        "How many?",
        "answered",
        "The store has 1 run.",
    )
    assert [look["id"] for look in asking["looks"]] == ["L0", "L1"]
    assert asking["model"].endswith("#scripted")
    assert asking["cost"] == 0


@pytest.mark.usefixtures("filled")
def test_an_answer_is_saved_whole(adjudge: Command, serve: Serve) -> None:
    model = serve(Plays(COUNT, answer(counted(1))))
    ended = adjudge("ask", "How many?", "-m", model, "--save", "answer.json", "--json")
    assert json.loads(Path("answer.json").read_text()) == json.loads(ended.out)


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("place", ["one.json", "nowhere/answer.json"])
def test_where_nothing_can_be_saved_nothing_is_asked(adjudge: Command, place: str) -> None:
    ended = adjudge("ask", "How many?", "-m", "http://127.0.0.1:9/v1#none", "--save", place)
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith(f"--save {place}: ")


@pytest.mark.usefixtures("filled")
def test_without_a_model_it_says_what_would_be_right(adjudge: Command) -> None:
    ended = adjudge("ask", "How many?")
    assert (ended.status, ended.out) == (2, "")
    assert ended.err == (
        "no model is named to answer with: give --model PROVIDER/MODEL or set ADJUDGE_MODEL, and set its provider's key\n"
    )


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("words", [(), ("--budget", "0.01")])
def test_without_the_models_key_it_says_which_one(adjudge: Command, words: tuple[str, ...]) -> None:
    ended = adjudge("ask", "How many?", "-m", "openai/gpt-6-sol", *words)
    assert (ended.status, ended.out) == (3, "")
    assert "no key for openai; set OPENAI_API_KEY" in ended.err


@pytest.mark.usefixtures("filled")
def test_a_blank_question_is_refused(adjudge: Command, serve: Serve) -> None:
    ended = adjudge("ask", "  ", "-m", serve(Plays(COUNT)))
    assert ended.status == 2
    assert "a question has 1 to 4000 characters" in ended.err


def test_without_a_store_there_is_nothing_to_ask(adjudge: Command, serve: Serve) -> None:
    ended = adjudge("ask", "How many?", "-m", serve(Plays(COUNT)))
    assert ended.status == 2
    assert "there is no store here yet" in ended.err


def test_an_empty_store_tells_nothing(adjudge: Command, serve: Serve, tmp_path: Path) -> None:
    open_store(tmp_path / ".adjudge").close()
    ended = adjudge("ask", "How many?", "-m", serve(Plays("never asked")))
    assert ended.status == 0
    assert "The store does not tell: anything, as it holds no run yet" in ended.out


@pytest.mark.usefixtures("filled")
def test_a_model_that_never_answers_ends_with_3(adjudge: Command, serve: Serve) -> None:
    ended = adjudge("ask", "How many?", "-m", serve(Plays("I would rather not.")))
    assert ended.status == 3
    assert "The model did not answer, though it was made to 3 times" in ended.out


@pytest.mark.usefixtures("filled")
def test_control_characters_of_a_model_reach_no_terminal(adjudge: Command, serve: Serve) -> None:
    statement = {"text": "All\x1b[2J is\u202e well.", "citations": [{"exhibit": "L1", "quote": "runs: 1"}]}
    ended = adjudge("ask", "How many?", "-m", serve(Plays(COUNT, answer(statement))))
    assert "\x1b" not in ended.out
    assert "\u202e" not in ended.out


# --- with a store in PostgreSQL


@pytest.fixture
def url(adjudge: Command, postgres: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = postgres.create()
    monkeypatch.setenv("ADJUDGE_BLOBS", "kept")
    yield postgres.url(name)
    postgres.drop(name)


def test_a_store_in_postgresql_is_asked(adjudge: Command, url: str, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_STORE", url)
    Path("one.json").write_text(json.dumps(CHAT))
    assert adjudge("import", "one.json").status == 0
    everything: Said = [
        ("count_runs", {"by": ["agent", "outcome"]}),
        ("list_runs", {"task": "LINES"}),
        ("search_runs", {"pattern": "lines"}),
        ("list_endings", {}),
        ("list_judgments", {}),
        ("list_rubrics", {}),
        ("list_passes", {}),
    ]
    ended = adjudge("ask", "How many?", "-m", serve(Plays(everything, answer(counted(1)))), "--json")
    assert ended.status == 0, ended.err
    assert [look.get("found") for look in json.loads(ended.out)["looks"]] == [1, 1, 1, 1, 1, 0, 0, 0]


# --- while it goes on

HEARING = """import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from adjudge.cli.start import main
main()"""
"""`adjudge`, deaf to no SIGINT: what is started in the background of a shell without job control inherits that it is."""


@pytest.mark.usefixtures("filled")
def test_ctrl_c_ends_it_cleanly(serve: Serve) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def waits(body: dict[str, Any]) -> Said:
        if not any(message["role"] == "tool" for message in body["messages"]):
            return COUNT
        asked.set()
        go_on.wait(30)
        return "too late"

    command = [sys.executable, "-c", HEARING, "ask", "How many?", "-m", serve(waits)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert asked.wait(60)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        finally:
            go_on.set()
            process.kill()
    assert (process.returncode, out) == (130, "")
    assert err == "Stopped after 1 look; it had cost $0.0000, and the call under way may be billed too.\n"


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (None, "Stopped before the model was asked; nothing was spent."),
        (
            Progress(1, 0, 20, None, 0.0),
            "Stopped after 0 looks; it had cost $0.0000, and the call under way may be billed too.",
        ),
        (
            Progress(3, 2, 20, Look("L2", "outline", "record", {}, ()), 0.0312),
            "Stopped after 2 looks; it had cost $0.0312.",
        ),
        (
            Progress(3, 2, 20, Look("L2", "outline", "record", {}, ()), None),
            "Stopped after 2 looks; its cost is not known.",
        ),
    ],
)
def test_what_was_stopped_says_what_it_had_cost(progress: Progress | None, words: str) -> None:
    assert account_of_stopped(progress) == words


def test_progress_says_which_look_is_made() -> None:
    look = Look("L3", "search_runs", "store", {"pattern": "pip\x1b install", "kind": "call"}, ("matches: 0",))
    assert told(Progress(2, 3, 20, look)) == "look 3 of 20  search_runs  pip<U+001B> install call"
    assert told(Progress(3, 3, 20)) == "look 3 of 20  thinking"


# --- step by step, as a page follows it


@pytest.fixture
def settings(filled: None, serve: Serve) -> Settings:
    return Settings(model=serve(Plays(COUNT, answer(counted(1)))))


async def test_an_asking_can_be_followed_look_by_look(settings: Settings) -> None:
    with open_store(Path(".adjudge")) as store:
        *steps, last = [step async for step in follow("How many?", store, settings)]
    looks = [step.look.id for step in steps if isinstance(step, Progress) and step.look]
    assert looks == ["L1"]
    assert isinstance(last, Asking)
    assert last.statements[0].text == "The store has 1 run."


async def test_an_asking_that_nobody_follows_any_more_ends(settings: Settings) -> None:
    with open_store(Path(".adjudge")) as store:
        steps = follow("How many?", store, settings)
        await anext(steps)
        await steps.aclose()
    assert len(asyncio.all_tasks()) == 1


async def test_whoever_follows_is_told_what_is_wrong(settings: Settings) -> None:
    with open_store(Path(".adjudge")) as store:
        with pytest.raises(InputError, match="a question has"):
            [step async for step in follow(" ", store, settings)]
        with pytest.raises(ModelError, match="no key for openai"):
            [step async for step in follow("How many?", store, Settings(model="openai/gpt-6-sol"))]
