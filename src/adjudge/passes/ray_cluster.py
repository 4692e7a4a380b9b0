"""A Ray cluster: one that is there, or a small one of this computer's own, which ends with the process."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from adjudge.errors import InputError, OutsideError

OBJECTS = 100 << 20
"""Bytes of shared memory for what goes between the processes of a local cluster: judgments on their way."""

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Started under `uv run`, Ray would upload the working directory to the cluster, and connected keys lie below it.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
LONGEST_FOLDER = 40
"""Characters of a folder below which Ray's sockets can lie: the kernel takes 107 for a socket's whole path."""


class RayCluster:
    """A cluster that this process is connected to. `cpus` is how many workers it can hold, one a CPU.

    `folder` is where a local one keeps its sockets and logs until it is closed.
    """

    def __init__(self, cpus: int, folder: Path | None, ours: bool) -> None:
        self.cpus = cpus
        self.folder, self._ours = folder, ours

    def close(self) -> None:
        """Disconnect, and end the cluster if it is this computer's own. Nothing happens if others had connected before."""
        if self._ours:
            imported_ray().shutdown()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        self._ours, self.folder = False, None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def open_ray(address: str | None, cpus: int | None = None, seconds: float = 10.0) -> RayCluster:
    """Connect to the cluster at an address, `HOST:PORT` or `auto`; without one start a local one with so many CPUs.

    This blocks, and belongs into the main thread. A process that is connected already stays so.

    Raises:
        InputError: the address is none.
        OutsideError: Ray is not installed, nothing answers at the address within `seconds`, or Ray cannot be started.
    """
    if imported_ray().is_initialized():
        return RayCluster(_cpus(), None, ours=False)
    if address is not None:
        _require_answer(address, seconds)
        _init(f"at {address}", address=address)
        return RayCluster(_cpus(), None, ours=True)
    folder = Path(tempfile.mkdtemp(prefix="adjudge-ray-", dir=_short_folder()))
    try:
        bounds = {"num_cpus": cpus or _own_cpus(), "object_store_memory": OBJECTS, "include_dashboard": False}
        _init("here", address="local", _temp_dir=str(folder), **bounds)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return RayCluster(_cpus(), folder, ours=True)


def imported_ray() -> Any:
    """The package, which is an extra and takes a second to import. Raises OutsideError if it is not installed."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        return import_module("ray")
    except ModuleNotFoundError as error:
        raise OutsideError("Ray is not installed; install adjudge with its extra `ray`: adjudge[ray]") from error


def _init(where: str, **given: Any) -> None:
    ray = imported_ray()
    try:
        with _same_handler():
            ray.init(log_to_driver=False, logging_level="ERROR", **given)
    except Exception as error:  # Ray raises bare ones too, as when a node is too slow to start
        ray.shutdown()
        raise OutsideError(f"no Ray cluster can be used {where}: {error}") from error


@contextmanager
def _same_handler() -> Iterator[None]:
    """Ray sets a handler for SIGTERM that exits at once; a pass ends otherwise.

    SIGINT is put off until Ray has started: torn out of its start it leaves processes, or breaks.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    handler = signal.getsignal(signal.SIGTERM)
    interrupted = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)
        signal.signal(signal.SIGINT, interrupted)
    if heard:
        imported_ray().shutdown()
        raise KeyboardInterrupt


def _require_answer(address: str, seconds: float) -> None:
    """Ray itself waits for minutes where nothing answers, and fills the terminal meanwhile."""
    if address == "auto":
        return
    host, colon, port = address.rpartition(":")
    if not colon or not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise InputError(
            f"--ray {address}: must be HOST:PORT of a cluster's head, as `ray start --head` prints it, or auto"
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=seconds).close()
    except OSError as error:
        raise OutsideError(
            f"--ray {address}: no Ray cluster answers there within {seconds:g} s: {error}; `ray status` tells on its head"
        ) from error


def _short_folder() -> str:
    folder = tempfile.gettempdir()
    return folder if len(folder) <= LONGEST_FOLDER else "/tmp"  # noqa: S108  mkdtemp makes one of its own there


def _own_cpus() -> int:
    return len(os.sched_getaffinity(0))


def _cpus() -> int:
    return int(imported_ray().cluster_resources().get("CPU", 0))
