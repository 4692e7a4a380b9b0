"""The screen of `adjudge review`: one item at a time, drawn anew at each key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from adjudge.cli.keys import read_key, read_line
from adjudge.cli.review_panes import answer_in_words, takes_digits
from adjudge.cli.review_viewer import Viewer
from adjudge.errors import InputError
from adjudge.reviews.values import Mode, Order, Said
from adjudge.rubric import Criterion, Dimension
from adjudge.untrusted import one_line
from adjudge.wiring.reviews import Question, add_review, answered, note_shown, question

if TYPE_CHECKING:
    from rich.console import Console

    from adjudge.store.review_queue import QueueItem
    from adjudge.store.store import Store

End = Literal["gone on", "quit"]


class Sitting(msgspec.Struct, frozen=True):
    """Who reviews, whether they see what the judge said first, and in which order items come."""

    reviewer: str
    mode: Mode
    order: Order


def review_items(console: Console, store: Store, items: Sequence[QueueItem], sitting: Sitting) -> int:
    """Go through items until the end or until the reviewer leaves, and give how many reviews were recorded."""
    recorded = 0
    for number, item in enumerate(items, 1):
        words = [f"{number} of {len(items)}", sitting.mode, f"order: {sitting.order}", one_line(sitting.reviewer, 100)]
        desk = _Desk(console, store, question(store, item.judgment, item.item), sitting, " · ".join(words))
        ended = desk.sit()
        recorded += desk.recorded
        if ended == "quit":
            break
    return recorded


class _Desk:
    """One item before a reviewer: keys are answers, or leaf through what there is to see."""

    def __init__(self, console: Console, store: Store, asked: Question, sitting: Sitting, head: str) -> None:
        self._console, self._store, self._question, self._sitting, self._head = console, store, asked, sitting, head
        self._viewer = Viewer(asked)
        self._sees = sitting.mode == "seen"
        self.recorded = 0

    def sit(self) -> End:
        if self._sees:
            self._reveal()
        while True:
            self._viewer.draw(self._console, self._head, self._keys())
            key, self._viewer.note = read_key(), ""
            if key in ("q", ""):
                return "quit"
            if key == "s" or (key in ("\r", "\n") and self.recorded):
                return "gone on"
            if (said := self._said(key)) is not None:
                if self._keep(said) and self._sees:
                    return "gone on"
                if self.recorded and not self._sees:
                    self._sees = True
                    self._reveal()
                    self._viewer.note = "Recorded. This is what the judge said; Enter goes on."
            elif move := self._viewer.moves().get(key):
                move()

    def _reveal(self) -> None:
        if not self.recorded:
            note_shown(self._store, self._question.judgment, self._question.item, self._sitting.reviewer)
        self._viewer.reveal(answered(self._store, self._question.judgment, self._question.item), self._sitting.reviewer)

    def _keys(self) -> str:
        if self._sees:
            answers = "a approve  x deny"
            return f"{answers}  n p citations  c the judge's side  s skip  ? keys  q end"
        asked = self._question.asked
        if isinstance(asked, Criterion):
            answers = "1 pass  2 fail"
        elif takes_digits(asked):
            answers = f"{asked.scale.least:g} to {asked.scale.most:g} value"
        else:
            answers = "v value"
        return f"{answers}  n p entries  [ ] turns  / search  t task  s skip  ? keys  q end"

    # --- answers

    def _said(self, key: str) -> Said | None:
        """What a key says of the item, or `None` if it says nothing."""
        asked = self._question.asked
        if self._sees:
            return self._base("seen", approved=key == "a") if key in ("a", "x") else None
        if isinstance(asked, Criterion):
            return self._base("blind", passed=key == "1") if key in ("1", "2") else None
        value = self._value(key, asked)
        return None if value is None else self._base("blind", value=value)

    def _base(
        self, mode: Mode, approved: bool | None = None, passed: bool | None = None, value: float | None = None
    ) -> Said:
        where, who, order = self._question, self._sitting.reviewer, self._sitting.order
        return Said(where.judgment, where.item, who, mode, "", approved, passed, value, picked=order)

    def _value(self, key: str, asked: Dimension) -> float | None:
        if takes_digits(asked):
            return float(key) if key.isascii() and key.isdigit() and asked.scale.holds(float(key)) else None
        if key != "v":
            return None
        try:
            return float(read_line(f"Value from {asked.scale.least:g} to {asked.scale.most:g}: "))
        except ValueError:
            self._viewer.note = "That is no number."
            return None

    def _keep(self, said: Said) -> bool:
        """Ask why, and keep it; false if it was taken back or refused, which is then said."""
        reason = read_line(f"{answer_in_words(said)}. Why? (one line; nothing takes it back) ")
        if not reason:
            self._viewer.note = "Taken back: a review needs a reason."
            return False
        try:
            add_review(self._store, msgspec.structs.replace(said, reason=reason), supersede=self.recorded > 0)
        except InputError as error:
            self._viewer.note = one_line(str(error), 400)
            return False
        self.recorded += 1
        return True
