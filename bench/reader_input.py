"""Preparing what a reader's model sees: 400 KB in memory, 100 MB from disk, and how fast texts are looked through.

Run `python -m bench.reader_input`. The record is made up after the sizes that real ones have: half of all tool outputs have
fewer than 400 characters, and the few of more than 10,000 hold more than half of all.
"""

from __future__ import annotations

import random
import resource
import time
from collections.abc import Callable, Iterator

from adjudge import untrusted
from adjudge.entries import EntryWriter
from adjudge.judges.reader.input import ReaderInput
from adjudge.judges.reader.prepare import prepare
from adjudge.record import Entry, Record, Turn

SMALL, LARGE = 400_000, 100_000_000
ROOM = 600_000
OUTPUTS = (150, 250, 380, 400, 900, 1_500, 2_500, 4_000, 7_000, 25_000)
LINES = (
    "src/adjudge/importers/build.py:120:        identifier = self._add(kind, writer, text, turn, time=time)\n",
    "tests/test_rates.py::test_rates_of_a_day[2024-03-01] PASSED                                  [ 42%]\n",
    "    for number, line in enumerate(lines[first:last], start=first + 1):\n",
    "The value comes from the ledger, so that it can be checked again \u2013 see `docs/ledger.md`.\n",
    "-rw-r--r-- 1 user user  4096 Nov 29 19:52 settings.toml\n",
    "\n",
)


def entries(size: int) -> Iterator[Entry]:
    """Messages, calls and outputs of so many characters in all."""
    draw = random.Random(7)
    number = written = 0
    while written < size:
        turn = number // 3 + 1
        for kind, writer, most in (
            ("message", "agent", 300),
            ("call", "agent", 200),
            ("result", "tool", draw.choice(OUTPUTS)),
        ):
            number += 1
            text = "".join(draw.choices(LINES, k=most // 70 + 1))[:most]
            answers = f"e{number - 1}" if kind == "result" else None
            name = None if kind == "message" else "bash"
            yield Entry(f"e{number}", kind, writer, turn, text, name, answers=answers)  # type: ignore[arg-type]  # literals
            written += len(text)


def made(size: int) -> Record:
    """A record whose entries are decoded as they are read."""
    writer = EntryWriter()
    turns = 0
    for entry in entries(size):
        writer.add(entry)
        turns = entry.turn
    return Record("made", writer.finish(), tuple(Turn(number, "e1") for number in range(1, turns + 1)))


def cpu(work: Callable[[], object], times: int) -> float:
    """Seconds of CPU that it takes, at best."""
    best = float("inf")
    for _ in range(times):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def peak() -> float:
    """The most memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def line(what: str, value: float, goal: float, unit: str, *, least: bool = False) -> None:
    """Print a figure beside its goal."""
    met = value >= goal if least else value <= goal
    print(f"{what:44} {value:8.1f} {unit}  goal {'≥' if least else '≤'} {goal:g}: {'met' if met else 'MISSED'}")


def main() -> None:
    """Print each figure."""
    small = ReaderInput(made(SMALL))
    texts = [entry.text for entry in small.record.entries]
    characters = sum(map(len, texts))
    for mode in ("full", "pruned"):
        seconds = cpu(lambda mode=mode: prepare(small, mode, ROOM), 30)  # type: ignore[misc]  # a default binds it now
        line(f"{characters / 1e3:.0f} KB, {len(texts)} entries, {mode}", 1e3 * seconds, 5, "ms of CPU")
    joined = ["".join(texts)[start : start + 16_000] for start in range(0, characters, 16_000)]
    for what, given in (("pieces of 16 KB", joined), ("entries, together", texts)):
        seconds = cpu(lambda given=given: untrusted.ordinary_each(given), 30)  # type: ignore[misc]  # a default binds it now
        line(f"looked through: ordinary text in {what}", characters / 1e6 / seconds, 100, "MB/s", least=True)
    large = ReaderInput(made(LARGE))
    before, started = peak(), time.perf_counter()
    for room in (None, ROOM):
        started = time.perf_counter()
        seconds = cpu(lambda room=room: prepare(large, "pruned", room), 1)  # type: ignore[misc]  # a default binds it now
        line(f"100 MB, pruned, room {room or 'unknown'}", seconds, 2, "s of CPU")
        print(f"{'':44} {time.perf_counter() - started:8.1f} s in all, {peak() - before:.0f} MB more than before")


if __name__ == "__main__":
    main()
