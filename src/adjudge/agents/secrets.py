"""Credentials that a user gives to an agent's command by name: read from the environment, masked in all that is kept."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from secrets import token_hex

import msgspec

from adjudge.agents.masking import Marks, Masking, masked
from adjudge.errors import InputError, OutsideError
from adjudge.ports import DirectoryItem, FilePart, Found, Machine, Output

SHORTEST = 8
"""Characters that a value must have: shorter ones stand in texts by chance."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_PIECE = 1 << 20
_HEAD = 8192


def values_of(names: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The values of these variables.

    Raises:
        InputError: one is not set or empty, or could not be masked: too short, or a part of the mark that would replace it.
    """
    values: dict[str, str] = {}
    for name in names:
        if not name or "=" in name:
            raise InputError("--env takes the name of a variable of your environment; its value is not written there")
        value = environment.get(name)
        if not value:
            raise InputError(f"--env {name}: there is no such variable in the environment, or it is empty; export it")
        if len(value) < SHORTEST or value in f"[secret {name}]":
            raise InputError(f"--env {name}: its value cannot be masked; it must have {SHORTEST} characters or more")
        values[name] = value
    return values


# --- in folders


def scrub(folder: Path, secrets: Mapping[str, str]) -> int:
    """Replace the values in every regular file below a folder of the host, and in names and links; say in how many places.

    In a file with NUL bytes at its beginning the marks are as long as what they replace, so that its offsets still hold.
    Links are not followed, and files with several names are split. Nothing else may write there meanwhile.

    Raises:
        OutsideError: something could not be read or replaced, so that a value may be left.
    """
    if not secrets:
        return 0
    text, binary = Marks(secrets), Marks(secrets, same_length=True)
    found = 0
    try:
        for directory in _directories(folder):
            found += _scrub_names(directory, text)  # before anything below is entered
            found += sum(_scrub_file(directory, name, text, binary) for name in _names(directory)[1])
    except OSError as error:
        name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "a file"
        raise OutsideError(
            f"{folder}: secrets could not be removed from {name} there: {error.strerror or error}"
        ) from error
    return found


def _directories(folder: Path) -> Iterator[int]:
    """Each directory, open; names in it may be changed. No link is followed; depth costs neither stack nor descriptors."""
    here = os.open(folder, _DIRECTORY)
    waiting: list[list[bytes]] = []
    try:
        while True:
            yield here
            waiting.append(_names(here)[0])
            while not waiting[-1]:
                waiting.pop()
                if not waiting:
                    return
                here = _moved(here, b"..")
            here = _moved(here, waiting[-1].pop())
    finally:
        os.close(here)


def _moved(here: int, name: bytes) -> int:
    there = os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
    os.close(here)
    return there


def _names(directory: int) -> tuple[list[bytes], list[bytes]]:
    folders: list[bytes] = []
    files: list[bytes] = []
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(os.fsencode(entry.name))
            elif entry.is_file(follow_symlinks=False):
                files.append(os.fsencode(entry.name))
    return folders, files


def _scrub_file(directory: int, name: bytes, text: Marks, binary: Marks) -> int:
    source = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    try:
        facts = os.fstat(source)
        marks = binary if b"\0" in os.pread(source, _HEAD, 0) else text
        if not stat.S_ISREG(facts.st_mode) or not _holds(source, marks):
            return 0
        return _replace(directory, name, source, facts, marks)
    finally:
        os.close(source)


def _scrub_names(directory: int, marks: Marks) -> int:
    """Rename what has a value in its name, and renew links that have one in their target."""
    found = 0
    for name in os.listdir(directory):
        name_as_bytes = os.fsencode(name)
        if stat.S_ISLNK(os.lstat(name_as_bytes, dir_fd=directory).st_mode):
            target = os.fsencode(os.readlink(name_as_bytes, dir_fd=directory))
            if (renewed := masked(target, marks)) != target:
                os.unlink(name_as_bytes, dir_fd=directory)
                os.symlink(renewed, name_as_bytes, dir_fd=directory)
                found += 1
        if (shown := masked(name_as_bytes, marks)) != name_as_bytes:
            os.rename(name_as_bytes, shown, src_dir_fd=directory, dst_dir_fd=directory)
            found += 1
    return found


def _holds(source: int, marks: Marks) -> bool:
    """Whether there is anything to replace, so that the other files stay as they are."""
    masking = Masking(marks)
    for piece in _pieces(source):
        masking.feed(piece)
        if masking.found:
            return True
    masking.finish()
    return masking.found > 0


def _pieces(source: int) -> Iterator[bytes]:
    at = 0
    while piece := os.pread(source, _PIECE, at):
        yield piece
        at += len(piece)


def _replace(directory: int, name: bytes, source: int, facts: os.stat_result, marks: Marks) -> int:
    """Put a masked copy in the place of a file, with its mode and times."""
    temporary = f".{token_hex(16)}".encode()
    masking = Masking(marks)
    target = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=directory)
    try:
        with os.fdopen(target, "wb") as file:
            for piece in _pieces(source):
                file.write(masking.feed(piece))
            file.write(masking.finish())
            file.flush()
            os.fchmod(file.fileno(), stat.S_IMODE(facts.st_mode))
            os.utime(file.fileno(), ns=(facts.st_atime_ns, facts.st_mtime_ns))
        os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        os.unlink(temporary, dir_fd=directory)
        raise
    return masking.found


# --- on machines


class ScrubbedMachine:
    """A `ports.Machine` that shows another one with the values masked; in files the marks are as long as what they hide."""

    def __init__(self, machine: Machine, secrets: Mapping[str, str]) -> None:
        self._machine = machine
        self._marks, self._filled = Marks(secrets), Marks(secrets, same_length=True)
        self.facts = self._facts()
        self.hooks = tuple(msgspec.structs.replace(hook, path=self._text(hook.path)) for hook in machine.hooks)

    async def run(self, command: str, seconds: float | None = None, fresh: bool = False) -> Output:
        """Run a command; see `ports.Machine.run`."""
        output = await self._machine.run(command, seconds, fresh)
        self.facts = self._facts()  # the first command may have added some
        return msgspec.structs.replace(output, text=self._text(output.text))

    async def read(self, path: str, offset: int = 0, limit: int = 65536) -> FilePart:
        """Read a part of a file; see `ports.Machine.read`. More is read than asked for: a value may stand at its ends."""
        if offset < 0 or limit < 0:
            return await self._machine.read(path, offset, limit)  # which says what is wrong
        before, reach = min(offset, self._filled.reach), self._filled.reach
        part = await self._machine.read(path, offset - before, before + limit + reach)
        known = len(part.data)
        if part.offset + known < part.size:
            known -= reach  # what stands there may go on behind it
        data = masked(part.data, self._filled)[before : max(before, min(before + limit, known))]
        return FilePart(self._text(part.path), data, offset, part.size)

    async def list(self, path: str = ".") -> tuple[Sequence[DirectoryItem], int]:
        """List a directory; see `ports.Machine.list`."""
        items, count = await self._machine.list(path)
        return [self._item(item) for item in items], count

    async def search(self, pattern: str, path: str = ".", regex: bool = False) -> Found:
        """Search the files; see `ports.Machine.search`."""
        found = await self._machine.search(pattern, path, regex)
        matches = (
            msgspec.structs.replace(match, path=self._text(match.path), text=self._text(match.text))
            for match in found.matches
        )
        return msgspec.structs.replace(found, matches=tuple(matches))

    async def close(self) -> None:
        """Destroy the machine."""
        await self._machine.close()

    def _facts(self) -> dict[str, str | int | bool | None]:
        return {name: self._text(fact) if isinstance(fact, str) else fact for name, fact in self._machine.facts.items()}

    def _item(self, item: DirectoryItem) -> DirectoryItem:
        target = item.target if item.target is None else self._text(item.target)
        return msgspec.structs.replace(item, name=self._text(item.name), target=target)

    def _text(self, text: str) -> str:
        return masked(text.encode("utf-8", "surrogatepass"), self._marks).decode("utf-8", "surrogatepass")
