"""Walking an untrusted folder: every regular file below a place, in order, with a bound on number and time."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator

from adjudge.errors import InputError
from adjudge.machines.files import Workspace


class Walk:
    """One walk over the files at or below a path. Links are not followed; depth costs neither stack nor descriptors.

    With `links` they are told too, whatever they lead to, and `links_met` are those that were met. Paths come as the file
    system has them (bytes that are no UTF-8 as surrogates). `skipped` counts folders that could not be read, `cut` says
    that a bound ended the walk early.
    """

    def __init__(self, workspace: Workspace, files: int, seconds: float, links: bool = False) -> None:
        self._workspace, self._most, self._links = workspace, files, links
        self._until = time.monotonic() + seconds
        self._seen = self.skipped = 0
        self.cut = False
        self.links_met: list[str] = []

    def late(self) -> bool:
        """Whether the time is over; if so, the walk is cut."""
        if time.monotonic() > self._until:
            self.cut = True
        return self.cut

    def below(self, path: str) -> Iterator[str]:
        """The files.

        Raises:
            InputError: the path itself cannot be used.
        """
        fd, facts = self._workspace.open(path, lambda mode: stat.S_ISREG(mode) or stat.S_ISDIR(mode), "a file or directory")
        os.close(fd)
        start = "/".join(part for part in path.split("/") if part not in ("", "."))
        if stat.S_ISREG(facts.st_mode):
            yield start
            return
        waiting = [start]
        while waiting and not self.late():
            folders, files = self._names(waiting.pop())
            waiting += reversed(folders)
            for file in files:
                if self.late():
                    return
                yield file

    def _names(self, directory: str) -> tuple[list[str], list[str]]:
        folders: list[str] = []
        files: list[str] = []
        try:
            fd, _ = self._workspace.open(directory, stat.S_ISDIR, "a directory")
        except InputError:
            self.skipped += 1
            return folders, files
        prefix = f"{directory}/" if directory else ""
        try:
            with os.scandir(fd) as entries:
                for entry in entries:
                    self._seen += 1
                    if self._seen > self._most:
                        self.cut = True
                        break
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(prefix + entry.name)
                    elif entry.is_file(follow_symlinks=False):
                        files.append(prefix + entry.name)
                    elif self._links and entry.is_symlink():
                        files.append(prefix + entry.name)
                        self.links_met.append(prefix + entry.name)
        finally:
            os.close(fd)
        return sorted(folders), sorted(files)
