"""What is about to be paid for must be possible to keep, and a store that cannot keep it says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.errors import OutsideError
from adjudge.run import Run
from adjudge.store.room import Room
from adjudge.store.store import Store, open_store

from .conftest import Place, refuse_blobs

KEEPING = """
import sys
from adjudge.errors import OutsideError
from adjudge.store.store import open_store
with open_store(sys.argv[1]) as store:
    try:
        store.require_keeping()
    except OutsideError as error:
        print(error)
"""


def refused(store: Path, *mounts: object) -> str:
    """Why nothing can be kept in a store within these mounts."""
    words = ["bwrap", "--dev-bind", "/", "/", *map(str, mounts), sys.executable, "-c", KEEPING, str(store)]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def test_where_there_is_room_and_everything_can_be_written_nothing_is_said(store: Store) -> None:
    store.require_keeping()


def test_a_read_only_store_says_so_with_a_reserve_and_without(tmp_path: Path, run: Run) -> None:
    place = tmp_path / "store"
    with open_store(place) as store:  # it stays open: SQLite opens no file without its log on a read-only disk
        store.add_run(run)
        assert "must be able to write in its folder" in refused(place, "--ro-bind", place, place)
        (place / "reserve").unlink()
        assert refused(place, "--ro-bind", place, place) == f"{place}/reserve: Read-only file system\n"


def test_a_store_on_a_small_disk_says_that_room_is_needed(tmp_path: Path) -> None:
    place = tmp_path / "store"
    place.mkdir()
    assert "MiB are free and 16 MiB are needed; free some room" in refused(place, "--size", 8 << 20, "--tmpfs", place)


def test_blobs_that_cannot_be_written_are_told_before(stored: Store, place: Place) -> None:
    refuse_blobs(place.blobs)
    with pytest.raises(OutsideError, match="blobs"):
        stored.require_keeping()


def test_a_reserve_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "reserve").symlink_to(tmp_path / "gone" / "reserve")
    with pytest.raises(OutsideError, match="reserve: No such file or directory"):
        Room(tmp_path).set_aside()
