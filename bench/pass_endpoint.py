"""An endpoint that answers every request alike after some time, cheaply: `python -m bench.pass_endpoint SECONDS ANSWER`.

It prints its port. The answer is a file's text. OpenAI's format, connections kept alive, bodies counted and not parsed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path


class Connection(asyncio.Protocol):
    """One connection."""

    def __init__(self, reply: bytes, seconds: float) -> None:
        self._reply, self._seconds = reply, seconds
        self._have, self._need = 0, -1
        self._head = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Count the body, and answer when it is whole."""
        if self._need < 0:
            self._head += data
            end = self._head.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self._head[:end].lower()
            start = head.index(b"content-length:") + 15
            self._need = int(head[start:].split(b"\r\n", 1)[0])
            data, self._head, self._have = self._head[end + 4 :], b"", 0
        self._have += len(data)
        if self._have >= self._need:
            self._need = -1
            asyncio.get_running_loop().call_later(self._seconds, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._reply)


def reply(answer: str) -> bytes:
    """The whole response."""
    message = {"role": "assistant", "content": answer}
    body = json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "judge",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100_000, "completion_tokens": 400, "total_tokens": 100_400},
        }
    ).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
    return head + body


async def main(seconds: float, answer: str) -> None:
    """Serve until the end."""
    data = reply(answer)
    server = await asyncio.get_running_loop().create_server(lambda: Connection(data, seconds), "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]), Path(sys.argv[2]).read_text("utf-8")))
