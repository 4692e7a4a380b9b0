"""Places for a store, a small run, its judgment, and a way to change what is stored behind the store's back."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.store.postgres_server import Server

from adjudge.evidence import Citation, Exhibits, Look
from adjudge.importers.build import RecordBuilder
from adjudge.judgment import Answer, Call, Judge, Judgment, Step, gate, score
from adjudge.record import Usage
from adjudge.rubric import Criterion, Rubric, rubric_hash
from adjudge.run import Outcome, Run
from adjudge.store.passes import PassWriter
from adjudge.store.store import Store, open_store

Change = Callable[[dict[str, Any]], None]


class Place:
    """Where a store is or will be: its folder or URL, the folder of its blobs, and what must be said of that."""

    def __init__(self, store: str, blobs: Path, server: Server | None = None, database: str = "") -> None:
        self.store, self.blobs = store, blobs
        self.server, self.database = server, database

    @property
    def apart(self) -> str | None:
        """The blobs as they are named to a store that does not keep them itself."""
        return None if self.server is None else str(self.blobs)

    @property
    def closed(self) -> Path:
        """The folder that no other user may enter."""
        return Path(self.store) if self.server is None else self.blobs

    def open(self) -> Store:
        return open_store(self.store, self.apart)

    def sql(self, statement: str, *values: object) -> list[Any]:
        """What a statement gives, said past the store; `?` stands for a value."""
        if self.server is not None:
            return self.server.run(statement, *values, database=self.database)
        with closing(sqlite3.connect(Path(self.store) / "adjudge.db")) as connection, connection:
            return connection.execute(statement, values).fetchall()


def refuse_blobs(blobs: Path) -> None:
    """Let no blob be written in a folder any more, not even by root; all that is there can be read."""
    unfinished = blobs / "unfinished"
    unfinished.rmdir()
    unfinished.write_text("a file where blobs are written first")


@pytest.fixture(scope="session")
def empty(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a PostgreSQL database that holds an empty store, which each test leaves empty."""
    database = postgres.create()
    open_store(postgres.url(database), str(tmp_path_factory.mktemp("empty"))).close()
    return database


@contextmanager
def on_server(server: Server, folder: Path) -> Iterator[Place]:
    """A place in a database of its own."""
    database = server.create()
    yield Place(server.url(database), folder / "kept", server, database)
    server.drop(database)


KINDS = ("sqlite", "postgresql")


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """An empty store, on each database."""
    if request.param == "sqlite":
        yield Place(str(tmp_path / "store"), tmp_path / "store" / "blobs")
        return
    server, database = request.getfixturevalue("postgres"), request.getfixturevalue("empty")
    yield Place(server.url(database), tmp_path / "kept", server, database)
    server.clear(database)


@pytest.fixture(params=KINDS)
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A place where no store was made yet, on each database."""
    if request.param == "sqlite":
        yield Place(str(tmp_path / "store"), tmp_path / "store" / "blobs")
        return
    with on_server(request.getfixturevalue("postgres"), tmp_path) as made:
        yield made


@pytest.fixture
def store(place: Place) -> Iterator[Store]:
    with place.open() as opened:
        yield opened


@pytest.fixture
def run() -> Run:
    builder = RecordBuilder("chat")
    builder.message("user", "Count the files.")
    builder.respond(model="m", usage=Usage(prompt=100, output=10))
    builder.call("k1", "bash", {"command": "ls | wc -l"})
    builder.result("k1", "there are 12400 files", exit_status=0)
    builder.respond(usage=Usage(prompt=130, output=20))
    builder.message("agent", "I counted 12400 files.")
    helper = RecordBuilder("chat", prefix="s1.", label="helper")
    helper.message("agent", "The helper was here.")
    builder.children.append(helper.finish())
    return Run(
        "r-00112233aabbccdd",
        builder.finish(),
        "session.jsonl",
        task="\n  Count the files.  \nAll of them.",
        agent="codex",
        model="gpt",
        outcome=Outcome(exit_status=0, grade="resolved"),
    )


@pytest.fixture
def rubric() -> Rubric:
    criteria = (
        Criterion("counted", "`ls | wc -l` prints 12400 files"),
        Criterion("said", "The final message says how many files there are"),
        Criterion("notes", "`notes.txt` holds the count"),
    )
    return Rubric("files", criteria, rubric_hash(criteria), "files.yaml")


@pytest.fixture
def judgment(run: Run, rubric: Rubric) -> Judgment:
    looks = (
        Look("L1", "run", "command", {"command": "cat notes.txt"}, "count: 12399", ("exit status: 0",), exit_status=0),
    )
    answers = [
        Answer("counted", True, "Entry e3 shows it.", (Citation("e3", "there are 12400 files"),)),
        Answer("said", True, "It names the number.", (Citation("e4", "I counted 12400 files."),)),
        Answer("notes", False, "The file holds another number.", (Citation("L1", "count: 12399"),), "agent"),
    ]
    verdicts, _ = gate(rubric, answers, Exhibits(run.record, looks))
    assert [verdict.passed for verdict in verdicts] == [True, True, False]
    return Judgment(
        id="j-0a1b2c3d4e5f6071",
        run=run.id,
        rubric=rubric.name,
        rubric_hash=rubric.hash,
        judge=Judge("evaluator", "openrouter/some-model", "ab" * 32, {"looks": 40}, "0.1.0"),
        status="judged",
        started="2026-03-01T10:00:00+00:00",
        seconds=12.5,
        verdicts=verdicts,
        score=score(verdicts),
        summary="It counted.",
        decided="freely",
        looks=looks,
        steps=(Step("Judge this.", None, looks=("L1",)),),
        calls=(Call("some-model", Usage(prompt=2000, output=300, cost=0.0125), 3.0),),
    )


@pytest.fixture
def stored(store: Store, run: Run, rubric: Rubric, judgment: Judgment) -> Store:
    store.add_run(run)
    store.add_judgment(judgment, rubric)
    return store


class Forger:
    """Changes a store as someone would who knows its layout: with SQL, a JSON editor, zstd and sha256sum."""

    def __init__(self, place: Place) -> None:
        self.sql, self._blobs = place.sql, place.blobs

    def blob(self, name: str) -> Path:
        return self._blobs / name[:2] / f"{name}.zst"

    def name(self, table: str) -> str:
        return str(self.sql(f"SELECT blob FROM {table}")[0][0])

    def json(self, name: str) -> dict[str, Any]:
        return decoded(self.blob(name).read_bytes())

    def data(self) -> bytes:
        """The judgment's blob, which is small."""
        return bytes(self.sql("SELECT data FROM judgment_blobs")[0][0])

    def put(self, data: bytes) -> None:
        """Put other bytes in the place of the judgment's blob."""
        self.sql("UPDATE judgment_blobs SET data = ?", data)

    def forge(self, change: Change) -> None:
        """Change the judgment's blob, and give it the name that fits; its items are still to be made."""
        value = decoded(self.data())
        change(value)
        data = encoded(value)
        self.put(data)
        self.sql("UPDATE judgments SET blob = ?, itemised = (1 = 0)", hashlib.sha256(data).hexdigest())

    def forge_rubric(self, change: Change) -> None:
        """Change the rubric's blob, give it the name that fits, and point its row there."""
        value = self.json(self.name("rubrics"))
        change(value)
        data = encoded(value)
        name = hashlib.sha256(data).hexdigest()
        self.blob(name).parent.mkdir(exist_ok=True)
        self.blob(name).write_bytes(data)
        self.sql("UPDATE rubrics SET blob = ?", name)


def decoded(blob: bytes) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(zstandard.ZstdDecompressor().decompress(blob))
    return value


def encoded(value: dict[str, Any]) -> bytes:
    return zstandard.ZstdCompressor().compress(json.dumps(value).encode())


@pytest.fixture
def forger(stored: Store, place: Place) -> Forger:
    return Forger(place)


@pytest.fixture
def writer(filled: Store) -> Iterator[PassWriter]:
    """The one who may write passes in the store that a module has filled."""
    held = filled.passes.hold("a test")
    yield held
    held.release()
