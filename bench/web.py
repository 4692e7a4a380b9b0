"""How fast the web interface answers: a run of 100,000 entries, any window of it, a list of 100,000 runs, many readers.

    python -m bench.web

Everything is asked over HTTP, on loopback, of a server in a process of its own, as a browser would. The first time that a
run is opened its turns are read from the store; "again" is what follows. Goals: 100 ms to the first byte of the run's
page, 30 ms for any window, 150 ms for the list, memory that does not grow with what was read, beyond the runs that are
kept open. Whatever misses its goal is marked, and named at the end.
"""

from __future__ import annotations

import http.client
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from adjudge.entries import EntryWriter
from adjudge.evidence import Citation, Exhibits
from adjudge.judgment import Answer, Judge, Judgment, gate, score
from adjudge.record import Entry, Record, Turn, Usage
from adjudge.rubric import Criterion, Rubric, rubric_hash
from adjudge.run import Grade, Outcome, Run
from adjudge.settings import Settings
from adjudge.store import rows, schema
from adjudge.store.standing import standing_of
from adjudge.store.store import Store, open_store
from adjudge.testing import make_run
from adjudge.web.serving import Serving, serve

ENTRIES, RUNS = 100_000, 100_000
READERS, EACH = 50, 6
"""Readers at once, and the windows that each asks for."""
WINDOW = 30
"""Milliseconds for a window of entries."""
FLAT = 1.1
"""How many times what it held before the server may hold after much was read."""
COPIES = ("r-long", *(f"r-long-{number}" for number in range(4)))
"""The long run under several ids: each can be opened for the first time once."""
MORE = tuple(f"r-more-{number}" for number in range(6))
"""More of them, beyond those that the server keeps open."""
CRITERIA = tuple(Criterion(f"c{number}", f"Line {number} says that the tests passed.") for number in range(10))
RUBRIC = Rubric("bench", CRITERIA, rubric_hash(CRITERIA), "bench.yaml")


def serve_store(place: Path) -> None:
    """Serve a store without a token until the process is told to stop; prints the address."""
    with open_store(place) as store:
        settings = Settings(store=str(place))
        serve(store, settings, Serving(port=0, token=False), lambda address: print(address, flush=True))


def long_run() -> Run:
    """A run of 100,000 entries: messages, calls and outputs of many lines, with what each turn consumed."""
    writer, turns = EntryWriter(), []
    for number in range(1, ENTRIES + 1):
        turn, part = (number - 1) // 3 + 1, (number - 1) % 3
        if part == 0:
            turns.append(Turn(turn, f"e{number}", "m", Usage(prompt=1_000 + turn, cached=turn, output=100, cost=0.001)))
        writer.add(_entry(number, turn, part))
    record = Record("bench", writer.finish(), tuple(turns))
    return msgspec.structs.replace(make_run(task="Read a long record."), id="r-long", record=record, agent="bench")


def _entry(number: int, turn: int, part: int) -> Entry:
    if part == 0:
        return Entry(f"e{number}", "message", "agent", turn, f"I look at part {number} of the tree next. " * 4)
    if part == 1:
        text = f"bash\ncommand: sed -n '{number},{number + 40}p' src/module.py"
        return Entry(f"e{number}", "call", "agent", turn, text, "bash", '{"command": "sed"}')
    output = "".join(f"src/module.py:{number + line}: value = value.split(BACKSLASH)\n" for line in range(number % 40))
    return Entry(f"e{number}", "result", "tool", turn, f"line {number}\n{output}", answers=f"e{number - 1}", exit_status=0)


def judged(run: Run) -> Judgment:
    """A judgment that cites ten places all over the record."""
    places = [3 + 3 * (number * (ENTRIES // 31)) for number in range(10)]
    answers = [
        Answer(f"c{number}", True, "Seen.", (Citation(f"e{place}", f"line {place}"),))
        for number, place in enumerate(places)
    ]
    verdicts, _ = gate(RUBRIC, answers, Exhibits(run.record))
    judge = Judge("evaluator", "m", "p", {"looks": 40}, "0")
    return Judgment(
        "j-long", run.id, RUBRIC.name, RUBRIC.hash, judge, "judged", "2026-01-01", 1.0, verdicts, score(verdicts)
    )


def fill(store: Store) -> None:
    """The long run, judged, and 100,000 rows of runs that share a small record and, for what a list shows, its judgment."""
    run = long_run()
    for name in (*COPIES, *MORE):
        store.add_run(msgspec.structs.replace(run, id=name))
    store.add_judgment(judged(run), RUBRIC)
    small = make_run()
    store.add_run(small)
    with store.reading() as connection:
        blob = rows.blob_of(connection, schema.runs, small.id, "run")
    lots = random.Random(7)
    values = [_row(lots, number, blob) for number in range(RUNS)]
    for start in range(0, RUNS, 10_000):
        with store.writing() as connection:
            part = values[start : start + 10_000]
            connection.execute(schema.runs.insert(), [run for run, _ in part])
            connection.execute(schema.standings.insert(), [stands for _, stands in part])


def _row(lots: random.Random, number: int, blob: str) -> tuple[dict[str, object], dict[str, object]]:
    agent = lots.choice(("claude-code", "codex", "opencode", "mini-swe-agent", "gemini-cli", "qwen-code"))
    grades: tuple[Grade | None, ...] = ("resolved", "unresolved", None)
    outcome = Outcome(0, lots.choice(grades))
    run = make_run(agent=agent, model=f"model-{lots.randrange(12)}", task_name=f"task-{number % 997}", outcome=outcome)
    state = lots.choice(("judged",) * 8 + ("errored", None))
    passed = lots.randrange(11) if state == "judged" else None
    standing = {
        "state": state,
        "score": None if passed is None else passed / 10,
        "flags": lots.choice((0, 0, 0, 1, 2, 4, 8)),
        "judging": lots.random(),
        "evaluation": None if state is None else "j-long",
    }
    values = rows.values_of_run(msgspec.structs.replace(run, id=f"r-{number:016x}"), blob)
    values |= {"cost": lots.random(), "turns": lots.randrange(1, 200)}
    return values, standing_of(values) | standing


class Asking:
    """One connection to the server that is kept."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._asked = 0.0

    def __call__(self, path: str) -> tuple[float, float, int]:
        """Milliseconds to the first byte and to the last, and the bytes."""
        if self._connection.sock is None or time.perf_counter() - self._asked > 3:  # an idle connection is closed
            self._connection.close()
            self._connection.connect()
        self._asked = started = time.perf_counter()
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        first = time.perf_counter()
        body = answer.read()
        assert answer.status == 200, (path, answer.status, body[-300:])
        return 1000 * (first - started), 1000 * (time.perf_counter() - started), len(body)


class Goals:
    """What is measured beside its goal; `missed` names what is over."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.missed: list[str] = []

    def measure(self, name: str, goal: float, ask: Callable[[], tuple[float, float, int]], times: int = 15) -> None:
        """Print the median and the worst of the first byte beside the goal, the server's own CPU for each, and the size."""
        before = self._server.cpu()
        took = [ask() for _ in range(times)]
        cpu = (self._server.cpu() - before) / times
        firsts = sorted(first for first, _, _ in took)
        middle = statistics.median(firsts)
        size = f"cpu {cpu:6.1f} ms  {took[-1][2] / 1000:6.0f} kB"
        told = f"{name:<34} {middle:7.1f} ms  worst {firsts[-1]:7.1f}  goal {goal:4.0f}  {size}"
        self.tell(name, told, over=middle > goal)

    def tell(self, name: str, words: str, over: bool) -> None:
        """Print a line, and note what is over."""
        self.missed += [name] if over else []
        print(f"{words}{'  OVER' if over else ''}", flush=True)


class Server:
    """What the server's process has used."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._place = Path(f"/proc/{process.pid}")

    def cpu(self) -> float:
        """Milliseconds on a processor so far: on a busy machine the figure that says more."""
        fields = (self._place / "stat").read_text().rpartition(")")[2].split()
        return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """What it holds, in MB."""
        lines = (self._place / "status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def many(port: int, goals: Goals) -> None:
    """Fifty readers at once, each on a connection of its own: one waits for the windows of the others, and no longer."""
    took: list[float] = []

    def read(seed: int) -> None:
        lots, ask = random.Random(seed), Asking(port)
        for _ in range(EACH):
            start = lots.randrange(ENTRIES - 60)
            took.append(ask(f"/runs/r-long/entries?start={start}&end={start + 60}")[1])

    started = time.perf_counter()
    readers = [threading.Thread(target=read, args=(number,)) for number in range(READERS)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    seconds = time.perf_counter() - started
    assert len(took) == READERS * EACH
    middle, goal = statistics.median(took), READERS * WINDOW
    each = f"worst {max(took):7.1f}  goal {goal:4.0f}  {len(took) / seconds:5.0f} windows/s"
    goals.tell("many", f"{READERS} readers at once               {middle:7.1f} ms  {each}", over=middle > goal)


def main() -> None:
    """Fill a store, serve it, ask."""
    with tempfile.TemporaryDirectory(prefix="adjudge-bench-") as folder:
        place = Path(folder) / "store"
        with open_store(place) as store:
            fill(store)
        command = [sys.executable, "-m", "bench.web", str(place)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                port = int(process.stdout.readline().rpartition(":")[2].partition("/")[0])
                figures(port, Server(process))
            finally:
                process.terminate()


def figures(port: int, server: Server) -> None:
    """Print a line for each figure."""
    ask, lots, goals = Asking(port), random.Random(1), Goals(server)
    for _ in range(3):
        ask("/api/runs?most=1")
    ask("/runs")
    fresh = iter(COPIES)
    goals.measure(f"run of {ENTRIES:,}, not opened before", 100, lambda: ask(f"/runs/{next(fresh)}"), len(COPIES))
    goals.measure("again", 100, lambda: ask("/runs/r-long"))
    goals.measure("again, around any entry", 100, lambda: ask(f"/runs/r-long?at=e{lots.randrange(ENTRIES) + 1}"))

    def window() -> tuple[float, float, int]:
        start = lots.randrange(ENTRIES - 60)
        return ask(f"/runs/r-long/entries?start={start}&end={start + 60}")

    goals.measure("any window of 60 entries", WINDOW, window, 40)
    before = server.memory()
    for path, name in (
        ("/runs", f"list of {RUNS:,} runs"),
        ("/runs?agent=codex", "of one agent"),
        ("/runs?judged=fails&outcome=resolved", "resolved, yet a criterion fails"),
        ("/runs?sort=cost", "by cost"),
        ("/runs?sort=score", "by score"),
        ("/runs?sort=judging", "by what judging cost"),
        ("/runs?sort=task", "by task"),
        ("/runs?sort=-agent", "by agent, backwards"),
        ("/runs?sort=outcome&agent=codex", "by outcome, of one agent"),
        ("/runs?q=task-41", "with words"),
    ):
        goals.measure(name, 150, lambda path=path: ask(path))  # type: ignore[misc]  # bound now
    many(port, goals)
    for times in (1, 3):
        for _ in range(300 * times):
            window()
        for _ in range(30 * times):
            ask(f"/runs?q=task-{lots.randrange(100)}")
        for name in MORE[: 2 * times]:
            ask(f"/runs/{name}")
        told = f"memory {before:.0f} MB with {len(COPIES)} such runs open, {server.memory():.0f} MB after more was read"
        goals.tell("memory", f"{told}  goal {before * FLAT:.0f}", over=server.memory() > before * FLAT)
    print(f"over its goal: {', '.join(goals.missed)}" if goals.missed else "nothing is over its goal")


if __name__ == "__main__":
    serve_store(Path(sys.argv[1])) if sys.argv[1:] else main()
