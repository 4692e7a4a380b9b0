"""Tar streams as the standard library's writer and hostile hands make them, unpacked into a folder."""

from __future__ import annotations

import io
import os
import random
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.machines.unpack import unpack
from adjudge.ports import Fetched

Making = Callable[[tarfile.TarFile], object]

SIZE, FILES = 1 << 20, 1000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder, beside which nothing may appear."""
    made = tmp_path / "into"
    made.mkdir()
    return made


def a_tar(making: Making, form: int = tarfile.PAX_FORMAT) -> io.BytesIO:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=form) as tar:
        making(tar)
    written.seek(0)
    return written


def add(tar: tarfile.TarFile, name: str, data: bytes = b"", kind: bytes = tarfile.REGTYPE, **more: object) -> None:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, len(data)
    for key, value in more.items():
        setattr(info, key, value)
    tar.addfile(info, io.BytesIO(data))


def below(folder: Path) -> dict[str, str]:
    """What is there: names, with the content of files and the targets of links."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        else:
            found[name] = "/" if path.is_dir() else path.read_text()
    return found


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_files_folders_and_links_come_with_their_modes_and_times(folder: Path, form: int) -> None:
    def making(tar: tarfile.TarFile) -> None:
        add(tar, "ws", kind=tarfile.DIRTYPE, mode=0o755, mtime=1_600_000_000)
        add(tar, "ws/run.sh", b"echo hi\n", mode=0o750, mtime=1_500_000_000)
        add(tar, "ws/link", kind=tarfile.SYMTYPE, linkname="run.sh")
        add(tar, "./ws/deep/er/file", b"x")

    assert unpack(a_tar(making, form), folder, SIZE, FILES) == Fetched(files=3, size=9)
    assert below(folder) == {
        "ws": "/",
        "ws/deep": "/",
        "ws/deep/er": "/",
        "ws/deep/er/file": "x",
        "ws/link": "-> run.sh",
        "ws/run.sh": "echo hi\n",
    }
    script = (folder / "ws" / "run.sh").stat()
    assert (stat.S_IMODE(script.st_mode), script.st_mtime) == (0o750, 1_500_000_000)
    assert (folder / "ws").stat().st_mtime == 1_600_000_000


@pytest.mark.parametrize("form", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names_and_targets_come_whole(folder: Path, form: int) -> None:
    name, target = "/".join(["d" * 90] * 5), "t" * 300

    def making(tar: tarfile.TarFile) -> None:
        add(tar, f"{name}/file", b"x")
        add(tar, f"{name}/link", kind=tarfile.SYMTYPE, linkname=target)

    unpack(a_tar(making, form), folder, SIZE, FILES)
    assert (folder / name / "file").read_text() == "x"
    assert os.readlink(folder / name / "link") == target


@pytest.mark.parametrize("name", ["../out", "a/../../out", "/etc/out", "/out", "a\0b", "x" * 300, "d/" * 2100 + "f"])
def test_names_that_lead_out_or_cannot_be_are_left_out(folder: Path, name: str) -> None:
    def making(tar: tarfile.TarFile) -> None:
        add(tar, "kept", b"1")
        add(tar, "placeholder", b"2", pax_headers={"path": name})
        add(tar, "last", b"3")

    fetched = unpack(a_tar(making), folder, SIZE, FILES)
    assert (fetched.files, fetched.left_out, fetched.cut) == (2, 1, False)
    assert {name: text for name, text in below(folder).items() if text != "/"} == {"kept": "1", "last": "3"}
    assert os.listdir(folder.parent) == ["into"]


def test_no_path_goes_through_a_link_whatever_the_order(folder: Path) -> None:
    outside = folder.parent / "outside"
    outside.mkdir()

    def making(tar: tarfile.TarFile) -> None:
        add(tar, "a", kind=tarfile.SYMTYPE, linkname=str(outside))
        add(tar, "a/file", b"x")
        add(tar, "b", kind=tarfile.SYMTYPE, linkname="../outside")
        add(tar, "b/link", kind=tarfile.SYMTYPE, linkname="x")
        add(tar, "c", kind=tarfile.SYMTYPE, linkname=str(outside / "made"))
        add(tar, "c", b"a file of the same name")

    fetched = unpack(a_tar(making), folder, SIZE, FILES)
    assert below(folder) == {"a": "/", "a/file": "x", "b": "/", "b/link": "-> x", "c": "a file of the same name"}
    assert fetched.left_out == 2
    assert not list(outside.iterdir())


def test_hard_links_become_copies_and_count_as_such(folder: Path) -> None:
    def making(tar: tarfile.TarFile) -> None:
        add(tar, "one", b"12345", mode=0o640)
        add(tar, "two", kind=tarfile.LNKTYPE, linkname="one")
        add(tar, "three", kind=tarfile.LNKTYPE, linkname="/etc/passwd")
        add(tar, "four", kind=tarfile.LNKTYPE, linkname="../outside")
        add(tar, "five", kind=tarfile.LNKTYPE, linkname="nothing")

    (folder.parent / "outside").write_text("secret")
    assert unpack(a_tar(making), folder, SIZE, FILES) == Fetched(files=2, size=10, left_out=3)
    assert below(folder) == {"one": "12345", "two": "12345"}
    assert (folder / "one").stat().st_nlink == 1
    assert stat.S_IMODE((folder / "two").stat().st_mode) == 0o640


def test_special_files_and_special_bits_are_left_out(folder: Path) -> None:
    def making(tar: tarfile.TarFile) -> None:
        for name, kind in (("pipe", tarfile.FIFOTYPE), ("disk", tarfile.BLKTYPE), ("null", tarfile.CHRTYPE)):
            add(tar, name, kind=kind)
        add(tar, "suid", b"x", mode=0o6755)
        add(tar, "closed", kind=tarfile.DIRTYPE, mode=0o1000)
        add(tar, "closed/unreadable", b"y", mode=0o000)

    assert unpack(a_tar(making), folder, SIZE, FILES) == Fetched(files=2, size=2, left_out=3)
    assert stat.S_IMODE((folder / "suid").stat().st_mode) == 0o755
    assert stat.S_IMODE((folder / "closed").stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "closed" / "unreadable").stat().st_mode) == 0o400


def test_a_file_that_is_too_large_is_left_out_and_the_rest_comes(folder: Path) -> None:
    def making(tar: tarfile.TarFile) -> None:
        add(tar, "small", b"x" * 60)
        add(tar, "large", b"y" * 100)
        add(tar, "one more", b"z" * 60)

    assert unpack(a_tar(making), folder, 130, FILES) == Fetched(files=2, size=120, left_out=1)
    assert sorted(below(folder)) == ["one more", "small"]


def test_passing_over_more_than_may_come_ends_it(folder: Path) -> None:
    def making(tar: tarfile.TarFile) -> None:
        add(tar, "large", b"y" * 140)
        add(tar, "small", b"x")

    assert unpack(a_tar(making), folder, 130, FILES) == Fetched(files=0, size=0, left_out=1, cut=True)


def test_a_file_said_to_hold_a_terabyte_ends_it_at_once(folder: Path) -> None:
    info = tarfile.TarInfo("sparse")
    info.size = 1 << 40
    stream = io.BytesIO(a_tar(lambda tar: add(tar, "first", b"1")).getvalue()[:1024] + info.tobuf(tarfile.GNU_FORMAT))
    assert unpack(stream, folder, SIZE, FILES) == Fetched(files=1, size=1, left_out=1, cut=True)


def test_more_things_than_allowed_end_it(folder: Path) -> None:
    def making(tar: tarfile.TarFile) -> None:
        for number in range(20):
            add(tar, f"d{number}/f", b"x")

    fetched = unpack(a_tar(making), folder, SIZE, 10)
    assert fetched.cut
    assert len(list(folder.rglob("*"))) == 10


@pytest.mark.parametrize("cut", [1, 511, 513, 1024, 1200, 1536, 2047])
def test_a_stream_that_breaks_off_is_cut_and_leaves_no_half_file(folder: Path, cut: int) -> None:
    def making(tar: tarfile.TarFile) -> None:
        add(tar, "one", b"a" * 512)
        add(tar, "two", b"b" * 512)

    whole = a_tar(making).getvalue()
    fetched = unpack(io.BytesIO(whole[:cut]), folder, SIZE, FILES)
    assert fetched.cut
    assert all(path.read_bytes() in (b"a" * 512, b"b" * 512) for path in folder.iterdir())


def header(kind: bytes, size: int, name: str = "x") -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize(
    "stream",
    [
        header(tarfile.XHDTYPE, 1 << 33),
        header(tarfile.GNUTYPE_LONGNAME, 1 << 33),
        (header(tarfile.GNUTYPE_LONGNAME, 512) + b"y" * 512) * 5000,
        header(tarfile.XHDTYPE, 512) + b"99999999999999999999 path=x\n".ljust(512, b"\0"),
        header(tarfile.XHDTYPE, 512) + b"0 path=x\n".ljust(512, b"\0"),
        header(tarfile.XHDTYPE, 512) + b"13 size=-100\n12 path=abc\n".ljust(512, b"\0"),
        header(tarfile.GNUTYPE_SPARSE, 512) * 100,
        header(tarfile.REGTYPE, 0)[:124] + b"\xff" * 12 + header(tarfile.REGTYPE, 0)[136:],
        b"no tar at all " * 1000,
    ],
    ids=[
        "pax of 8 GiB",
        "name of 8 GiB",
        "names of names",
        "long record",
        "no record",
        "negative",
        "sparse",
        "sum",
        "text",
    ],
)
def test_headers_that_no_honest_writer_makes_end_it(folder: Path, stream: bytes) -> None:
    assert unpack(io.BytesIO(stream), folder, SIZE, FILES) == Fetched(files=0, size=0, cut=True)
    assert not list(folder.iterdir())


def test_odd_times_and_names_that_are_not_utf8_are_taken(folder: Path) -> None:
    def making(tar: tarfile.TarFile) -> None:
        for number, mtime in enumerate(("nan", "inf", "-1e300", "1600000000.25", "yesterday")):
            add(tar, f"f{number}", b"x", pax_headers={"mtime": mtime})
        add(tar, os.fsdecode(b"\xff\xfe"), b"bytes")

    fetched = unpack(a_tar(making), folder, SIZE, FILES)
    assert (fetched.files, fetched.left_out, fetched.cut) == (6, 0, False)
    assert (folder / "f3").stat().st_mtime == 1_600_000_000.25
    assert os.listdir(os.fsencode(folder)).count(b"\xff\xfe") == 1


class Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time, as a pipe does."""

    def __init__(self, data: bytes) -> None:
        self._data, self._chance = io.BytesIO(data), random.Random(7)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._data.read(min(size, self._chance.randrange(1, 700)))


def test_it_does_not_matter_how_the_stream_is_portioned(folder: Path) -> None:
    def making(tar: tarfile.TarFile) -> None:
        for number in range(10):
            add(tar, f"{'n' * 150}{number}", bytes([65 + number]) * 997 * number)

    stream: io.IOBase = Trickle(a_tar(making).getvalue())
    assert unpack(stream, folder, SIZE, FILES) == Fetched(files=10, size=997 * 45)  # type: ignore[arg-type]  # reads as IO does


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_garbled_streams_never_leave_the_folder(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    def making(tar: tarfile.TarFile) -> None:
        add(tar, "d/file", b"a" * 700)
        add(tar, "l", kind=tarfile.SYMTYPE, linkname="../..")
        add(tar, "l2/" + "n" * 120, b"b")
        add(tar, "h", kind=tarfile.LNKTYPE, linkname="d/file")

    garbled = bytearray(a_tar(making).getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        garbled[data.draw(st.integers(0, len(garbled) - 1))] = data.draw(st.integers(0, 255))
    parent = tmp_path_factory.mktemp("garbled")
    (parent / "into").mkdir()
    unpack(io.BytesIO(bytes(garbled)), parent / "into", SIZE, FILES)
    assert os.listdir(parent) == ["into"]
