"""The agent's only way out: a listening socket inside whose other side is here, and which can be shut for good."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from weakref import WeakSet


class Gate(socket.socket):
    """A listening socket that remembers the connections it accepted.

    asyncio calls `accept` on the socket that a server is given, so whoever serves it need not know. Until somebody serves
    it, connections wait.
    """

    def __init__(self, fd: int) -> None:
        """Take over a descriptor that `boot` has made inside."""
        super().__init__(fileno=fd)
        self.setblocking(False)
        self._accepted: WeakSet[socket.socket] = WeakSet()

    def accept(self) -> tuple[socket.socket, object]:
        """The next connection."""
        connection, address = super().accept()
        self._accepted.add(connection)
        return connection, address

    def shut(self) -> None:
        """Refuse every further connection and end those that stand; closing stays the server's task."""
        if self.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self)  # it would be woken for ever by a socket that is dead
            with contextlib.suppress(OSError):
                self.shutdown(socket.SHUT_RDWR)
        for connection in tuple(self._accepted):
            with contextlib.suppress(OSError):  # it has ended by itself
                connection.shutdown(socket.SHUT_RDWR)
