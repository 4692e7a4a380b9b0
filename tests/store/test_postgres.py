"""What is PostgreSQL's own: how a database is reached and refuses, and what is promised when it or the connection fails."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError
from tests.store.conftest import Place, on_server
from tests.store.postgres_server import Server
from tests.store.relay import Cut, Relay, relay
from tests.store.test_durability import TRIALS, everything_is_there

from adjudge.errors import InputError, OutsideError
from adjudge.judgment import Judgment
from adjudge.rubric import Rubric
from adjudge.run import Run
from adjudge.store.database import Database, has_store, open_postgres
from adjudge.store.faults import DatabaseAwayError, DiskFailedError, DiskFullError
from adjudge.store.postgres import LOCK
from adjudge.store.store import open_store

SECRET = "s3cr:t@/%"


@pytest.fixture
def own(postgres: Server, tmp_path: Path) -> Iterator[Place]:
    """A database of its own, with nothing in it."""
    with on_server(postgres, tmp_path) as made:
        yield made


# --- reaching it


@pytest.fixture
def secretive(postgres: Server) -> Iterator[str]:
    """A user who must give the password."""
    postgres.run(f"CREATE ROLE secretive LOGIN PASSWORD '{SECRET}'")
    yield "secretive"
    postgres.run("DROP ROLE secretive")


def test_a_password_of_any_signs_may_stand_in_the_url(own: Place, secretive: str, postgres: Server) -> None:
    postgres.run(f"GRANT CREATE ON SCHEMA public TO {secretive}", database=own.database)
    with open_store(postgres.url(own.database, secretive, SECRET), own.apart) as store:
        assert store.runs() == []
    postgres.run(f"DROP OWNED BY {secretive}", database=own.database)


@pytest.mark.parametrize("password", ["wr0ng:p@ss", None])
def test_a_wrong_password_is_the_askers_mistake_and_never_shown(
    own: Place, secretive: str, postgres: Server, password: str | None
) -> None:
    with pytest.raises(InputError, match=r"secretive(:\*\*\*)?@/.*refuses: .*password") as raised:
        open_store(postgres.url(own.database, secretive, password), own.apart)
    assert "wr0ng" not in str(raised.value)


def test_a_database_that_is_not_there_is_named(postgres: Server) -> None:
    with pytest.raises(InputError, match=r'refuses: .*database "nowhere" does not exist'):
        open_store(postgres.url("nowhere"), "blobs")


def test_a_server_that_is_not_there_is_no_mistake_of_the_asker(tmp_path: Path) -> None:
    with pytest.raises(DatabaseAwayError, match=r"postgresql://u:\*\*\*@127.0.0.1:1/d: the database cannot be reached"):
        open_store("postgresql://u:s3cret@127.0.0.1:1/d", str(tmp_path))


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cret@ret@h/d",
        "postgresql://u:12/s3cret@h/d",
        "postgresql://u:s3cret%zz@h/d",
        "postgresql://u:s3cret@h:port@/d",
        "postgresql://u@h/d?password=s3cret&nonsense=1",
        "mysql://u:s3cret@h/d",
        "https://u:s3cret@h/d",
    ],
)
def test_what_is_no_url_of_a_database_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(InputError, match="postgresql://USER") as raised:
        open_store(url, "blobs")
    assert "cret" not in str(raised.value)


def test_a_database_needs_to_be_told_where_blobs_are(own: Place) -> None:
    with pytest.raises(InputError, match="say in ADJUDGE_BLOBS"):
        open_store(own.store)


def test_a_database_that_cannot_hold_every_character_is_refused(postgres: Server, tmp_path: Path) -> None:
    name = postgres.create("SQL_ASCII")
    with pytest.raises(InputError, match=f"{name} keeps text as SQL_ASCII"):
        open_store(postgres.url(name), str(tmp_path))
    postgres.drop(name)


def test_looking_whether_there_is_a_store_makes_none(own: Place) -> None:
    assert [has_store(own.store), has_store(own.store)] == [False, False]
    own.open().close()
    assert has_store(own.store)


def test_without_the_driver_it_is_said_what_to_install(own: Place) -> None:
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from adjudge.store.store import open_store\n"
        "try: open_store('postgresql://u:s3cret@h/d', 'blobs')\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("InputError postgresql://u:***@h/d: the driver for PostgreSQL cannot be loaded")
    assert "adjudge[postgres]" in done.stdout


# --- rights


@pytest.fixture
def reader(own: Place, postgres: Server) -> Iterator[str]:
    """A user who may read a store."""
    own.open().close()
    postgres.run("CREATE ROLE reader LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader", database=own.database)
    yield postgres.url(own.database, "reader")
    postgres.run("DROP OWNED BY reader; DROP ROLE reader", database=own.database)


def test_who_may_read_reads_and_is_told_that_writing_is_refused(own: Place, reader: str, run: Run) -> None:
    with open_store(reader, own.apart) as store:
        assert store.runs() == []
        with pytest.raises(InputError, match="permission denied for table runs; let this user own the database"):
            store.add_run(run)


def test_who_may_make_no_tables_is_told_so(own: Place, postgres: Server) -> None:
    postgres.run("CREATE ROLE guest LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC", database=own.database)
    with pytest.raises(InputError, match="permission denied for schema public; let this user own the database"):
        open_store(postgres.url(own.database, "guest"), own.apart)
    postgres.run("DROP ROLE guest")


def test_a_database_that_takes_no_writes_can_be_read(own: Place, run: Run) -> None:
    own.open().close()
    own.sql(f"ALTER DATABASE {own.database} SET default_transaction_read_only = on")
    with own.open() as store:
        assert store.runs() == []
        with pytest.raises(OutsideError, match=r"takes no writes \(.*read-only transaction\); name its primary"):
            store.add_run(run)


# --- failures of the server, told by the codes of its manual's appendix A


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        ("53100", DiskFullError, "the disk of the database is full"),
        ("58030", DiskFailedError, "the disk of the database failed"),
        ("XX001", DiskFailedError, "its files are damaged"),
        ("55P03", OutsideError, "another process has held the store for more than 30 s"),
        ("57014", OutsideError, "the database failed: tried"),
        ("53200", OutsideError, "the database failed: tried"),
        ("40P01", OutsideError, "the database failed: tried"),
    ],
)
def test_what_fails_on_the_server_is_told_by_its_code(
    own: Place, run: Run, code: str, kind: type[OutsideError], words: str
) -> None:
    with own.open() as store:
        own.sql(f"""CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'tried' USING ERRCODE = '{code}'; END $$""")
        own.sql("CREATE TRIGGER failing BEFORE INSERT ON runs EXECUTE FUNCTION fail()")
        with pytest.raises(OutsideError, match=words) as raised:
            store.add_run(run)
        assert type(raised.value) is kind
        own.sql("DROP TRIGGER failing ON runs")
        if kind is DiskFailedError:
            with pytest.raises(OutsideError, match="takes nothing more since a write failed"):
                store.add_run(run)
        else:
            store.add_run(run)
            assert len(store.runs()) == 1


def test_a_transaction_in_which_something_failed_is_not_committed_as_if_it_were_whole(own: Place) -> None:
    own.open().close()
    database = open_postgres(own.store)
    with pytest.raises(RuntimeError, match="cannot be committed"):
        swallowing(database)
    database.close()


def swallowing(database: Database) -> None:
    with database.writing() as connection, suppress(ProgrammingError):
        connection.execute(text("SELECT nothing FROM nowhere"))


# --- transactions


def test_commits_are_synced_even_if_the_database_would_not(own: Place) -> None:
    own.open().close()
    found = []
    for usual in ("off", "remote_apply"):
        own.sql(f"ALTER DATABASE {own.database} SET synchronous_commit = {usual}")
        database = open_postgres(own.store)
        with database.writing() as connection:
            found.append(connection.scalar(text("SHOW synchronous_commit")))
        database.close()
    assert found == ["on", "remote_apply"]  # the latter waits for even more


def test_a_connection_for_reading_cannot_write(own: Place) -> None:
    own.open().close()
    database = open_postgres(own.store)
    with pytest.raises(OutsideError, match="takes no writes"), database.reading() as connection:
        connection.execute(text("DELETE FROM stamps"))
    database.close()


def test_a_writer_waits_for_another_ones_transaction(own: Place, run: Run) -> None:
    with own.open() as store:
        database = open_postgres(own.store)
        with database.writing():
            writing = threading.Thread(target=store.add_run, args=(run,))
            writing.start()
            waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid::bigint = ?"
            until(lambda: own.sql(waiting, LOCK & 0xFFFFFFFF) == [(1,)])
            assert store.runs() == []  # readers wait for nobody
        writing.join()
        database.close()
        assert len(store.runs()) == 1


def until(is_so: object) -> None:
    assert callable(is_so)
    for _ in range(600):
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError("it never came to that")


# --- connections that break


@pytest.fixture
def relayed(own: Place) -> Iterator[tuple[Relay, str]]:
    """A way to the database that can be cut."""
    own.open().close()
    assert own.server is not None
    with relay(own.server.folder / ".s.PGSQL.5432") as made:
        ways = f"host=127.0.0.1&port={made.port}&sslmode=disable&gssencmode=disable"
        yield made, f"postgresql://adjudge@/{own.database}?{ways}"


@pytest.mark.parametrize(("cut", "there"), [("before", 0), ("after", 1)])
def test_a_commit_of_which_nobody_heard_is_never_reported_as_saved(
    own: Place, relayed: tuple[Relay, str], run: Run, cut: Cut, there: int
) -> None:
    way, url = relayed
    with open_store(url, own.apart) as store:
        way.cut = cut
        with pytest.raises(DatabaseAwayError, match="may be there or not; saving it again is safe"):
            store.add_run(run)
        assert own.sql("SELECT count(*) FROM runs") == [(there,)]
        assert store.add_run(run) == run.id
        assert own.sql("SELECT count(*) FROM runs") == [(1,)]


@pytest.mark.parametrize("cut", ["before", "after"])
def test_a_judgment_that_was_paid_for_is_saved_again(
    own: Place, relayed: tuple[Relay, str], run: Run, rubric: Rubric, judgment: Judgment, cut: Cut
) -> None:
    way, url = relayed
    with open_store(url, own.apart) as store:
        store.add_run(run)
        way.cut, way.commits = cut, 0
        store.add_judgment(judgment, rubric)
        assert way.commits == (2 if cut == "before" else 1)  # what is there is not written again
        assert store.judgment(judgment.id) == judgment
        assert own.sql("SELECT count(*) FROM judgments") == [(1,)]


def test_a_server_may_be_restarted_while_a_store_is_open(own: Place, postgres: Server, run: Run) -> None:
    with own.open() as store:
        assert store.runs() == []
        postgres.stop()
        with pytest.raises(DatabaseAwayError):
            store.runs()
        with pytest.raises(DatabaseAwayError):
            store.add_run(run)
        postgres.start()
        assert store.runs() == []
        store.add_run(run)
        assert len(store.runs()) == 1


def test_a_judgment_waits_for_a_server_that_is_started_again(
    own: Place, postgres: Server, run: Run, rubric: Rubric, judgment: Judgment
) -> None:
    with own.open() as store:
        store.add_run(run)
        postgres.stop()
        saving = threading.Thread(target=store.add_judgment, args=(judgment, rubric))
        saving.start()
        postgres.start()
        saving.join()
        assert store.judgment(judgment.id) == judgment


def test_a_crash_of_the_server_loses_nothing_that_was_reported(own: Place, postgres: Server) -> None:
    saved: list[str] = []
    for number in range(2):
        reading, writing = os.pipe()
        code = f"import trials; trials.save({own.store, own.apart}, 'crash{number}', 100_000, {writing})"
        command = [sys.executable, "-c", code]
        with subprocess.Popen(command, cwd=TRIALS.parent, pass_fds=[writing], stderr=subprocess.PIPE, text=True) as process:
            os.close(writing)
            with os.fdopen(reading) as pipe:
                seen = [pipe.readline() for _ in range(5 + number)]
                postgres.crash()
                process.terminate()
                seen += pipe.readlines()
            saved += [line.strip() for line in seen if line.endswith("\n")]
            assert process.stderr is not None
            process.stderr.read()
        postgres.start()
    assert len(saved) >= 5 + 6
    everything_is_there(own, saved)


# --- what it tells of itself


def test_a_server_that_does_not_sync_is_told_of(own: Place, postgres: Server) -> None:
    with own.open() as store:
        assert "fsync" not in store.require_writing()
        postgres.run("ALTER SYSTEM SET fsync = off")
        postgres.run("SELECT pg_reload_conf()")
        until(lambda: "fsync is off: what it reports as saved may be lost" in store.require_writing())
        postgres.run("ALTER SYSTEM RESET fsync")
        postgres.run("SELECT pg_reload_conf()")
        until(lambda: "fsync" not in store.require_writing())


def test_a_folder_that_was_judged_on_another_computer_says_nothing(
    own: Place, run: Run, rubric: Rubric, judgment: Judgment, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    with own.open() as store:
        store.add_run(msgspec.structs.replace(run, workspace=str(tmp_path / "work")))
        store.add_judgment(judgment, rubric)
        assert store.workspace_changed(judgment.id) is False
        own.sql("UPDATE judgments SET workspace = split_part(workspace, '@', 1) || '@0123abcd'")
        assert store.workspace_changed(judgment.id) is None
