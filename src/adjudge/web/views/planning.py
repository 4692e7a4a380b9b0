"""The page that plans a pass: what is asked for, what would be judged, what that may cost, and what starts it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from markupsafe import Markup

from adjudge.passes.estimate import rounded
from adjudge.web.addresses import address
from adjudge.web.queries.passes import Planned
from adjudge.web.queries.rubrics import RubricList
from adjudge.web.text import counted
from adjudge.web.views.facts import Facts
from adjudge.web.views.judging import RubricOption, rubric_options
from adjudge.web.views.parts import Notice
from adjudge.web.views.passes import StratumLine, drawn_words, range_of, strata_lines

AT_ONCE = 16
"""Judgments at a time, if nothing else is said; as `adjudge pass start`."""


class PlanForm(msgspec.Struct, frozen=True):
    """What is asked for, as it was typed; `always` has a pattern a line."""

    rubric: str = ""
    model: str = ""
    quota: str = ""
    share: str = ""
    always: str = ""
    seed: str = "0"
    again: bool = False


class PlanView(msgspec.Struct, frozen=True):
    """A plan: `cost` is the likely amount or a word, `start` what the button says, `None` if nothing can be started."""

    fingerprint: str
    rubric: str
    rubric_href: Markup
    facts: Facts
    strata: tuple[StratumLine, ...]
    cost: str
    range: str
    told: str
    notices: tuple[Notice, ...]
    start: str | None
    quota: str
    share: str
    always: tuple[str, ...]
    seed: str


class PlanPage(msgspec.Struct, frozen=True):
    """Everything on the page. `fault` says what of the form cannot be used."""

    form: PlanForm
    rubrics: tuple[RubricOption, ...]
    model_from: str
    fault: str | None
    plan: PlanView | None
    at_once: int
    under_way: Markup | None


def plan_page(
    form: PlanForm,
    rubrics: RubricList,
    model: str | None,
    planned: Planned | None,
    fault: str | None,
    missing: str | None,
    under_way: str | None,
) -> PlanPage:
    """The page; `model` is the server's own, `missing` why the chosen one cannot be asked."""
    return PlanPage(
        form=form if form.model else msgspec.structs.replace(form, model=model or ""),
        rubrics=rubric_options(rubrics, form.rubric or None),
        model_from="as ADJUDGE_MODEL says" if model else "none is named in ADJUDGE_MODEL",
        fault=fault,
        plan=_plan(planned, form, missing, under_way) if planned else None,
        at_once=AT_ONCE,
        under_way=address("passes", under_way) if under_way and under_way.startswith("p-") else None,
    )


def _plan(planned: Planned, form: PlanForm, missing: str | None, under_way: str | None) -> PlanView:
    sampling, estimate = planned.sampling, planned.estimate
    asked_nobody = planned.judge.model is None and estimate.most == 0
    startable = planned.selected and (missing is None or asked_nobody) and under_way is None
    return PlanView(
        fingerprint=planned.fingerprint,
        rubric=planned.rubric,
        rubric_href=address("rubrics", planned.rubric_hash),
        facts=(
            ("judge", " ".join(part for part in (planned.judge.kind, planned.judge.model) if part)),
            ("drawn", drawn_words(sampling.quota, sampling.share, sampling.always, sampling.seed, planned.again)),
            ("plan", planned.fingerprint),
        ),
        strata=strata_lines(planned.strata),
        cost="not known" if estimate.likely is None else rounded(estimate.likely),
        range=range_of(estimate),
        told=f"{planned.told[:1].upper()}{planned.told[1:]}.",
        notices=tuple(_notices(planned, None if asked_nobody else missing, under_way)),
        start=_start(planned) if startable else None,
        quota="" if sampling.quota is None else str(sampling.quota),
        share=form.share,
        always=sampling.always,
        seed=str(sampling.seed),
    )


def _start(planned: Planned) -> str:
    likely = planned.estimate.likely
    price = "at a cost that is not known" if likely is None else "for $0" if likely == 0 else f"for about {rounded(likely)}"
    return f"Judge {counted(planned.selected, 'run')} {price}"


def _notices(planned: Planned, missing: str | None, under_way: str | None) -> Iterator[Notice]:
    for pattern in planned.unmatched:
        yield Notice("warn", "no such stratum", f"{pattern}: no run is of this harness and outcome. It may be misspelt.")
    if missing:
        yield Notice("fail", "no model to judge with", missing)
    if not planned.selected:
        done = any(stratum.judged for stratum in planned.strata)
        why = "This judge has judged them all with this rubric already." if done else "No stratum holds a run to draw."
        yield Notice("none", "nothing to judge", why)
    if under_way is not None:
        yield Notice("warn", "a pass is under way", "One at a time: wait until it has ended, or stop it.")
