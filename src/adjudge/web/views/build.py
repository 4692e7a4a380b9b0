"""The page on which a run is built, and what it says at the right while fields are filled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from markupsafe import Markup

from adjudge.agents.comparison import Result
from adjudge.agents.connections import Connection
from adjudge.passes.estimate import rounded
from adjudge.passes.values import Estimate
from adjudge.rubric import Rubric
from adjudge.settings import AgentLimits, Settings
from adjudge.untrusted import shown
from adjudge.web.addresses import address, of_run
from adjudge.web.queries.build import Offered, Prospect
from adjudge.web.text import clock, counted
from adjudge.wiring.building import NONE, Build, name_of
from adjudge.wiring.built import Fault
from adjudge.wiring.keys import KeyFound

Facts = tuple[tuple[str, str], ...]

WITHOUT = (
    "Whether the agent's own process succeeded is all that is judged: no evaluator looks, no key is needed, and "
    "no score is given. For a first try of an agent."
)
"""What it means to choose no rubric."""


class AgentOption(msgspec.Struct, frozen=True):
    """An agent that can be chosen; `there` says that its program is in PATH."""

    name: str
    command: str
    takes_model: bool
    there: bool
    install: str


class RubricOption(msgspec.Struct, frozen=True):
    """A rubric that can be chosen."""

    hash: str
    name: str
    href: Markup
    words: str
    chosen: bool


class BuildPage(msgspec.Struct, frozen=True):
    """Everything on the page. `model` judges if none is named; `keys` says whose are there."""

    agents: tuple[AgentOption, ...]
    rubrics: tuple[RubricOption, ...]
    none: bool
    without: str
    model: str
    keys: str
    limits: AgentLimits
    looks: int
    open: bool


class Amount(msgspec.Struct, frozen=True):
    """A figure and what it rests on, or a word and why nothing is known."""

    figure: str
    words: str


class BuildCheck(msgspec.Struct, frozen=True):
    """What would come of a build: every fault by its field, what would happen, what it may cost, and the same by hand."""

    faults: tuple[Fault, ...]
    happens: Facts
    judging: Amount
    agent: Amount
    task: str
    command: str


def build_page(
    known: Sequence[tuple[Connection, bool]],
    rubrics: Sequence[Offered],
    wanted: str | None,
    settings: Settings,
    keys: Sequence[KeyFound],
    locked: bool,
) -> BuildPage:
    """The page; `wanted` is the hash of a rubric that is chosen already, `locked` says that nothing can be started."""
    options = tuple(_rubric(each, wanted) for each in rubrics)
    used = [f"{row.provider} ({row.source})" for row in keys if row.used]
    return BuildPage(
        agents=tuple(_agent(connection, there) for connection, there in sorted(known, key=lambda each: not each[1])),
        rubrics=options,
        none=not any(option.chosen for option in options),
        without=WITHOUT,
        model=settings.model or "",
        keys=", ".join(used),
        limits=AgentLimits(),
        looks=settings.looks,
        open=not locked,
    )


def _agent(connection: Connection, there: bool) -> AgentOption:
    command = " ".join((connection.program, *connection.arguments))
    return AgentOption(connection.name, command, connection.speaks is not None, there, connection.about)


def _rubric(offer: Offered, wanted: str | None) -> RubricOption:
    used = f"used by {counted(offer.judgments, 'judgment')}" if offer.judgments else "used by no judgment yet"
    used = "comes with adjudge" if offer.judgments is None else used
    words = f"{counted(offer.criteria, 'criterion', 'criteria')}, {used}"
    return RubricOption(offer.hash, offer.name, address("rubrics", offer.hash), words, offer.hash == wanted)


# --- what will happen


def build_check(build: Build, prospect: Prospect, settings: Settings) -> BuildCheck:
    """What is said of a build."""
    return BuildCheck(
        tuple(msgspec.structs.replace(fault, words=shown(fault.words)) for fault in prospect.faults),
        tuple((name, shown(words)) for name, words in _happens(build, prospect, settings)),
        _judging(build, prospect, settings),
        _agents(build, prospect),
        shown(prospect.task),
        shown(prospect.command),
    )


def _happens(build: Build, prospect: Prospect, settings: Settings) -> Iterator[tuple[str, str]]:
    yield "task", name_of(build)
    whos = [f"{each.agent} on {each.model}" if each.model else each.agent for each in build.agents]
    yield "agents" if len(whos) > 1 else "agent", "\n".join(whos) or "none chosen"
    yield "attempts", _attempts(build, prospect)
    yield "machine", _machine(build)
    yield "stops after", clock(build.seconds or AgentLimits().seconds)
    if build.grader:
        yield "graded by", build.grader
    yield "judged by", _judged(prospect.rubric, build, settings)
    yield "workspace", "its copy is kept in the store" if build.keep else "no copy is kept"


def _attempts(build: Build, prospect: Prospect) -> str:
    if not build.agents or prospect.judgments == 1:
        return "1"
    at_once = f"{build.jobs} at a time" if build.jobs and build.jobs > 1 else "one after another"
    return f"{prospect.judgments}, {at_once}"


def _machine(build: Build) -> str:
    files = {"none": "nothing in its workspace", "folder": f"a view of {build.folder or '…'}"}
    files["git"] = f"{build.git or '…'} at {build.commit or '…'}"
    where = f"a container of {build.image}" if build.image else "a sandbox"
    found = "" if build.image and build.files == "none" else f", {files[build.files]}"
    return f"{where}{found}; no network but its model, gone after judging"


def _judged(rubric: Rubric | None, build: Build, settings: Settings) -> str:
    if rubric is None:
        return "the end of its process alone" if build.rubric == NONE else "the rubric is missing"
    probes = sum(criterion.probe is not None for criterion in rubric.criteria)
    criteria = counted(len(rubric.criteria), "criterion", "criteria")
    if probes == len(rubric.criteria):
        return f"{criteria} of {rubric.name}, all probes: no model is asked"
    looks = build.looks or settings.looks
    return f"{criteria} of {rubric.name}, by the evaluator on {settings.model or 'no model'}, at most {looks} looks"


def _judging(build: Build, prospect: Prospect, settings: Settings) -> Amount:
    if prospect.rubric is None:
        return Amount("$0", "No model is asked.") if build.rubric == NONE else Amount("not known", "No rubric is chosen.")
    estimate = prospect.judging
    if estimate is None:
        why = "The model's name stands for none." if settings.model else "No model is named to judge with."
        return Amount("not known", why)
    limit = f" Each judgment stops before {rounded(settings.budget)}." if settings.budget else ""
    return msgspec.structs.replace(amount := _amount(estimate), words=amount.words + limit)


def _amount(estimate: Estimate) -> Amount:
    if estimate.least is None or estimate.likely is None or estimate.most is None:
        why = "no price is known for the model" if not estimate.priced else "this model has judged nothing here yet"
        return Amount("not known", f"{why[0].upper()}{why[1:]}.")
    if estimate.most == 0:
        return Amount("$0", "No model is asked." if not estimate.tokens_in else "The model costs nothing.")
    from_to = f"{rounded(estimate.least)} to {rounded(estimate.most)}"
    return Amount(
        rounded(estimate.likely), f"{from_to}, from {counted(estimate.sampled, 'earlier judgment')} by this model."
    )


def _agents(build: Build, prospect: Prospect) -> Amount:
    known = [spent for spent in prospect.spent if spent]
    if not build.agents or len(known) < len(build.agents):
        return Amount("not known", "What an agent asks of its model cannot be known before; no earlier run here tells.")
    total = sum(spent.mean for spent in known) * (build.attempts or 1)
    runs = counted(sum(spent.runs for spent in known), "earlier run")
    return Amount(rounded(total), f"The mean of {runs} with the same model, whatever the task was.")


# --- where it leads


def href_of(results: Sequence[Result], rubric: Rubric | None, build: Build) -> Markup | None:
    """The page of what came of it: the run, or of several the comparison, or their list; `None` if nothing was made."""
    made = [result for result in results if result.run]
    if len(results) == 1 and made:
        return of_run(made[0].run or "")
    if not made:
        return None
    return address("compare", rubric=rubric.hash) if rubric else address("runs", task=name_of(build))
