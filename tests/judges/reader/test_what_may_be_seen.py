"""A reference solution and a grader's result reach neither what a reader sees nor what is stored."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from adjudge.importers.sniff import read_runs
from adjudge.judges.reader.input import ReaderInput, seen_of
from adjudge.judges.reader.prepare import Material, prepare
from adjudge.judgment import PruneMode
from adjudge.run import Run
from adjudge.store.store import open_store

FIXTURES = Path(__file__).parents[2] / "importers" / "fixtures"
CHAT = [{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "Done."}]
MODES: tuple[PruneMode, ...] = ("full", "pruned", "automatic")

PLANT = f"SOLUTION{secrets.token_hex(8)}"


def instance() -> dict[str, Any]:
    """A SWE-bench instance."""
    diff = f"diff --git a/x.py b/x.py\n+{PLANT}\n"
    return {
        "instance_id": f"owner__repo-{PLANT}",
        "problem_statement": "It is broken.",
        "hints_text": PLANT,
        "patch": diff,
        "gold_patch": diff,
        "test_patch": diff,
        "FAIL_TO_PASS": json.dumps([f"tests/test_x.py::test_{PLANT}"]),
        "PASS_TO_PASS": "[]",
    }


def report() -> dict[str, Any]:
    """A report of SWE-bench's grader, with a solution planted in it."""
    tests = {"FAIL_TO_PASS": {"success": [PLANT], "failure": []}, "PASS_TO_PASS": {"success": [], "failure": []}}
    return {"owner__repo-1": {"resolved": True, "gold_patch": PLANT, "patch": PLANT, "tests_status": tests}}


def put_beside(folder: Path) -> None:
    """What a benchmark leaves in a run's folder."""
    (folder / "report.json").write_text(json.dumps(report()))
    (folder / "instance.json").write_text(json.dumps(instance()))
    (folder / "task_instances.jsonl").write_text(json.dumps(instance()) + "\n")
    for name in ("gold.diff", "gold_patch.diff", "test_patch.diff", "solution.patch", "eval.sh"):
        (folder / name).write_text(f"+{PLANT}\n")


def stored(run: Run, place: Path) -> bytes:
    """Every byte that a store holds after the run was added, blobs unpacked."""
    with open_store(place) as store:
        store.add_run(run)
    found = []
    for file in (file for file in place.rglob("*") if file.is_file()):
        data = file.read_bytes()
        if data.startswith(zstandard.FRAME_HEADER):
            data = zstandard.ZstdDecompressor().decompressobj(read_across_frames=True).decompress(data)
        found.append(data)
    return b"\n".join(found)


def everything(run: Run, place: Path) -> bytes:
    seen = seen_of(run)
    prepared = [msgspec.json.encode(prepare(seen, mode, 50_000)) for mode in MODES]
    dumped = msgspec.json.encode([seen, run], enc_hook=list)
    return b"\n".join([*prepared, dumped, repr(run).encode(), stored(run, place)])


def test_a_solution_in_run_yaml_or_beside_it_is_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    put_beside(folder)
    (folder / "record.json").write_text(json.dumps(CHAT))
    (folder / "run.yaml").write_text(
        f"task: Fix it.\nrecord: record.json\noutcome: {{grade: unresolved, reward: 0.125}}\n"
        f"fail_to_pass: [t::seen_{PLANT}, t::new]\nabsent_at_base: [t::new]\ngold_patch: |\n  +{PLANT}\n"
    )
    (run,) = read_runs(folder)
    assert run.hidden_tests == ("t::new",)
    assert PLANT.encode() not in everything(run, tmp_path / "store")


def test_a_solution_in_a_folder_without_run_yaml_is_nowhere(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    put_beside(folder)
    (folder / "record.json").write_text(json.dumps(CHAT))
    (folder / "task.md").write_text("Fix it.")
    (run,) = read_runs(folder)
    assert PLANT.encode() not in everything(run, tmp_path / "store")


@pytest.mark.parametrize("name", ["fix.traj.json", "failcmd.traj.json"])
def test_a_solution_inside_of_a_trajectory_s_own_file_is_nowhere(name: str, tmp_path: Path) -> None:
    recording = json.loads((FIXTURES / "mini" / name).read_text())
    recording |= {"instance": instance(), "gold_patch": PLANT}
    recording["info"] |= {"instance": instance(), "report": report(), "gold_patch": PLANT}
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / name).write_text(json.dumps(recording))
    put_beside(folder)
    (run,) = read_runs(folder / name)
    assert PLANT.encode() not in everything(run, tmp_path / "store")


def test_a_solution_in_the_file_of_a_conversation_is_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text(json.dumps({"messages": CHAT, "instance": instance(), **instance()}))
    (run,) = read_runs(path)
    assert PLANT.encode() not in everything(run, tmp_path / "store")


def test_what_is_told_of_a_run_is_found_where_it_is_looked_for(tmp_path: Path) -> None:
    """The other tests here search in the right places: what may be seen is found there."""
    path = tmp_path / "record.json"
    path.write_text(json.dumps([*CHAT, {"role": "assistant", "content": PLANT}]))
    (run,) = read_runs(path)
    assert everything(run, tmp_path / "store").count(PLANT.encode()) >= len(MODES) + 3


def test_the_grade_is_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    (path / "record.json").write_text(json.dumps(CHAT))
    (path / "run.yaml").write_text(
        "record: record.json\noutcome: {exit_status: 0, grade: unresolved, reward: 0.0625, detail: GradedAsBad}\n"
    )
    (run,) = read_runs(path)
    shown = json.dumps(msgspec.to_builtins([seen_of(run).agent, *(prepare(seen_of(run), mode) for mode in MODES)]))
    assert run.outcome.grade == "unresolved"
    assert [word for word in ("unresolved", "0.0625", "GradedAsBad") if word in shown] == []


def test_no_type_on_the_way_to_the_model_has_room_for_a_solution_or_a_grade() -> None:
    seen = {"record", "task", "context", "agent", "exit_status", "patch", "hidden_tests"}
    assert set(ReaderInput.__struct_fields__) == seen
    words = ("gold", "solution", "reference", "grade", "reward", "outcome", "test_patch")
    for fields in (Run.__struct_fields__, Material.__struct_fields__):
        found = [field for field in fields if any(word in field for word in words)]
        assert found == (["outcome"] if fields is Run.__struct_fields__ else [])
