"""Connections to agents: those that are shipped, a user's own, any command; and the process that one of them means."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from adjudge.agents.connection_file import NAMED, Connection, read_connection
from adjudge.agents.endpoints import PLACEHOLDER as KEY
from adjudge.agents.endpoints import AgentEndpoint, Wire, inside_url
from adjudge.agents.installed import Installation
from adjudge.errors import InputError
from adjudge.ports import Launch

__all__ = ["Connection", "command_connection", "connections", "find_connection", "launch_of"]

LONGEST_ARGUMENT = 128 * 1024 - 1
"""Bytes; the kernel takes no longer argument."""

SHIPPED = Path(__file__).parent / "connections"

COMMAND = "command"
"""The agent that is whatever command a user writes."""

_MODEL = re.compile(r"[A-Za-z0-9~][A-Za-z0-9._:/@+~-]{0,254}")
_ENDINGS = (".yaml", ".yml", ".toml", ".json")

_VARIABLES: dict[Wire, dict[str, str]] = {
    "chat": {
        "OPENAI_BASE_URL": "${url}",
        "OPENAI_API_BASE": "${url}",
        "OPENAI_API_KEY": "${key}",
        "OPENAI_MODEL": "${model}",
    },
    "anthropic": {"ANTHROPIC_BASE_URL": "${url}", "ANTHROPIC_API_KEY": "${key}", "ANTHROPIC_MODEL": "${model}"},
    "gemini": {"GOOGLE_GEMINI_BASE_URL": "${url}", "GEMINI_API_KEY": "${key}", "GEMINI_MODEL": "${model}"},
}
_VARIABLES["responses"] = _VARIABLES["chat"]


def connections() -> tuple[Connection, ...]:
    """All connections that are shipped, by name."""
    return tuple(read_connection(path) for path in sorted(SHIPPED.glob("*.yaml")))


def find_connection(name_or_path: str) -> Connection:
    """A shipped connection by its name, or a user's own by the path of its file.

    Raises:
        InputError: there is no such connection, or the file holds none.
    """
    if "/" in name_or_path or name_or_path.endswith(_ENDINGS):
        return read_connection(Path(name_or_path))
    if (path := SHIPPED / f"{name_or_path}.yaml").is_file():
        return read_connection(path)
    known = [*(path.stem for path in sorted(SHIPPED.glob("*.yaml"))), COMMAND]
    raise InputError(
        f"agent {name_or_path!r}: is not known; known are {', '.join(known)} (with the command after --); "
        "or write the path of a file of your own, as in ./agent.yaml"
    )


def command_connection(argv: Sequence[str], records: Sequence[str] = (), speaks: Wire | None = None) -> Connection:
    """The connection to any command; with `speaks` it finds its model by the variables that are usual for that format.

    In its arguments `${task}` and the other known placeholders are filled in; what else has that form stays as it is, as a
    shell script may mean it.

    Raises:
        InputError: there is no command.
    """
    if not argv or not argv[0]:
        raise InputError("agent command: write the command after --, as in `--agent command -- ./agent.sh '${task}'`")
    variables = _VARIABLES[speaks] if speaks else {}
    return Connection(COMMAND, argv[0], speaks, tuple(argv[1:]), variables, records=tuple(records), version=())


def launch_of(
    connection: Connection,
    installation: Installation,
    task: str,
    endpoint: AgentEndpoint | None,
    home: str,
    workspace: str,
) -> Launch:
    """The process that a connection means for one task; `home` and `workspace` are those inside of the machine.

    Raises:
        InputError: a model is missing or is one too many, its name could not stand in a file of settings, or the task is
            longer than the kernel lets an argument be.
    """
    values = {"home": home, "workspace": workspace, **_of_the_model(connection, endpoint)}
    arguments = tuple(_filled(argument, values | {"task": task}) for argument in connection.arguments)
    for argument in arguments:
        _check_argument(connection, argument)
    environment = {name: _filled(text, values) for name, text in connection.environment.items()}
    if installation.path:
        environment["PATH"] = ":".join((*installation.path, "/usr/local/bin", "/usr/bin", "/bin"))
    files = {path: _filled(text, values).encode() for path, text in connection.files.items()}
    return Launch((posixpath.normpath(posixpath.join(workspace, installation.program)), *arguments), environment, files)


def _of_the_model(connection: Connection, endpoint: AgentEndpoint | None) -> dict[str, str]:
    if connection.speaks is None and endpoint is not None:
        raise InputError(f"agent {connection.name}: takes no model (speaks: none), got {endpoint.name}")
    if connection.speaks is None or endpoint is None:
        if connection.speaks:
            raise InputError(f"agent {connection.name}: needs a model")
        return {}
    if not _MODEL.fullmatch(endpoint.model):
        raise InputError(
            f"model {endpoint.name!r}: cannot be named to an agent; it must be 1 to 255 of letters, digits and ._:/@+~-"
        )
    return {"model": endpoint.model, "url": inside_url(endpoint.wire), "key": KEY}


def _filled(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled in, once: what a value holds is not looked at again."""
    return NAMED.sub(lambda match: values.get(match[1], match[0]), text)


def _check_argument(connection: Connection, argument: str) -> None:
    size = len(argument.encode())
    if size > LONGEST_ARGUMENT:
        raise InputError(
            f"agent {connection.name}: the task makes an argument of {size} bytes, and {LONGEST_ARGUMENT} is the kernel's "
            "most; put what is long into a file of the workspace"
        )
    if "\0" in argument:
        raise InputError(f"agent {connection.name}: the task holds a NUL, which no argument can")
