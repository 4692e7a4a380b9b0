"""The reference says what the code has, all of it and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import typer

from adjudge.agents.connections import Connection, command_connection, connections
from adjudge.agents.tasks import KEYS as KEYS_OF_TASKS
from adjudge.agents.tasks import Grader, Place
from adjudge.cli.app import app
from adjudge.evidence import Citation, Holding, Look
from adjudge.exports.table import Row
from adjudge.importers.sniff import IMPORTERS
from adjudge.judgment import (
    Answer,
    Call,
    CauseAnswer,
    CauseFound,
    DimensionAnswer,
    Judge,
    Judgment,
    Omitted,
    Prepared,
    Score,
    Steering,
    Step,
    Tampering,
    Verdict,
)
from adjudge.record import Usage
from adjudge.settings import BASE_URLS, KEYS, AgentLimits, MachineLimits, Settings, read_settings

from .pages import DOCS, code, rows, sections

REFERENCE = DOCS / "reference"


# --- the command line


Command = Any
"""A command of the parser that Typer carries inside of it, whose types are private."""


def commands(group: Command, words: tuple[str, ...] = ("adjudge",)) -> Iterator[tuple[str, Command]]:
    """Every command with its words, the groups that only hold others left out."""
    inner = getattr(group, "commands", {})
    if not inner or len(words) == 1 or group.invoke_without_command:
        yield " ".join(words), group
    for name, command in inner.items():
        yield from commands(command, (*words, name))


COMMANDS = dict(commands(typer.main.get_command(app)))


def parameters(command: Command) -> set[str]:
    """The names of its options and arguments, without those that its help does not show either."""
    names: set[str] = set()
    for parameter in command.params:
        if getattr(parameter, "hidden", False):
            continue
        names |= set(parameter.opts) if parameter.param_type_name == "option" else {str(parameter.name)}
    return names - {"--help"}


def test_each_command_has_its_section() -> None:
    assert {name for name in sections(REFERENCE / "cli.md") if name.split()[0] == "adjudge"} == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_section_names_its_options_and_no_other(name: str) -> None:
    told = {piece for row in rows(sections(REFERENCE / "cli.md")[name]) for piece in code(row[0])}
    assert told == parameters(COMMANDS[name])


# --- settings


def defaults() -> dict[str, str]:
    """The variables of the settings, with what the page must say is their default."""
    own = {f"ADJUDGE_{name.upper()}": value for name, value in msgspec.structs.asdict(Settings()).items()}
    for name in ("MACHINE", "KEYS", "BASE_URLS"):
        del own[f"ADJUDGE_{name}"]
    limits = msgspec.structs.asdict(MachineLimits())
    own |= {f"ADJUDGE_MACHINE_{name.upper()}": value for name, value in limits.items()}
    return {name: "none" if value in (None, ()) else f"`{_written(value)}`" for name, value in own.items()}


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_each_setting_is_told_with_its_default() -> None:
    found = sections(REFERENCE / "settings.md")
    told = rows(found["Judging"]) + rows(found["Limits of commands on the machine"])
    assert {code(row[0])[0]: row[1] for row in told} == defaults()


@pytest.mark.parametrize("name", defaults())
def test_each_variable_of_the_page_is_read(name: str) -> None:
    values = {"ADJUDGE_MASK": "false", "ADJUDGE_PRUNE": "full", "ADJUDGE_EXPOSE": "/opt/tools"}
    assert read_settings({name: values.get(name, "7")}) != read_settings({})


def test_each_variable_of_a_provider_is_told() -> None:
    told = rows(sections(REFERENCE / "settings.md")["Keys and addresses of providers"])
    assert [code(row[0])[0] for row in told] == [*KEYS, *BASE_URLS]


# --- formats


def test_each_format_has_its_section() -> None:
    told = [name for name in sections(REFERENCE / "formats.md") if name in {importer.name for importer in IMPORTERS}]
    assert sorted(told) == sorted(importer.name for importer in IMPORTERS)


def test_the_table_of_formats_names_each() -> None:
    told = [code(row[0])[0] for row in rows(sections(REFERENCE / "formats.md")["What each can tell"])]
    assert sorted(told) == sorted(importer.name for importer in IMPORTERS if importer.name not in ("run folder", "harbor"))


# --- tasks and agents


def defaults_of(text: str) -> dict[str, str]:
    """What a table says of each key's default."""
    return {code(row[0])[0]: row[1] for row in rows(text)}


def test_each_key_of_a_task_is_told() -> None:
    page = sections(REFERENCE / "task.md")
    assert [code(row[0])[0] for row in rows(page["Task file"])] == list(KEYS_OF_TASKS)
    assert [code(row[0])[0] for row in rows(page["machine"])] == list(Place.__struct_fields__)
    assert list(defaults_of(page["grader"])) == list(Grader.__struct_fields__)
    assert defaults_of(page["grader"])["seconds"] == f"`{Grader('true').seconds}`"


def test_each_limit_of_a_task_is_told_with_its_default() -> None:
    limits = msgspec.structs.asdict(AgentLimits())
    told = defaults_of(sections(REFERENCE / "task.md")["limits"])
    assert told == {name: f"`{value}`" for name, value in limits.items()}


def test_each_key_of_a_connection_is_told() -> None:
    told = defaults_of(sections(REFERENCE / "agent.md")["A connection"])
    assert list(told) == list(Connection.__struct_fields__)


def test_each_agent_is_told_with_its_program_format_and_record() -> None:
    told = [[code(cell)[0] for cell in row[:4]] for row in rows(sections(REFERENCE / "agent.md")["What is shipped"])]
    shipped = [[each.name, each.program, each.speaks, each.records[0]] for each in connections()]
    assert [row for row in told if row[0] in {each[0] for each in shipped}] == shipped


def test_each_variable_of_a_command_is_told() -> None:
    for formats, variables in rows(sections(REFERENCE / "agent.md")["What is shipped"])[len(connections()) :]:
        for wire in code(formats):
            connection = command_connection(["agent"], speaks=wire)  # type: ignore[arg-type]  # the page's word
            assert list(connection.environment) == code(variables)


# --- a judgment's fields

STRUCTS = (
    *(Judgment, Judge, Verdict, Holding, Citation, Answer, Look, Step, Call, Usage, Steering, Tampering),
    *(Score, CauseFound, DimensionAnswer, CauseAnswer, Prepared, Omitted),
)


@pytest.mark.parametrize("struct", STRUCTS, ids=lambda struct: struct.__name__)
def test_each_field_of_a_judgment_is_told(struct: type[msgspec.Struct]) -> None:
    told = [code(row[0])[0] for row in rows(sections(REFERENCE / "judgment.md")[struct.__name__])]
    assert sorted(told) == sorted(struct.__struct_fields__)


def test_no_other_value_is_told() -> None:
    named = {name for name in sections(REFERENCE / "judgment.md") if name.isidentifier() and name[0].isupper()}
    assert named == {struct.__name__ for struct in STRUCTS} | {"Example"}


def test_every_page_of_the_reference_is_in_the_contents() -> None:
    contents = (DOCS / "README.md").read_text("utf-8")
    assert [page for page in sorted(REFERENCE.glob("*.md")) if f"reference/{page.name}" not in contents] == []


# --- the table of a pass


def test_each_column_of_a_passs_table_is_told_in_its_order() -> None:
    told = [code(row[0])[0] for row in rows(sections(REFERENCE / "exports.md")["The table of a pass"])]
    assert told == [field.encode_name for field in msgspec.structs.fields(Row)]
