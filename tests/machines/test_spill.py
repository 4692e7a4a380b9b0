"""What an agent prints, on its way to a file."""

from __future__ import annotations

import os
import random
import resource
from pathlib import Path

import pytest

from adjudge.errors import MachineError
from adjudge.machines.spill import Printed, Spill


async def spilt(path: Path, pieces: list[bytes], kept: int) -> Spill:
    spill = Spill(path, lambda data: None, kept)
    for piece in pieces:
        os.write(spill.write_end, piece)
        spill._read()
    os.close(spill.write_end)
    await spill.settle()
    spill.save()
    return spill


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 19, 20])
async def test_what_is_short_enough_is_kept_whole(tmp_path: Path, size: int) -> None:
    text = bytes(range(65, 65 + size))
    spill = await spilt(tmp_path / "out", [text[at : at + 3] for at in range(0, size, 3)], 20)
    assert ((tmp_path / "out").read_bytes(), spill.size) == (text, size)


@pytest.mark.parametrize("seed", range(20))
async def test_of_more_head_and_tail_are_kept_however_it_comes(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    pieces = [chance.randbytes(chance.randint(1, 40)) for _ in range(20)] + [bytes(21)]
    text = b"".join(pieces)
    spill = await spilt(tmp_path / "out", pieces, 20)
    expected = text[:10] + f"\n[{len(text) - 20} bytes left out]\n".encode() + text[-10:]
    assert ((tmp_path / "out").read_bytes(), spill.size) == (expected, len(text))


async def test_nothing_but_the_two_files_is_left_in_the_folder(tmp_path: Path) -> None:
    printed = Printed(tmp_path, 1 << 20, lambda: None, None)
    for spill in (printed.out, printed.errors):
        os.close(spill.write_end)
        await spill.settle()
    printed.save()
    assert sorted(os.listdir(tmp_path)) == ["stderr", "stdout"]


async def test_a_disk_that_cannot_hold_it_is_told_at_the_end(tmp_path: Path) -> None:
    spill = Spill(tmp_path / "out", lambda data: None)
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most[1]))  # Python ignores the signal, so that writing fails
    try:
        os.write(spill.write_end, bytes(5000))
        os.close(spill.write_end)
        await spill.settle()
        with pytest.raises(MachineError, match="cannot be written"):
            spill.save()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, most)
    assert spill.size == 5000


async def test_both_streams_together_have_one_bound_which_is_told_once(tmp_path: Path) -> None:
    floods: list[int] = []
    heard: list[bytes] = []
    printed = Printed(tmp_path, 10, lambda: floods.append(1), heard.append)
    for spill, data in ((printed.out, b"123456"), (printed.errors, b"123456"), (printed.out, b"123456")):
        os.write(spill.write_end, data)
        spill._read()
    assert (floods, heard) == ([1], [b"123456", b"123456"])
    printed.pause()
    printed.save()
    for spill in (printed.out, printed.errors):
        os.close(spill.write_end)
        spill.close()
