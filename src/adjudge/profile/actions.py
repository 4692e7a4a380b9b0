"""From a record to the sequence of its actions: each call with what it did, to what, and what came back."""

from __future__ import annotations

import msgspec

from adjudge.profile.outputs import Shown, shown_by
from adjudge.profile.tools import Asked, Requests
from adjudge.profile.work import CHANGES, EDITS, END, READS, TESTS, Facet, Span, Work, is_temporary, primary
from adjudge.record import Entry, Record


class Read(msgspec.Struct, frozen=True, gc=False):
    """A file that a call read. `asked` are the lines that it asked for; `whole` says that it asked for all.

    `shown` are the lines that came back, as far as their numbers or the request tell; `None` if that cannot be told.
    `numbered` says that they came with their numbers.
    """

    path: str
    whole: bool
    asked: Span | None = None
    shown: Span | None = None
    numbered: bool = False


class Action(msgspec.Struct, frozen=True, gc=False):
    """One call, in the words of the profile.

    `kind` is what it is counted as, `facets` are all that it does, `changing` those that may have changed files. `same` and
    `output` are numbers that are equal for calls with equal arguments and for equal outputs. `size` is the output in
    characters, `None` without a result; `failed` is `None` where nothing tells. `asking` counts the user's messages before
    it, `forgotten` the times that the harness had replaced what went before by a summary. `bare` says that the recording
    has no arguments. `command` and `folder` are what a shell is given.
    """

    turn: int
    entry: str
    tool: str
    kind: Work
    same: int
    facets: tuple[Facet, ...]
    changing: tuple[Facet, ...] = ()
    reads: tuple[Read, ...] = ()
    command: str | None = None
    folder: str = ""
    output: int | None = None
    size: int | None = None
    failed: bool | None = None
    asking: int = 0
    forgotten: int = 0
    bare: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that the call names, each once."""
        return tuple(dict.fromkeys(path for facet in self.facets for path in facet.paths))

    @property
    def changes(self) -> bool:
        """Whether files may differ afterwards that are no temporary ones."""
        return any(facet.changes and not _only_temporary(facet) for facet in self.changing)

    @property
    def changes_unnamed(self) -> bool:
        """Whether files may differ of which it is not known which they are."""
        return any(facet.changes and not _names_files(facet) for facet in self.changing)

    @property
    def tests(self) -> tuple[str, ...]:
        """The words of the tests without wrappers and filters, after those that say where; empty if it runs none."""
        if self.kind not in TESTS:
            return ()
        told = (facet.words for facet in self.facets if facet.kind in TESTS or facet.kind == "glue")
        return (self.folder, *(word for words in told for word in words))

    @property
    def unknown(self) -> tuple[str, ...]:
        """The programs that no rule knows, or the tool."""
        return tuple(word for facet in self.facets if facet.kind == "unknown" for word in facet.words)

    def does(self, works: frozenset[Work]) -> bool:
        """Whether one of these kinds of work is among what it does."""
        return any(facet.kind in works for facet in self.facets)


def actions_of(record: Record) -> tuple[Action, ...]:
    """The actions of a record, without its sub-agents' and without history copied from another session."""
    reader = _Reader()
    for entry in record.entries:
        if entry.origin != "copied":
            reader.take(entry)
    return tuple([call.action() for call in reader.calls.values()])


class _Reader:
    """Takes entries in order; `calls` are those met so far. Texts are told apart by number, and not kept."""

    def __init__(self) -> None:
        self.calls: dict[str, _Call] = {}
        self._requests = Requests()
        self._numbers: dict[tuple[str | int | None, int], int] = {}
        self._written: set[str] = set()
        self._asking = self._forgotten = 0

    def take(self, entry: Entry) -> None:
        """Take an entry; a result may come long after its call."""
        if entry.kind == "call":
            call = self.calls[entry.id] = _Call(entry, *self._asked(entry))
            call.same = self._number(entry.name, entry.arguments or "")
            call.asking, call.forgotten = self._asking, self._forgotten
        elif entry.kind == "result":
            if answered := self.calls.get(entry.answers or ""):
                answered.take(entry, self._number(answered.output, entry.text))
        elif entry.origin == "summary":
            self._forgotten += 1
        elif entry.kind == "message" and entry.writer == "user":
            self._asking += 1

    def _number(self, of: str | int | None, text: str) -> int:
        return self._numbers.setdefault((of, hash(text)), len(self._numbers))

    def _asked(self, entry: Entry) -> tuple[Asked, tuple[Facet, ...]]:
        """What a call asks for, with what is run told from what the run had itself written."""
        found = self._requests.asked(entry.name or "", entry.arguments)
        facets = found.facets
        for place, facet in enumerate(facets):
            if facet.kind == "write":
                self._written.update(map(basename, facet.paths))
            elif facet.words and facet.paths and basename(facet.paths[0]) in self._written:
                scratch = Facet("scratch", facet.paths, words=facet.words)
                facets = (*facets[:place], scratch, *facets[place + 1 :])
        return found, facets


class _Call:
    """A call while its results are awaited."""

    __slots__ = (
        "asked",
        "asking",
        "entry",
        "facets",
        "failed",
        "forgotten",
        "kind",
        "output",
        "same",
        "shown",
        "size",
    )

    def __init__(self, entry: Entry, asked: Asked, facets: tuple[Facet, ...]) -> None:
        bare = entry.arguments in (None, "", "{}", "null")
        self.entry = (entry.turn, entry.id, entry.name or "", bare)
        self.asked, self.facets, self.kind = asked, facets, primary(facets)
        self.same = self.asking = self.forgotten = 0
        self.output: int | None = None
        self.size: int | None = None
        self.failed: bool | None = None
        self.shown: Shown | None = None

    def take(self, result: Entry, output: int) -> None:
        """Take a result; a call of several has the sum of their sizes, and has failed if one has."""
        self.output = output
        self.size = (self.size or 0) + len(result.text)
        failed = _failed(result, self.kind)
        self.failed = failed if self.failed is None else self.failed or bool(failed)
        for facet in self.facets:
            if facet.kind in READS and facet.paths:
                self.shown = shown_by(result.text)
                return

    def action(self) -> Action:
        """The action that this call was."""
        turn, entry, name, bare = self.entry
        changing = tuple([facet for facet in self.facets if facet.kind in CHANGES or facet.opaque])
        if self.failed and all(facet.kind in CHANGES for facet in self.facets):
            changing = ()  # an edit that was refused
        return Action(
            turn,
            entry,
            name,
            self.kind,
            self.same,
            self.facets,
            changing,
            _reads(self.facets, self.shown) if self.shown and not self.failed else (),
            self.asked.command,
            self.asked.folder,
            self.output,
            self.size,
            self.failed,
            self.asking,
            self.forgotten,
            bare,
        )


def _failed(result: Entry, kind: Work) -> bool | None:
    """Whether the harness states a failure; a search or comparison that ends with 1 found none, or a difference."""
    if result.exit_status is None:
        return result.is_error
    return result.exit_status != 0 and not (result.exit_status == 1 and kind in ("search", "compare"))


_PATTERN = frozenset("*?{}[]$`\n")


def _reads(facets: tuple[Facet, ...], shown: Shown) -> tuple[Read, ...]:
    """The files that were read, those named by a pattern left out; none if there was none."""
    asking = [
        (path.removeprefix("./"), facet)
        for facet in facets
        if facet.kind in READS and not shown.missing
        for path in facet.paths
        if _PATTERN.isdisjoint(path)
    ]
    lines = shown.lines if len(asking) == 1 else None
    return tuple([_read(path, facet, shown, lines) for path, facet in asking])


def _read(path: str, facet: Facet, shown: Shown, lines: Span | None) -> Read:
    """One read with the lines that came back, by their numbers or else by the request."""
    whole = facet.kind == "read"
    requested = None if shown.cut else (1, END) if whole else facet.span
    return Read(path, whole, facet.span, lines or requested, lines is not None)


def _only_temporary(facet: Facet) -> bool:
    return bool(facet.paths) and all(map(is_temporary, facet.paths))


def _names_files(facet: Facet) -> bool:
    """Whether it is known which files change."""
    by_name = facet.kind in EDITS or facet.kind == "files"
    return by_name and bool(facet.paths) and all(map(_PATTERN.isdisjoint, facet.paths))


def basename(path: str) -> str:
    """The last part of a path, of Windows as well."""
    return path.rstrip("/").replace("\\", "/").rpartition("/")[2]
