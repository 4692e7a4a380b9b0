"""An agent's output on its way into files: all of a little, head and tail of much, and the true size of both."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.errors import MachineError
from adjudge.machines.printed import PrintedStreams

OUTPUT, ERRORS = 1, 2


def test_both_streams_come_whole_into_their_files(tmp_path: Path) -> None:
    heard: list[bytes] = []
    printed = PrintedStreams(tmp_path, 1000, heard.append)
    for stream, data in ((OUTPUT, b"one\n"), (ERRORS, b"oops\n"), (OUTPUT, b"two\n")):
        printed.take(stream, data)
    printed.save()
    assert (tmp_path / "stdout").read_bytes() == b"one\ntwo\n"
    assert (tmp_path / "stderr").read_bytes() == b"oops\n"
    assert (printed.out.size, printed.errors.size, printed.flooded) == (8, 5, False)
    assert heard == [b"one\n", b"oops\n", b"two\n"]


@given(st.lists(st.binary(max_size=40), max_size=20), st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_of_much_the_head_and_the_tail_are_kept(
    tmp_path_factory: pytest.TempPathFactory, portions: list[bytes], half: int
) -> None:
    folder = tmp_path_factory.mktemp("printed")
    printed = PrintedStreams(folder, 10_000, None, kept=2 * half)
    for portion in portions:
        printed.take(OUTPUT, portion)
    printed.save()
    whole, kept = b"".join(portions), (folder / "stdout").read_bytes()
    left_out = len(whole) - 2 * half
    expected = whole[:half] + f"\n[{left_out} bytes left out]\n".encode() + whole[-half:] if left_out > 0 else whole
    assert kept == expected
    assert printed.out.size == len(whole)


def test_more_than_the_limit_is_a_flood_and_no_longer_shown(tmp_path: Path) -> None:
    heard: list[bytes] = []
    printed = PrintedStreams(tmp_path, 10, heard.append)
    flooded = []
    for stream, data in ((OUTPUT, b"123456"), (ERRORS, b"12345"), (OUTPUT, b"more")):
        printed.take(stream, data)
        flooded.append(printed.flooded)
    printed.save()
    assert flooded == [False, True, True]
    assert heard == [b"123456", b"12345"]


def test_a_disk_that_cannot_hold_it_is_told_at_the_end(tmp_path: Path) -> None:
    printed = PrintedStreams(tmp_path, 1 << 20, None)
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most[1]))  # Python ignores the signal, so that writing fails
    try:
        printed.take(OUTPUT, bytes(1 << 16))
        with pytest.raises(MachineError, match="stdout: cannot be written"):
            printed.save()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert printed.out.size == 1 << 16
