"""Whether containers can be judged here, by which engine, and what it does not promise, for `adjudge doctor`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from adjudge.errors import MachineError
from adjudge.machines.docker_engine import Engine, find_engine
from adjudge.machines.docker_promises import NO_QUOTA, NOT_APART, parts_of, runtime_of
from adjudge.machines.selftest import Check

_NONE = "no engine here; only `--machine docker:…`, `--machine image:…` and agents in containers need one"
_ESCAPES = "CVE-2025-31133, CVE-2025-52565, CVE-2025-52881"
_MENDED = ((1, 2, 8, 99), (1, 3, 3, 99), (1, 4, 0, 3))
"""The first runc of each line without these ways out of a container; the last number is a release candidate's."""


async def diagnose_docker() -> tuple[Check, ...]:
    """The engine and its settings. Where nobody asked for one (with DOCKER_HOST), none is needed, and no check fails."""
    if find_engine() is None:
        return (Check("Docker", True, _NONE),)
    try:
        engine = await Engine.connect()
    except MachineError as error:
        asked = bool(os.environ.get("DOCKER_HOST"))
        return (Check("Docker", not asked, str(error), "start the engine, or unset DOCKER_HOST"),)
    try:
        return tuple(_checks(parts_of(await engine.version()), await engine.information(), engine.url))
    except MachineError as error:
        return (Check("Docker", False, str(error), "restart the engine"),)
    finally:
        await engine.close()


def _checks(parts: dict[str, str], settings: dict[str, Any], url: str) -> Iterator[Check]:
    name = next(iter(parts))
    yield Check("Docker", True, f"{name} {parts[name]} at {url}; not promised: {NOT_APART}")
    yield check_runtime(runtime_of(parts))
    yield from check_settings(settings)


def check_runtime(runtime: tuple[str, str] | None) -> Check:
    """What is known of the program that starts the processes of containers."""
    if runtime is None:
        return Check("container runtime", True, "the engine does not tell which it is")
    name, version = runtime
    if name != "runc" or not _escapable(version):
        return Check("container runtime", True, f"{name} {version}")
    help = "update runc to 1.2.8, 1.3.3 or 1.4.0-rc.3 or later; your system's package may have mended an older one"
    return Check("container runtime", False, f"runc {version}: an image can break out of its container ({_ESCAPES})", help)


def _escapable(version: str) -> bool:
    found = re.match(r"(\d+)\.(\d+)\.(\d+)(?:-rc\.?(\d+))?", version)
    if not found:
        return False
    major, minor, patch, candidate = (int(number) if number else 99 for number in found.groups())
    line = next((mended for mended in _MENDED if mended[:2] >= (major, minor)), None)
    return line is not None and (major, minor, patch, candidate) < line


def check_settings(settings: dict[str, Any]) -> Iterator[Check]:
    """What the engine's settings mean for whoever is inside of a container."""
    options = _options(settings.get("SecurityOptions") or ())
    users = [word for word in ("rootless", "userns") if word in options]
    outside = "nobody special" if users else "root as well; rootless mode or userns-remap would tell them apart"
    yield Check("container users", True, f"root inside is, outside, {outside}")
    filters = [word for word in ("seccomp", "apparmor", "selinux") if word in options]
    if "seccomp" in filters:
        yield Check("container system calls", True, f"filtered by {', '.join(filters)}")
    else:
        help = "an engine with its default seccomp profile"
        yield Check("container system calls", False, "no filter keeps calls from the kernel", help)
    yield Check("container disk", True, f"{settings.get('Driver', 'unknown driver')}: {NO_QUOTA}")


def _options(words: Sequence[str]) -> set[str]:
    """The names of security options such as `name=seccomp,profile=default`, but for those that are switched off."""
    return {word.split(",")[0].removeprefix("name=") for word in words if "profile=unconfined" not in word}
