"""A file of a workspace whose name may make it a hook, and what its rules need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from adjudge.errors import InputError
from adjudge.judgment import HookKind
from adjudge.machines.files import Workspace, printable
from adjudge.ports import Hook

LARGEST = 65536
"""Bytes of a file of settings that are read."""

_SYSTEM = tuple(f"/{name}/" for name in ("usr", "bin", "sbin", "lib", "lib64", "etc", "opt", "proc", "dev", "sys"))


class Candidate:
    """What it holds is read once, if at all."""

    def __init__(self, workspace: Workspace, path: str) -> None:
        self._workspace, self.path = workspace, path
        self.folder, _, self.name = path.rpartition("/")
        self._text: str | None = None

    @property
    def text(self) -> str:
        """Its beginning; nothing if it cannot be read."""
        if self._text is None:
            try:
                self._text = self._workspace.read(self.path, 0, LARGEST).data.decode("utf-8", "replace")
            except InputError:
                self._text = ""
        return self._text

    def is_executable(self) -> bool:
        """Whether it may be run as a program; a link that leads nowhere here may lead somewhere where commands run."""
        try:
            return bool(self._workspace.facts(self.path).st_mode & 0o111)
        except InputError:
            target = self._workspace.target(self.path)
            return target is not None and target.startswith("/")

    def is_work(self) -> bool:
        """Whether it is a file of the workspace, and no link to one of the system's."""
        target = self._workspace.target(self.path)
        return target is None or not target.startswith(_SYSTEM)

    def hook(self, kind: HookKind, *acts_on: str) -> Hook:
        """The hook that it is."""
        return Hook(printable(self.path), kind, acts_on)

    def lines_below(self, heading: str) -> Iterator[str]:
        """The lines of its sections whose heading (`[tool.pytest`) begins like this; all lines for an empty one."""
        inside = not heading
        for line in self.text.splitlines():
            if heading and line.startswith("["):
                inside = line.startswith(heading)
            elif inside:
                yield line.strip()


Rule = Callable[[Candidate], Iterator[Hook]]
"""What a file is, if it is what its name says."""
