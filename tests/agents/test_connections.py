"""A connection is data: read strictly, filled in once, and safe whatever the task and the model's name are."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from adjudge.agents.connections import Connection, command_connection, connections, find_connection, launch_of
from adjudge.agents.endpoints import AgentEndpoint, Wire
from adjudge.agents.installed import Installation
from adjudge.errors import InputError
from adjudge.ports import Launch

HOME, WORKSPACE = "/home/agent", "/workspace"
SHIPPED = connections()
NAMES = [connection.name for connection in SHIPPED]


def launched(
    connection: Connection, task: str = "Fix it.", model: str = "maker/model-1", path: tuple[str, ...] = ()
) -> Launch:
    """The process for a task, with a model if the agent speaks to one."""
    wire: Wire | None = connection.speaks
    endpoint = (
        AgentEndpoint("openrouter/maker/model-1", model, wire, "https://example.org/v1", "sk-secret") if wire else None
    )
    return launch_of(connection, Installation(connection.program, path=path), task, endpoint, HOME, WORKSPACE)


# --- those that are shipped


def test_six_agents_are_shipped() -> None:
    assert NAMES == ["claude-code", "codex", "gemini-cli", "mini-swe-agent", "opencode", "qwen-code"]


@pytest.mark.parametrize("connection", SHIPPED, ids=NAMES)
def test_an_agent_is_given_its_task_as_it_is_written(connection: Connection) -> None:
    task = "-x --help\n`rm` $HOME \"${model}\" ${task} \\ '' é"
    assert [argument for argument in launched(connection, task).arguments if argument.endswith(task)] != []


@pytest.mark.parametrize("connection", SHIPPED, ids=NAMES)
def test_an_agent_is_told_its_model_and_nothing_is_left_unfilled(connection: Connection) -> None:
    launch = launched(connection)
    files = {path: content.decode() for path, content in launch.files.items()}
    words = " ".join((*launch.arguments, *launch.environment.values(), *files.values()))
    assert "maker/model-1" in words
    assert "http://127.0.0.1:47113" in words
    assert "${" not in words


@pytest.mark.parametrize("connection", SHIPPED, ids=NAMES)
def test_a_key_never_goes_in_and_nothing_speaks_of_judging(connection: Connection) -> None:
    launch = launched(connection)
    assert "sk-secret" not in repr(launch)
    told = json.dumps([launch.arguments, sorted(launch.environment), [*launch.files]])
    assert not re.search("judg|evaluat", told, re.IGNORECASE)


@pytest.mark.parametrize("connection", SHIPPED, ids=NAMES)
def test_settings_are_whole_whatever_the_models_name(connection: Connection) -> None:
    for path, content in launched(connection, model="~maker/Model:free@2026+x").files.items():
        read = tomllib.loads if path.endswith(".toml") else json.loads
        assert read(content.decode())


@pytest.mark.parametrize("connection", SHIPPED, ids=NAMES)
def test_a_shipped_agent_says_how_it_is_installed_and_where_its_record_is(connection: Connection) -> None:
    assert connection.about
    assert connection.records
    assert find_connection(connection.name) == connection


# --- filling in

PLAIN = Connection("plain", "/usr/bin/agent", "chat", ("--do", "${task}", "${home}:${workspace}"), {"URL": "${url}"})


@pytest.mark.parametrize("model", ['a"b', "a\nb", "-rf", "a b", "", "a\\b", "a${key}", "x" * 256])
def test_a_models_name_that_could_break_out_of_a_file_is_refused(model: str) -> None:
    with pytest.raises(InputError, match="cannot be named to an agent"):
        launched(PLAIN, model=model)


def test_a_placeholder_is_filled_in_once() -> None:
    launch = launched(PLAIN, "${model} ${home}")
    assert launch.arguments == ("/usr/bin/agent", "--do", "${model} ${home}", "/home/agent:/workspace")
    assert launch.environment == {"URL": "http://127.0.0.1:47113/v1"}


def test_folders_of_an_installation_come_first_in_path() -> None:
    assert launched(PLAIN, path=("/opt/node/bin",)).environment["PATH"] == "/opt/node/bin:/usr/local/bin:/usr/bin:/bin"


def test_a_task_may_be_as_long_as_the_kernel_lets_an_argument_be() -> None:
    assert len(launched(PLAIN, "é" * 65_535).arguments[2].encode()) == 131_070
    with pytest.raises(InputError, match="an argument of 131072 bytes, and 131071 is the kernel's most"):
        launched(PLAIN, "é" * 65_536)


def test_a_task_with_a_nul_is_refused() -> None:
    with pytest.raises(InputError, match="holds a NUL"):
        launched(PLAIN, "a\0b")


def test_a_model_is_needed_by_those_that_speak_to_one_and_refused_by_others() -> None:
    endpoint = AgentEndpoint("x", "x", "chat", "https://example.org")
    with pytest.raises(InputError, match="agent plain: needs a model"):
        launch_of(PLAIN, Installation("/usr/bin/agent"), "Fix it.", None, HOME, WORKSPACE)
    with pytest.raises(InputError, match="agent command: takes no model"):
        launch_of(command_connection(["true"]), Installation("/bin/true"), "Fix it.", endpoint, HOME, WORKSPACE)


# --- any command


def test_a_command_is_started_as_it_is_written() -> None:
    connection = command_connection(["./agent.sh", "-c", "echo ${PATH} ${task}"], records=["log.txt"])
    launch = launched(connection, "Fix it.")
    assert launch == Launch(("/workspace/agent.sh", "-c", "echo ${PATH} Fix it."))
    assert (connection.name, connection.records, connection.speaks) == ("command", ("log.txt",), None)


@pytest.mark.parametrize(
    ("wire", "variables"),
    [
        ("chat", {"OPENAI_BASE_URL": "http://127.0.0.1:47113/v1", "OPENAI_MODEL": "maker/model-1"}),
        ("responses", {"OPENAI_BASE_URL": "http://127.0.0.1:47113/v1", "OPENAI_MODEL": "maker/model-1"}),
        ("anthropic", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:47113", "ANTHROPIC_MODEL": "maker/model-1"}),
        ("gemini", {"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:47113", "GEMINI_MODEL": "maker/model-1"}),
    ],
)
def test_a_command_finds_its_model_by_the_usual_variables(wire: Wire, variables: dict[str, str]) -> None:
    environment = launched(command_connection(["agent"], speaks=wire)).environment
    assert variables.items() <= environment.items()
    assert "sk-secret" not in environment.values()


@pytest.mark.parametrize("argv", [[], [""]])
def test_a_command_must_be_there(argv: list[str]) -> None:
    with pytest.raises(InputError, match="write the command after --"):
        command_connection(argv)


# --- a user's own

OWN = """
program: my-agent
speaks: chat
arguments: [--task, "${task}", --base, "${url}"]
"""


def own(folder: Path, text: str) -> Connection:
    """The connection in a file of a user's own."""
    (folder / "mine.yaml").write_text(text)
    return find_connection(str(folder / "mine.yaml"))


def test_a_connection_of_ones_own_is_called_by_its_file(tmp_path: Path) -> None:
    assert own(tmp_path, OWN) == Connection("mine", "my-agent", "chat", ("--task", "${task}", "--base", "${url}"))


def test_an_agent_may_have_no_model_of_ours(tmp_path: Path) -> None:
    assert own(tmp_path, "program: /opt/x/run\nspeaks: none\narguments: ['${task}']\nversion: []\n").speaks is None


REFUSED = {
    "- x\n": "must be a mapping with program, speaks and arguments, got a list",
    "program: x\nspeaks: chat\n": '"arguments" is missing; what follows the program',
    "speaks: chat\narguments: []\n": '"program" is missing',
    "program: x\narguments: []\n": '"speaks" is missing',
    f"{OWN}command: x\n": '"command" is not known here; known are name, program',
    f"{OWN}name: a/b\n": '"id" must be letters',
    OWN.replace("my-agent", "./my-agent"): '"program" must be the name of a program in PATH, or an absolute path',
    OWN.replace("my-agent", "--x"): '"program" must be the name',
    OWN.replace("chat", "openai"): '"speaks" must be one of chat, responses, anthropic, gemini, or none, got "openai"',
    OWN.replace("${task}", "x"): '"arguments" must hold "${task}"',
    OWN.replace("${url}", "x"): 'nothing holds "${url}"',
    OWN.replace("${url}", "${URL}"): '"arguments": ${URL} is not known here; known are ${home}, ${workspace}, ${model}',
    f'{OWN}environment: {{A: "${{task}}"}}\n': '"environment": ${task} is not known here',
    "program: x\nspeaks: none\narguments: ['${task}', '${key}']\n": "${key} is not known here",
    f"{OWN}environment: {{A: 1}}\n": '"environment.A" must be text, got 1; put it in quotes',
    f"{OWN}environment: {{A-B: x}}\n": '"A-B" must be the name of a variable',
    f"{OWN}environment: [A]\n": '"environment" must be a mapping of names to texts',
    f"{OWN}files: {{/etc/passwd: x}}\n": '"files" must be paths inside of the agent\'s home',
    f"{OWN}files: {{a/../../b: x}}\n": '"files" must be paths inside of the agent\'s home',
    f"{OWN}records: ['']\n": '"records" must be paths inside of the agent\'s home',
    f"{OWN}records: log\n": '"records" must be a list of texts',
    f"{OWN}version: [1]\n": '"version[0]" must be text, got 1; put it in quotes',
    f"{OWN}arguments: []\n": '"arguments" is given twice',
}


@pytest.mark.parametrize(("text", "words"), REFUSED.items(), ids=lambda value: value[-40:])
def test_what_is_wrong_is_refused_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError) as raised:
        own(tmp_path, text)
    assert str(raised.value).startswith(f"{tmp_path}/mine.yaml: ")
    assert words in str(raised.value)


def test_an_unknown_agent_is_told_which_are_known() -> None:
    with pytest.raises(InputError, match=r"agent 'codx': is not known; known are claude-code, codex, .*\./agent\.yaml"):
        find_connection("codx")
