"""A real container engine for tests, and an image that needs no network; other parts' tests import the fixtures.

A test that uses them belongs to the group `docker` (`pytest.mark.xdist_group("docker")`), so that one engine does for all.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import tarfile
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from tests.machines.docker_image import write_root

IN_ONE_WORKER = pytest.mark.xdist_group("docker")

IMAGE = "adjudge-test:small"
_STARTING = 60.0
_DAEMON = "/usr/sbin/dockerd"


class _Unix(http.client.HTTPConnection):
    """HTTP over the engine's socket, without an event loop."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=120)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def ask(url: str, method: str, path: str, body: IO[bytes] | str | None = None, /, **parameters: str) -> Any:
    """Ask an engine at `unix://PATH` something, and get the JSON of its answer, if it has one."""
    connection = _Unix(url.removeprefix("unix://"))
    try:
        kind = {"Content-Type": "application/json" if isinstance(body, str) else "application/x-tar"}
        connection.request(method, f"/v1.41/{path}?{urllib.parse.urlencode(parameters)}", body, kind)
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status >= 300:
            raise AssertionError(f"{method} {path}: {answer.status} {text}")
        return json.loads(text) if answer.getheader("Content-Type", "").startswith("application/json") and text else None
    finally:
        connection.close()


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[str]:
    """The address of an engine: the one that DOCKER_HOST names, else one of our own that ends with the tests."""
    if named := os.environ.get("DOCKER_HOST"):
        if not named.startswith("unix://"):
            pytest.skip(f"DOCKER_HOST is {named}; these tests need an engine of this computer")
        yield named
        return
    if os.geteuid() != 0:
        pytest.skip("an engine of our own needs root; name one in DOCKER_HOST")
    if not os.path.exists(_DAEMON):
        pytest.fail("`make test` installs docker.io when it is root: there is no dockerd")
    folder = Path(tempfile.mkdtemp(prefix="engine-", dir="/tmp"))
    try:
        yield from _engine_in(folder)
    finally:
        _unmount(folder)
        shutil.rmtree(folder)


def _unmount(folder: Path) -> None:
    """Unmount what a daemon that has ended left mounted (the network namespace that its containers did not have)."""
    places = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for place in reversed([place for place in places if place.startswith(f"{folder}/")]):
        subprocess.run(["umount", place], check=True)


def _engine_in(folder: Path) -> Iterator[str]:
    for driver in ("overlay2", "vfs"):
        daemon = _started(folder / driver, driver)
        url = f"unix://{folder / driver}/docker.sock"
        try:
            if _answers(daemon, url):
                yield url
                return
        finally:
            daemon.terminate()
            daemon.wait(60)
    pytest.skip(f"no engine can be started here: {(folder / driver / 'log').read_text()[-500:]}")


def _started(folder: Path, driver: str) -> subprocess.Popen[bytes]:
    folder.mkdir()
    places = ("--data-root", "--exec-root", "--pidfile", "--host")
    values = (f"{folder}/data", f"{folder}/exec", f"{folder}/pid", f"unix://{folder}/docker.sock")
    options = [word for pair in zip(places, values, strict=True) for word in pair]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [_DAEMON, "--iptables=false", "--bridge=none", "--storage-driver", driver, *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )


def _answers(daemon: subprocess.Popen[bytes], url: str) -> bool:
    until = time.monotonic() + _STARTING
    while daemon.poll() is None and time.monotonic() < until:
        try:
            ask(url, "GET", "version")
        except (OSError, AssertionError):
            time.sleep(0.05)  # nothing tells when its socket is there
        else:
            return True
    return False


@pytest.fixture(scope="session")
def docker_image(docker_engine: str) -> str:
    """The name of an image out of this computer's own bash, coreutils, Python, git and what Node.js is linked with."""
    with tempfile.TemporaryFile() as root:
        write_root(root)
        root.seek(0)
        name, _, tag = IMAGE.partition(":")
        ask(docker_engine, "POST", "images/create", root, fromSrc="-", repo=name, tag=tag)
    return IMAGE


@pytest.fixture
def docker(docker_engine: str, docker_image: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The engine's address, which is what the code under test finds too; no container or image of a test stays in it."""
    monkeypatch.setenv("DOCKER_HOST", docker_engine)
    yield docker_engine
    assert left_in(docker_engine) == []


def container_with(url: str, folder: Path, **settings: Any) -> str:
    """The id of a container that was never started, with a folder's files at /workspace, where uid 1000 worked."""
    asked = {"Image": IMAGE, "WorkingDir": "/workspace", "User": "1000:1000", "Cmd": ["bash"]} | settings
    name: str = ask(url, "POST", "containers/create", json.dumps(asked))["Id"]
    with tempfile.TemporaryFile() as files:
        with tarfile.open(fileobj=files, mode="w") as tar:
            tar.add(folder, "workspace", filter=_of_the_agent)
        files.seek(0)
        ask(url, "PUT", f"containers/{name}/archive", files, path="/")
    return name


def _of_the_agent(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 1000
    info.uname = info.gname = ""
    return info


def left_in(url: str) -> list[str]:
    """The containers and the nameless images that are in an engine."""
    containers = [name for each in ask(url, "GET", "containers/json", all="1") for name in each["Names"]]
    dangling = ask(url, "GET", "images/json", filters=json.dumps({"dangling": ["true"]}))
    return containers + [image["Id"] for image in dangling]
