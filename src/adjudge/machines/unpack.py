"""Files, folders and links out of an untrusted tar stream into a folder of the host, and never anywhere else."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from adjudge.errors import MachineError
from adjudge.machines.tar import BrokenTarError, TarStream
from adjudge.ports import Fetched

_LONGEST_PATH = 4095
_LATEST = 1 << 40  # seconds; file systems round it down to what they can hold
_UNHOLDABLE = (errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENOENT)

Parts = tuple[str, ...]
"""A path below the folder, checked: no part is empty, `.` or `..`."""


def unpack(stream: IO[bytes], folder: Path, size: int, files: int) -> Fetched:
    """Make what a tar stream holds below `folder`, which must be empty: at most `size` bytes and `files` things.

    Modes and times are kept, but for set-uid and the like, and the owner can always read and enter. Hard links become
    copies. What is no file, folder or link is left out, and so is what has a name that leads out, that stands for
    something else already or that the disk cannot hold, and a file that is larger than the bytes that remain. A stream
    that is broken, or that goes on for more than as much again, is `cut`.

    Raises:
        MachineError: the disk cannot hold the files.
    """
    unpacking = _Unpacking(folder, size, files)
    tar = TarStream(stream)
    cut = False
    try:
        for info in tar.members():
            unpacking.take(info, tar.content())
    except (BrokenTarError, _FullError):
        cut = True
    unpacking.finish()
    return Fetched(unpacking.files, unpacking.size, unpacking.left_out, cut)


class _FullError(Exception):
    """A bound was reached."""


class _Unpacking:
    """What one stream has brought so far.

    Links are made at the end, when nothing else is made any more: so no path can lead through one.
    """

    def __init__(self, folder: Path, size: int, files: int) -> None:
        self._folder, self._most_size, self._most_things = os.fspath(folder), size, files
        self.size = self.files = self.left_out = 0
        self._things = self._passed_over = 0
        self._folders: dict[Parts, tuple[int, float] | None] = {(): None}
        self._links: dict[Parts, str] = {}

    def take(self, info: tarfile.TarInfo, content: Iterable[bytes]) -> None:
        parts = _parts(info.name)
        if parts == ():
            return
        made = False
        if parts is not None and len(os.fsencode(self._path(parts))) <= _LONGEST_PATH:
            try:
                made = self._make(parts, info, content)
            except OSError as error:
                if error.errno not in _UNHOLDABLE:
                    raise MachineError(f"{self._folder}: cannot hold the files: {error.strerror}") from error
        if not made:
            self._leave_out(info)

    def _make(self, parts: Parts, info: tarfile.TarInfo, content: Iterable[bytes]) -> bool:
        if info.isdir():
            self._make_folders(parts)
            self._folders[parts] = (info.mode, info.mtime)
            return True
        if info.issym():
            return self._make_link(parts, info.linkname)
        if info.islnk():
            return self._make_copy(parts, info)
        if info.isreg() and self.size + info.size <= self._most_size:
            self._make_file(parts, content, info)
            return True
        return False

    def _make_folders(self, parts: Parts) -> None:
        for length in range(1, len(parts) + 1):
            if parts[:length] not in self._folders:
                self._count()
                os.mkdir(self._path(parts[:length]), 0o700)
                self._folders[parts[:length]] = None

    def _make_link(self, parts: Parts, target: str) -> bool:
        if not target or "\0" in target or len(os.fsencode(target)) > _LONGEST_PATH:
            return False
        self._make_folders(parts[:-1])
        self._count()
        self._links[parts] = target
        return True

    def _make_copy(self, parts: Parts, info: tarfile.TarInfo) -> bool:
        source = _parts(info.linkname)
        if not source or source == parts:
            return False
        if source in self._links:
            return self._make_link(parts, self._links[source])
        facts = os.lstat(self._path(source))
        if not stat.S_ISREG(facts.st_mode) or self.size + facts.st_size > self._most_size:
            return False
        with open(self._path(source), "rb") as original:
            self._make_file(parts, iter(lambda: original.read(1 << 20), b""), info)
        shutil.copystat(self._path(source), self._path(parts))
        return True

    def _make_file(self, parts: Parts, content: Iterable[bytes], info: tarfile.TarInfo) -> None:
        self._make_folders(parts[:-1])
        self._count()
        self._links.pop(parts, None)  # as with files, the later one of a name counts
        path = self._path(parts)
        if os.path.lexists(path):
            os.unlink(path)
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                for data in content:
                    file.write(data)
                    self.size += len(data)
                os.fchmod(fd, info.mode & 0o777 | stat.S_IRUSR)
        except BrokenTarError:
            os.unlink(path)
            raise
        _set_time(path, info.mtime)
        self.files += 1

    def _count(self) -> None:
        self._things += 1
        if self._things > self._most_things:
            raise _FullError

    def _leave_out(self, info: tarfile.TarInfo) -> None:
        self.left_out += 1
        self._passed_over += info.size if info.isreg() else 0
        if self._passed_over > self._most_size:
            raise _FullError

    def finish(self) -> None:
        """Make the links, then give the folders their modes and times, which making things in them has changed."""
        for parts, target in self._links.items():
            try:
                os.symlink(target, self._path(parts))
                self.files += 1
            except OSError:
                self.left_out += 1
        for parts, facts in self._folders.items():
            if facts is not None:
                os.chmod(self._path(parts), facts[0] & 0o777 | stat.S_IRWXU)
                _set_time(self._path(parts), facts[1])

    def _path(self, parts: Parts) -> str:
        return "/".join((self._folder, *parts))


def _parts(name: str) -> Parts | None:
    """The parts of a relative path, `None` if it leads elsewhere or cannot be a path."""
    parts = tuple(part for part in name.split("/") if part not in ("", "."))
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return None
    return None if name.startswith("/") or ".." in parts or "\0" in name else parts


def _set_time(path: str, mtime: float) -> None:
    seconds = min(max(mtime, -_LATEST), _LATEST) if mtime == mtime else 0.0  # noqa: PLR0124  not a number
    try:
        os.utime(path, (seconds, seconds), follow_symlinks=False)
    except OSError:  # a time that this file system does not know
        os.utime(path, (0, 0), follow_symlinks=False)
