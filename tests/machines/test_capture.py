"""Reading a command's output from a pipe."""

from __future__ import annotations

import asyncio
import os
import time

from adjudge.machines.capture import FLOOD, Capture


async def test_short_output_is_kept_whole() -> None:
    capture = Capture(10, lambda: None)
    os.write(capture.write_end, b"0123456789")
    os.close(capture.write_end)
    await capture.settle()
    assert (capture.text(), capture.size, capture.cut, capture.open) == ("0123456789", 10, False, False)


async def test_long_output_keeps_its_ends_and_says_how_much_is_missing() -> None:
    capture = Capture(10, lambda: None)
    os.write(capture.write_end, b"abcdefghijklmnopqrstuvwxyz")
    os.close(capture.write_end)
    await capture.settle()
    assert capture.text() == "abcde\n[16 bytes left out]\nvwxyz"
    assert (capture.size, capture.cut) == (26, True)


async def test_a_pipe_that_stays_open_is_not_waited_for() -> None:
    capture = Capture(10, lambda: None)
    os.write(capture.write_end, b"all")
    started = time.monotonic()
    await capture.settle()
    assert time.monotonic() - started < 1
    assert (capture.text(), capture.open) == ("all", True)
    os.close(capture.write_end)
    capture.close()


async def test_what_is_written_afterwards_is_thrown_away_but_taken() -> None:
    capture = Capture(10, lambda: None)
    await capture.settle()
    os.set_blocking(capture.write_end, False)
    async with asyncio.timeout(10):
        left = 1 << 20
        while left:
            try:
                left -= os.write(capture.write_end, bytes(min(left, 65536)))
            except BlockingIOError:
                await asyncio.sleep(0.01)
    assert capture.size == 0
    os.close(capture.write_end)
    capture.close()


async def test_too_much_output_is_told_once() -> None:
    floods: list[int] = []
    capture = Capture(10, lambda: floods.append(1))
    os.write(capture.write_end, bytes(10 * FLOOD + 1))
    for _ in range(5):
        await asyncio.sleep(0)
    assert floods == [1]
    os.close(capture.write_end)
    await capture.settle()
    capture.close()
