"""One exhibit, whole: a long text in parts of even size."""

from __future__ import annotations

import msgspec
from markupsafe import Markup

from adjudge.errors import InputError
from adjudge.exports.scores import request_not_kept
from adjudge.judgment import Judgment
from adjudge.untrusted import shown
from adjudge.web.addresses import address, of_run
from adjudge.web.queries.kept import OpenRun
from adjudge.web.text import size
from adjudge.web.views.entries import title_of
from adjudge.web.views.transcript import name_of_step

PART = 200_000
"""Characters of one part."""


class ExhibitPage(msgspec.Struct, frozen=True):
    """A part of an exhibit; `back` leads to where it stands, `before` and `after` to the other parts."""

    id: str
    run: str
    title: str
    size: str
    part: str | None
    text: str
    back: Markup
    before: Markup | None
    after: Markup | None


def exhibit_page(opened: OpenRun, identifier: str, start: int) -> ExhibitPage:
    """A part of an entry's text. Raises InputError if the run has no such entry."""
    place = opened.place_of(identifier)
    if place is None:
        raise InputError(f"there is no entry {identifier[:40]!r} in this run")
    entry = opened.records[place[0]].entries[place[1]]
    back = of_run(opened.run.id, at=entry.id, at_=entry.id)
    return _page(entry.id, opened.run.id, title_of(entry), entry.text, start, back, ("runs", opened.run.id, "exhibits"))


def look_page(judgment: Judgment, identifier: str, start: int) -> ExhibitPage:
    """A part of what a look brought. Raises InputError if the judgment has no such look."""
    look = next((each for each in judgment.looks if each.id == identifier), None)
    if look is None:
        raise InputError(f"there is no look {identifier[:40]!r} in judgment {judgment.id}")
    back = of_run(judgment.run, at=look.id, judgment=judgment.id)
    return _page(look.id, judgment.run, look.tool, look.text, start, back, ("judgments", judgment.id, "looks"))


def step_page(judgment: Judgment, name: str, start: int) -> ExhibitPage:
    """A part of an exchange: what was told, thought and said. Raises InputError if the judgment has no such exchange."""
    names = [name_of_step(judgment, number) for number in range(1, len(judgment.steps) + 1)]
    if name not in names:
        raise InputError(f"there is no exchange {name[:40]!r} in judgment {judgment.id}")
    number = names.index(name) + 1
    step = judgment.steps[number - 1]
    told = step.told or request_not_kept(judgment, number)
    parts = (("Told", told), ("Reasoning", step.reasoning), ("Said", step.said), ("Refused", "\n".join(step.refused)))
    text = "\n\n".join(f"--- {title}\n\n{part}" for title, part in parts if part)
    back = of_run(judgment.run, at=name, judgment=judgment.id)
    return _page(name, judgment.run, f"exchange {number}", text, start, back, ("judgments", judgment.id, "steps"))


def _page(identifier: str, run: str, title: str, text: str, start: int, back: Markup, path: tuple[str, ...]) -> ExhibitPage:
    start = min(start - start % PART, len(text))
    end = min(len(text), start + PART)
    last = -(-len(text) // PART)
    return ExhibitPage(
        id=identifier,
        run=run,
        title=title,
        size=size(len(text.encode("utf-8", "surrogatepass"))),
        part=f"part {start // PART + 1} of {last}" if last > 1 else None,
        text=shown(text[start:end]),
        back=back,
        before=address(*path, identifier, start=start - PART) if start else None,
        after=address(*path, identifier, start=end) if end < len(text) else None,
    )
