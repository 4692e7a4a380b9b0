"""Kinds of work, and the facets that a call of a tool has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

Work = Literal[
    "test",
    "scratch",
    "edit",
    "write",
    "install",
    "build",
    "lint",
    "git_write",
    "git_tree",
    "files",
    "history",
    "network",
    "container",
    "run",
    "code",
    "read",
    "read_part",
    "search",
    "list",
    "web",
    "delegate",
    "ask",
    "submit",
    "plan",
    "export",
    "git_state",
    "compare",
    "copy",
    "format",
    "packages",
    "archive",
    "environment",
    "other",
    "unknown",
    "filter",
    "print",
    "poll",
    "glue",
]
"""What a call does, the first of several being the one that it is counted as.

`scratch` runs a script that the run itself has written, `history` looks at git's, `git_tree` has git change files,
`files` changes them otherwise, `code` hands code to an interpreter, `copy` reads for another program, `export` keeps a
diff in a file, `other` is a known tool that is none of these, `unknown` is a program or tool that is not known, `poll`
waits for something, and `glue` (`cd`, `true`) is no work.
"""

_ORDER: dict[Work, int] = {work: place for place, work in enumerate(Work.__args__)}  # type: ignore[attr-defined]  # typing's own name for a Literal's values

CHANGES: frozenset[Work] = frozenset({"edit", "write", "install", "git_tree", "files", "code", "format"})
"""Kinds after which a file may differ. What programs change that `run` or are not known cannot be seen."""

EDITS: frozenset[Work] = frozenset({"edit", "write"})
READS: frozenset[Work] = frozenset({"read", "read_part"})
TESTS: frozenset[Work] = frozenset({"test", "scratch"})
IDLE: frozenset[Work] = frozenset({"poll", "glue"})

_MINOR: frozenset[Work] = frozenset({"filter", "print", "poll", "glue"})

Span = tuple[int, int]
"""Lines of a file, the first and the last, counted from 1."""

END = 1 << 30
"""The last line of a file of any length."""


class Facet(msgspec.Struct, frozen=True, gc=False):
    """One thing that a call does.

    `paths` are the files that are named, as written. `span` are the lines that a read asks for; a `read_part` without it
    asks for lines that cannot be told. `words` are a test's command without its wrappers, a script's, a change of folder,
    or the name of an unknown program. `temporary` is true if only files in a folder for temporary files change, `opaque`
    of a tool that is not known: any file may differ afterwards, though nothing says that it edits.
    """

    kind: Work
    paths: tuple[str, ...] = ()
    span: Span | None = None
    words: tuple[str, ...] = ()
    temporary: bool = False
    opaque: bool = False

    @property
    def changes(self) -> bool:
        """Whether a file may differ afterwards that is no temporary one."""
        return self.opaque or (self.kind in CHANGES and not self.temporary)


def primary(facets: Sequence[Facet]) -> Work:
    """The kind that a call is counted as: the first in the order, temporary files last."""
    if len(facets) == 1:
        return facets[0].kind
    lasting = {facet.kind for facet in facets if not facet.temporary} - _MINOR
    return min(lasting or [facet.kind for facet in facets], key=_ORDER.__getitem__, default="unknown")


def is_temporary(path: str) -> bool:
    """Whether a path is directly in a folder for temporary files; deeper ones may be where the agent works."""
    for folder in ("/tmp/", "/var/tmp/", "$TMPDIR/", "${TMPDIR}/", "/dev/shm/"):  # noqa: S108  compared, not used
        if path.startswith(folder):
            return "/" not in path[len(folder) :].rstrip("/")
    return False
