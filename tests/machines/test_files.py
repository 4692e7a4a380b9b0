"""Reading an untrusted folder from outside: names that lead out, block, or lie about what they are."""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge.errors import InputError
from adjudge.machines import files
from adjudge.machines.files import Opener, Workspace, open_in_root, open_without_links

SECRET = "not for the judge"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace of hostile names beside a secret."""
    (tmp_path / "secret").write_text(SECRET)
    made = tmp_path / "ws"
    (made / "sub").mkdir(parents=True)
    (made / "ok").write_text("fine")
    (made / "sub" / "x").write_text("inside")
    (made / "absolute").symlink_to(tmp_path / "secret")
    (made / "relative").symlink_to("../../../../../../../../etc/shadow")
    (made / "beside").symlink_to("../secret")
    (made / "root").symlink_to("/")
    (made / "magic").symlink_to("/proc/self/environ")
    (made / "loop1").symlink_to("loop2")
    (made / "loop2").symlink_to("loop1")
    (made / "in").symlink_to("sub")
    (made / "rooted").symlink_to("/sub/x")
    os.mkfifo(made / "pipe")
    with (made / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    (made / "we\nird \x1b[2J").write_text("named badly")
    Path(os.fsdecode(os.fsencode(made) + b"/\xff\xfe")).write_text("not UTF-8")
    return made


@pytest.fixture
def workspace(folder: Path) -> Iterator[Workspace]:
    """Opened in the way of this system."""
    opened = Workspace(folder)
    yield opened
    opened.close()


@pytest.fixture(params=["openat2", "without links"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, workspace: Workspace) -> Workspace:
    """Opened with openat2, and in the way of systems that do not have it."""
    way: Opener = open_in_root if request.param == "openat2" else open_without_links
    if way is open_in_root and files.opener() is not open_in_root:
        pytest.skip("this kernel has no openat2")
    monkeypatch.setattr(files, "opener", lambda: way)
    return workspace


def read(workspace: Workspace, path: str, limit: int = 64) -> bytes:
    return workspace.read(path, 0, limit).data


def fingerprint(folder: Path) -> list[tuple[object, ...]]:
    """Every name with its kind, mode, size, owner and times of change, and what short files hold."""
    found: list[tuple[object, ...]] = []
    for path in [folder.parent / "secret", *sorted(folder.rglob("*"))]:
        facts = path.lstat()
        held = path.read_bytes() if stat.S_ISREG(facts.st_mode) and facts.st_size < 1000 else b""
        found.append((str(path), facts.st_mode, facts.st_size, facts.st_uid, facts.st_mtime_ns, facts.st_ctime_ns, held))
    return found


def test_looking_at_every_hostile_name_changes_nothing(either_way: Workspace, folder: Path) -> None:
    before = fingerprint(folder)
    names = [str(path.relative_to(folder)) for path in folder.rglob("*")]
    assert len(names) >= 15
    for name in [*names, "../secret", "/etc/shadow", "root/etc/shadow"]:
        with contextlib.suppress(InputError):
            either_way.read(name, 0, 64)
        with contextlib.suppress(InputError):
            either_way.list(name)
    assert fingerprint(folder) == before


def test_a_name_with_control_characters_is_a_name(either_way: Workspace) -> None:
    assert read(either_way, "we\nird \x1b[2J") == b"named badly"


def test_a_file_is_read_in_parts_with_its_true_size(either_way: Workspace) -> None:
    part = either_way.read("sub/x", 2, 3)
    assert (part.data, part.offset, part.size, part.path) == (b"sid", 2, 6, "sub/x")
    assert read(either_way, "ok") == b"fine"
    assert either_way.read("ok", 100, 10).data == b""


@pytest.mark.parametrize(
    "name",
    [
        "absolute", "relative", "beside", "root/etc/shadow", "root/etc/passwd", "../secret", "sub/../../secret",
        "/etc/passwd",
        "magic", "loop1", "pipe", "nothing", "sub", "ok/under", "", "nul\0", "\ud800", "x" * 300, "a/" * 3000,
    ],
)  # fmt: skip
def test_a_name_that_leads_elsewhere_is_refused(either_way: Workspace, name: str) -> None:
    started = time.monotonic()
    with pytest.raises(InputError):
        read(either_way, name)
    assert time.monotonic() - started < 1, "nothing is waited for"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_a_device_is_refused_without_being_opened(either_way: Workspace, folder: Path) -> None:
    os.mknod(folder / "zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    with pytest.raises(InputError, match="device"):
        read(either_way, "zero")


def test_links_are_followed_where_the_folder_is_their_root(workspace: Workspace) -> None:
    if files.opener() is not open_in_root:
        pytest.skip("this kernel has no openat2")
    assert read(workspace, "in/x") == b"inside"
    assert read(workspace, "rooted") == b"inside"
    assert read(workspace, "root/sub/x") == b"inside"


def test_every_link_is_refused_without_openat2(monkeypatch: pytest.MonkeyPatch, workspace: Workspace) -> None:
    monkeypatch.setattr(files, "opener", lambda: open_without_links)
    for name in ("in/x", "rooted", "in"):
        with pytest.raises(InputError, match="link"):
            read(workspace, name)


def test_a_terabyte_is_read_from_at_once(either_way: Workspace) -> None:
    part = either_way.read("sparse", 1 << 39, 16)
    assert part.data == bytes(16)
    assert part.size == 1 << 40
    assert len(either_way.read("sparse", 0, 1 << 40).data) == 16 << 20


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("nothing", "nothing: there is no such file in the workspace"),
        ("../secret", "../secret: lies outside of the workspace"),
        ("sub", "sub: is a directory, not a regular file"),
        ("pipe", "pipe: is a pipe, not a regular file"),
        ("beside", "beside: is a link to ../secret, which does not exist inside of the workspace"),
        ("ok/under", "ok/under: a part of this path is not a directory"),
        ("loop1", "loop1: its links go in a circle or leave the workspace"),
    ],
)
def test_the_message_says_what_is_wrong(workspace: Workspace, path: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(workspace, path)
    assert str(caught.value) == words


def test_a_listing_shows_kinds_sizes_and_targets(either_way: Workspace, folder: Path) -> None:
    (folder / "sub" / "run").write_text("#!/bin/sh\n")
    (folder / "sub" / "run").chmod(0o755)
    (folder / "sub" / "to").symlink_to("/etc/shadow")
    os.mkfifo(folder / "sub" / "pipe")
    (folder / "sub" / "empty").mkdir()
    items, count = either_way.list("sub")
    assert count == 5
    assert [(item.name, item.kind, item.size, item.executable, item.target) for item in items] == [
        ("empty", "directory", None, False, None),
        ("pipe", "other", None, False, None),
        ("run", "file", 10, True, None),
        ("to", "link", None, False, "/etc/shadow"),
        ("x", "file", 6, False, None),
    ]


def test_names_that_are_no_text_are_listed_as_text(workspace: Workspace) -> None:
    names = [item.name for item in workspace.list(".")[0]]
    assert "\\xff\\xfe" in names
    assert "we\nird \x1b[2J" in names
    "".join(names).encode()


def test_of_many_names_the_first_thousand_are_listed_and_all_are_counted(workspace: Workspace, folder: Path) -> None:
    (folder / "many").mkdir()
    for number in range(1500):
        (folder / "many" / f"{number:05}").touch()
    items, count = workspace.list("many")
    assert count == 1500
    assert [item.name for item in items] == [f"{number:05}" for number in range(1000)]


def test_listing_something_else_is_refused(either_way: Workspace) -> None:
    for path in ("ok", "beside", "../", "root/etc", "nothing"):
        with pytest.raises(InputError):
            either_way.list(path)


def test_a_workspace_that_is_no_folder_is_refused(folder: Path) -> None:
    for path in (folder / "ok", folder / "nothing"):
        with pytest.raises(InputError, match="must be a folder"):
            Workspace(path)


def test_a_file_that_is_swapped_for_a_link_never_shows_what_the_link_names(folder: Path, either_way: Workspace) -> None:
    (folder / "harmless").write_text("harmless")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.link(folder / "harmless", folder / "next")
            os.replace(folder / "next", folder / "a")
            (folder / "next").symlink_to(folder.parent / "secret")
            os.replace(folder / "next", folder / "a")

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(2000):
            with contextlib.suppress(InputError):
                seen.add(read(either_way, "a"))
    finally:
        stop.set()
        thread.join()
    assert seen <= {b"harmless"}
