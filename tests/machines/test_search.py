"""Searching the files of a workspace."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from adjudge.errors import InputError
from adjudge.machines.files import Workspace
from adjudge.machines.search import LIMITS, search


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three text files, a binary one and links."""
    (tmp_path / "ws" / "b").mkdir(parents=True)
    (tmp_path / "secret").write_text("needle in the host\n")
    (tmp_path / "ws" / "a.txt").write_text("one\nthe needle is here\r\nthree needle needle\n")
    (tmp_path / "ws" / "b" / "c.py").write_text("x = 'needle'")
    (tmp_path / "ws" / "z.txt").write_text("nothing\n")
    (tmp_path / "ws" / "binary").write_bytes(b"\0needle")
    (tmp_path / "ws" / "link").symlink_to("a.txt")
    (tmp_path / "ws" / "out").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "ws" / "pipe")
    return tmp_path / "ws"


@pytest.fixture
def workspace(folder: Path) -> Iterator[Workspace]:
    opened = Workspace(folder)
    yield opened
    opened.close()


def test_every_line_with_the_words_is_found_once_in_order(workspace: Workspace) -> None:
    found = search(workspace, "needle", ".", regular=False)
    assert [(match.path, match.line, match.text) for match in found.matches] == [
        ("a.txt", 2, "the needle is here"),
        ("a.txt", 3, "three needle needle"),
        ("b/c.py", 1, "x = 'needle'"),
    ]
    assert (found.total, found.files, found.skipped, found.cut) == (3, 3, 1, False)


def test_a_pattern_matches_within_lines(workspace: Workspace) -> None:
    found = search(workspace, r"^the \w+ is", ".", regular=True)
    assert [(match.path, match.line) for match in found.matches] == [("a.txt", 2)]
    assert search(workspace, r"needle.*three", ".", regular=True).total == 0, "not over two lines"


def test_words_are_words_and_no_pattern(workspace: Workspace, folder: Path) -> None:
    (folder / "z.txt").write_text("a.c\nabc\n")
    assert search(workspace, "a.c", "z.txt", regular=False).total == 1


def test_only_below_the_path_is_searched(workspace: Workspace) -> None:
    assert [match.path for match in search(workspace, "needle", "b", regular=False).matches] == ["b/c.py"]
    assert [match.path for match in search(workspace, "needle", "./a.txt", regular=False).matches] == ["a.txt"] * 2


def test_nothing_found_says_how_much_was_read(workspace: Workspace) -> None:
    found = search(workspace, "absent", ".", regular=False)
    assert (found.matches, found.total, found.files, found.cut) == ((), 0, 3, False)


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "[z-a]", "", "two\nlines"])
def test_a_bad_pattern_is_refused(workspace: Workspace, pattern: str) -> None:
    with pytest.raises(InputError, match="pattern"):
        search(workspace, pattern, ".", regular=True)


@pytest.mark.parametrize("path", ["nothing", "../", "out/secret", "pipe"])
def test_a_bad_path_is_refused(workspace: Workspace, path: str) -> None:
    with pytest.raises(InputError):
        search(workspace, "needle", path, regular=False)


def test_a_pattern_that_would_run_for_ever_is_stopped(workspace: Workspace, folder: Path) -> None:
    (folder / "evil").write_text("a" * 5000 + "!")
    started = time.monotonic()
    with pytest.raises(InputError, match="a simpler one would do"):
        search(
            workspace, r"(?:a|a|aa|a?)+$", "evil", regular=True, limits=msgspec.structs.replace(LIMITS, line_seconds=0.1)
        )
    assert time.monotonic() - started < 5


def test_a_large_file_is_skipped_and_counted(workspace: Workspace, folder: Path) -> None:
    (folder / "large").write_text("needle\n" * 100)
    found = search(workspace, "needle", ".", regular=False, limits=msgspec.structs.replace(LIMITS, largest=100))
    assert found.skipped == 2
    assert "large" not in {match.path for match in found.matches}


def test_more_matches_than_are_kept_are_counted(workspace: Workspace, folder: Path) -> None:
    (folder / "many").write_text("needle\n" * 1000)
    found = search(workspace, "needle", "many", regular=False)
    assert (len(found.matches), found.total, found.cut) == (200, 1000, False)


@pytest.mark.parametrize("bound", [{"names": 2}, {"bytes": 10}, {"seconds": 0.0}])
def test_a_search_that_a_bound_ended_says_so(workspace: Workspace, bound: dict[str, float]) -> None:
    assert search(workspace, "absent", ".", regular=False, limits=msgspec.structs.replace(LIMITS, **bound)).cut


def test_a_match_in_a_long_line_is_shown_with_what_stands_around_it(workspace: Workspace, folder: Path) -> None:
    (folder / "long").write_text("x" * 100_000 + "needle" + "y" * 100_000)
    (match,) = search(workspace, "needle", "long", regular=False).matches
    assert "xneedley" in match.text
    assert len(match.text) <= 500


def test_great_depth_costs_neither_stack_nor_descriptors(workspace: Workspace, folder: Path) -> None:
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    found = search(workspace, "needle", ".", regular=False)
    subprocess.run(["rm", "-r", folder / "d"], check=True)  # too deep for Python's own way of removing it
    assert found.total == 3
