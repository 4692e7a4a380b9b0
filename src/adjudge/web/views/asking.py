"""The pages of asking: the question's form, and an answer in statements, each with what it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from markupsafe import Markup

from adjudge.asking.values import Argument, Asking, Holding, Look, Progress, Statement, Untold
from adjudge.store.found import Totals
from adjudge.untrusted import one_line
from adjudge.web.addresses import address, of_run
from adjudge.web.jobs import JobFacts
from adjudge.web.text import block_of, clock, counted, money, when, with_code
from adjudge.web.views.facts import Facts

EXAMPLES = (
    "Which agent resolves most, and how sure is that?",
    "What do the runs that were not resolved end with?",
    "Which criterion fails most often, and whose doing is it?",
    "Which runs say that all tests pass although a test run failed?",
    "What did judging cost, by rubric?",
)

Places = Mapping[str, tuple[str, str]]
"""Of each judgment that is cited, by `j-…` or `j-…/item`: its run, and the anchor of the item's card on the run's page."""


class AskPage(msgspec.Struct, frozen=True):
    """The form. `wrong` says why nothing can be asked now, `earlier` are this server's askings, each with its time."""

    question: str
    model: str
    scope: str
    examples: tuple[tuple[str, Markup], ...]
    wrong: str | None
    earlier: tuple[tuple[JobFacts, str], ...]


def ask_page(question: str, model: str | None, held: Totals, wrong: str | None, jobs: Iterable[JobFacts]) -> AskPage:
    """The form, with a question that an address may have brought."""
    parts = (counted(held.runs, "run"), counted(held.judgments, "judgment"), counted(held.passes, "pass", "passes"))
    return AskPage(
        question=question,
        model=model or "",
        scope=", ".join(parts),
        examples=tuple((each, address("ask", q=each)) for each in EXAMPLES),
        wrong=wrong,
        earlier=tuple((job, when(job.began)) for job in jobs if job.kind == "ask"),
    )


class CiteLine(msgspec.Struct, frozen=True):
    """What a statement points at: the exhibit, what it is, its words, and where they stand."""

    exhibit: str
    href: Markup | None
    what: str
    quote: str
    caution: str | None
    fault: str | None


class StatementView(msgspec.Struct, frozen=True):
    """A statement; `fault` says why it does not stand."""

    text: Markup
    cites: tuple[CiteLine, ...]
    fault: str | None


class AskedLook(msgspec.Struct, frozen=True):
    """A look in full."""

    id: str
    asked: str
    facts: tuple[str, ...]
    failed: bool
    took: str
    text: Markup | None


class AnswerPage(msgspec.Struct, frozen=True):
    """An answer: what stands, what the store does not tell, what does not stand, and what it took."""

    sign: str
    stands: str
    reason: str | None
    statements: tuple[StatementView, ...]
    untold: tuple[StatementView, ...]
    unsupported: tuple[StatementView, ...]
    steering: tuple[CiteLine, ...]
    looks: tuple[AskedLook, ...]
    account: Facts


def answer_page(asking: Asking, places: Places) -> AnswerPage:
    """The page of an asking."""
    looks = {look.id: look for look in asking.looks}
    sign, stands = {
        "answered": ("pass", "answered"),
        "unanswered": ("warn", "nothing stands"),
        "errored": ("fail", "no answer"),
    }[asking.status]
    return AnswerPage(
        sign=sign,
        stands=stands,
        reason=asking.reason,
        statements=tuple(_view(each, looks, places) for each in asking.statements),
        untold=tuple(_view(each, looks, places) for each in asking.untold),
        unsupported=tuple(_view(each, looks, places) for each in asking.unsupported),
        steering=tuple(
            CiteLine(each.exhibit, _href(each.exhibit, looks, places), each.sign, each.excerpt, None, None)
            for each in asking.steering
        ),
        looks=tuple(map(_look, asking.looks)),
        account=tuple(_account(asking)),
    )


def cited_judgments(asking: Asking) -> Sequence[str]:
    """The exhibits of an asking that are judgments or items of them."""
    said = [each for each in (*asking.statements, *asking.unsupported) if isinstance(each, Statement)]
    exhibits = [holding.citation.exhibit for each in said for holding in each.holdings]
    return [each for each in dict.fromkeys((*exhibits, *(sign.exhibit for sign in asking.steering))) if each[:2] == "j-"]


def step_words(progress: Progress) -> tuple[str, str]:
    """What an asking is at, as a step of its job: a line, and what a look brought."""
    look = progress.look
    if look is None:
        return (f"Asks the model, having used {progress.used} of {counted(progress.most, 'look')}", "")
    return (one_line(f"{look.id} {_asked(look)}: {'; '.join(look.facts)}", 300), look.text)


def _view(each: Statement | Untold, looks: Mapping[str, Look], places: Places) -> StatementView:
    if isinstance(each, Statement):
        cites = tuple(_cite(holding, looks, places) for holding in each.holdings)
    else:
        cites = tuple(
            CiteLine(name, _href(name, looks, places), _asked(looks[name]), "; ".join(looks[name].facts), None, None)
            for name in each.looks
            if name in looks
        )
    return StatementView(with_code(each.text), cites, each.fault)


def _cite(holding: Holding, looks: Mapping[str, Look], places: Places) -> CiteLine:
    exhibit = holding.citation.exhibit
    look = looks.get(exhibit)
    return CiteLine(
        exhibit=exhibit,
        href=_href(exhibit, looks, places),
        what=_asked(look) if look else holding.what,
        quote=holding.citation.quote or holding.shown,
        caution="these words speak to a judge" if holding.sign else None,
        fault=holding.fault,
    )


def _href(exhibit: str, looks: Mapping[str, Look], places: Places) -> Markup | None:
    """The place on this page or on a run's, `None` if there is none."""
    owner, _, rest = exhibit.partition("/")
    if exhibit in looks:
        return Markup("#{}").format(exhibit)
    if exhibit in places:
        run, anchor = places[exhibit]
        return of_run(run, at=anchor, judgment=owner)
    if owner.startswith("r-"):
        return of_run(owner, at=rest, at_=rest)
    return None


def _look(look: Look) -> AskedLook:
    text = block_of(look.text).html if look.text else None
    return AskedLook(look.id, _asked(look), look.facts, look.failed, clock(look.seconds), text)


def _asked(look: Look) -> str:
    """A look's tool, and what it was asked for."""
    given = (f"{name} {_plainly(value)}" for name, value in look.arguments.items() if value not in (0, False, None))
    return one_line(", ".join([look.tool, *given]), 300)


def _plainly(value: Argument) -> str:
    return " and ".join(value) if isinstance(value, tuple) else str(value)


def _account(asking: Asking) -> Iterator[tuple[str, str]]:
    yield "model", asking.model or "none was asked"
    yield "cost", money(asking.cost)
    yield "looks", str(sum(look.id != "L0" for look in asking.looks))
    yield "calls to the model", str(len(asking.calls))
    yield "decided", {"forced": "forced, when its bounds were reached", "freely": "freely"}.get(asking.decided or "", "not")
    yield "credentials masked", str(asking.masked)
    yield "time", clock(asking.seconds)
