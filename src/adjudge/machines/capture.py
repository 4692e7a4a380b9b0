"""What a command prints: head and tail of it, and the true number of bytes, read from a pipe without ever blocking."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable

FLOOD = 64
"""How many times the limit a command may print before it is stopped."""

_CHUNK = 65536
_GRACE = 0.2
_REST = 0.05


class Pipe:
    """Reads a pipe until `settle`, and after that keeps emptying it slowly.

    A server that a command started may go on writing to that command's pipe. Were it closed, the server would be killed
    by its own log; were it left full, it would hang. `size` is how many bytes were taken.
    """

    def __init__(self) -> None:
        self.size = 0
        self._loop = asyncio.get_running_loop()
        self._fd, self.write_end = os.pipe()
        os.set_blocking(self._fd, False)
        self._end = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._loop.add_reader(self._fd, self._read)

    def keep(self, data: bytes) -> None:
        """Do with the next bytes whatever they are read for."""
        raise NotImplementedError

    def _read(self) -> None:
        if data := self._next():
            self._take(data)

    def _take(self, data: bytes) -> None:
        self.size += len(data)
        self.keep(data)

    def pause(self) -> None:
        """Read no more until `settle`."""
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)

    def _next(self) -> bytes:
        """What the pipe holds, at most a chunk; nothing if it is empty or has ended."""
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return b""
        if not data:
            self.close()
        return data

    async def settle(self) -> None:
        """Take what the command had written when it ended, and what follows within a moment.

        It is not waited for the pipe's end: a background process may hold it for ever.
        """
        for _ in range(FLOOD):
            if self._fd < 0 or not (data := self._next()):
                break
            self._take(data)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await self._end.wait()
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            self._skip()

    def _skip(self) -> None:
        with contextlib.suppress(BlockingIOError):
            if not os.read(self._fd, 16 * _CHUNK):
                self.close()
                return
        self._timer = self._loop.call_later(_REST, self._skip)

    @property
    def open(self) -> bool:
        """Whether something may still write."""
        return self._fd >= 0

    def close(self) -> None:
        """Let go of the pipe."""
        if self._timer:
            self._timer.cancel()
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1
            self._end.set()


class Kept:
    """Head and tail of an output, and the true number of its bytes; `limit` is how many are kept."""

    def __init__(self, limit: int) -> None:
        self._head, self._tail = bytearray(), bytearray()
        self._limit = limit
        self.size = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes."""
        self.size += len(data)
        room = max(0, self._limit // 2 - len(self._head))
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > self._limit + _CHUNK:
            del self._tail[: -self._limit]

    def text(self) -> str:
        """Head and tail of the output, decoded, with a line between them that says how much was left out."""
        if not self.cut:
            return (self._head + self._tail).decode("utf-8", "replace")
        tail = self._tail[-(self._limit - len(self._head)) :]
        left_out = self.size - len(self._head) - len(tail)
        head, end = self._head.decode("utf-8", "replace"), tail.decode("utf-8", "replace")
        return f"{head}\n[{left_out} bytes left out]\n{end}"

    @property
    def cut(self) -> bool:
        """Whether there was more than the limit."""
        return self.size > self._limit

    @property
    def flooded(self) -> bool:
        """Whether there was so much that the command must be stopped."""
        return self.size > FLOOD * self._limit


class Capture(Pipe):
    """Keeps head and tail in memory, and says when a command prints without end."""

    def __init__(self, limit: int, flooded: Callable[[], None]) -> None:
        super().__init__()
        self._kept, self._flooded = Kept(limit), flooded

    def keep(self, data: bytes) -> None:
        """Keep what belongs to head or tail."""
        self._kept.add(data)

    def _read(self) -> None:
        super()._read()
        if self._kept.flooded:
            self.pause()
            self._flooded()

    def text(self) -> str:
        """As `Kept.text`."""
        return self._kept.text()

    @property
    def cut(self) -> bool:
        """Whether there was more than the limit."""
        return self._kept.cut
