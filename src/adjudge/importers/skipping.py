"""What lies in a folder of recordings and is none: how much of it, and the first of it with why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Skip = Callable[[Path, str], None]
"""Is told of a file that is passed over, and why."""

NAMED = 5
"""Files that are named."""


class Skipped:
    """Counts what is passed over, and keeps the first of it with why."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[tuple[Path, str]] = []

    def __call__(self, path: Path, why: str) -> None:
        """Count a file."""
        self.count += 1
        if len(self.first) < NAMED:
            self.first.append((path, why))

    @property
    def words(self) -> str:
        """How many files were skipped, nothing if none was."""
        if not self.count:
            return ""
        return "1 file was skipped" if self.count == 1 else f"{self.count:,} files were skipped"

    @property
    def lines(self) -> list[str]:
        """The first of them with why, and how many more there are."""
        more = self.count - len(self.first)
        return [*(f"{path}: {why}" for path, why in self.first), *([f"and {more:,} more"] if more else [])]


def ignore(path: Path, why: str) -> None:
    """Pass a file over without a word."""
