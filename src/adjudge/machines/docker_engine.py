"""The engine that runs containers, Docker or Podman, reached through Docker's API; and what a dead judge left there."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import stat
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import aiodocker
import aiohttp

from adjudge.errors import InputError, MachineError
from adjudge.machines.cgroups import start_of
from adjudge.machines.docker_folders import remove_stale_folders

LABEL = "adjudge.judge"
"""Names the process that made a container or an image: the host's boot, its pid namespace, its pid and its start."""

LABEL_USER = "adjudge.user"
"""Who works in a container that was made by us, whose own user is root."""

TEMPORARY = "adjudge-tmp-"
"""How the names of containers begin that end with their judge."""

_ANSWER = 120.0
_SILENCE = 60.0
_SOCKETS = ("/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock")
_HELP = "start Docker or Podman, or name its socket in DOCKER_HOST (unix:///PATH)"


def find_engine(environment: Mapping[str, str] | None = None) -> str | None:
    """The engine's address: what DOCKER_HOST says, else the first socket of Docker or Podman; `None` if there is none."""
    env = os.environ if environment is None else environment
    if named := env.get("DOCKER_HOST"):
        return named
    own = env.get("XDG_RUNTIME_DIR", "")
    places = [*_SOCKETS, *([f"{own}/docker.sock", f"{own}/podman/podman.sock"] if own else [])]
    return next((f"unix://{path}" for path in places if _is_socket(path)), None)


def _is_socket(path: str) -> bool:
    with suppress(OSError):
        return stat.S_ISSOCK(os.stat(path).st_mode)
    return False


@contextmanager
def engine_faults(doing: str) -> Iterator[None]:
    """Whatever goes wrong between us and the engine as a MachineError that says what was being done."""
    try:
        yield
    except aiodocker.DockerError as error:
        raise MachineError(f"{doing}: {error.message}") from error
    except (aiohttp.ClientError, OSError) as error:
        raise MachineError(f"{doing}: the engine does not answer: {error or type(error).__name__}") from error


class Engine:
    """A connection to an engine. `local` says whether it shares our file system, so that paths of ours mean something."""

    def __init__(self, client: aiodocker.Docker, url: str) -> None:
        self.client, self.url = client, url
        self.local = url.startswith("unix://")

    @classmethod
    async def connect(cls) -> Engine:
        """Reach the engine of this computer, or the one that DOCKER_HOST names.

        Raises:
            MachineError: there is none, or it does not answer.
        """
        if (url := find_engine()) is None:
            raise MachineError(f"no container engine was found here; {_HELP}")
        try:
            client = aiodocker.Docker(url=url, timeout=aiohttp.ClientTimeout(total=_ANSWER))
        except ValueError as error:
            raise MachineError(f"DOCKER_HOST: {url!r}: {error}") from error
        engine = cls(client, url)
        try:
            with engine_faults(f"the container engine at {url}"):
                await client.version()
        except BaseException:
            await engine.close()
            raise
        return engine

    async def close(self) -> None:
        """Let go of the connection."""
        await self.client.close()

    async def version(self) -> dict[str, Any]:
        """What the engine tells of itself and its parts."""
        with engine_faults("the engine's version"):
            return await self.client.version()

    async def information(self) -> dict[str, Any]:
        """What the engine tells of its host and its settings."""
        with engine_faults("the engine's settings"):
            return dict(await self.client.system.info())

    # --- what is there

    async def container(self, name: str) -> dict[str, Any]:
        """What is known of a container.

        Raises:
            InputError: there is none of this name.
        """
        return await self._known(self.client.containers.container(name).show(), f"docker:{name}", "container")

    async def image(self, name: str) -> dict[str, Any]:
        """What is known of an image, which is never pulled.

        Raises:
            InputError: there is none of this name.
        """
        return await self._known(self.client.images.inspect(name), f"image:{name}", "image")

    async def _known(self, asking: Any, name: str, kind: str) -> dict[str, Any]:
        try:
            with engine_faults(name):
                found: dict[str, Any] = await asking
        except MachineError as error:
            if isinstance(error.__cause__, aiodocker.DockerError) and error.__cause__.status in (400, 404):
                raise InputError(f"{name}: there is no such {kind} at {self.url}") from error
            raise
        return found

    async def commit(self, container: str) -> str:
        """A temporary image of a container as it is now (it is paused meanwhile); returns the image's id."""
        with engine_faults(f"docker:{container}: no snapshot could be taken"):
            made = await self.client.containers.container(container).commit(changes=[f"LABEL {LABEL}={judge()}"])
        return str(made["Id"])

    async def remove_image(self, image: str) -> None:
        """Remove an image; it may be gone already."""
        with suppress(aiodocker.DockerError):
            await self.client.images.delete(image)

    # --- streams, which the client would read whole

    @asynccontextmanager
    async def archive(self, container: str, path: str) -> AsyncIterator[aiohttp.StreamReader | None]:
        """A tar stream of a path in a container; `None` if there is no such path."""
        async with self._stream(f"containers/{container}/archive", {"path": path}) as response:
            yield None if response.status == 404 else response.content

    async def has(self, container: str, path: str) -> bool:
        """Whether there is anything at a path in a container. Raises MachineError."""
        place = f"{self.client.docker_host}/{self.client.api_version}/containers/{container}/archive"
        with engine_faults(f"{path} could not be looked for in the container"):
            async with self.client.session.head(place, params={"path": path}) as response:
                if response.status not in (200, 404):
                    raise MachineError(f"{path}: the engine refuses to look for it ({response.status})")
                return response.status == 200

    @asynccontextmanager
    async def changes(self, container: str) -> AsyncIterator[aiohttp.StreamReader]:
        """A stream of JSON: what in a container's file system differs from its image."""
        async with self._stream(f"containers/{container}/changes", {}) as response:
            yield response.content

    @asynccontextmanager
    async def events(self, container: str, names: Sequence[str]) -> AsyncIterator[aiohttp.StreamReader]:
        """A stream of a container's events of these names from now on, each a line of JSON."""
        filters = json.dumps({"container": [container], "event": list(names)})
        async with self._stream("events", {"filters": filters}, silence=None) as response:
            yield response.content

    @asynccontextmanager
    async def _stream(
        self, path: str, parameters: Mapping[str, str], silence: float | None = _SILENCE
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_SILENCE, sock_read=silence)
        place = f"{self.client.docker_host}/{self.client.api_version}/{path}"
        async with self.client.session.get(place, params=parameters, timeout=timeout) as response:
            if response.status >= 400 and response.status != 404:
                raise MachineError(f"the engine refuses {path}: {(await response.text())[:300]}")
            yield response

    # --- leftovers

    async def remove_stale(self) -> None:
        """Remove the containers and images of judges of this host that were killed."""
        with engine_faults("containers of dead judges"):
            filters = {"label": [LABEL]}
            for container in await self.client.containers.list(all=True, filters=filters):
                names = [name.lstrip("/") for name in container["Names"]]
                if any(name.startswith(TEMPORARY) for name in names) and is_dead(container["Labels"][LABEL]):
                    with suppress(aiodocker.DockerError):  # another judge may be removing it too
                        await container.delete(force=True, v=True)
            for image in await self.client.images.list(filters=filters | {"dangling": ["true"]}):
                if is_dead((image.get("Labels") or {}).get(LABEL, "")):
                    await self.remove_image(image["Id"])


async def remove_leftovers(engine: Engine) -> None:
    """Remove all that judges of this host left when they were killed. Raises MachineError."""
    await engine.remove_stale()
    await asyncio.to_thread(remove_stale_folders)


@cache
def _host() -> str:
    """Names this boot of this host and this pid namespace: only here do the pids of a label mean anything."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}:{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return f"{socket.gethostname()}:0"


def judge() -> str:
    """The label's value for this process."""
    return f"{_host()}:{os.getpid()}:{start_of(os.getpid())}"


def is_dead(label: str) -> bool:
    """Whether the process that a label names ran here and has ended."""
    host, pid, start = (*label.rsplit(":", 2), "", "")[:3]
    if host != _host() or not pid.isdigit() or not Path("/proc/self/stat").exists():
        return False
    return start_of(int(pid)) != start
