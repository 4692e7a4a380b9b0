from __future__ import annotations

import fcntl
import time
from pathlib import Path

import pytest

from adjudge.store.tokens import FolderTokens, Token


def test_a_token_is_held_by_one_until_it_is_released(tmp_path: Path) -> None:
    tokens = FolderTokens(tmp_path)
    first = tokens.take(1)
    assert first is not None
    assert tokens.take(1) is None
    other = tokens.take(2)
    assert other is not None
    first.release()
    first.release()
    again = tokens.take(1)
    assert again is not None
    again.release()
    other.release()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_its_holder_removed_in_between_is_no_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tokens, kept = FolderTokens(tmp_path), list[Token | None]()
    leaving = tokens.take(1)
    assert leaving is not None
    lock = fcntl.flock

    def late(handle: int, operation: int) -> None:
        """The holder leaves, and another comes, between the opening of the file and its locking."""
        monkeypatch.setattr(fcntl, "flock", lock)
        leaving.release()
        kept.append(tokens.take(1))
        lock(handle, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    assert tokens.take(1) is None
    (other,) = kept
    assert other is not None
    assert tokens.take(1) is None
    other.release()


def test_leases_run_on_a_clock_that_nobody_sets(tmp_path: Path) -> None:
    before = time.clock_gettime(time.CLOCK_MONOTONIC)
    told = FolderTokens(tmp_path).now(None)  # type: ignore[arg-type]  # this clock needs no connection
    assert before <= told <= time.clock_gettime(time.CLOCK_MONOTONIC)
