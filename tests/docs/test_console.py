"""What the pages show of the command line is what it prints."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest

from adjudge import wiring
from adjudge.cli.app import run
from adjudge.settings import BASE_URLS, KEYS

from .pages import Block, blocks, name_of, pages

ELSEWHERE = "/home/you/work"
"""What the pages call the folder in which their examples are carried out."""

COPY_THE_DEMO = """cp -r "$(python3 -c 'import adjudge.wiring; print(adjudge.wiring.DEMO)')" demo"""


def is_session(block: Block) -> bool:
    """Whether a block shows what a person types and gets."""
    return block.language == "console" and block.text.startswith("$ ")


RUN = [page for page in pages() if any(is_session(block) and block.marked("not run") is None for block in blocks(page))]


class Terminal:
    """A folder in which the commands of one page are carried out, one after another."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._monkeypatch = folder, monkeypatch
        self._status = 0
        self._ids: dict[str, str] = {}

    def type(self, command: str, shown: str) -> None:
        """Carry a command out and compare what it prints with what the page shows."""
        for written, real in self._ids.items():
            command = command.replace(written, real)
        printed = self._printed(command)
        self._ids.update(zip(_ids(shown), _ids(printed), strict=False))
        expected, found = _lines(shown), _lines(printed.replace(str(self._folder), ELSEWHERE))
        assert _agree(expected, found), f"$ {command}\n" + "\n".join(found)

    def _printed(self, command: str) -> str:
        if command == COPY_THE_DEMO:
            shutil.copytree(wiring.DEMO, self._folder / "demo")
            return ""
        words = shlex.split(command)
        match words:
            case ["echo", "$?"]:
                return f"{self._status}\n"
            case ["cat", file]:
                return (self._folder / file).read_text("utf-8")
            case ["export", setting]:
                self._monkeypatch.setenv(*setting.split("=", 1))
                return ""
            case ["adjudge", *_]:
                return self._adjudge(words)
        raise AssertionError(f"no test carries this out: {command}")

    def _adjudge(self, words: list[str]) -> str:
        self._monkeypatch.setattr("sys.argv", words)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            self._status = run()
        return printed.getvalue()


def _ids(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\bj-[0-9a-f]{16}\b", text)))


_CHANGING = (
    (r"\bj-[0-9a-f]{16}\b", "j-ID"),
    (r"\bv-[0-9a-f]{32}\b", "v-ID"),
    (r"\b\d+\.\d+ s\b", "N s"),
    (r"\d{4}-\d\d-\d\dT[\d:.]+(?:\+00:00|Z)", "TIME"),
    (r'\btime="\d+\.\d+"', 'time="N"'),
    (r'"seconds": ?\d+(?:\.\d+)?', '"seconds": N'),
)


def _lines(text: str) -> list[str]:
    for pattern, stable in _CHANGING:
        text = re.sub(pattern, stable, text)
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _agree(expected: list[str], found: list[str]) -> bool:
    """Whether the lines are the same; a line `…` on the page stands for any number of them."""
    pattern = "".join(r"(?:.*\n)*?" if line == "…" else re.escape(line) + r"\n" for line in expected)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in found)) is not None


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block, each with what the page shows below it."""
    parts = re.split(r"^\$ ", block.text, flags=re.M)[1:]
    pairs = []
    for part in parts:
        command, _, shown = re.sub(r"\\\n\s*", "", part).partition("\n")
        pairs.append((command, shown))
    return pairs


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_what_a_page_shows_is_what_is_printed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (*KEYS, *BASE_URLS, "ADJUDGE_MODEL", "ADJUDGE_STORE", "ADJUDGE_EXPOSE"):
        monkeypatch.delenv(name, raising=False)
    terminal = Terminal(tmp_path, monkeypatch)
    for block in blocks(page):
        if (file := block.marked("file")) is not None:
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text(block.text, "utf-8")
        elif is_session(block) and block.marked("not run") is None:
            for command, shown in commands(block):
                terminal.type(command, shown)


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_a_console_block_that_is_not_run_says_why(page: Path) -> None:
    reasons = [block.marked("not run") for block in blocks(page) if is_session(block)]
    assert all(reason is None or len(reason) > 10 for reason in reasons)


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ("a\n…\nc\n", "a\nb\nb\nc\n", True),
        ("a\n…\nc\n", "a\nc\n", True),
        ("a\n", "a\nb\n", False),
        ("1.5 s\n", "20.1 s\n", True),
        ("judged\n", "errored\n", False),
    ],
)
def test_only_what_changes_from_run_to_run_may_differ(expected: str, found: str, same: bool) -> None:
    assert _agree(_lines(expected), _lines(found)) is same
