"""What the formats share: the real recordings that they start from, ids, times and diffs."""

from __future__ import annotations

import difflib
import json
import random
import string
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.golden_make.steps import Done, Recorded

FIXTURES = Path(__file__).parents[3] / "tests" / "importers" / "fixtures"
"""Our own recordings of real agents, as the importers' tests have them."""


def document(name: str) -> Any:
    """A recording that is one JSON document."""
    return json.loads((FIXTURES / name).read_text())


def rows(name: str) -> list[dict[str, Any]]:
    """A recording of JSON lines."""
    return [json.loads(line) for line in (FIXTURES / name).read_text().splitlines() if line]


def lines(values: list[dict[str, Any]]) -> str:
    """Rows as JSON lines, as the harnesses write them."""
    return "".join(json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n" for value in values)


class Ids:
    """Ids as the harnesses make them, the same for the same run."""

    def __init__(self, recorded: Recorded) -> None:
        self._random = random.Random(f"ids {recorded.story.name} {recorded.twin.number}")

    def hex(self, length: int) -> str:
        """Lower-case hexadecimal digits."""
        return "".join(self._random.choices("0123456789abcdef", k=length))

    def letters(self, length: int) -> str:
        """Letters and digits."""
        return "".join(self._random.choices(string.ascii_letters + string.digits, k=length))

    def number(self, lowest: int, highest: int) -> int:
        """A number between the two, both included."""
        return self._random.randint(lowest, highest)

    def uuid(self) -> str:
        """A random UUID (version 4)."""
        return f"{self.hex(8)}-{self.hex(4)}-4{self.hex(3)}-a{self.hex(3)}-{self.hex(12)}"

    def uuid7(self, time: float) -> str:
        """A UUID that sorts by time (version 7)."""
        stamp = f"{int(time * 1000):012x}"
        return f"{stamp[:8]}-{stamp[8:]}-7{self.hex(3)}-8{self.hex(3)}-{self.hex(12)}"


def iso(time: float) -> str:
    """A time in UTC with milliseconds."""
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def replaced(value: Any, old: str, new: str) -> Any:
    """A JSON value with a text replaced wherever it stands."""
    return json.loads(json.dumps(value).replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1]))


def hunks(done: Done, context: int) -> list[str]:
    """The lines of a unified diff of an edited file, without its two header lines."""
    before, after = done.before.splitlines(), done.after.splitlines()
    return list(difflib.unified_diff(before, after, lineterm="", n=context))[2:]


def numbered(text: str, mark: str) -> str:
    """A text with the numbers of its lines, each followed by a mark."""
    return "\n".join(f"{number}{mark}{line}" for number, line in enumerate(text.split("\n"), 1))
