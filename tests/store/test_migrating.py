from __future__ import annotations

import shutil
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from tests.store.conftest import Place

from adjudge import __version__
from adjudge.errors import InputError
from adjudge.store.checking import verify_stored
from adjudge.store.database import Database, open_postgres, open_sqlite
from adjudge.store.listing import Filter, list_runs
from adjudge.store.schema import REVISIONS, metadata
from adjudge.store.sqlite import open_engine
from adjudge.store.store import open_store

FIRST = Path(__file__).parent / "fixtures" / "store-0001"
"""A store as the first adjudge wrote it: what `sqlite3 adjudge.db .dump` printed, and its blobs."""

SEVENTH = Path(__file__).parent / "fixtures" / "store-0007"
"""Rows and blobs as revision 0007 had them: a run with a verdict and a failed attempt, one with a failed attempt alone, one
that nobody judged, and one that a reader judged."""

MIGRATIONS = Path(__file__).parents[2] / "src" / "adjudge" / "store" / "migrations"


@pytest.fixture
def first(bare: Place) -> Place:
    """A store of the first adjudge: in PostgreSQL, what made it in SQLite in an order that it takes."""
    shutil.copytree(FIRST / "blobs", bare.blobs)
    script = (FIRST / "adjudge.sql").read_text("utf-8")
    if bare.server is not None:
        statements = [each for each in script.split(";\n") if each.strip() not in ("BEGIN TRANSACTION", "COMMIT", "")]
        bare.server.run(";\n".join(sorted(statements, key=_rank)), database=bare.database)
        return bare
    with closing(sqlite3.connect(Path(bare.store) / "adjudge.db")) as connection:
        connection.executescript(script)
    return bare


KINDS = ("CREATE TABLE", "INSERT INTO", "CREATE INDEX")


def _rank(statement: str) -> tuple[int, bool]:
    """Tables before rows, and last in each kind what refers to others."""
    return KINDS.index(" ".join(statement.split()[:2])), "judgments" in statement


@pytest.fixture
def seventh(bare: Place) -> Place:
    """A store of revision 0007."""
    shutil.copytree(SEVENTH / "blobs", bare.blobs)
    with closing(database_of(bare)) as database, database.writing() as connection:
        command.upgrade(migrations(connection), "0007")
    for statement in (SEVENTH / "rows.sql").read_text("utf-8").splitlines():
        bare.sql(statement)
    return bare


def migrations(connection: Connection | None = None) -> Config:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    return config


def database_of(place: Place) -> Database:
    return open_sqlite(Path(place.store)) if place.server is None else open_postgres(place.store)


def differences(place: Place) -> object:
    """Where the tables are others than the code's."""
    database = database_of(place)
    with closing(database), database.reading() as connection, warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", ".*expression-based index '?ix_(judgments_key|runs_task)"
        )  # SQLite's cannot be compared
        return compare_metadata(MigrationContext.configure(connection), metadata)


def test_the_migrations_lead_to_the_tables_that_the_code_uses(bare: Place) -> None:
    bare.open().close()
    assert differences(bare) == []


def test_a_store_of_the_first_adjudge_is_brought_up_to_date(first: Place) -> None:
    first.open().close()
    assert differences(first) == []
    stamped = first.sql("SELECT revision FROM stamps ORDER BY revision")
    assert stamped == [("0001",), (REVISIONS[-1],)]  # one stamp for each adjudge that raised it
    assert first.sql("SELECT dimensions FROM rubrics") == [(0,)]


def test_what_the_first_adjudge_stored_is_still_there_and_sound(first: Place) -> None:
    with first.open() as store:
        (row,) = store.judgments()
        assert (row.id, row.score, row.passed, row.criteria, row.cost) == ("j-00000000000000aa", 1.0, 1, 1, 0.25)
        assert (row.scored, row.dimensions, row.empty, row.decided, row.prompt_tokens) == (0, 0, False, None, None)
        assert store.judgment(row.id).decided == "freely"
        assert verify_stored(store, row.id).sound


def test_where_runs_stand_is_told_as_before_by_a_store_that_told_it_in_the_runs_rows(seventh: Place) -> None:
    with seventh.open() as store:
        listed = list_runs(store, Filter(), "-added")
    assert differences(seventh) == []
    columns = ("id", "state", "evaluation", "reading", "score", "passed", "criteria", "cells", "worst", "worse", "judging")
    assert [tuple(getattr(run, name) for name in columns) for run in listed.runs] == [
        ("r-a", "judged", "j-a1", None, 0.5, 1, 2, "pf", None, None, 0.5),
        ("r-b", "errored", "j-b1", None, None, None, None, None, None, None, 0.25),
        ("r-c", None, None, None, None, None, None, None, None, None, None),
        ("r-d", "judged", None, "j-d1", None, None, None, None, "hallucination 3", 3, 0.0123),
    ]
    assert [run.flags for run in listed.runs] == [(), (), (), ("steer", "gate", "pruned", "masked")]
    assert (listed.counts.runs, listed.counts.judged, listed.counts.errored, listed.counts.unjudged) == (4, 2, 1, 1)
    assert listed.counts.resolved_yet_fails == 1


def test_runs_of_such_a_store_are_sorted_filtered_and_judged_again(seventh: Place) -> None:
    with seventh.open() as store:
        for wanted in (Filter(text="billing"), Filter(agent="codex", outcome="resolved")):
            assert [run.id for run in list_runs(store, wanted).runs if run.agent == "codex"] == ["r-a"]
        assert [run.id for run in list_runs(store, Filter(), "cost").runs] == ["r-a", "r-c", "r-d", "r-b"]
        store.add_judgment(msgspec.structs.replace(store.judgment("j-a1"), id="j-c1", run="r-c"))
        assert list_runs(store, Filter(judged="unjudged")).counts.found == 0
        assert all(verify_stored(store, row.id).sound for row in store.judgments("r-d"))


def test_runs_of_such_a_store_are_sorted_by_task_and_outcome(seventh: Place) -> None:
    with seventh.open() as store:
        listed = {sort: list_runs(store, Filter(), sort).runs for sort in ("task", "outcome")}
    tasks = [run.task_name or run.task or "" for run in listed["task"]]
    grades = [run.outcome.grade for run in listed["outcome"] if run.outcome.grade]
    assert (tasks, grades) == (sorted(tasks), sorted(grades))
    assert len(tasks) == len(listed["outcome"]) == 4


def test_every_migration_is_known_to_the_code() -> None:
    config = migrations()
    walked = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(walked)) == REVISIONS


def test_a_new_store_says_which_adjudge_made_it(bare: Place) -> None:
    bare.open().close()
    assert bare.sql("SELECT revision, adjudge FROM stamps") == [(REVISIONS[-1], __version__)]


def test_a_store_of_a_newer_adjudge_is_refused_and_left_alone(bare: Place) -> None:
    bare.open().close()
    bare.sql("UPDATE alembic_version SET version_num = '9000'")
    bare.sql("INSERT INTO stamps VALUES ('9000', '7.2.0', '2030-01-01T00:00:00+00:00')")
    with pytest.raises(InputError, match=r"written by adjudge 7\.2\.0 with schema 9000.*use adjudge 7\.2\.0 or later"):
        bare.open()
    assert bare.sql("SELECT version_num FROM alembic_version") == [("9000",)]


@pytest.mark.parametrize("table", ["alembic_version (version_num varchar(32))", "runs (distance float)"])
def test_a_database_of_another_program_is_refused_and_left_alone(bare: Place, table: str) -> None:
    Path(bare.store).mkdir(exist_ok=True) if bare.server is None else None
    bare.sql(f"CREATE TABLE {table}")
    if table.startswith("alembic"):
        bare.sql("INSERT INTO alembic_version VALUES ('0001a')")
    with pytest.raises(InputError, match=f"holds a table '{table.split(maxsplit=1)[0]}' of another program"):
        bare.open()


def test_a_store_keeps_a_write_ahead_log_and_syncs_every_commit(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    engine = open_engine(tmp_path / "adjudge.db")
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL, by SQLite's manual
        assert connection.exec_driver_sql("PRAGMA page_size").scalar() == 1024  # see decision 40
        assert connection.exec_driver_sql("PRAGMA wal_autocheckpoint").scalar() == 4096  # pages, see decision 50
    engine.dispose()
