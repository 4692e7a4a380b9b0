"""A judge that is killed, at whatever moment, leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

JUDGES = 300


@pytest.mark.hostile
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "longest"), [("local", "0.5"), ("live", "1.5")])
async def test_three_hundred_killed_judges_leave_nothing_behind(
    sandboxed: None, scene: Any, kind: str, longest: str
) -> None:
    temporary = scene.workspace.parent / "temporary"  # its own, since others may be judging on this machine
    temporary.mkdir()
    program = Path(__file__).with_name("killed_judges.py")
    done = subprocess.run(  # noqa: ASYNC221  nothing else waits
        [sys.executable, program, scene.workspace, str(JUDGES), longest, kind],
        env=os.environ | {"TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    left = json.loads(done.stdout)
    assert left == {"killed": JUDGES, "survivors": [], "groups": [], "folders": [], "mounts": []}
