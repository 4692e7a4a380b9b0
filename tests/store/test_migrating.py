from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from adjudge import __version__
from adjudge.errors import InputError
from adjudge.store.checking import verify_stored
from adjudge.store.schema import REVISIONS, metadata
from adjudge.store.sqlite import open_engine
from adjudge.store.store import open_store

FIRST = Path(__file__).parent / "fixtures" / "store-0001"
"""A store as the first adjudge wrote it: what `sqlite3 adjudge.db .dump` printed, and its blobs."""

MIGRATIONS = Path(__file__).parents[2] / "src" / "adjudge" / "store" / "migrations"


def test_the_migrations_lead_to_the_tables_that_the_code_uses(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    engine = open_engine(tmp_path / "adjudge.db")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """The folder of a store of the first adjudge."""
    shutil.copytree(FIRST / "blobs", tmp_path / "blobs")
    connection = sqlite3.connect(tmp_path / "adjudge.db")
    connection.executescript((FIRST / "adjudge.sql").read_text("utf-8"))
    connection.close()
    return tmp_path


def test_a_store_of_the_first_adjudge_is_brought_up_to_date(first: Path) -> None:
    open_store(first).close()
    engine = open_engine(first / "adjudge.db")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        stamped = connection.exec_driver_sql("SELECT revision FROM stamps ORDER BY revision").scalars().all()
        assert stamped == ["0001", REVISIONS[-1]]  # one stamp for each adjudge that raised it
        assert connection.exec_driver_sql("SELECT dimensions FROM rubrics").scalars().all() == [0]
    engine.dispose()


def test_what_the_first_adjudge_stored_is_still_there_and_sound(first: Path) -> None:
    with open_store(first) as store:
        (row,) = store.judgments()
        assert (row.id, row.score, row.passed, row.criteria, row.cost) == ("j-00000000000000aa", 1.0, 1, 1, 0.25)
        assert (row.scored, row.dimensions, row.empty, row.decided, row.prompt_tokens) == (0, 0, False, None, None)
        assert store.judgment(row.id).decided == "freely"
        assert verify_stored(store, row.id).sound


def test_every_migration_is_known_to_the_code() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    walked = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(walked)) == REVISIONS


def test_a_new_store_says_which_adjudge_made_it(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    connection = sqlite3.connect(tmp_path / "adjudge.db")
    assert connection.execute("SELECT revision, adjudge FROM stamps").fetchall() == [(REVISIONS[-1], __version__)]
    connection.close()


def test_a_store_of_a_newer_adjudge_is_refused_and_left_alone(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    connection = sqlite3.connect(tmp_path / "adjudge.db")
    with connection:
        connection.execute("UPDATE alembic_version SET version_num = '9000'")
        connection.execute("INSERT INTO stamps VALUES ('9000', '7.2.0', '2030-01-01T00:00:00+00:00')")
    with pytest.raises(InputError, match=r"written by adjudge 7\.2\.0 with schema 9000.*use adjudge 7\.2\.0 or later"):
        open_store(tmp_path)
    assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("9000",)]
    connection.close()


def test_a_store_keeps_a_write_ahead_log_and_syncs_every_commit(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    engine = open_engine(tmp_path / "adjudge.db")
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL, by SQLite's manual
    engine.dispose()
