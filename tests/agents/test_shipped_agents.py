"""Every shipped agent does a task with nothing but what its connection says and its installation needs.

It runs in a sandbox of its own without a network: its model, which plays a script, comes through a socket.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge.agents.connections import connections, find_connection, launch_of
from adjudge.agents.endpoints import PORT, AgentEndpoint
from adjudge.agents.installed import find_installation
from adjudge.errors import InputError
from adjudge.importers.sniff import read_runs

SHARED = Path(os.environ.get("ADJUDGE_SHARED") or Path(__file__).parents[3] / "shared")
SCRIPTS = {"claude-code": "claude", "gemini-cli": "gemini", "qwen-code": "qwen", "mini-swe-agent": "mini"}
MODELS = {"codex": "gpt-5.5", "gemini-cli": "gemini-2.5-pro"}
"""Where an agent's tools or addresses depend on the name; the others take any."""

HOME, WORKSPACE = "/home/agent", "/workspace"

TASK = (
    "- The test suite of this repository fails.\n--help: find the bug in tally/stats.py, fix it, and run the tests: "
    '`$HOME` "${model}".'
)
BROKEN = '"""Statistics helpers."""\n\n\ndef mean(values):\n    return sum(values) / (len(values) - 1)\n'
TEST = """import unittest

from tally.stats import mean


class Mean(unittest.TestCase):
    def test_mean(self):
        self.assertEqual(mean([1, 2, 3]), 2)
"""

LINKS = ("bin", "sbin", "lib", "lib64")
SYSTEM = (
    *("--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--uid", "1000", "--gid", "1000"),
    *("--ro-bind", "/usr", "/usr", *(word for name in LINKS for word in ("--symlink", f"usr/{name}", f"/{name}"))),
    *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
    *(
        word
        for name in ("ld.so.cache", "alternatives", "ssl/certs")
        for word in ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
    ),
)


@contextlib.contextmanager
def started(*command: str) -> Iterator[str]:
    """A process that prints a line when it is ready, and is ended afterwards."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def tools() -> Path:
    """The folder of the scripted model and the bridge."""
    if not (SHARED / "tools/modelserver.py").is_file():
        pytest.skip("the scripted model is not here: set ADJUDGE_SHARED to the folder that holds tools/modelserver.py")
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    return SHARED / "tools"


def script_for(agent: str, folder: Path) -> Path:
    """The words of the model, with the places where the agent works here."""
    name = SCRIPTS.get(agent, agent)
    text = (SHARED / "recordings" / name / "fix/script.json").read_text().replace(f"/tmp/w/{name}-fix/repo", WORKSPACE)
    (folder / "script.json").write_text(text)
    return folder / "script.json"


def furnished(folder: Path) -> Path:
    """A workspace with a fault, beside an empty home and what a sandbox's /etc needs."""
    for name in ("ws/tally", "ws/tests", "home", "etc"):
        (folder / name).mkdir(parents=True)
    (folder / "ws/tally/stats.py").write_text(BROKEN)
    for name, text in {"tally/__init__.py": "", "tests/__init__.py": "", "tests/test_stats.py": TEST}.items():
        (folder / "ws" / name).write_text(text)
    (folder / "etc/passwd").write_text(f"agent:x:1000:1000::{HOME}:/bin/bash\n")
    (folder / "etc/hosts").write_text("127.0.0.1 localhost\n")
    for path in (folder / "ws", *(folder / "ws").rglob("*"), folder / "home"):
        path.chmod(0o777)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", [connection.name for connection in connections()])
def test_an_agent_does_its_task_with_only_what_its_connection_says(name: str, tmp_path: Path) -> None:
    connection, shared, model = find_connection(name), tools(), MODELS.get(name, "maker/scripted-5:free")
    try:
        installation = find_installation(connection)
    except InputError as error:
        pytest.skip(str(error))
    assert connection.speaks
    endpoint = AgentEndpoint("scripted", model, connection.speaks, "")
    launch = launch_of(connection, installation, TASK, endpoint, HOME, WORKSPACE)
    folder, socket = furnished(tmp_path), tmp_path / "s"
    for path, content in launch.files.items():
        (folder / "home" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "home" / path).write_bytes(content)
    binds = [word for path in installation.expose for word in ("--ro-bind", path, path)]
    binds += ["--bind", f"{folder}/home", HOME, "--bind", f"{folder}/ws", WORKSPACE, "--bind", str(socket), "/tmp/s"]
    binds += ["--ro-bind", f"{folder}/etc/passwd", "/etc/passwd", "--ro-bind", f"{folder}/etc/hosts", "/etc/hosts"]
    binds += ["--ro-bind", str(shared / "bridge.py"), "/tmp/bridge.py", "--chdir", WORKSPACE]
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": HOME,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
    } | launch.environment
    binds += [word for pair in environment.items() for word in ("--setenv", *pair)]
    server = (sys.executable, str(shared / "modelserver.py"), str(script_for(name, tmp_path)), "--log", f"{tmp_path}/log")
    with (
        started(*server) as url,
        started(sys.executable, str(shared / "bridge.py"), "serve", str(socket), url.rpartition(":")[2]),
        (tmp_path / "out").open("wb") as out,
    ):
        inside = ("python3", "/tmp/bridge.py", "run", "/tmp/s", str(PORT), *launch.arguments)
        done = subprocess.run(
            ["bwrap", *SYSTEM, *binds, *inside], stdin=subprocess.DEVNULL, stdout=out, stderr=out, timeout=120, check=False
        )
    assert done.returncode == 0, (tmp_path / "out").read_text("utf-8", "replace")[-3000:]
    assert "sum(values) / len(values)" in (folder / "ws/tally/stats.py").read_text()
    (run,) = read_runs(folder / "home" / connection.records[0])
    assert TASK in (run.task or "")
    assert len(run.record.turns) == 5
    requests = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    asked = {request["request"].get("model") or request["path"] for request in requests}
    assert all(model in each for each in asked), asked
    assert [request["missing_tools"] for request in requests if request["missing_tools"]] == []
