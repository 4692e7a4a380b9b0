"""The place where a story happens: a sandbox in which every path, clock and name is the same each time it is set up."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path
from types import TracebackType
from typing import Self

PACKAGES = ("_pytest", "pytest", "py.py", "pluggy", "iniconfig", "packaging", "pygments")
"""What is installed there besides Python: pytest with what it needs."""

LOOP = """
mkdir -p /run/clock && echo 0 > /run/clock/now
cp -a /run/ctl/repo "$1" && cd "$1" && eval "$(cat /run/ctl/prepare)" || exit 1
echo ready
while read -r number; do
    cd "$1"
    (
        echo $BASHPID > /run/clock/agent
        exec bash -c "$(cat "/run/ctl/$number.command")" > "/run/ctl/$number.output" 2>&1 < /dev/null
    )
    echo $?
done
"""

SLEEP = """#!/bin/bash
# A clock that only the agent's own waits move, so that a job in the background gets exactly as far each time.
cd /run/clock
job() { cat job 2> /dev/null || echo 0; }
settle() {
    for _ in {1..60}; do
        [ "$(job)" -gt "$(< now)" ] && break
        /bin/sleep 0.01
    done
}
if [ $PPID = "$(< agent)" ]; then
    settle
    echo $(($(< now) + $1)) > now.new && mv now.new now
    settle
else
    wake=$(($(job) + $1))
    echo $wake > job.new && mv job.new job
    while [ "$(< now)" -lt $wake ]; do /bin/sleep 0.005; done
fi
"""

ENVIRONMENT = {
    "HOME": "/home/dev",
    "LANG": "C.UTF-8",
    "LD_LIBRARY_PATH": "/usr/local/lib",
    "PATH": "/opt/bin:/usr/local/bin:/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "TZ": "UTC",
}


class Sandbox:
    """A machine with a copy of the repository, without network; commands run one after another, jobs live on between."""

    def __init__(self, folder: Path, root: str, prepare: str, room: int) -> None:
        (folder / "bin").mkdir()
        (folder / "bin/sleep").write_text(SLEEP)
        (folder / "bin/sleep").chmod(0o755)
        (folder / "prepare").write_text(prepare or ":")
        self._folder = folder
        self._count = 0
        self._process = subprocess.Popen(
            _command(folder, root, room), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.kill()
        self._process.wait()

    def run(self, command: str) -> tuple[str, int]:
        """What a command printed, and its exit status."""
        assert self._process.stdin
        self._count += 1
        (self._folder / f"{self._count}.command").write_text(command)
        self._process.stdin.write(f"{self._count}\n")
        status = int(self._answer())
        return (self._folder / f"{self._count}.output").read_text("utf-8", "replace"), status

    def read(self, path: str) -> str:
        """The text of a file."""
        text, status = self.run(f"cat '{path}'")
        if status:
            raise SystemExit(f"make_golden: {path}: {text}")
        return text

    def write(self, path: str, text: str) -> None:
        """Put a text into a file, whose folder is made if need be."""
        (self._folder / "text").write_text(text)
        output, status = self.run(f"mkdir -p \"$(dirname '{path}')\" && cat /run/ctl/text > '{path}'")
        if status:
            raise SystemExit(f"make_golden: {path}: {output}")

    def _answer(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("make_golden: the sandbox ended before its command did")
        return line


def _command(folder: Path, root: str, room: int) -> list[str]:
    here, there = Path(sysconfig.get_paths()["purelib"]), "/usr/local/lib/python3.11/site-packages"
    packages = [word for name in PACKAGES for word in ("--ro-bind", str(here / name), f"{there}/{name}")]
    links = [word for name in ("bin", "lib", "lib64", "sbin") for word in ("--symlink", f"usr/{name}", f"/{name}")]
    settings = [word for name, value in ENVIRONMENT.items() for word in ("--setenv", name, value)]
    return [
        *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--hostname", "build", "--clearenv"),
        *("--ro-bind", "/usr", "/usr", *links, "--ro-bind-try", "/etc/alternatives", "/etc/alternatives"),
        *("--ro-bind", sys.base_prefix, "/usr/local", "--tmpfs", there, *packages),
        *("--proc", "/proc", "--dev", "/dev", "--dir", "/run/clock", "--bind", str(folder), "/run/ctl"),
        *("--ro-bind", str(folder / "bin"), "/opt/bin"),
        *("--size", str(1 << 20), "--tmpfs", "/tmp", "--size", str(1 << 20), "--tmpfs", "/home/dev"),
        *("--size", str(room), "--tmpfs", "/workspace", *settings, "--chdir", "/workspace"),
        *("bash", "-c", LOOP, "bash", root),
    ]
