"""What lies before a reviewer, and how it is leafed through: the question above, one pane of text below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from adjudge.cli.keys import read_line
from adjudge.cli.review_panes import KEYS, Pane, exhibit_pane, judge_pane, question_of, task_pane
from adjudge.untrusted import one_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from adjudge.evidence import Citation
    from adjudge.record import Entry
    from adjudge.wiring.reviews import Answered, Question

LEAST_ROOM = 4
"""Lines of the pane on the smallest terminal."""


class Viewer:
    """One question with the run's record; the judge's side only from `reveal` on. `note` is said below once."""

    def __init__(self, asked: Question) -> None:
        self._question = asked
        self._entries: Sequence[Entry] = asked.run.record.entries
        self._answered: Answered | None = None
        self._reviewer = ""
        self._pane, self._top, self._room = task_pane(asked), 0, LEAST_ROOM
        self._entry = self._cited = -1
        self.note = ""

    def reveal(self, answered: Answered, reviewer: str) -> None:
        """Show the judge's side; from now on its citations can be leafed through."""
        self._answered, self._reviewer = answered, reviewer
        self._show(judge_pane(answered, reviewer))

    def moves(self) -> dict[str, Callable[[], None]]:
        """What each key does."""
        moves: dict[str, Callable[[], None]] = {
            "n": lambda: self._step(1),
            "p": lambda: self._step(-1),
            "]": lambda: self._turn(1),
            "[": lambda: self._turn(-1),
            " ": lambda: self._page(1),
            "b": lambda: self._page(-1),
            "t": lambda: self._show(task_pane(self._question)),
            "o": self._open,
            "/": self._search,
            "?": lambda: self._show(Pane("keys", KEYS)),
        }
        if (answered := self._answered) is not None:
            moves["c"] = lambda: self._show(judge_pane(answered, self._reviewer))
        return moves

    # --- moving

    def _show(self, pane: Pane) -> None:
        self._pane, self._top = pane, 0

    def _page(self, direction: int) -> None:
        self._top = max(0, self._top + direction * (self._room - 1))

    def _step(self, direction: int) -> None:
        if self._answered is None:
            self._show_entry(self._entry + direction)
            return
        citations = [holding.citation for holding in self._answered.judged.holdings]
        if not citations:
            self.note = "It cites nothing."
            return
        start = self._cited if self._cited >= 0 or direction > 0 else 0
        self._cited = (start + direction) % len(citations)
        self._show_cited(citations[self._cited], f"citation {self._cited + 1} of {len(citations)}")

    def _show_cited(self, citation: Citation, place: str) -> None:
        self._show_named(citation.exhibit.strip(" \n[]"), place, citation.quote)

    def _open(self) -> None:
        if name := read_line("Exhibit: "):
            self._show_named(name, "opened")

    def _show_named(self, name: str, place: str, quote: str = "") -> None:
        """An entry, a turn's first entry, or, once the judge's side is shown, a look."""
        looks = {look.id: look for look in self._answered.judgment.looks} if self._answered else {}
        exhibit = looks.get(name) or self._question.run.record.entry(name)
        turn = name.removeprefix("t")
        if exhibit is None and turn != name and turn.isascii() and turn.isdigit():
            exhibit = next((entry for entry in self._entries if str(entry.turn) == turn), None)
        if exhibit is None:
            self.note = f"There is no exhibit {one_line(name, 60)} to be seen."
            return
        self._show(exhibit_pane(exhibit, place, quote))

    def _show_entry(self, position: int) -> None:
        if not 0 <= position < len(self._entries):
            self.note = "The record ends here." if self._entries else "There is no record."
            return
        self._entry = position
        self._show(exhibit_pane(self._entries[position], f"entry {position + 1} of {len(self._entries)}"))

    def _turn(self, direction: int) -> None:
        """To the first entry of the next turn or of the one before."""
        at = max(self._entry, 0)
        if self._entries:
            turn = self._entries[at].turn
            while 0 <= at < len(self._entries) and self._entries[at].turn == turn:
                at += direction
        if direction < 0 and at >= 0:
            at = _first_of_its_turn(self._entries, at)
        self._show_entry(at)

    def _search(self) -> None:
        wanted = read_line("Search the record: ").casefold()
        if not wanted:
            return
        for position, entry in enumerate(self._entries):
            if position > self._entry and wanted in entry.text.casefold():
                self._show_entry(position)
                self._pane = Pane(self._pane.title, self._pane.text, wanted)
                return
        self.note = f"From here on nothing has {one_line(wanted, 60)!r}."

    # --- drawing

    def draw(self, console: Console, head: str, keys: str) -> None:
        """Draw all of it anew, in as many lines as the terminal has."""
        from rich.text import Text

        width, height = console.size
        line, question = question_of(self._question.asked)
        rubric = f"{self._question.item} of {self._question.rubric.name} · {self._question.run.id}"
        above = [Text(head, "dim"), Text(one_line(f"{line}  ({rubric})", 400), "bold")]
        above += _wrapped(Text(question), width, console)[: max(3, height // 4)]
        below = [*_wrapped(Text(self.note, "yellow"), width, console), Text(keys, "dim")]
        self._room = max(LEAST_ROOM, height - len(above) - len(below) - 2)
        lines = _wrapped(_marked(self._pane), width, console)
        self._top = min(self._top, max(0, len(lines) - self._room))
        part = lines[self._top : self._top + self._room]
        more = f"  lines {self._top + 1} to {self._top + len(part)} of {len(lines)}" if len(lines) > len(part) else ""
        with console:  # it is written at once
            console.clear()
            for each in (*above, Text(f"── {self._pane.title}{more}", "cyan"), *part, *below):
                console.print(each, no_wrap=True, overflow="ellipsis", crop=True)


def _first_of_its_turn(entries: Sequence[Entry], at: int) -> int:
    turn = entries[at].turn
    while at > 0 and entries[at - 1].turn == turn:
        at -= 1
    return at


def _marked(pane: Pane) -> Text:
    from rich.text import Text

    text = Text(pane.text)
    at = pane.text.casefold().find(pane.quote.casefold()) if pane.quote else -1
    if at >= 0:
        text.stylize("black on yellow", at, at + len(pane.quote))
    return text


def _wrapped(text: Text, width: int, console: Console) -> list[Text]:
    return list(text.wrap(console, width))
