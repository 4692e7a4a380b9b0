"""Credentials that go in by name do not come out: not in files, and not through a machine."""

from __future__ import annotations

import base64
import json
import os
import socket
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.agents.secrets import ScrubbedMachine, scrub, values_of
from adjudge.errors import InputError, OutsideError
from adjudge.ports import DirectoryItem, FilePart, Found, Machine, Match, Output
from adjudge.testing import FakeMachine, printed

VALUE = 'tok/en "9f8e7d'
SECRETS = {"MY_TOKEN": VALUE}

# --- by name


def test_values_come_from_the_environment_by_name() -> None:
    environment = {"A_TOKEN": "0123456789", "B": "abcdefgh", "C": "other"}
    assert values_of(["A_TOKEN", "B"], environment) == {"A_TOKEN": "0123456789", "B": "abcdefgh"}
    assert values_of([], environment) == {}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("MISSING", "--env MISSING: there is no such variable"),
        ("EMPTY", "--env EMPTY: there is no such variable in the environment, or it is empty"),
        ("SHORT", "--env SHORT: its value cannot be masked; it must have 8 characters"),
        ("PASSWORD1", "--env PASSWORD1: its value cannot be masked"),
        ("TOKEN=0123456789", "its value is not written there"),
        ("", "takes the name of a variable"),
    ],
)
def test_what_cannot_be_used_is_told_without_its_value(name: str, words: str) -> None:
    environment = {"EMPTY": "", "SHORT": "1234567", "PASSWORD1": "PASSWORD1", "TOKEN": "0123456789"}
    with pytest.raises(InputError) as raised:
        values_of([name], environment)
    assert words in str(raised.value)
    assert "1234567" not in str(raised.value)


# --- in folders


def test_each_form_in_each_file_below_a_folder_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/log.txt").write_text(f"one {VALUE} two {VALUE}\n")
    (tmp_path / "a/record.jsonl").write_text(json.dumps({"text": f"it is {VALUE}"}) + "\n")
    (tmp_path / "a/url").write_text(f"https://x/?t={quote(VALUE, safe='')}")
    (tmp_path / ".netrc").write_text("Basic " + base64.b64encode(f"me:{VALUE}".encode()).decode())
    (tmp_path / "clean").write_text("nothing here")
    assert scrub(tmp_path, SECRETS) == 5
    assert (tmp_path / "a/b/log.txt").read_text() == "one [secret MY_TOKEN] two [secret MY_TOKEN]\n"
    assert json.loads((tmp_path / "a/record.jsonl").read_text()) == {"text": "it is [secret MY_TOKEN]"}
    assert (tmp_path / "a/url").read_text() == "https://x/?t=[secret MY_TOKEN]"
    assert "[secret MY_TOKEN]" in (tmp_path / ".netrc").read_text()
    assert scrub(tmp_path, SECRETS) == 0


def test_without_secrets_nothing_is_opened(tmp_path: Path) -> None:
    assert scrub(tmp_path / "none", {}) == 0


def test_mode_and_time_of_a_file_stay_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "tool.sh"
    path.write_text(f"echo '{VALUE}'\n")
    path.chmod(0o750)
    os.utime(path, ns=(1_600_000_000_000_000_000, 1_600_000_000_123_456_789))
    assert scrub(tmp_path, SECRETS) == 1
    assert path.stat().st_mode & 0o7777 == 0o750
    assert path.stat().st_mtime_ns == 1_600_000_000_123_456_789
    assert os.listdir(tmp_path) == ["tool.sh"]


def test_a_file_without_the_value_is_the_same_file_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "clean"
    path.write_text("tok/en")
    before = path.stat()
    scrub(tmp_path, SECRETS)
    assert path.stat() == before


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text(VALUE)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "to-file").symlink_to(outside / "file")
    (inside / "to-folder").symlink_to(outside)
    (inside / "to-itself").symlink_to(inside)
    os.link(outside / "file", inside / "hard")
    assert scrub(inside, SECRETS) == 1
    assert (outside / "file").read_text() == VALUE
    assert (inside / "hard").read_text() == "[secret MY_TOKEN]"
    assert (inside / "to-file").is_symlink()


def test_pipes_and_sockets_do_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "socket"))
        assert scrub(tmp_path, SECRETS) == 0


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A folder deeper than Python's stack, with a file of an odd name at its end."""
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=here)
        here, above = os.open("d", os.O_RDONLY, dir_fd=here), here
        os.close(above)
    file = os.open(b"odd\xff\n", os.O_WRONLY | os.O_CREAT, dir_fd=here)
    os.write(file, VALUE.encode())
    os.close(file)
    os.close(here)
    yield tmp_path
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)


def test_depth_and_odd_names_are_no_way_out(deep: Path) -> None:
    (deep / "d/beside").mkdir()
    (deep / "d/beside/file").write_text(VALUE)
    assert scrub(deep, SECRETS) == 2
    assert scrub(deep, SECRETS) == 0


def test_a_place_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match="secrets could not be removed"):
        scrub(tmp_path / "none", SECRETS)


def test_a_database_stays_one(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "agent.db") as database:
        database.execute("create table message (text)")
        database.executemany("insert into message values (?)", [(f"{number}: {VALUE}",) for number in range(300)])
    database.close()
    assert scrub(tmp_path, SECRETS) == 300
    with sqlite3.connect(tmp_path / "agent.db") as database:
        assert database.execute("pragma integrity_check").fetchall() == [("ok",)]
        [text] = database.execute("select text from message where rowid = 8").fetchone()
    database.close()
    assert text == "7: [secret MY_TOK"  # as long as the value: 14 characters
    assert VALUE.encode() not in (tmp_path / "agent.db").read_bytes()


@pytest.mark.parametrize("before", range(-len(VALUE) - 1, 2))
def test_a_value_does_not_survive_where_a_large_file_is_read_in_pieces(tmp_path: Path, before: int) -> None:
    start = "x" * ((1 << 20) + before)
    (tmp_path / "large").write_text(f"{start}{VALUE}{'y' * 5}")
    assert scrub(tmp_path, SECRETS) == 1
    assert (tmp_path / "large").read_text() == f"{start}[secret MY_TOKEN]yyyyy"


# --- through machines


class TalkativeMachine(FakeMachine):
    """Tells the value wherever a machine can tell something."""

    async def list(self, path: str = ".") -> tuple[list[DirectoryItem], int]:
        return [DirectoryItem(f"x-{VALUE}", "link", target=f"/tmp/{VALUE}"), DirectoryItem("y", "file", 1)], 2

    async def search(self, pattern: str, path: str = ".", regex: bool = False) -> Found:
        return Found((Match(f"{VALUE}.txt", 1, f"t = {json.dumps(VALUE)}"),), 1, 1)


async def test_whatever_a_machine_tells_is_masked() -> None:
    inner = TalkativeMachine(
        {"env": f"T={VALUE}\n"},
        {"env": Output(f"T={VALUE}\nsurrogate: \udcff\n", 3, 99, 0.5)},
        {"hooks": f"a {VALUE}", "privileged": True},
    )
    machine: Machine = ScrubbedMachine(inner, SECRETS)
    assert machine.facts == {"kind": "fake", "hooks": "a [secret MY_TOKEN]", "privileged": True}
    output = await machine.run("env", 5, fresh=True)
    assert output == Output("T=[secret MY_TOKEN]\nsurrogate: \udcff\n", 3, 99, 0.5)
    assert inner.fresh_runs == ["env"]
    items, count = await machine.list()
    assert (items[0].name, items[0].target, count) == ("x-[secret MY_TOKEN]", "/tmp/[secret MY_TOKEN]", 2)
    assert items[1] == DirectoryItem("y", "file", 1)
    found = await machine.search("T")
    assert found.matches == (Match("[secret MY_TOKEN].txt", 1, 't = "[secret MY_TOKEN]"'),)
    assert (await machine.read("env")).data == b"T=[secret MY_TOK\n"
    await machine.close()
    assert inner.closed


async def test_facts_that_the_first_command_finds_out_are_told() -> None:
    class Learning(FakeMachine):
        async def run(self, command: str, seconds: float | None = None, fresh: bool = False) -> Output:
            self.facts["view"] = VALUE
            return printed("")

    machine = ScrubbedMachine(Learning(), SECRETS)
    await machine.run("true")
    assert machine.facts["view"] == "[secret MY_TOKEN]"


@given(
    st.lists(
        st.sampled_from(["tok", "/en", VALUE, VALUE[:7], base64.b64encode(VALUE.encode()).decode(), "-"]), max_size=12
    ),
    st.integers(1, 40),
)
@settings(max_examples=100, deadline=None)
async def test_no_value_survives_in_parts_that_are_put_together(pieces: list[str], limit: int) -> None:
    data = "".join(pieces).encode()
    machine = ScrubbedMachine(FakeMachine({"file": data}), SECRETS)
    parts: list[FilePart] = []
    while not parts or parts[-1].offset + len(parts[-1].data) < parts[-1].size:
        parts.append(await machine.read("file", sum(len(part.data) for part in parts), limit))
    whole = b"".join(part.data for part in parts)
    assert len(whole) == len(data)
    assert VALUE.encode() not in whole
    assert base64.b64encode(VALUE.encode()) not in whole
    assert whole == (await machine.read("file", 0, 10_000)).data


async def test_a_machine_that_gives_less_than_was_asked_for_gives_no_half_values() -> None:
    class Sparing(FakeMachine):
        async def read(self, path: str, offset: int = 0, limit: int = 65536) -> FilePart:
            return await super().read(path, offset, min(limit, 100))

    machine = ScrubbedMachine(Sparing({"file": "x" * 93 + VALUE + "y" * 100}), SECRETS)
    part = await machine.read("file", 0, 200)
    assert part.data == b"x" * len(part.data)
    assert 0 < len(part.data) <= 93


async def test_a_read_that_makes_no_sense_is_refused_by_the_machine_itself() -> None:
    class Strict(FakeMachine):
        async def read(self, path: str, offset: int = 0, limit: int = 65536) -> FilePart:
            if offset < 0:
                raise InputError("offset must not be negative")
            return await super().read(path, offset, limit)

    with pytest.raises(InputError, match="negative"):
        await ScrubbedMachine(Strict({"file": ""}), SECRETS).read("file", -1)
    with pytest.raises(InputError, match="no such file"):
        await ScrubbedMachine(Strict(), SECRETS).read("file")


def test_all_of_a_mapping_is_masked(tmp_path: Path) -> None:
    secrets: Mapping[str, str] = {"A": "aaaaaaaa-1", "B": "bbbbbbbb-2"}
    (tmp_path / "f").write_text("aaaaaaaa-1bbbbbbbb-2")
    assert scrub(tmp_path, secrets) == 2
    assert (tmp_path / "f").read_text() == "[secret A][secret B]"


def test_names_and_targets_of_links_are_scrubbed_too(tmp_path: Path) -> None:
    value = "S3cr3tVal12345"
    deep = tmp_path / f"folder-{value}" / "within"
    deep.mkdir(parents=True)
    (deep / f"{value}.txt").write_text(f"it is {value}\n")
    (tmp_path / "link").symlink_to(f"to-{value}")
    assert scrub(tmp_path, {"TOKEN": value}) == 4
    assert (tmp_path / "folder-[secret TOKEN]" / "within" / "[secret TOKEN].txt").read_text() == "it is [secret TOKEN]\n"
    assert (tmp_path / "link").readlink() == Path("to-[secret TOKEN]")
