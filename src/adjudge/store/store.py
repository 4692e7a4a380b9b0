"""The store: runs, rubrics and judgments on disk, in the product's words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import select

from adjudge.errors import InputError, OutsideError
from adjudge.judgment import Judgment
from adjudge.rubric import Rubric
from adjudge.run import Run
from adjudge.settings import is_url
from adjudge.store import rows, schema
from adjudge.store.blobs import TRIAL, Blobs, FolderBlobs, make_closed_folder, open_blobs
from adjudge.store.codec import StoredJudgment, StoredRubric, packed_judgment, packed_rubric, unpacked
from adjudge.store.database import Database, open_postgres, open_sqlite
from adjudge.store.deriving import derive, take_over_all, was_left_behind
from adjudge.store.faults import DiskFullError, patiently
from adjudge.store.judgment_blobs import Landing, insert, judgment_in, landing_of, with_data
from adjudge.store.needed import missing_rubric, workspace_of
from adjudge.store.passes import Passes
from adjudge.store.records import read_run, write_run
from adjudge.store.room import Room
from adjudge.store.rows import JudgmentRow, RunRow
from adjudge.store.standing import add_runs
from adjudge.store.workspace import changed, fingerprint, fingerprint_here
from adjudge.store.writer import Writer


def open_store(place: str | Path, blobs: str | None = None) -> Store:
    """Open the store in a folder or at the URL of a PostgreSQL database; it is made if it is not there.

    A folder holds `adjudge.db` and, unless `blobs` names another folder or an fsspec URL, `blobs/`. A database needs
    `blobs`.

    Raises:
        InputError: a newer adjudge wrote it, the place cannot be a store, or the database refuses.
        OutsideError: its disk cannot be used, or the database cannot be reached.
    """
    return _open_at(str(place), blobs) if is_url(place) else _open_in(Path(place).absolute(), blobs)


def _open_in(folder: Path, blobs: str | None) -> Store:
    make_closed_folder(folder)
    database = open_sqlite(folder)
    with _closed_if_it_fails(database):
        database.bring_up_to_date()
        kept = open_blobs(folder / "blobs") if blobs is None else _blobs_apart(blobs, database)
        return Store(database, kept, Room(folder), folder)


def _open_at(url: str, blobs: str | None) -> Store:
    database = open_postgres(url)
    with _closed_if_it_fails(database):
        if blobs is None:
            raise InputError(
                f"{database.name}: a database keeps the rows alone; say in ADJUDGE_BLOBS (in Python `blobs=`) in which "
                "folder or at which URL the blobs are kept, such as /srv/adjudge or s3://BUCKET/adjudge"
            )
        database.bring_up_to_date()
        return Store(database, _blobs_apart(blobs, database), None if is_url(blobs) else Room(Path(blobs).absolute()))


@contextmanager
def _closed_if_it_fails(database: Database) -> Iterator[None]:
    try:
        yield
    except BaseException:
        database.close()
        raise


def _blobs_apart(place: str, database: Database) -> Blobs:
    """Blobs at a URL or in a folder, which is made unless there must be one already."""
    if is_url(place):
        return open_blobs(place)
    folder = Path(place).absolute()
    if not folder.is_dir():
        with database.reading() as connection:
            if rows.has_runs(connection):
                raise InputError(
                    f"{folder}: is not there, and {database.name} has runs: name the folder or URL of their blobs in "
                    "ADJUDGE_BLOBS"
                )
    make_closed_folder(folder)
    return open_blobs(folder)


class Store:
    """An open store. Any thread may use it; all writes go through one thread, and return when they are on the disk.

    `passes` are its passes. What else is no method is for the modules of this package.

    Every method that writes raises OutsideError if the disk is full or fails; what returned before is kept. `folder` is
    that of a store that is a folder.
    """

    def __init__(self, database: Database, blobs: Blobs, room: Room | None, folder: Path | None = None) -> None:
        self.folder = folder
        self.database = database
        self.reading, self.writing = database.reading, database.writing
        self.blobs = blobs
        self.writer = Writer()
        self.passes = Passes(self)
        self._room = room
        self._fingerprint = fingerprint if folder else fingerprint_here
        self._prepared = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Land what is queued and let go of the files. Closing twice is closing once."""
        self.writer.close()
        self.database.close()

    # --- runs

    def add_run(self, run: Run) -> str:
        """Keep a run and give its id. The id comes from the content, so a run that is there stays as it is."""
        return self.writer.land(lambda: self._add_run(run)).result()

    def run(self, identifier: str) -> Run:
        """The run with this id. Entries are read from disk as they are used.

        Raises:
            InputError: there is none, or a newer adjudge wrote it.
            OutsideError: it is damaged, or cannot be read. Reading its entries may raise this later.
        """
        with self.reading() as connection:
            name = rows.blob_of(connection, schema.runs, identifier, "run")
        return read_run(self.blobs, name)

    def runs(self) -> list[RunRow]:
        """All runs as a list shows them, the latest first."""
        with self.reading() as connection:
            return rows.run_rows(connection)

    def find_run(self, prefix: str) -> str:
        """The id that begins so. Raises InputError if there is none or more than one, and names them."""
        with self.reading() as connection:
            return rows.found(connection, schema.runs, prefix, "run")

    # --- judgments and their rubrics

    def add_judgment(self, judgment: Judgment, rubric: Rubric | None = None) -> None:
        """Keep a judgment, with its rubric if that is not stored yet. Adding it again changes nothing.

        Raises:
            InputError: its run or its rubric is not in the store, or another judgment has its id.
        """
        self.writer.land(lambda: self._add_judgment(judgment, rubric)).result()

    async def land(self, judgment: Judgment, rubric: Rubric | None = None) -> None:
        """As `add_judgment`, without blocking the event loop. It lands even if whoever waits for it is cancelled."""
        import asyncio  # noqa: PLC0415  listing runs needs no event loop, and this takes a while

        work = self.writer.land(lambda: self._add_judgment(judgment, rubric))
        await asyncio.shield(asyncio.wrap_future(work))

    def judgment(self, identifier: str) -> Judgment:
        """The judgment with this id. Raises InputError and OutsideError as `run` does."""
        query = with_data(select().where(schema.judgments.c.id == identifier))
        with self.reading() as connection:
            row = connection.execute(query).one_or_none()
        if row is None:
            raise InputError(f"there is no judgment {identifier!r} in the store")
        return judgment_in(row, self.blobs)

    def judgments(self, run: str | None = None) -> list[JudgmentRow]:
        """All judgments, or those of one run, as a list shows them, the latest first."""
        with self.reading() as connection:
            return rows.judgment_rows(connection, run)

    def find_judgment(self, prefix: str) -> str:
        """The id that begins so. Raises InputError if there is none or more than one, and names them."""
        with self.reading() as connection:
            return rows.found(connection, schema.judgments, prefix, "judgment")

    def rubric(self, hash: str) -> Rubric:
        """The rubric with this hash. Raises InputError and OutsideError as `run` does."""
        with self.reading() as connection:
            name = rows.blob_of(connection, schema.rubrics, hash, "rubric")
        return unpacked(self.blobs.read(name), StoredRubric).rubric

    def find_rubric(self, prefix: str) -> str:
        """The hash that begins so. Raises InputError if there is none or more than one, and names them."""
        with self.reading() as connection:
            return rows.found(connection, schema.rubrics, prefix, "rubric")

    def row(self, judgment: str) -> JudgmentRow:
        """One judgment's row. Raises InputError if there is none."""
        with self.reading() as connection:
            row = connection.execute(select(schema.judgments).where(schema.judgments.c.id == judgment)).one_or_none()
        if row is None:
            raise InputError(f"there is no judgment {judgment!r} in the store")
        return rows.judgment_row(row._mapping)

    def calibration_pairs(self, model: str) -> list[tuple[int, int]]:
        """Sizes of the latest 500 requests of readers to a model: characters, and tokens as the provider counted them."""
        with self.reading() as connection:
            return rows.calibration_pairs(connection, model)

    # --- the world around

    def workspace_changed(self, judgment: str) -> bool | None:
        """Whether the run's folder looks different from when the judgment landed; `None` where nothing tells."""
        then = select(schema.judgments.c.workspace, schema.runs.c.workspace).join_from(schema.judgments, schema.runs)
        with self.reading() as connection:
            row = connection.execute(then.where(schema.judgments.c.id == judgment)).one_or_none()
        return None if row is None or row[0] is None else changed(row[1], row[0])

    def require_room(self) -> None:
        """Do nothing if a judgment that begins now could be kept. Raises OutsideError if the disk is almost full."""
        if self._room is not None:
            self._room.require()

    def make_room(self) -> bool:
        """Give the reserve up for what was paid for; false if there was none."""
        return self._room is not None and self._room.release()

    def require_writing(self) -> str:
        """The kind and version of the database, if a row can be written. Raises InputError or OutsideError if not."""
        self.database.require_writing()
        return self.database.about()

    def require_blobs(self) -> None:
        """Do nothing if blobs can be written and read; a small one stays. Raises OutsideError if they cannot."""
        self.blobs.read(self.blobs.write([TRIAL]))

    def require_keeping(self) -> None:
        """Do nothing if what is about to be paid for could be kept: there is room, and rows and blobs can be written.

        Raises:
            OutsideError: it could not, so nothing must be paid for.
        """
        self.writer.land(self._try_keeping).result()

    # --- in the writer's thread

    def prepare(self) -> None:
        """Before the first write."""
        if self._prepared:
            return
        if self._room is not None:
            self._room.set_aside()
        if isinstance(self.blobs, FolderBlobs):
            self.blobs.sweep()
        if was_left_behind(self):
            with suppress(OutsideError):
                take_over_all(self)
        self._prepared = True

    def _try_keeping(self) -> None:
        self.require_room()
        self.prepare()
        self.require_writing()
        self.require_blobs()

    def _add_run(self, run: Run) -> str:
        with self.reading() as connection:
            if rows.is_there(connection, schema.runs, run.id):
                return run.id
        self.prepare()
        self.require_room()
        values = rows.values_of_run(run, write_run(self.blobs, run))
        with self.writing() as connection:
            if not rows.is_there(connection, schema.runs, run.id):
                add_runs(connection, [values])
        return run.id

    def _add_judgment(self, judgment: Judgment, rubric: Rubric | None) -> None:
        """A judgment was paid for: a full disk's reserve is given up for it, and a database that is away is waited for."""
        self.prepare()
        try:
            patiently(lambda: self._try_judgment(judgment, rubric))
        except DiskFullError:
            if not self.make_room():
                raise
            self._try_judgment(judgment, rubric)

    def _try_judgment(self, judgment: Judgment, rubric: Rubric | None) -> None:
        with self.reading() as connection:
            if rows.is_there(connection, schema.judgments, judgment.id):
                self._refuse_another(judgment)
                return
            missing = missing_rubric(connection, judgment, rubric)
            workspace = workspace_of(connection, judgment)
        landing = self.landing_of(judgment, workspace)
        of_rubric = rows.values_of_rubric(missing, self.blobs.write([packed_rubric(missing)])) if missing else None
        with self.writing() as connection:
            if of_rubric and not rows.is_there(connection, schema.rubrics, of_rubric["hash"]):
                connection.execute(schema.rubrics.insert().values(of_rubric))
            if not rows.is_there(connection, schema.judgments, judgment.id):
                insert(connection, [landing])
                derive(connection, [landing])

    def landing_of(self, judgment: Judgment, workspace: str | None) -> Landing:
        """A judgment as it is kept, with the state of its run's folder. Any thread may do this."""
        return landing_of(judgment, self._fingerprint(workspace) if workspace else None, self.blobs)

    def _refuse_another(self, judgment: Judgment) -> None:
        if unpacked(packed_judgment(judgment), StoredJudgment).judgment != self.judgment(judgment.id):
            raise InputError(f"judgment {judgment.id!r} is stored with other content; a judgment is never changed")
