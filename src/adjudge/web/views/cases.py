"""The worst cases on the page of results: each with the words it rests on, and the way to the run at that very place."""

from __future__ import annotations

import msgspec
from markupsafe import Markup

from adjudge.exports.html.verdicts import CAUSES
from adjudge.exports.scores import figure
from adjudge.passes.worst import Case
from adjudge.rubric import Criterion, Dimension
from adjudge.untrusted import one_line
from adjudge.web.addresses import of_run
from adjudge.web.text import with_code
from adjudge.web.views.dimensions import drawn_value


class CaseView(msgspec.Struct, frozen=True):
    """A case. `scale` draws a score's value; of a fail `figure` says whose doing it is. `quoted` leads to the words."""

    href: Markup
    run: str
    about: str
    scale: Markup | None
    figure: str
    words: Markup
    exhibit: str | None
    quote: str | None
    quoted: Markup | None


def case_view(case: Case, item: Criterion | Dimension) -> CaseView:
    """A case as the page shows it."""
    scored = isinstance(item, Dimension)
    anchor = f"{'d' if scored else 'v'}{case.number}"
    quoted = None
    if case.exhibit is not None:
        at = None if case.exhibit.startswith("L") else case.exhibit
        quoted = of_run(case.run, at=f"{anchor}c{case.citation}", at_=at, judgment=case.judgment)
    return CaseView(
        href=of_run(case.run, at=anchor, judgment=case.judgment),
        run=one_line(case.task or case.run, 80),
        about=", ".join(one_line(part, 60) for part in (case.agent or "unknown agent", case.model, case.outcome) if part),
        scale=drawn_value(case.value, item) if isinstance(item, Dimension) and case.value is not None else None,
        figure=figure(case.value) if scored else CAUSES.get(case.cause or "", "decided by a probe"),
        words=with_code(case.words),
        exhibit=case.exhibit,
        quote=case.quote,
        quoted=quoted,
    )
