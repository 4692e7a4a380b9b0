"""A program as it is run: without its wrappers, and with what stands around it in its pipeline."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from adjudge.profile.wrappers import Words


class Ran(msgspec.Struct, frozen=True, gc=False):
    """A program, its words from its name on, the here-documents that it gets, and whether its input comes from a pipe.

    `following` are the words of the commands to which its output goes. `depth` counts the shells around it.
    """

    program: str
    words: Words
    documents: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    piped: bool = False
    following: Sequence[Words] = ()
    depth: int = 0
