"""Connecting a key as a user does it, and that it is never shown."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge import wiring
from adjudge.connected import read_keys

from .conftest import Command, Ended

KEY = "sk-or-v1-5f2e9c7ad0b14368"

Piped = Callable[..., Ended]


@pytest.fixture
def piped(adjudge: Command, monkeypatch: pytest.MonkeyPatch) -> Piped:
    """Run `adjudge` with a text on standard input."""

    def command(text: str, *words: object) -> Ended:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        ended = adjudge(*words)
        assert KEY not in ended.out + ended.err
        return ended

    return command


def test_a_key_is_read_from_standard_input_and_kept(piped: Piped) -> None:
    ended = piped(f"{KEY}\n", "connect", "openrouter")
    assert (ended.status, ended.out) == (0, "")
    assert ended.err == "openrouter: the key is kept in .adjudge, for judges and agents of this project.\n"
    assert read_keys(".adjudge") == {"OPENROUTER_API_KEY": KEY}


def test_only_the_first_line_is_the_key(piped: Piped) -> None:
    piped(f"  {KEY}  \nand more\n", "connect", "openrouter")
    assert read_keys(".adjudge") == {"OPENROUTER_API_KEY": KEY}


def test_a_store_may_be_named(piped: Piped) -> None:
    piped(f"{KEY}\n", "connect", "anthropic", "--store", "elsewhere")
    assert read_keys("elsewhere") == {"ANTHROPIC_API_KEY": KEY}
    assert not Path(".adjudge").exists()


@pytest.mark.parametrize("text", ["short\n", f"{KEY} {KEY}\n", "x" * 10_000])
def test_what_is_no_key_is_not_kept(piped: Piped, text: str) -> None:
    ended = piped(text, "connect", "openai")
    assert ended.status == 2
    assert "this is no key" in ended.err
    assert not Path(".adjudge").exists()


@pytest.mark.parametrize("text", ["", "\n"])
def test_without_a_key_on_standard_input_it_is_told_how_to_give_one(piped: Piped, text: str) -> None:
    ended = piped(text, "connect", "openai")
    assert ended.status == 2
    assert "openai: no key came on standard input; pipe it in, or run `adjudge connect openai` on a terminal" in ended.err
    assert not Path(".adjudge").exists()


def test_an_unknown_provider_is_told_before_anything_is_asked(piped: Piped) -> None:
    ended = piped(f"{KEY}\n", "connect", "openruoter")
    assert ended.status == 2
    assert "the providers are openrouter, openai, anthropic, google" in ended.err


def test_keys_are_listed_by_their_last_four_characters(piped: Piped, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(f"{KEY}\n", "connect", "openrouter")
    piped("12345678\n", "connect", "openai")
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-v1-of-the-environment")
    ended = piped("", "connect", "--json")
    rows = [
        {name: row[name] for name in ("provider", "variable", "source", "ends", "used")} for row in json.loads(ended.out)
    ]
    assert rows == [
        {"provider": "openrouter", "variable": "OPENROUTER_API_KEY", "source": "environment", "ends": "ment", "used": True},
        {"provider": "openrouter", "variable": "OPENROUTER_API_KEY", "source": "connected", "ends": "4368", "used": False},
        {"provider": "openai", "variable": "OPENAI_API_KEY", "source": "connected", "ends": "", "used": True},
    ]
    head, *lines = piped("", "connect").out.splitlines()
    assert head.split() == ["provider", "from", "key", "since", "used"]
    assert [line.split()[:3] for line in lines] == [
        ["openrouter", "environment", "…ment"],
        ["openrouter", "connected", "…4368"],
        ["openai", "connected", "…"],
    ]
    assert lines[1].split()[3].startswith("20")


def test_without_a_key_it_is_told_how_to_connect_one(adjudge: Command) -> None:
    ended = adjudge("connect")
    assert (ended.status, ended.out) == (0, "")
    assert "`adjudge connect PROVIDER`" in ended.err
    assert json.loads(adjudge("connect", "--json").out) == []


def test_a_key_of_the_environment_goes_before_it_and_that_is_said(piped: Piped, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "from-environment")
    assert "GOOGLE_API_KEY is set in the environment and goes before it." in piped(f"{KEY}\n", "connect", "google").err


def test_a_key_can_be_forgotten(piped: Piped) -> None:
    piped(f"{KEY}\n", "connect", "openrouter")
    ended = piped("", "disconnect", "openrouter")
    assert ended.status == 0
    assert "forgotten" in ended.err
    assert read_keys(".adjudge") == {}
    assert "no key was connected" in piped("", "disconnect", "openrouter").err


# --- from OpenCode


def opencode(folder: Path, value: object) -> None:
    (folder / "opencode").mkdir(parents=True)
    (folder / "opencode/auth.json").write_text(json.dumps(value))


def test_the_key_that_opencode_keeps_can_be_taken(piped: Piped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    opencode(tmp_path / ".local/share", {"openrouter": {"type": "api", "key": KEY}})
    assert piped("", "connect", "openrouter", "--from-opencode").status == 0
    assert read_keys(".adjudge") == {"OPENROUTER_API_KEY": KEY}


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({}, "holds nothing for openrouter"),
        ([], "holds nothing for openrouter"),
        ({"openrouter": {"type": "oauth", "access": KEY}}, "holds a login for openrouter, not a key"),
        ({"openrouter": {"type": "api", "key": None}}, "not a key"),
    ],
)
def test_what_opencode_keeps_but_is_no_key_is_not_taken(
    piped: Piped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: object, words: str
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    opencode(tmp_path, value)
    ended = piped("", "connect", "openrouter", "--from-opencode")
    assert ended.status == 2
    assert words in ended.err


def test_without_opencodes_file_its_place_is_named(piped: Piped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert str(tmp_path / "opencode/auth.json") in piped("", "connect", "openrouter", "--from-opencode").err
    assert "name the provider" in piped("", "connect", "--from-opencode").err


# --- what it is for


def test_a_connected_key_is_used_by_the_other_commands(piped: Piped) -> None:
    Path("rubric.yaml").write_text("- '`sh test.sh` ends with exit status 0.'\n")
    without = piped("", "judge", wiring.DEMO, "-r", "rubric.yaml", "-m", "openrouter/maker/model")
    assert "no key for openrouter; set OPENROUTER_API_KEY, or `adjudge connect openrouter`" in " ".join(without.out.split())
    piped(f"{KEY}\n", "connect", "openrouter")
    checks = {check["name"]: check for check in json.loads(piped("", "doctor", "--json").out)}
    assert checks["models"]["works"] is True
    assert checks["models"]["why"].endswith("keys: OPENROUTER_API_KEY (connected)")


def test_doctor_tells_the_environment_and_connected_keys_apart(piped: Piped, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(f"{KEY}\n", "connect", "openrouter")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    checks = {check["name"]: check for check in json.loads(piped("", "doctor", "--json").out)}
    assert checks["models"]["why"].endswith("keys: OPENAI_API_KEY (environment), OPENROUTER_API_KEY (connected)")


def test_a_file_that_others_can_read_stops_every_command_that_would_use_it(piped: Piped) -> None:
    piped(f"{KEY}\n", "connect", "openrouter")
    Path(".adjudge/keys.json").chmod(0o644)
    ended = piped("", "list")
    assert ended.status == 2
    assert "chmod 600" in ended.err


def test_a_workspace_that_holds_the_keys_is_not_judged(piped: Piped, tmp_path: Path) -> None:
    Path("rubric.yaml").write_text("criteria:\n  - {id: a, text: x, probe: {run: cat .adjudge/keys.json, exit: 0}}\n")
    piped(f"{KEY}\n", "connect", "openrouter")
    ended = piped("", "judge", wiring.DEMO / "record.json", "--machine", tmp_path, "-r", "rubric.yaml")
    assert ended.status == 2
    assert "connected keys" in ended.err


# --- on a terminal


def test_on_a_terminal_the_key_is_asked_for_without_echo(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "adjudge", "connect", "openrouter", "--store", str(tmp_path / "store")]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, close_fds=True)
    os.close(theirs)
    seen = b""
    while b"not shown" not in seen:
        seen += os.read(ours, 1000)
    os.write(ours, f"{KEY}\n".encode())
    try:
        while piece := os.read(ours, 1000):
            seen += piece
    except OSError:  # the terminal is gone with the process
        pass
    os.close(ours)
    assert process.wait(30) == 0
    assert KEY.encode() not in seen
    assert read_keys(tmp_path / "store") == {"OPENROUTER_API_KEY": KEY}
