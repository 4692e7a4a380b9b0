"""From a record to the sequence of its actions: each call with what it did, to what, and what came back."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from adjudge.profile.tools import asked
from adjudge.profile.work import CHANGES, EDITS, END, READS, TESTS, Facet, Span, Work, is_temporary, primary
from adjudge.record import Entry, Record


class Read(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file that a call read. `asked` are the lines that it asked for; `whole` says that it asked for all.

    `shown` are the lines that came back, as far as their numbers or the request tell; `None` if that cannot be told.
    """

    path: str
    whole: bool
    asked: Span | None = None
    shown: Span | None = None


class Action(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call, in the words of the profile.

    `kind` is what it is counted as, `kinds` all that it does. `paths` are the files that it names. `changed` are those
    that it may have changed; `changes` is true if they are not all temporary, and `anything` if it is not known which they
    are. `tests` are the words of its tests without wrappers and filters, after the folder. `same` and `output` are numbers
    that are equal for calls with equal arguments and for equal outputs. `size` is the output in characters, `None` without
    a result; `failed` is `None` where nothing tells. `asking` counts the user's messages before it, and `bare` says that
    the recording has no arguments.
    """

    turn: int
    entry: str
    tool: str
    kind: Work
    same: int
    kinds: frozenset[Work] = frozenset()
    paths: tuple[str, ...] = ()
    reads: tuple[Read, ...] = ()
    changed: tuple[str, ...] = ()
    changes: bool = False
    anything: bool = False
    command: str | None = None
    tests: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    output: int | None = None
    size: int | None = None
    failed: bool | None = None
    asking: int = 0
    bare: bool = False


class _Call:
    """A call while its results are awaited."""

    __slots__ = ("action", "cut", "failed", "missing", "outputs", "shown", "size")

    def __init__(self, action: Action) -> None:
        self.action = action
        self.outputs: tuple[int, ...] = ()
        self.size: int | None = None
        self.failed: bool | None = None
        self.shown: Span | None = None
        self.cut = self.missing = False


def actions_of(record: Record) -> tuple[Action, ...]:
    """The actions of a record, without its sub-agents' and without history copied from another session."""
    return _Reader().read(record)


class _Reader:
    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}
        self._commands: dict[str, tuple[Facet, ...]] = {}
        self._requests: dict[tuple[str, int, int], int] = {}
        self._outputs: dict[tuple[int, int], int] = {}
        self._written: set[str] = set()
        self._asking = 0

    def read(self, record: Record) -> tuple[Action, ...]:
        for entry in record.entries:
            if entry.origin == "copied":
                continue
            if entry.kind == "call":
                self._calls[entry.id] = _Call(self._action(entry))
            elif entry.kind == "result" and (call := self._calls.get(entry.answers or "")):
                self._answer(call, entry)
            elif entry.kind == "message" and entry.writer == "user":
                self._asking += 1
        return tuple(map(self._finished, self._calls.values()))

    def _action(self, entry: Entry) -> Action:
        name, arguments = entry.name or "", entry.arguments or ""
        request = (name, len(arguments), hash(arguments))
        found = asked(name, arguments, self._commands)
        facets = tuple(map(self._as_scratch, found.facets))
        changing = [facet for facet in facets if facet.kind in CHANGES]
        changed = tuple(path for facet in changing for path in facet.paths)
        self._written.update(_basename(path) for facet in changing if facet.kind == "write" for path in facet.paths)
        return Action(
            turn=entry.turn,
            entry=entry.id,
            tool=name,
            kind=primary(facets),
            same=self._requests.setdefault(request, len(self._requests)),
            kinds=frozenset(facet.kind for facet in facets),
            paths=tuple(dict.fromkeys(path for facet in facets for path in facet.paths)),
            reads=tuple(_reads(facets)),
            changed=changed,
            changes=any(facet.changes and not _only_temporary(facet) for facet in changing),
            anything=any(facet.changes and not _names_files(facet) for facet in changing),
            command=found.command,
            tests=_tests(found.folder, facets),
            unknown=tuple(word for facet in facets if facet.kind == "unknown" for word in facet.words),
            asking=self._asking,
            bare=arguments in ("", "{}", "null"),
        )

    def _as_scratch(self, facet: Facet) -> Facet:
        """A script that is run and that the run has itself written is a scratch script, whatever its name."""
        ran = facet.kind in ("test", "run") and facet.words and len(facet.paths) == 1
        if ran and _basename(facet.paths[0]) in self._written:
            return msgspec.structs.replace(facet, kind="scratch")
        return facet

    def _answer(self, call: _Call, result: Entry) -> None:
        text = result.text
        call.outputs += (self._outputs.setdefault((len(text), hash(text)), len(self._outputs)),)
        call.size = (call.size or 0) + len(text)
        failed = _failed(result, call.action.kind)
        call.failed = failed if call.failed is None else call.failed or bool(failed)
        if call.action.reads:
            call.shown, call.cut, call.missing = _shown(text), _is_cut(text), _is_missing(text)

    def _finished(self, call: _Call) -> Action:
        action = call.action
        output = None if not call.outputs else call.outputs[0]
        if len(call.outputs) > 1:
            output = self._outputs.setdefault((-1, hash(call.outputs)), len(self._outputs))
        found = () if call.missing or call.failed else action.reads
        reads = tuple(_with_shown(read, call, len(action.reads) == 1) for read in found)
        refused = call.failed is True and action.kinds <= EDITS
        return msgspec.structs.replace(
            action,
            output=output,
            size=call.size,
            failed=call.failed,
            reads=reads,
            changes=action.changes and not refused,
            anything=action.anything and not refused,
            changed=() if refused else action.changed,
        )


def _basename(path: str) -> str:
    return path.rstrip("/").replace("\\", "/").rpartition("/")[2]


def _tests(folder: str, facets: tuple[Facet, ...]) -> tuple[str, ...]:
    """The words of the tests that a call runs, after those that say where; empty if it runs none."""
    if not any(facet.kind in TESTS for facet in facets):
        return ()
    return (folder, *(word for facet in facets if facet.kind in TESTS or facet.kind == "glue" for word in facet.words))


_PATTERN = frozenset("*?{}[]$`\n")


def _reads(facets: tuple[Facet, ...]) -> Iterator[Read]:
    """The files that the facets read, those named by a pattern left out."""
    for facet in facets:
        if facet.kind in READS:
            for path in facet.paths:
                if not _PATTERN & set(path):
                    yield Read(path.removeprefix("./"), facet.kind == "read", facet.span)


def _only_temporary(facet: Facet) -> bool:
    return bool(facet.paths) and all(map(is_temporary, facet.paths))


def _names_files(facet: Facet) -> bool:
    """Whether it is known which files change."""
    by_name = facet.kind in EDITS or facet.kind == "files"
    return by_name and bool(facet.paths) and not any(_PATTERN & set(path) for path in facet.paths)


def _failed(result: Entry, kind: Work) -> bool | None:
    """Whether the harness states a failure; a search or comparison that ends with 1 found none, or a difference."""
    if result.exit_status is None:
        return result.is_error
    return result.exit_status != 0 and not (result.exit_status == 1 and kind in ("search", "compare"))


_NUMBERED = re.compile(r"^[ \t]{0,12}(\d{1,7})(?:\t|→|\| ?|: ?)", re.M)
_CUT = re.compile(r"truncated|clipped|<NOTE>|more lines|[Ss]howing lines|omitted|too large", re.I)
ENDS = 600
"""Characters at either end of an output in which line numbers and remarks on its length are looked for."""


def _shown(text: str) -> Span | None:
    """The lines that a numbered output shows."""
    first = _NUMBERED.search(text[:ENDS])
    if first is None:
        return None
    numbers = _NUMBERED.findall(text[-ENDS:] if len(text) > ENDS else text)
    return (int(first[1]), int(numbers[-1])) if numbers and int(numbers[-1]) >= int(first[1]) else None


def _is_cut(text: str) -> bool:
    """Whether an output says that it is not all."""
    return bool(_CUT.search(text[:ENDS]) or _CUT.search(text[-ENDS:]) or "tokens truncated" in text)


_MISSING = re.compile(r"no such file|not found|does not exist|doesn't exist|cannot open|enoent|is a directory", re.I)


def _is_missing(text: str) -> bool:
    """Whether a short output only says that there is no such file, as where a harness gives no status."""
    return len(text) <= ENDS // 2 and _MISSING.search(text) is not None


def _with_shown(read: Read, call: _Call, alone: bool) -> Read:
    shown = call.shown if alone else None
    if shown is None and not call.cut:
        shown = (1, END) if read.whole else read.asked
    return msgspec.structs.replace(read, shown=shown) if shown else read
