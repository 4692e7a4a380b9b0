"""A program that speaks to a served web interface: it goes through the door, sends changes, and follows events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx


class Event(NamedTuple):
    """A server-sent event."""

    name: str
    data: Any


class Speaker:
    """What is inside."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def get(self, path: str) -> Any:
        answer = self.client.get(f"/api{path}")
        assert answer.status_code == 200, answer.text[:2000]
        return answer.json()

    def page(self, path: str) -> str:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text[:2000]
        return answer.text

    def send(self, path: str, **values: Any) -> httpx.Response:
        return self.client.post(f"/api{path}", json=values, headers={"x-adjudge": "1"})

    def sent(self, path: str, **values: Any) -> Any:
        answer = self.send(path, **values)
        assert answer.status_code in (200, 202), answer.text[:2000]
        return answer.json()

    def refused(self, path: str, **values: Any) -> str:
        """Why a change was not made."""
        answer = self.send(path, **values)
        assert answer.status_code == 400, answer.text[:2000]
        return str(answer.json()["detail"])

    def events(self, path: str) -> Iterator[Event]:
        """Events as they come; whoever stops reading them hangs up."""
        with self.client.stream("GET", f"/api{path}") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            name = ""
            for line in answer.iter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    yield Event(name, json.loads(value))


@contextmanager
def inside(door: str) -> Iterator[Speaker]:
    """Go through the door."""
    base = door.partition("/enter")[0]
    with httpx.Client(base_url=base, timeout=120) as client:
        client.get(door)
        yield Speaker(client)
