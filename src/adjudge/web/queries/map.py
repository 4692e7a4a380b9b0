"""What the map of a run is drawn from: prompts, spending and edits by turn."""

from __future__ import annotations

import msgspec

from adjudge.web.queries.columns import Column
from adjudge.web.queries.kept import OpenRun


class RunMap(msgspec.Struct, frozen=True):
    """The columns, and the turns in which files were edited. `priced` says that what was spent is in US dollars."""

    columns: tuple[Column, ...]
    priced: bool
    edits: tuple[int, ...]


def run_map(opened: OpenRun) -> RunMap:
    """The map of a run; its whole record is walked for the edits."""
    return RunMap(opened.columns.columns, opened.columns.priced, tuple(sorted(opened.edits)))
