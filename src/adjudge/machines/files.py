"""Reading an untrusted folder from the host's side: no program of the agent's is run, no link leads out, nothing blocks."""

from __future__ import annotations

import ctypes
import errno
import heapq
import os
import stat
import struct
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from adjudge.errors import InputError
from adjudge.ports import DirectoryItem, FilePart

MOST_NAMES = 1000
LARGEST_PART = 16 << 20
LONGEST_COUNT = 1_000_000

Opener = Callable[[int, str], int]
"""From an open directory and a path below it to a descriptor of what is there; it cannot be read from yet."""

_O_PATH = getattr(os, "O_PATH", 0)
_SAFELY = os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


# --- opening


def open_in_root(root: int, path: str) -> int:
    """Open with Linux's openat2: links are followed, but the folder is their root; links of /proc are refused."""
    in_root, no_magic_links = 0x10, 0x02
    how = struct.pack("QQQ", _O_PATH | os.O_CLOEXEC, 0, in_root | no_magic_links)
    for _ in range(8):  # the kernel asks for another try when something was renamed meanwhile
        fd = int(_libc().syscall(437, root, os.fsencode(path), how, ctypes.c_size_t(len(how))))
        if fd >= 0:
            return fd
        if ctypes.get_errno() != errno.EAGAIN:
            break
    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)


def open_without_links(root: int, path: str) -> int:
    """Open component by component and refuse every link: for systems without openat2."""
    fd = os.dup(root)
    try:
        for name in (part for part in path.split("/") if part not in ("", ".")):
            if name == "..":
                raise OSError(errno.EXDEV, "'..' is not followed here", path)
            directory, fd = fd, _step(fd, name)
            os.close(directory)
    except OSError:
        os.close(fd)
        raise
    return fd


def _step(directory: int, name: str) -> int:
    """Open one name of a directory if it is a file or a directory, without ever touching a device."""
    facts = os.stat(name, dir_fd=directory, follow_symlinks=False)
    if stat.S_ISLNK(facts.st_mode):
        raise OSError(errno.ELOOP, "is a link, which is not followed on this system", name)
    if not (stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode)):
        raise OSError(errno.EINVAL, f"is {kind_of(facts.st_mode)}", name)
    return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | _SAFELY, dir_fd=directory)


@cache
def opener() -> Opener:
    """How paths are opened on this system."""
    if not _O_PATH or not os.path.isdir("/proc/self/fd"):
        return open_without_links
    root = os.open("/", _O_PATH)
    try:
        os.close(open_in_root(root, "."))
    except OSError:  # an old kernel, or a container whose filter does not know the call
        return open_without_links
    finally:
        os.close(root)
    return open_in_root


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _readable(fd: int) -> int:
    """A descriptor to read from, of the very file that `fd` names (which is closed)."""
    if opener() is open_without_links:
        return fd
    try:
        return os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | _SAFELY)
    finally:
        os.close(fd)


def kind_of(mode: int) -> str:
    """What a file mode says something is, in words."""
    kinds = (
        (stat.S_ISREG, "a file"),
        (stat.S_ISDIR, "a directory"),
        (stat.S_ISLNK, "a link"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((words for test, words in kinds if test(mode)), "a device")


# --- reading


class Workspace:
    """The folder that an agent worked in, as it left it. All methods block."""

    def __init__(self, folder: Path) -> None:
        """Open the folder.

        Raises:
            InputError: it is no folder, or cannot be opened.
        """
        self.folder = folder
        try:
            self._root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise InputError(f"{folder}: the workspace must be a folder that can be read: {error.strerror}") from error

    def close(self) -> None:
        """Let go of the folder."""
        if self._root >= 0:
            os.close(self._root)
            self._root = -1

    def read(self, path: str, offset: int, limit: int) -> FilePart:
        """At most `limit` bytes of a regular file, 16 MiB at most, from `offset` on.

        Raises:
            InputError: as `ports.Machine.read` says.
        """
        if offset < 0 or limit < 0:
            raise InputError(f"{printable(path)}: offset and limit must not be negative, got {offset} and {limit}")
        fd, facts = self.open(path, stat.S_ISREG, "a regular file")
        try:
            data = os.pread(fd, min(limit, LARGEST_PART), offset)
        except OSError as error:
            raise InputError(f"{printable(path)}: cannot be read at {offset}: {error.strerror}") from error
        finally:
            os.close(fd)
        return FilePart(printable(path), data, offset, facts.st_size)

    def list(self, path: str) -> tuple[tuple[DirectoryItem, ...], int]:
        """The first thousand names of a directory in order, and how many it has (counted up to a million).

        Raises:
            InputError: as `ports.Machine.list` says.
        """
        fd, _ = self.open(path, stat.S_ISDIR, "a directory")
        try:
            first, count = _first_names(fd)
            return tuple(_item(fd, name) for name in first), count
        finally:
            os.close(fd)

    def facts(self, path: str) -> os.stat_result:
        """What is known of a regular file, whether it can be read or not. Raises InputError as `read` does."""
        fd, facts = self._find(path, stat.S_ISREG, "a regular file")
        os.close(fd)
        return facts

    def open(self, path: str, wanted: Callable[[int], bool], words: str) -> tuple[int, os.stat_result]:
        """A descriptor to read from, and what is known of the file.

        Raises:
            InputError: there is nothing there, it is of another kind, or it lies outside of the workspace.
        """
        fd, facts = self._find(path, wanted, words)
        try:
            return _readable(fd), facts
        except OSError as error:
            raise InputError(f"{printable(path)}: cannot be read: {error.strerror}") from error

    def _find(self, path: str, wanted: Callable[[int], bool], words: str) -> tuple[int, os.stat_result]:
        if "\0" in path or not _encodable(path):
            raise InputError(f"{path!a}: cannot be the name of a file")
        if _climbs(path):
            raise InputError(f"{printable(path)}: lies outside of the workspace")
        try:
            fd = opener()(self._root, path.lstrip("/") or ".")
        except OSError as error:
            raise InputError(f"{printable(path)}: {self._why_not(path, error)}") from error
        facts = os.fstat(fd)
        if not wanted(facts.st_mode):
            os.close(fd)
            raise InputError(f"{printable(path)}: is {kind_of(facts.st_mode)}, not {words}")
        return fd, facts

    def _why_not(self, path: str, error: OSError) -> str:
        if error.errno == errno.ENOENT and (target := self.target(path)):
            return f"is a link to {target}, which does not exist inside of the workspace"
        known = {
            errno.ENOENT: "there is no such file in the workspace",
            errno.ELOOP: "its links go in a circle or leave the workspace",
            errno.ENOTDIR: "a part of this path is not a directory",
        }
        return known.get(error.errno or 0) or f"cannot be opened: {error.strerror}"

    def target(self, path: str) -> str | None:
        """Where the last name of a path points, if it is a link in a directory that is no link."""
        parent, _, name = path.strip("/").rpartition("/")
        try:
            fd = opener()(self._root, parent or ".")
        except OSError:
            return None
        try:
            return printable(os.readlink(name, dir_fd=fd))
        except OSError:
            return None
        finally:
            os.close(fd)


def _encodable(path: str) -> bool:
    try:
        return bool(os.fsencode(path)) or not path
    except UnicodeEncodeError:
        return False


def _climbs(path: str) -> bool:
    """Whether the words of a path lead above where it starts, whatever links there are."""
    depth = 0
    for part in path.split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return True
    return False


def _first_names(fd: int) -> tuple[list[str], int]:
    count = 0

    def counted() -> Iterator[str]:
        nonlocal count
        with os.scandir(fd) as entries:
            for entry in entries:
                count += 1
                yield entry.name
                if count >= LONGEST_COUNT:
                    return

    return heapq.nsmallest(MOST_NAMES, counted()), count


def _item(directory: int, name: str) -> DirectoryItem:
    shown = printable(name)
    try:
        facts = os.stat(name, dir_fd=directory, follow_symlinks=False)
        target = os.readlink(name, dir_fd=directory) if stat.S_ISLNK(facts.st_mode) else None
    except OSError:  # removed meanwhile, or hidden by a mount
        return DirectoryItem(shown, "other")
    if stat.S_ISREG(facts.st_mode):
        return DirectoryItem(shown, "file", facts.st_size, bool(facts.st_mode & 0o111))
    if target is not None:
        return DirectoryItem(shown, "link", target=printable(target))
    return DirectoryItem(shown, "directory" if stat.S_ISDIR(facts.st_mode) else "other")


def printable(name: str) -> str:
    r"""A file's name as text that can be encoded: bytes that are no UTF-8 become `\xNN`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
