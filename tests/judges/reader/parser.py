"""Reads a prepared trajectory back, by its description in the documentation and without the code that wrote it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from adjudge.judges.reader.prepare import Material
from adjudge.record import Entry, Record
from adjudge.untrusted import shown

HEADER = re.compile(
    r"(?P<turn>(?:s\d+\.)*t\d+) (?P<id>\S+) (?P<writer>user|agent|tool|harness)"
    r" (?P<kind>message|reasoning|call|result|event)"
    r"(?: of (?P<answers>\S+))?(?: · exit status (?P<status>-?\d+))?(?P<error> · marked as an error)?"
    r"(?: · (?:(?P<left_out>\d+) characters left out|(?P<empty>empty)))?(?P<injected> · written by the harness)?"
    r"(?: · \"(?P<name>[^\"]*)\")?(?: · put there as \"(?P<origin>[^\"]*)\")?"
)
GAP = re.compile(r"… (\d+) characters (of the harness's boilerplate )?left out here")
ELIDED = re.compile(r"… (\S+) to (\S+): (\d+) entries of turns (\d+) to (\d+) left out, (\d+) characters")
RECORDS = re.compile(r"… sub-agents (\S+) to (\S+): (\d+) records with (\d+) entries left out, (\d+) characters")
RECORD = re.compile(r"(?:the agent's record|sub-agent (\S+)): (\d+) entries in (\d+) turns(?: · .*)?")


class Line(NamedTuple):
    """A line that begins with the token, and the text after it."""

    mark: str
    text: str


def lines_of(token: str, enclosed: str) -> list[Line]:
    """The lines with the token, in order. The text before the first is that of a line without words."""
    first, *between, last = enclosed.split("\n")
    assert (first, last) == (f"<<{token}", f"{token}>>")
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in between:
        if line.startswith(token):
            found.append((line.removeprefix(f"{token} "), []))
        else:
            found[-1][1].append(line)
    assert all(token not in text for mark, texts in found for text in (mark, *texts))
    return [Line(mark, "\n".join(texts)) for mark, texts in found]


class Reconstruction:
    """Goes through the lines beside the record; every entry must be accounted for, to the character."""

    def __init__(self, material: Material, record: Record, mask: bool = True) -> None:
        self.mask = mask
        self.counted: Counter[str] = Counter()
        self.headers: dict[str, re.Match[str]] = {}
        self._lines = lines_of(material.token, material.trajectory)[1:]
        self._records = list(walk(record))
        self._check_records()
        assert not self._lines
        assert not self._records
        for name in ("input_truncated", "tool_output_pruned", "events_elided", "boilerplate"):
            omitted = getattr(material, name)
            if name != "input_truncated":
                assert (omitted.pieces, omitted.characters) == (self.counted[f"{name} pieces"], self.counted[name])

    def _take(self) -> Line:
        return self._lines.pop(0)

    def _check_records(self) -> None:
        while self._lines:
            line = self._take()
            if left_out := RECORDS.fullmatch(line.mark):
                self._check_left_out(left_out)
                continue
            opened = RECORD.fullmatch(line.mark)
            assert opened, line.mark
            name, record = self._records.pop(0)
            assert (opened[1], int(opened[2]), int(opened[3])) == (name, len(record.entries), len(record.turns))
            self._check_entries(list(record.entries))

    def _check_left_out(self, mark: re.Match[str]) -> None:
        left_out = self._records[: int(mark[3])]
        del self._records[: int(mark[3])]
        entries = [entry for _, record in left_out for entry in record.entries]
        assert (left_out[0][0], left_out[-1][0]) == (mark[1], mark[2])
        assert (len(entries), sum(len(entry.text) for entry in entries)) == (int(mark[4]), int(mark[5]))
        self._count("events_elided", len(entries), int(mark[5]))

    def _check_entries(self, entries: list[Entry]) -> None:
        while entries:
            line = self._take()
            if elided := ELIDED.fullmatch(line.mark):
                run = entries[: int(elided[3])]
                del entries[: int(elided[3])]
                assert (run[0].id, run[-1].id) == (elided[1], elided[2])
                assert sum(len(entry.text) for entry in run) == int(elided[6])
                self._count("events_elided", len(run), int(elided[6]))
            else:
                self._check_entry(entries.pop(0), line)

    def _check_entry(self, entry: Entry, line: Line) -> None:
        header = HEADER.fullmatch(line.mark)
        assert header, line.mark
        self.headers[entry.id] = header
        assert (header["id"], header["writer"], header["kind"]) == (entry.id, entry.writer, entry.kind)
        assert header["turn"] == entry.id[: entry.id.rfind(".") + 1] + f"t{entry.turn}"
        assert header["answers"] == entry.answers
        assert header["status"] == (None if entry.exit_status is None else str(entry.exit_status))
        if header["left_out"]:
            assert (line.text, int(header["left_out"])) == ("", len(entry.text))
            self._count("tool_output_pruned", 1, len(entry.text))
            return
        view = shown(entry.text, self.mask)
        assert view.startswith(line.text)
        position = len(line.text)
        while self._lines and (gap := GAP.fullmatch(self._lines[0].mark)):
            self._count("boilerplate" if gap[2] else "input_truncated", 1, int(gap[1]))
            position += int(gap[1])
            text = self._take().text
            assert view[position : position + len(text)] == text
            position += len(text)
        assert position == len(view)

    def _count(self, name: str, pieces: int, characters: int) -> None:
        self.counted[f"{name} pieces"] += pieces
        self.counted[name] += characters


def walk(record: Record, prefix: str = "") -> Iterator[tuple[str | None, Record]]:
    """The records in the order of `Record.walk`, with their names."""
    yield prefix.removesuffix(".") or None, record
    for number, child in enumerate(record.children, 1):
        yield from walk(child, f"{prefix}s{number}.")
