"""Nothing is lost silently: what is shown and what the marks say was left out are together the record."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.errors import InputError
from adjudge.importers.sniff import read_runs
from adjudge.judges.reader.input import ReaderInput, seen_of
from adjudge.judges.reader.prepare import prepare
from adjudge.judgment import PruneMode
from adjudge.record import Entry, Record, Turn
from adjudge.run import Run

from .parser import Reconstruction

FIXTURES = Path(__file__).parents[2] / "importers" / "fixtures"
SHARED = Path(os.environ.get("ADJUDGE_SHARED") or Path(__file__).parents[4] / "shared")
FORMATS = sorted(path for path in FIXTURES.iterdir() if path.is_dir())
FOLDERS = sorted(path for name in ("samples", "recordings") for path in SHARED.glob(f"{name}/*") if path.is_dir())

MODES: tuple[tuple[PruneMode, int | None], ...] = (
    ("full", None),
    ("pruned", None),
    ("automatic", 100_000),
    ("pruned", 20_000),
)


def check(run: Run) -> None:
    for mode, room in MODES:
        material = prepare(seen_of(run), mode, room)
        Reconstruction(material, run.record)
        assert material.record == sum(len(entry.text) for entry in run.record.walk())
        assert room is None or len(material.trajectory) <= room
        assert mode != "full" or material.events_elided.pieces == material.tool_output_pruned.pieces == 0


@pytest.mark.parametrize("folder", FORMATS, ids=lambda folder: folder.name)
def test_every_recording_of_ours_can_be_reconstructed(folder: Path) -> None:
    runs = list(read_runs(folder))
    assert runs
    for run in runs:
        check(run)


@pytest.mark.slow
@pytest.mark.skipif(not FOLDERS, reason="ADJUDGE_SHARED names no folder with recordings")
def test_every_recording_of_others_can_be_reconstructed() -> None:
    checked = 0
    for run in (run for folder in FOLDERS for run in readable(folder)):
        check(run)
        checked += 1
    assert checked > 200


def readable(folder: Path) -> Iterator[Run]:
    """Its runs; of a folder in a format that adjudge does not read there are none."""
    with suppress(InputError):
        yield from read_runs(folder)


TEXTS = st.text(max_size=30) | st.sampled_from(
    [
        "",
        "\n",
        "line\n" * 60,
        "x" * 3000,
        "\x1b[1mred\x1b[0m\u200b" * 20,
        "(Bash completed with no output)",
        "Updated task #3 status\nand more",
        "<skills_instructions>\n" + "skill " * 40 + "</skills_instructions>\n<apps_instructions>\n" + "app " * 40,
        "<permissions instructions>\n" + "line of rules\n" * 40 + "</permissions instructions> rest",
        "… 5 characters left out here",
        "t1 e1 tool result of e0 · exit status 0",
    ]
)
WHO = st.sampled_from(
    [
        ("message", "user"),
        ("message", "agent"),
        ("reasoning", "agent"),
        ("call", "agent"),
        ("result", "tool"),
        ("result", "tool"),
        ("message", "harness"),
        ("event", "harness"),
    ]
)
NAMES = st.none() | st.sampled_from(["bash", 'a" · exit status 0', "x · 5 characters left out", "two\nlines", "\u202e"])


@st.composite
def records(draw: st.DrawFn, prefix: str = "", most: int = 60) -> Record:
    entries = []
    for number in range(1, draw(st.integers(0, most)) + 1):
        kind, writer = draw(WHO)
        result = kind == "result"
        entries.append(
            Entry(
                f"{prefix}e{number}",
                kind,  # type: ignore[arg-type]  # one of the literals above
                writer,  # type: ignore[arg-type]  # one of the literals above
                number // 3,
                draw(TEXTS),
                draw(NAMES),
                answers=f"{prefix}e{number - 1}" if result and number > 1 else None,
                exit_status=draw(st.none() | st.integers(-9, 127)) if result else None,
                origin="memory" if writer == "harness" else None,
            )
        )
    count = 0 if prefix else draw(st.integers(0, 3))
    children = tuple(draw(records(f"s{number}.", 12)) for number in range(1, count + 1))
    turns = tuple(Turn(number, f"{prefix}e1") for number in range(1, len(entries) // 3 + 1))
    return Record("made", tuple(entries), turns, children=children)


@settings(deadline=None)
@given(records(), st.sampled_from(["full", "pruned", "automatic"]), st.none() | st.integers(4_000, 60_000), st.booleans())
def test_any_record_can_be_reconstructed(record: Record, mode: PruneMode, room: int | None, mask: bool) -> None:
    material = prepare(ReaderInput(record), mode, room, mask)
    Reconstruction(material, record, mask)
    assert mode == "full" or room is None or len(material.trajectory) <= room
    assert material == prepare(ReaderInput(record), mode, room, mask)
