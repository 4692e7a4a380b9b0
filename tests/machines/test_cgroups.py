"""Where a control group for memory can be made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adjudge.machines import cgroups
from adjudge.machines.cgroups import plan_cgroup, start_of

GB = 1 << 30


def test_a_plan_lies_below_our_own_group(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_cgroup(GB)
    if plan is None:
        pytest.skip("no control group can be made here")
    own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    paths = {path for _, controllers, path in own if controllers in ("", "memory")}
    assert any(Path(plan.directory).parent == cgroups.ROOT / sub / path[1:] for path in paths for sub in ("", "memory"))
    assert not Path(plan.directory).exists(), "it is made later, by the helper"


def test_version_two_is_limited_in_memory_and_swap(tmp_path: Path) -> None:
    """Names from Documentation/admin-guide/cgroup-v2.rst."""
    plan = cgroups._plan(tmp_path, 2, GB)
    assert plan.settings == {"memory.max": str(GB), "memory.swap.max": "0"}
    assert (plan.anonymous, plan.events) == ("anon", "memory.events")


def test_version_one_is_limited_in_memory_and_swap(tmp_path: Path) -> None:
    """Names from Documentation/admin-guide/cgroup-v1/memory.rst; the order matters, memsw may not be below memory."""
    plan = cgroups._plan(tmp_path, 1, GB)
    assert list(plan.settings) == ["memory.swappiness", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"]
    assert (plan.anonymous, plan.events) == ("rss", "memory.oom_control")


@pytest.fixture
def hierarchy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A control group file system of version two, as folders."""
    monkeypatch.setattr(cgroups, "ROOT", tmp_path)
    for name, handed_down in (("", "cpu memory pids"), ("user.slice", "memory pids"), ("user.slice/session", "")):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "cgroup.procs").touch()
        (tmp_path / name / "cgroup.subtree_control").write_text(handed_down + "\n")
    return tmp_path


def test_the_nearest_group_that_hands_down_memory_is_taken(hierarchy: Path) -> None:
    places = cgroups._upwards(hierarchy, "/user.slice/session")
    assert cgroups._first(place for place in places if cgroups._hands_down_memory(place)) == hierarchy / "user.slice"


def test_a_path_that_leads_out_of_the_hierarchy_is_not_followed(hierarchy: Path) -> None:
    """A process in another cgroup namespace sees its own group as `/../..`."""
    assert list(cgroups._upwards(hierarchy, "/../../x")) == []


def test_groups_of_dead_judges_are_removed_and_others_stay(hierarchy: Path) -> None:
    mine = f"{os.getpid()}-{start_of(os.getpid())}"
    for name in (f"adjudge-{mine}-aa", f"adjudge-{os.getpid()}-1-bb", "adjudge-99999999-1-cc", "other"):
        (hierarchy / name).mkdir()
    cgroups._remove_stale(hierarchy)
    assert sorted(path.name for path in hierarchy.glob("*-*")) == [f"adjudge-{mine}-aa"]
    assert (hierarchy / "other").exists()
