"""Programs that only run another one: which words are theirs, and which are the other's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from adjudge.profile.programs import listed

Words = tuple[str, ...]

MOST = 12
"""Wrappers around wrappers that are taken off."""

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_DURATION = re.compile(r"\d+(?:\.\d+)?[smhd]?")
_EXTENSION = re.compile(r"\.(?:exe|cmd|bat)$", re.I)
_VERSION = re.compile(r"(?<=.)@[\w.^~-]+$")


def program_of(words: Sequence[str]) -> str:
    """The name of a command's program: no folder, no extension."""
    if not words:
        return ""
    name = words[0].rpartition("/")[2] or words[0]
    if "\\" in name:
        name = name.rpartition("\\")[2]
    return _EXTENSION.sub("", name) if "." in name else name


def unwrapped(words: Words) -> Words:
    """The words of the program that does the work; empty if there are only assignments."""
    for _ in range(MOST):
        if not words:
            return words
        if ("=" in words[0]) and ASSIGNMENT.match(words[0]):
            words = words[1:]
            continue
        take_off = _WRAPPERS.get(program_of(words))
        inner = take_off(words) if take_off else None
        if inner is None:
            return words
        words = inner
    return words


def _after_flags(words: Words, with_value: Sequence[str] = ()) -> Words:
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        at += 2 if words[at] in with_value else 1
    return words[at:]


def _plain(*with_value: str) -> Callable[[Words], Words | None]:
    return lambda words: _after_flags(words[1:], with_value) or None


def _env(words: Words) -> Words | None:
    rest = words[1:]
    while rest and (rest[0].startswith("-") or ASSIGNMENT.match(rest[0])):
        rest = rest[2:] if rest[0] in ("-u", "-C", "-S") else rest[1:]
    return rest or None


def _command(words: Words) -> Words | None:
    return None if words[1:2] in (("-v",), ("-V",)) else _after_flags(words[1:]) or None


def _timeout(words: Words) -> Words | None:
    rest = words[1:]
    while rest and (rest[0].startswith("-") or _DURATION.fullmatch(rest[0])):
        rest = rest[2:] if rest[0] in ("-s", "-k", "-n", "--signal", "--kill-after") else rest[1:]
    return rest or None


_RUN_FLAGS = listed("--with -p --python --extra --group --project --directory -n --package --with-requirements -e")


def _runs(words: Words) -> Words | None:
    return (_after_flags(words[2:], _RUN_FLAGS) or None) if words[1:2] == ("run",) else None


def _environment(words: Words) -> Words | None:
    """`mise exec -- X`, `direnv exec . X`, `nix develop -c X`; a task of mise's is a script's name."""
    if "--" in words:
        return words[words.index("--") + 1 :] or None
    if words[1:2] in (("run",), ("r",)):
        return ("npm", "run", *_after_flags(words[2:]))
    return (_after_flags(words[2:]) or None) if words[1:2] in (("exec",), ("x",)) else None


def _fetched(words: Words) -> Words | None:
    rest = _after_flags(words[1:], ("-p", "--package", "--from"))
    return (_VERSION.sub("", rest[0]), *rest[1:]) if rest else None


def _by_package_manager(words: Words) -> Words | None:
    return (_after_flags(words[2:]) or None) if words[1:2] in (("exec",), ("dlx",), ("x",)) else None


def _in_container(words: Words) -> Words | None:
    if words[1:2] != ("exec",):
        return None
    return _after_flags(words[2:], ("-u", "-w", "-e", "--user", "--workdir", "--env"))[1:] or None


_WRAPPERS: dict[str, Callable[[Words], Words | None]] = {
    "env": _env,
    "command": _command,
    **dict.fromkeys(("sudo", "doas"), _plain("-u", "-g")),
    **dict.fromkeys(("nohup", "exec", "builtin", "setsid", "unbuffer", "time", "then", "rtk"), _plain()),
    **dict.fromkeys(("stdbuf", "ionice", "script"), _plain("-c", "-n")),
    **dict.fromkeys(("timeout", "gtimeout", "nice", "chrt", "taskset"), _timeout),
    "xargs": _plain("-I", "-n", "-P", "-L", "-d", "-s", "-a"),
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "pixi", "conda", "mamba"), _runs),
    **dict.fromkeys(("mise", "rtx", "direnv", "asdf", "dotenv", "devbox", "nix", "doppler", "op", "flox"), _environment),
    **dict.fromkeys(("npx", "pnpx", "bunx", "uvx"), _fetched),
    **dict.fromkeys(("pnpm", "yarn", "bun", "npm", "bundle"), _by_package_manager),
    **dict.fromkeys(("docker", "podman"), _in_container),
}
