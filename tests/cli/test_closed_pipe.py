"""A reader that goes away, such as `head`, ends a command quietly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Command

CHAT = [{"role": "user", "content": "Say hello."}, {"role": "assistant", "content": "Hello. " * 20_000}]


@pytest.fixture(autouse=True)
def store(adjudge: Command) -> None:
    """A run and a judgment in the store of the folder in which commands run."""
    Path("chat.json").write_text(json.dumps(CHAT))
    adjudge("judge", "chat.json", "-r", "none")


def ended(command: str, both: bool) -> tuple[int, str]:
    """The exit status and the errors of a command whose output nobody reads; `both` closes standard error as well."""
    read, write = os.pipe()
    os.close(read)
    words = [sys.executable, "-m", "adjudge", *command.split()]
    done = subprocess.run(
        words, stdout=write, stderr=write if both else subprocess.PIPE, text=True, timeout=60, check=False
    )
    os.close(write)
    return done.returncode, done.stderr or ""


@pytest.mark.parametrize(
    ("command", "both"),
    [
        ("--version", False),
        ("list", False),
        ("list", True),
        ("show r- e2", False),
        ("profile chat.json", False),
        ("read chat.json --dry-run", True),
        ("export --as jsonl", False),
    ],
)
def test_a_closed_pipe_is_no_failure(command: str, both: bool) -> None:
    status, errors = ended(command, both)
    assert (status, errors) == (0, "")
