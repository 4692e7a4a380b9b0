"""A relay to a database that cuts the connection when something is committed, before or after the database hears of it."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

Cut = Literal["before", "after"]

COMMIT = b"COMMIT\0"
"""How the statement ends in a message, and the answer to it; not so in READ COMMITTED."""


class Relay:
    """Listens on loopback. While `cut` is set, the next COMMIT is the last that a connection carries, and unsets it."""

    def __init__(self, target: Path) -> None:
        self.cut: Cut | None = None
        self.commits = 0
        self._target = str(target)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def port(self) -> int:
        port: int = self._listener.getsockname()[1]
        return port

    def close(self) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while not self._ends.is_set():
            if select.select([self._listener], [], [], 0.05)[0]:
                thread = threading.Thread(target=self._carry, args=(self._listener.accept()[0],))
                self._threads.append(thread)
                thread.start()

    def _carry(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect(self._target)
            while not self._ends.is_set():
                for ready in select.select([client, server], [], [], 0.05)[0]:
                    data = ready.recv(1 << 16)
                    if not data or (ready is client and self._is_cut(data, server)):
                        return
                    (server if ready is client else client).sendall(data)

    def _is_cut(self, data: bytes, server: socket.socket) -> bool:
        if COMMIT not in data:
            return False
        self.commits += 1
        cut, self.cut = self.cut, None
        if cut == "after":
            server.sendall(data)
            assert COMMIT in server.recv(1 << 16)  # the database has answered, and nobody hears of it
        return cut is not None


@contextmanager
def relay(target: Path) -> Iterator[Relay]:
    made = Relay(target)
    yield made
    made.close()
