"""The page that compares agents: a matrix of agents and measures, and how far two of them, or each and one, are apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
from markupsafe import Markup

from adjudge.passes.comparing import Agent, AgentComparison, Contrast
from adjudge.passes.observing import OVERALL, Measure
from adjudge.rubric import Rubric
from adjudge.store.judged import JudgeCount
from adjudge.untrusted import one_line
from adjudge.web.addresses import address
from adjudge.web.text import counted, with_code
from adjudge.web.views.bars import interval_bar, share_bar
from adjudge.web.views.runs import Option

COLUMNS = 5
"""Agents that have a column without having been asked for."""


class Apart(msgspec.Struct, frozen=True):
    """A difference: drawn, as a figure, its interval in words, and what it rests on."""

    svg: Markup
    figure: str
    interval: str
    rests_on: str
    told: bool


class MatrixCell(msgspec.Struct, frozen=True):
    """What an agent comes to by a measure. `bar` is there for a share, `href` opens the evidence of two runs."""

    figure: str
    bar: Markup | None
    href: Markup | None
    label: str
    apart: Apart | None


class MatrixRow(msgspec.Struct, frozen=True):
    """A measure; `overall` ones are of the whole judgment."""

    name: str
    text: Markup
    what: str
    overall: bool
    cells: tuple[MatrixCell, ...]
    apart: Apart | None


class AgentHead(msgspec.Struct, frozen=True):
    """A column: the letter by which an agent is named, and how many of its runs count."""

    letter: str
    name: str
    counts: str


class MatrixPage(msgspec.Struct, frozen=True):
    """Everything on the page. With `each` every agent is held against `against`, else `first` alone is."""

    title: str
    rubric: str
    sentences: tuple[str, ...]
    warning: str | None
    hidden: tuple[tuple[str, str], ...]
    judges: tuple[Option, ...]
    agents: tuple[Option, ...]
    firsts: tuple[Option, ...]
    againsts: tuple[Option, ...]
    heads: tuple[AgentHead, ...]
    pair: str
    each: bool
    rows: tuple[MatrixRow, ...]


class Asked(msgspec.Struct, frozen=True):
    """What was asked for: which judgments (`query` is how an address says it), which agents, and which difference."""

    query: Mapping[str, str | Sequence[str]]
    judges: Sequence[JudgeCount]
    judge: str
    shown: Sequence[str]
    first: str
    against: str


def matrix_page(compared: AgentComparison, contrasts: Sequence[Contrast], rubric: Rubric, asked: Asked) -> MatrixPage:
    """The page. `compared` has every agent, `contrasts` only those differences that are shown."""
    agents = [agent for agent in compared.agents if agent.who in asked.shown]
    letters = {agent.who: chr(ord("A") + at) for at, agent in enumerate(agents)}
    rows = tuple(_rows(compared.measures, agents, letters, contrasts, rubric, asked))
    items = counted(
        len(rubric.dimensions or rubric.criteria), *(("dimension",) if rubric.dimensions else ("criterion", "criteria"))
    )
    each = not asked.first
    pair = "" if not contrasts else f"{letters[asked.first]} − {letters[asked.against]}" if not each else ""
    return MatrixPage(
        title=f"{counted(len(agents), 'agent')}, {items}",
        rubric=one_line(rubric.name, 80),
        sentences=tuple(_sentences(compared, contrasts, letters, each)),
        warning="A difference between agents may be one between judges." if len(compared.judges) > 1 else None,
        hidden=tuple((name, value) for name, values in asked.query.items() if name != "judge" for value in _each(values)),
        judges=tuple(_judges(asked)),
        agents=tuple(Option(each.who, _name(each.who), each.who in asked.shown) for each in compared.agents),
        firsts=(
            *(Option(name, f"{letter} {_name(name)}", name == asked.first) for name, letter in letters.items()),
            *([Option("", "each other agent", each)] if len(letters) > 2 else []),
        ),
        againsts=tuple(Option(name, f"{letter} {_name(name)}", name == asked.against) for name, letter in letters.items()),
        heads=tuple(AgentHead(letters[agent.who], _name(agent.who), _counts(agent)) for agent in agents),
        pair=pair,
        each=each,
        rows=rows,
    )


def _each(values: str | Sequence[str]) -> Sequence[str]:
    return (values,) if isinstance(values, str) else values


def _name(who: str) -> str:
    """An agent and its model, as a person writes it."""
    agent, _, model = who.partition("=")
    return one_line(f"{agent}, {model}" if model else agent, 60)


def _counts(agent: Agent) -> str:
    partial = f", {agent.partial:,} in part" if agent.partial else ""
    return f"{agent.judged:,} of {counted(agent.runs, 'run')} judged{partial}, {counted(agent.tasks, 'task')}"


def _judges(asked: Asked) -> Iterator[Option]:
    if len(asked.judges) < 2:
        return
    for each in asked.judges:
        value = each.judge_hash or "none"
        words = (
            f"{each.kind}, {one_line(each.model or 'no model', 60)}, {value[:12]}: {counted(each.judgments, 'judgment')}"
        )
        yield Option(value, words, value == asked.judge)
    yield Option("all", "all judges together", asked.judge == "all")


# --- in words


def _sentences(
    compared: AgentComparison, contrasts: Sequence[Contrast], letters: Mapping[str, str], each: bool
) -> Iterator[str]:
    if len(compared.agents) < 2:
        yield "There is only one agent, so there is nothing to compare it with."
    elif contrasts and not each:
        yield _told_apart(contrasts, letters)
    if compared.earlier:
        yield f"{counted(compared.earlier, 'earlier judgment')} left out, since the latest of each run counts."
    if len(letters) < len(compared.agents):
        yield f"{len(compared.agents) - len(letters)} more agents are not shown; choose them below."


def _told_apart(contrasts: Sequence[Contrast], letters: Mapping[str, str]) -> str:
    items = [each for each in contrasts if each.measure.item != OVERALL and each.measure.is_share]
    apart = [each for each in items if _is_apart(each)]
    first, second = letters[contrasts[0].first], letters[contrasts[0].second]
    if not any(each.meaningful for each in items):
        return f"What {first} and {second} differ in rests on fewer than 20 tasks or runs: not yet meaningful."
    return (
        f"{first} and {second} differ beyond the interval in {len(apart)} of {len(items)}; the others are not told apart."
    )


def _is_apart(each: Contrast) -> bool:
    found = each.difference
    return each.meaningful and found.low is not None and found.high is not None and (found.low > 0 or found.high < 0)


# --- the matrix


def _rows(
    measures: Sequence[Measure],
    agents: Sequence[Agent],
    letters: Mapping[str, str],
    contrasts: Sequence[Contrast],
    rubric: Rubric,
    asked: Asked,
) -> Iterator[MatrixRow]:
    texts = {each.id: each.text for each in rubric.criteria} | {each.id: each.description for each in rubric.dimensions}
    reach = {each.id: each.scale.most - each.scale.least for each in rubric.dimensions}
    for at, measure in enumerate(measures):
        width = 1.0 if measure.is_share else reach.get(measure.item, len(rubric.dimensions) or 1.0)
        apart = {each.first: _apart(each, width) for each in contrasts if each.measure == measure}
        overall = measure.item == OVERALL
        yield MatrixRow(
            name="Overall" if overall else measure.item,
            text=with_code(measure.what if overall else texts.get(measure.item, "")),
            what=measure.what,
            overall=overall,
            cells=tuple(_cell(agent, at, measure, letters, apart, asked) for agent in agents),
            apart=apart.get(asked.first),
        )


def _cell(
    agent: Agent, at: int, measure: Measure, letters: Mapping[str, str], apart: Mapping[str, Apart], asked: Asked
) -> MatrixCell:
    mean, known = agent.means[at], agent.known[at]
    figure = "" if mean is None else f"{round(mean * known)}/{known}" if measure.is_share else f"{mean:.2f}"
    href = None
    if measure.item != OVERALL and (other := _other(agent.who, letters, asked)):
        of_pair = {**asked.query, "item": measure.item, "first": agent.who, "second": other}
        href = address("compare", "pair", at="", **of_pair)
    what = "" if measure.item == OVERALL else f" {measure.item}"
    return MatrixCell(
        figure=figure,
        bar=share_bar(mean, measure.what == "worse") if mean is not None and measure.is_share else None,
        href=href,
        label=f"{measure.what}{what}, {letters[agent.who]}: open the evidence",
        apart=apart.get(agent.who) if not asked.first else None,
    )


def _other(who: str, letters: Mapping[str, str], asked: Asked) -> str | None:
    """Beside whose run an agent's is opened."""
    if who != asked.against:
        return asked.against or None
    return asked.first or next((name for name in letters if name != who), None)


def _apart(contrast: Contrast, reach: float) -> Apart:
    found, share = contrast.difference, contrast.measure.is_share
    few = "" if contrast.meaningful else ", not yet meaningful"
    left, right = contrast.runs
    rests_on = counted(contrast.tasks, "task") if contrast.paired else f"{left:,} and {right:,} runs"
    interval = "no spread"
    if found.low is not None and found.high is not None:
        interval = f"{_signed(found.low, share)} to {_signed(found.high, share)}"
    told = _is_apart(contrast)
    drawn = interval_bar(found.value, found.low, found.high, reach, told)
    return Apart(drawn, _signed(found.value, share), interval, rests_on + few, told)


def _signed(value: float, share: bool) -> str:
    """A difference with its sign; of shares in points of a hundred."""
    text = f"{value * 100:+.0f}" if share else f"{value:+.2f}"
    return text.lstrip("+-") if not text.strip("+-0.") else text.replace("-", "−")
