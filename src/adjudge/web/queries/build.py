"""What would come of a run that is being built, and starting it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from adjudge.agents.connections import Connection, connections
from adjudge.agents.installed import is_there
from adjudge.errors import AdjudgeError, InputError
from adjudge.passes.values import Estimate
from adjudge.rubric import Rubric
from adjudge.store.rubrics import rubric_rows
from adjudge.store.spent import Spent, spent_by
from adjudge.web.site import Site
from adjudge.wiring.building import Build, command_of, folder_of, keep_files, rubric_of, settings_for, task_text, told_of
from adjudge.wiring.built import Fault, estimate_of, faults_of, name_of_model
from adjudge.wiring.inputs import shipped_rubrics
from adjudge.wiring.planning import Asked

KEPT = 12
"""Rubrics of criteria that are offered, the latest."""


class Offered(msgspec.Struct, frozen=True):
    """A rubric of criteria that can be chosen. `judgments` is `None` of one that comes with adjudge."""

    hash: str
    name: str
    criteria: int
    judgments: int | None


class Prospect(msgspec.Struct, frozen=True):
    """What would happen, and what is wrong.

    `spent` is of each agent that was chosen. The task and the command are those that `adjudge run` would be given.
    """

    faults: tuple[Fault, ...]
    rubric: Rubric | None
    judgments: int
    judging: Estimate | None
    spent: tuple[Spent | None, ...]
    task: str
    command: str


def offered(site: Site, wanted: str | None) -> tuple[Offered, ...]:
    """The rubrics that a run can be judged by: the latest kept of each name, those of adjudge, and the one wanted."""
    names: dict[str, Offered] = {}
    rows = [row for row in rubric_rows(site.store) if row.criteria]
    for row in sorted(rows, key=lambda row: row.hash != wanted):
        names.setdefault(row.name, Offered(row.hash, row.name, row.criteria, row.judgments))
    kept = {each.hash for each in names.values()}
    shipped = [Offered(each.hash, each.name, len(each.criteria), None) for each in shipped_rubrics() if each.criteria]
    return (*list(names.values())[:KEPT], *(each for each in shipped if each.hash not in kept))


def installed(environment: Mapping[str, str]) -> tuple[tuple[Connection, bool], ...]:
    """The shipped agents, and whether a program of the name is in PATH."""
    return tuple((connection, is_there(connection, environment)) for connection in connections())


def prospect_of(site: Site, build: Build) -> Prospect:
    """What would happen; nothing is started or kept. In no event loop."""
    settings = settings_for(build, site.settings)
    rubric = _rubric(site, build)
    judgments = max(1, len(build.agents)) * (build.attempts or 1)
    try:
        folder = folder_of(build, settings, rubric)
        command = command_of(told_of(build, folder, rubric), build)
    except InputError:  # among the faults
        command = ""
    return Prospect(
        faults_of(build, settings, site.store),
        rubric,
        judgments,
        _estimate(site, build, rubric, judgments),
        tuple(_spent(site, each.agent, each.model) for each in build.agents),
        task_text(build),
        command,
    )


def require_started(site: Site, build: Build) -> tuple[Asked, Rubric | None]:
    """What is to be asked for, its files kept. In no event loop.

    Raises:
        InputError: something is wrong; the message says all of it.
        OutsideError: the files could not be kept.
    """
    faults = faults_of(build, site.settings, site.store)
    if faults:
        raise InputError("\n".join(f"{fault.agent}: {fault.words}" if fault.agent else fault.words for fault in faults))
    rubric = rubric_of(build, site.store)
    folder = folder_of(build, site.settings, rubric)
    keep_files(folder, build, rubric)
    return told_of(build, folder, rubric), rubric


def _rubric(site: Site, build: Build) -> Rubric | None:
    try:
        return rubric_of(build, site.store)
    except AdjudgeError:  # among the faults
        return None


def _estimate(site: Site, build: Build, rubric: Rubric | None, judgments: int) -> Estimate | None:
    if rubric is None:
        return None
    try:
        return estimate_of(rubric, settings_for(build, site.settings), site.store, judgments)
    except InputError:  # among the faults
        return None


def _spent(site: Site, agent: str, model: str | None) -> Spent | None:
    name = name_of_model(model, site.settings) if model else None
    return None if model and name is None else spent_by(site.store, agent, name)
