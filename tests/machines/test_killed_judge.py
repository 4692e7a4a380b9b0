"""A judge that is killed, at whatever moment, leaves nothing behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

JUDGES = 300


@pytest.mark.hostile
@pytest.mark.slow
async def test_three_hundred_killed_judges_leave_nothing_behind(sandboxed: None, scene: Any) -> None:
    program = Path(__file__).with_name("killed_judges.py")
    done = subprocess.run(  # noqa: ASYNC221  nothing else waits
        [sys.executable, program, scene.workspace, str(JUDGES), "0.5"],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    left = json.loads(done.stdout)
    assert left == {"killed": JUDGES, "survivors": [], "groups": [], "folders": [], "mounts": []}
