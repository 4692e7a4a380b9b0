"""OpenCode: what `opencode export` prints, what `opencode run --format json` and plugins stream, and its SQLite store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from adjudge.importers.documents import beginning, read_document, read_items
from adjudge.importers.documents_values import listing, mapping, text
from adjudge.importers.jsonl import opened
from adjudge.importers.opencode_session import Part, Session, run_of
from adjudge.importers.opencode_store import STORE, holds_sessions, stored_runs
from adjudge.importers.opencode_stream import is_stream, streamed_run
from adjudge.record import Unparsed
from adjudge.run import Run


class OpenCode:
    """Reads all of OpenCode's recordings. A sub-agent is a session with a `parentID`, and becomes a child of its parent."""

    name = "opencode"

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether this is one of them."""
        if head.startswith(STORE):
            return holds_sessions(path)
        return _is_export(beginning(head)) or is_stream(head)

    def runs(self, path: Path) -> Iterator[Run]:
        """One run of an export or a stream, one of each top session of a store.

        Raises:
            InputError: it is none of OpenCode's recordings, or cannot be read at all.
        """
        with opened(path) as file:
            head = file.read(1 << 16)
        if head.startswith(STORE):
            yield from stored_runs(path)
        elif _is_export(beginning(head)):
            yield _exported_run(path)
        else:
            yield streamed_run(path)


def _is_export(value: Any) -> bool:
    info = mapping(mapping(value).get("info"))
    return text(info.get("id")).startswith("ses_") and "role" not in info


class _Export(msgspec.Struct):
    """`{info, messages: [{info, parts}]}`."""

    messages: list[msgspec.Raw]
    info: dict[str, Any] = {}


def _exported_run(path: Path) -> Run:
    export = read_document(path, _Export)
    session = Session("opencode", label=text(export.info.get("title")) or None)
    for place, message in read_items(export.messages, f"{path.name}:messages", session.builder.unparsed):
        session.add(mapping(message.get("info")), _parts(message, place, session))
    return run_of(session, path, text(export.info.get("version")))


def _parts(message: dict[str, Any], place: str, session: Session) -> Iterator[Part]:
    for number, part in enumerate(listing(message.get("parts"))):
        if isinstance(part, dict):
            yield f"{place}.parts[{number}]", part
        else:
            session.builder.unparsed(Unparsed(f"{place}.parts[{number}]", f"a {type(part).__name__}, not a part"))
