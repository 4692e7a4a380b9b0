"""The store: runs, rubrics and judgments on disk, in the product's words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine, select

from adjudge.errors import InputError
from adjudge.judgment import Judgment
from adjudge.rubric import Rubric
from adjudge.run import Run
from adjudge.store import rows, schema
from adjudge.store.blobs import Blobs, FolderBlobs, make_folder, open_blobs
from adjudge.store.codec import StoredJudgment, StoredRubric, StoredRun, packed_judgment, packed_rubric, unpacked
from adjudge.store.faults import DiskFullError, of_file
from adjudge.store.migrating import bring_up_to_date
from adjudge.store.records import read_run, write_run
from adjudge.store.room import Room
from adjudge.store.rows import JudgmentRow, RunRow
from adjudge.store.sqlite import open_engine, translated
from adjudge.store.workspace import fingerprint
from adjudge.store.writer import Writer


def open_store(folder: str | Path, blobs: str | None = None) -> Store:
    """Open the store in a folder, made if it is not there: `adjudge.db` and, unless an fsspec URL says where, `blobs/`.

    Raises:
        InputError: a newer adjudge wrote it, or the place is no folder.
        OutsideError: its disk cannot be used.
    """
    if "://" in str(folder):
        raise InputError(f"{folder}: a store is a folder, such as .adjudge; a database's URL is not understood")
    place = Path(folder).absolute()
    _make(place)
    engine = open_engine(place / "adjudge.db")
    try:
        with translated(place):
            bring_up_to_date(engine, place)
        return Store(place, engine, open_blobs(blobs or place / "blobs"))
    except BaseException:
        engine.dispose()
        raise


def _make(place: Path) -> None:
    """The folder, closed to other users, and a note to git that it is not source."""
    try:
        if not place.is_dir():
            place.parent.mkdir(parents=True, exist_ok=True)
            make_folder(place)
            place.chmod(0o700)
            (place / ".gitignore").write_text("*\n")
    except OSError as error:
        raise of_file(error, place) from error


class Store:
    """An open store. Any thread may use it; all writes go through one thread, and return when they are on the disk.

    Every method that writes raises OutsideError if the disk is full or fails; what returned before is kept.
    """

    def __init__(self, folder: Path, engine: Engine, blobs: Blobs) -> None:
        self.folder = folder
        self._engine = engine
        self._blobs = blobs
        self._room = Room(folder)
        self._writer = Writer()
        self._prepared = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Land what is queued and let go of the files. Closing twice is closing once."""
        self._writer.close()
        self._engine.dispose()

    # --- runs

    def add_run(self, run: Run) -> str:
        """Keep a run and give its id. The id comes from the content, so a run that is there stays as it is."""
        return self._writer.land(lambda: self._add_run(run)).result()

    def run(self, identifier: str) -> Run:
        """The run with this id. Entries are read from disk as they are used.

        Raises:
            InputError: there is none, or a newer adjudge wrote it.
            OutsideError: it is damaged, or cannot be read. Reading its entries may raise this later.
        """
        with self._reading() as connection:
            name = rows.blob_of(connection, schema.runs, identifier, "run")
        return read_run(self._blobs, unpacked(self._blobs.read(name), StoredRun))

    def runs(self) -> list[RunRow]:
        """All runs as a list shows them, the latest first."""
        with self._reading() as connection:
            return rows.run_rows(connection)

    def find_run(self, prefix: str) -> str:
        """The id that begins so. Raises InputError if there is none or more than one, and names them."""
        with self._reading() as connection:
            return rows.found(connection, schema.runs, prefix, "run")

    # --- judgments and their rubrics

    def add_judgment(self, judgment: Judgment, rubric: Rubric | None = None) -> None:
        """Keep a judgment, with its rubric if that is not stored yet. Adding it again changes nothing.

        Raises:
            InputError: its run or its rubric is not in the store, or another judgment has its id.
        """
        self._writer.land(lambda: self._add_judgment(judgment, rubric)).result()

    async def land(self, judgment: Judgment, rubric: Rubric | None = None) -> None:
        """As `add_judgment`, without blocking the event loop. It lands even if whoever waits for it is cancelled."""
        import asyncio  # noqa: PLC0415  listing runs needs no event loop, and this takes a while

        work = self._writer.land(lambda: self._add_judgment(judgment, rubric))
        await asyncio.shield(asyncio.wrap_future(work))

    def judgment(self, identifier: str) -> Judgment:
        """The judgment with this id. Raises InputError and OutsideError as `run` does."""
        with self._reading() as connection:
            name = rows.blob_of(connection, schema.judgments, identifier, "judgment")
        return unpacked(self._blobs.read(name), StoredJudgment).judgment

    def judgments(self, run: str | None = None) -> list[JudgmentRow]:
        """All judgments, or those of one run, as a list shows them, the latest first."""
        with self._reading() as connection:
            return rows.judgment_rows(connection, run)

    def find_judgment(self, prefix: str) -> str:
        """The id that begins so. Raises InputError if there is none or more than one, and names them."""
        with self._reading() as connection:
            return rows.found(connection, schema.judgments, prefix, "judgment")

    def rubric(self, hash: str) -> Rubric:
        """The rubric with this hash. Raises InputError and OutsideError as `run` does."""
        with self._reading() as connection:
            name = rows.blob_of(connection, schema.rubrics, hash, "rubric")
        return unpacked(self._blobs.read(name), StoredRubric).rubric

    def row(self, judgment: str) -> JudgmentRow:
        """One judgment's row. Raises InputError if there is none."""
        with self._reading() as connection:
            row = connection.execute(select(schema.judgments).where(schema.judgments.c.id == judgment)).one_or_none()
        if row is None:
            raise InputError(f"there is no judgment {judgment!r} in the store")
        return rows.judgment_row(row._mapping)

    def calibration_pairs(self, model: str) -> list[tuple[int, int]]:
        """Sizes of the latest 500 requests of readers to a model: characters, and tokens as the provider counted them."""
        with self._reading() as connection:
            return rows.calibration_pairs(connection, model)

    # --- the world around

    def workspace_changed(self, judgment: str) -> bool | None:
        """Whether the run's folder looks different from when the judgment landed; `None` where nothing tells."""
        then = select(schema.judgments.c.workspace, schema.runs.c.workspace).join_from(schema.judgments, schema.runs)
        with self._reading() as connection:
            row = connection.execute(then.where(schema.judgments.c.id == judgment)).one_or_none()
        return None if row is None or row[0] is None else fingerprint(row[1]) != row[0]

    def require_room(self) -> None:
        """Do nothing if a judgment that begins now could be kept. Raises OutsideError if the disk is almost full."""
        self._room.require()

    # --- in the writer's thread

    def _prepare(self) -> None:
        """Before the first write."""
        if self._prepared:
            return
        self._room.set_aside()
        if isinstance(self._blobs, FolderBlobs):
            self._blobs.sweep()
        self._prepared = True

    def _add_run(self, run: Run) -> str:
        with self._reading() as connection:
            if rows.is_there(connection, schema.runs, run.id):
                return run.id
        self._prepare()
        self._room.require()
        values = rows.values_of_run(run, write_run(self._blobs, run))
        with self._writing() as connection:
            if not rows.is_there(connection, schema.runs, run.id):
                connection.execute(schema.runs.insert().values(values))
        return run.id

    def _add_judgment(self, judgment: Judgment, rubric: Rubric | None) -> None:
        """A judgment was paid for: if the disk is full, the reserve is given up for it."""
        self._prepare()
        try:
            self._try_judgment(judgment, rubric)
        except DiskFullError:
            if not self._room.release():
                raise
            self._try_judgment(judgment, rubric)

    def _try_judgment(self, judgment: Judgment, rubric: Rubric | None) -> None:
        with self._reading() as connection:
            if rows.is_there(connection, schema.judgments, judgment.id):
                self._refuse_another(judgment)
                return
            missing = _missing_rubric(connection, judgment, rubric)
            workspace = _workspace(connection, judgment)
        state = fingerprint(workspace) if workspace else None
        values = rows.values_of_judgment(judgment, self._blobs.write([packed_judgment(judgment)]), state)
        of_rubric = rows.values_of_rubric(missing, self._blobs.write([packed_rubric(missing)])) if missing else None
        with self._writing() as connection:
            if of_rubric and not rows.is_there(connection, schema.rubrics, of_rubric["hash"]):
                connection.execute(schema.rubrics.insert().values(of_rubric))
            if not rows.is_there(connection, schema.judgments, judgment.id):
                connection.execute(schema.judgments.insert().values(values))

    def _refuse_another(self, judgment: Judgment) -> None:
        if unpacked(packed_judgment(judgment), StoredJudgment).judgment != self.judgment(judgment.id):
            raise InputError(f"judgment {judgment.id!r} is stored with other content; a judgment is never changed")

    # --- connections

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        with translated(self.folder), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with (
            translated(self.folder),
            self._engine.connect().execution_options(writes=True) as connection,
            connection.begin(),
        ):
            yield connection


def _missing_rubric(connection: Connection, judgment: Judgment, rubric: Rubric | None) -> Rubric | None:
    """The rubric if it must be stored with the judgment.

    Raises:
        InputError: the judgment names a rubric that is neither stored nor handed over.
    """
    wanted = judgment.rubric_hash
    if wanted is None or rows.is_there(connection, schema.rubrics, wanted):
        return None
    if rubric is None or rubric.hash != wanted:
        raise InputError(
            f"judgment {judgment.id!r} was made with rubric {wanted!r}, which is not in the store: hand it over"
        )
    return rubric


def _workspace(connection: Connection, judgment: Judgment) -> str | None:
    """The folder of the judged run.

    Raises:
        InputError: the run is not stored.
    """
    row = connection.execute(select(schema.runs.c.workspace).where(schema.runs.c.id == judgment.run)).one_or_none()
    if row is None:
        raise InputError(f"judgment {judgment.id!r} is of run {judgment.run!r}, which is not in the store: add it first")
    workspace: str | None = row[0]
    return workspace
