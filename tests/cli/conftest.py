"""The command line as a user types it, and a language model's server on loopback that plays a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from adjudge.cli.app import run
from adjudge.settings import BASE_URLS, KEYS


class Ended(NamedTuple):
    """How a command ended: its exit status, and what it printed on standard output and error."""

    status: int
    out: str
    err: str


Command = Callable[..., Ended]


@pytest.fixture
def adjudge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run `adjudge` with these words in an empty folder, without any key in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in (*KEYS, *BASE_URLS, "ADJUDGE_MODEL", "ADJUDGE_STORE", "ADJUDGE_BLOBS"):
        monkeypatch.delenv(name, raising=False)

    def command(*words: object) -> Ended:
        monkeypatch.setattr("sys.argv", ["adjudge", *map(str, words)])
        capsys.readouterr()
        status = run()
        printed = capsys.readouterr()
        return Ended(status, printed.out, printed.err)

    return command


Script = Callable[[dict[str, Any]], str | Sequence[tuple[str, dict[str, Any]]]]
"""From a request's body to the words of the reply, or to its tool calls."""


@pytest.fixture
def serve() -> Iterator[Callable[[Script], str]]:
    """Start a server that speaks OpenAI's chat completions; gives the name to use as a model."""
    servers: list[ThreadingHTTPServer] = []

    def start(script: Script) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(script))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/v1#scripted"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def _handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            reply = json.dumps(_completion(script(body))).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _completion(said: str | Sequence[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    message, ended = ({"content": said}, "stop") if isinstance(said, str) else (_calling(said), "tool_calls")
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": ended}
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "total_tokens": 110,
        "prompt_tokens_details": {"cached_tokens": 80},
    }
    return {"id": "x", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice], "usage": usage}


def _calling(calls: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    tool_calls = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for number, (name, arguments) in enumerate(calls)
    ]
    return {"content": None, "tool_calls": tool_calls}
