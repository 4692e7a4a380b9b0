"""Blobs: files that are written once, named by the SHA-256 of their bytes, and checked against it when they are read."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import zstandard

from adjudge.errors import InputError, OutsideError
from adjudge.settings import without_password
from adjudge.store.faults import DiskFailedError, of_file

_NAME = re.compile(r"[0-9a-f]{64}")
_DAY = 24 * 60 * 60

TRIAL = zstandard.ZstdCompressor(level=3).compress(b'"adjudge tried whether blobs can be kept here"')
"""A blob that no row points to."""


class Blobs(Protocol):
    """Where blobs lie."""

    def write(self, parts: Iterable[bytes]) -> str:
        """Keep the parts as one blob and give its name; it is whole and on the disk when this returns.

        Raises:
            OutsideError: it could not be kept.
        """

    def read(self, name: str) -> bytes:
        """A whole blob.

        Raises:
            OutsideError: there is none of this name, or it is not what was written.
        """

    def part(self, name: str, start: int, end: int) -> bytes:
        """Bytes of a blob, unchecked: the caller knows their hash. Raises OutsideError if they cannot be read."""


def open_blobs(place: str | Path) -> Blobs:
    """Blobs in a folder, or wherever an fsspec URL such as `s3://bucket/blobs` points.

    Raises:
        InputError: nothing is known of such a URL, or a package for it is missing.
    """
    return RemoteBlobs(str(place)) if "://" in str(place) else FolderBlobs(Path(place))


def place_of(name: str) -> str:
    """The blob's path within its folder. The name may come from a row that someone has changed."""
    if not _NAME.fullmatch(name):
        raise OutsideError(f"{name[:80]!r} is not the name of a blob: the row that points to it is damaged")
    return f"{name[:2]}/{name}.zst"


def checked(name: str, data: bytes, path: object) -> bytes:
    """The data, if it is what the name says.

    Raises:
        OutsideError: it is not.
    """
    if hashlib.sha256(data).hexdigest() != name:
        raise OutsideError(f"{path}: does not match its name, the SHA-256 of its bytes: it was changed or damaged")
    return data


class FolderBlobs:
    """Blobs as files of a local folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, parts: Iterable[bytes]) -> str:
        """Keep the parts: a temporary file, synced, renamed, and its folder synced."""
        try:
            return self._write(parts)
        except OSError as error:
            raise of_file(error, self._folder) from error

    def _write(self, parts: Iterable[bytes]) -> str:
        unfinished = self._folder / "unfinished"
        make_folder(self._folder)
        make_folder(unfinished)
        handle, temporary = tempfile.mkstemp(dir=unfinished)
        try:
            with os.fdopen(handle, "wb") as file:
                name = _copied(parts, file)
                _sync(file.fileno(), temporary)
            target = self._folder / place_of(name)
            make_folder(target.parent)
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
        _sync_folder(target.parent)
        return name

    def read(self, name: str) -> bytes:
        """A whole blob."""
        path = self._folder / place_of(name)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise of_file(error, path) from error
        return checked(name, data, path)

    def part(self, name: str, start: int, end: int) -> bytes:
        """Bytes of a blob. The file is opened for each part, so that there is none to be left open."""
        path = self._folder / place_of(name)
        try:
            handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                return os.pread(handle, end - start, start)
            finally:
                os.close(handle)
        except OSError as error:
            raise of_file(error, path) from error

    def sweep(self) -> None:
        """Remove what writers that were killed left unfinished more than a day ago.

        Raises:
            OutsideError: it cannot be removed.
        """
        for path in (self._folder / "unfinished").glob("*"):
            try:
                if time.time() - path.stat().st_mtime > _DAY:
                    path.unlink()
            except FileNotFoundError:  # another process swept it
                continue
            except OSError as error:
                raise of_file(error, path) from error


class RemoteBlobs:
    """Blobs behind fsspec, which is imported only here: it is not needed for a folder."""

    def __init__(self, url: str) -> None:
        import fsspec  # type: ignore[import-untyped]  # noqa: PLC0415  it ships no types

        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise InputError(f"{without_password(url)}: blobs cannot be kept there: {error}") from error
        except Exception as error:
            raise _of_client(error, without_password(url)) from error

    def write(self, parts: Iterable[bytes]) -> str:
        """Keep the parts. The bytes are spooled locally first: only they tell the name."""
        with tempfile.SpooledTemporaryFile(max_size=1 << 24) as file:
            name = _copied(parts, file)
            file.seek(0)
            try:
                self._upload(file, f"{self._root}/{place_of(name)}")
            except Exception as error:
                raise _of_client(error, self._root) from error
        return name

    def _upload(self, file: Any, path: str) -> None:
        self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        with self._files.transaction, self._files.open(path, "wb") as target:
            while piece := file.read(1 << 20):
                target.write(piece)

    def read(self, name: str) -> bytes:
        """A whole blob."""
        path = f"{self._root}/{place_of(name)}"
        return checked(name, self._fetched(path, None, None), path)

    def part(self, name: str, start: int, end: int) -> bytes:
        """Bytes of a blob."""
        return self._fetched(f"{self._root}/{place_of(name)}", start, end)

    def _fetched(self, path: str, start: int | None, end: int | None) -> bytes:
        try:
            data: bytes = self._files.cat_file(path, start=start, end=end)
        except Exception as error:
            raise _of_client(error, path) from error
        return data


def _of_client(error: Exception, path: object) -> OutsideError:
    """What a client of fsspec means. Which errors it raises is its own affair, and all of them come from outside."""
    if isinstance(error, OSError):
        return of_file(error, path)
    return OutsideError(f"{path}: {type(error).__name__}: {error}")


def _copied(parts: Iterable[bytes], file: Any) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
        file.write(part)
    file.flush()
    return digest.hexdigest()


def make_folder(folder: Path) -> None:
    """Make a folder that will still be there after a power failure."""
    if not folder.is_dir():
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)


def make_closed_folder(place: Path) -> None:
    """A folder closed to other users, with a note to git that it is not source. One that is there stays as it is.

    Raises:
        OutsideError: it cannot be made.
    """
    try:
        if not place.is_dir():
            place.parent.mkdir(parents=True, exist_ok=True)
            make_folder(place)
            place.chmod(0o700)
            (place / ".gitignore").write_text("*\n")
    except OSError as error:
        raise of_file(error, place) from error


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _sync(handle, folder)
    finally:
        os.close(handle)


def _sync(handle: int, path: object) -> None:
    """A sync that failed is never tried again: the kernel may have dropped the pages and report success."""
    try:
        os.fsync(handle)
    except OSError as error:
        raise DiskFailedError(f"{path}: could not be brought to the disk: {error.strerror}") from error
