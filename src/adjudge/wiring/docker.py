"""Machines in Docker or Podman; the client for their API is an extra."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from adjudge.errors import MachineError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.machines.selftest import Check
    from adjudge.ports import LiveMachine, Machine
    from adjudge.settings import AgentLimits, Settings


async def open_container(name: str, settings: Settings, directory: str | None) -> Machine:
    """A machine on a container or an image, which stays as it is.

    Raises:
        InputError: there is no such container or image, or nobody says where its workspace is.
        MachineError: no engine can be reached, or it does not hold what is put into it.
    """
    _require_client()
    from adjudge.agents.incomplete import IncompleteMachine
    from adjudge.machines.docker import DockerMachine

    machine = await DockerMachine.open(name, settings.machine, directory)
    return IncompleteMachine(machine, fresh=True) if machine.facts.get("files cut") else machine


async def require_image(name: str) -> None:
    """See to it that there is an image of this name; none is pulled.

    Raises:
        InputError: there is none.
        MachineError: no engine can be reached.
    """
    _require_client()
    from adjudge.machines.docker_engine import Engine

    engine = await Engine.connect()
    try:
        await engine.image(name)
    finally:
        await engine.close()


async def start_container(
    image: str, folder: Path | None, limits: AgentLimits, settings: Settings, expose: Sequence[str]
) -> LiveMachine:
    """A container on which an agent can work. Raises as `open_container`."""
    _require_client()
    from adjudge.machines.docker_live import LiveDockerMachine

    return await LiveDockerMachine.open(image, folder, limits, settings.machine, expose)


async def diagnose_containers() -> tuple[Check, ...]:
    """Whether containers can be judged here, and what they do not promise."""
    if not _has_client():
        from adjudge.machines.selftest import Check

        return (Check("Docker", True, "its client is not installed; containers need adjudge with its extra `docker`"),)
    from adjudge.machines.docker_diagnosis import diagnose_docker

    return await diagnose_docker()


def _has_client() -> bool:
    return find_spec("aiodocker") is not None


def _require_client() -> None:
    if not _has_client():
        raise MachineError("Docker's client is not installed; install adjudge with its extra `docker`: adjudge[docker]")
