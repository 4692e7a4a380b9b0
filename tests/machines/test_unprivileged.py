"""The other privilege mode: when root runs the tests, those of the machine are run once more by a plain user.

A plain user who runs the tests has them in that mode anyway, and cannot have the other.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

PLAIN = 1234
HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent

# Two counts, then the folders that must be reachable, the folders to cover (none may pass them), and a command.
# It runs in a mount namespace of its own: nothing of it is seen outside, and nothing is left of it.
REACHABLE = """
set -eu
count=$1 covers=$2 keep=/mnt; shift 2
needed=("${@:1:$count}"); shift "$count"
covered=("${@:1:$covers}"); shift "$covers"
mount -t tmpfs tmpfs "$keep"
for i in "${!needed[@]}"; do mkdir "$keep/$i"; mount --bind "${needed[$i]}" "$keep/$i"; done
for folder in "${covered[@]}"; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
for i in "${!needed[@]}"; do mkdir -p "${needed[$i]}"; mount --bind "$keep/$i" "${needed[$i]}"; done
exec "$@"
"""

PARTS = [  # what depends on privileges, in parts of about the same length
    ("test_hostile.py",),
    ("test_sessions.py", "test_killed_judge.py"),
    ("test_live.py", "test_live_hostile.py"),
    ("test_contract.py", "test_local.py", "test_files.py", "test_diagnosis.py"),
]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run the tests as somebody else")
@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS, ids=" ".join)
def test_it_holds_for_a_plain_user(part: tuple[str, ...], tmp_path: Path) -> None:
    for tool in ("unshare", "setpriv"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} of util-linux is not installed")
    done = as_plain_user(["-m", "pytest", "-p", "no:cacheprovider", "-rs", *(f"{HERE}/{name}" for name in part)], tmp_path)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
    assert "commands cannot be run" not in done.stdout, done.stdout[-2000:]


def as_plain_user(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run this Python as a user without any privilege, whatever folders of root's it is installed in."""
    home = folder / "home"
    home.mkdir()
    os.chown(home, PLAIN, PLAIN)
    needed = list(dict.fromkeys((str(home), str(REPOSITORY), sys.prefix, sys.base_prefix)))
    covered = outermost(closed for path in needed if (closed := first_closed(Path(path))))
    user = ["setpriv", f"--reuid={PLAIN}", f"--regid={PLAIN}", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all"]
    variables = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(home)}
    script = ["bash", "-c", REACHABLE, "bash", str(len(needed)), str(len(covered)), *needed, *covered]
    command = ["unshare", "--mount", "--propagation=private", *script, *user, sys.executable, *arguments]
    return subprocess.run(command, env=variables, cwd=REPOSITORY, capture_output=True, text=True, timeout=280, check=False)


def first_closed(path: Path) -> Path | None:
    """The outermost folder on the way that only its owner may pass."""
    return next((folder for folder in reversed(path.parents) if not folder.stat().st_mode & 0o001), None)


def outermost(folders: Iterable[Path]) -> list[str]:
    """Those that lie in no other of them."""
    distinct = sorted(set(folders))
    return [
        str(folder)
        for folder in distinct
        if not any(folder != other and folder.is_relative_to(other) for other in distinct)
    ]
