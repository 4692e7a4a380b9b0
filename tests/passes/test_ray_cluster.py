"""Connecting to a Ray cluster: what is told when there is none, and that a local one ends with the process."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adjudge.errors import InputError, OutsideError
from adjudge.passes.ray_cluster import open_ray

DRIVER = """
import os, signal, sys
from adjudge.passes.ray_work import open_ray
signal.signal(signal.SIGTERM, signal.SIG_IGN)
cluster = open_ray(None, cpus=1)
assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
import ray
class Worker:
    def pid(self):
        return os.getpid()
worker = ray.remote(Worker).remote()
print(ray.get(worker.pid.remote()), cluster.folder, flush=True)
sys.stdin.readline()
"""


def test_without_ray_it_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(OutsideError, match=r"extra `ray`: adjudge\[ray\]"):
        open_ray(None)


class TestAddresses:
    pytest.importorskip("ray", reason="Ray is not installed; it is the extra `ray`")

    @pytest.mark.parametrize("address", ["head", "ray://head:10001", "head:", ":6379", "head:http", "head:99999"])
    def test_what_is_no_address_is_refused(self, address: str) -> None:
        with pytest.raises(InputError, match="must be HOST:PORT of a cluster's head"):
            open_ray(address)

    def test_an_address_where_nobody_answers_is_told_at_once(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        started = time.monotonic()
        with pytest.raises(OutsideError, match=rf"--ray 127.0.0.1:{port}: no Ray cluster answers there within 5 s"):
            open_ray(f"127.0.0.1:{port}", seconds=5)
        assert time.monotonic() - started < 10


def parents() -> dict[int, int]:
    """All processes with their parents."""
    found = {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = each.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has just ended
            continue
        if state != "Z":
            found[int(each.parent.name)] = int(parent)
    return found


def descendants(pid: int) -> set[int]:
    """The processes that a process has started, and those that they have."""
    known, found, last = parents(), {pid}, 0
    while len(found) > last:
        last = len(found)
        found |= {child for child, parent in known.items() if parent in found}
    return found - {pid}


@pytest.mark.slow
@pytest.mark.xdist_group("ray")
def test_a_local_cluster_and_its_workers_end_with_a_process_that_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed; it is the extra `ray`")
    command = [sys.executable, "-c", DRIVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as driver:
        assert driver.stdout is not None
        worker, folder = driver.stdout.readline().decode().split()
        started = descendants(driver.pid)
        assert int(worker) in started
        agents = {pid for pid in started if b"Agent" in Path(f"/proc/{pid}/cmdline").read_bytes()}
        driver.kill()
    ends = time.monotonic() + 20
    while (started - agents) & parents().keys() and time.monotonic() < ends:
        time.sleep(0.1)
    left = started & parents().keys()
    for pid in left & agents:
        os.kill(pid, signal.SIGKILL)  # they would notice within a minute that all others are gone
    shutil.rmtree(folder)
    assert left <= agents
    assert len(agents) <= 2
