"""One attempt from its start to the machine that is left, on the real sandbox."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from adjudge.agents.attempt import Assignment, Means, attempted
from adjudge.agents.connections import command_connection
from adjudge.agents.installed import Installation
from adjudge.agents.records import FROM_TEXT
from adjudge.agents.tasks import Grader, Task
from adjudge.errors import MachineError
from adjudge.machines.live import LiveLocalMachine
from adjudge.machines.local import LocalMachine
from adjudge.machines.selftest import proven_view
from adjudge.ports import LEFT_RUNNING
from adjudge.settings import AgentLimits, MachineLimits

LIMITS = AgentLimits(seconds=30.0, disk=64 << 20)
COMMANDS = MachineLimits(seconds=20.0)


@pytest.fixture
async def sandboxed() -> None:
    """Skip where no sandbox can be had."""
    try:
        await proven_view()
    except MachineError as error:
        pytest.skip(str(error))


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """The task's folder."""
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "kept.txt").write_text("as it was\n")
    (folder / "changed.txt").write_text("before\n")
    (folder / "conftest.py").write_text("# the task's own\n")
    return folder


def assignment(given: Path, script: str, records: tuple[str, ...] = (), **more: Any) -> Assignment:
    task = Task("t", "Do it.", given / "task.yaml", limits=LIMITS, **more.pop("task", {}))
    connection = command_connection(["/bin/bash", "-c", script], records)
    return Assignment(task, connection, Installation("/bin/bash", None, (), ()), None, 1, given, **more)


def means(stages: list[str], printed: list[bytes]) -> Means:
    def open_still(folder: Path, places: Mapping[str, Path], output: int) -> LocalMachine:
        return LocalMachine(folder, MachineLimits(output=output), placed=places)

    return Means(
        lambda folder, limits, expose: LiveLocalMachine.open(folder, limits, COMMANDS, expose),
        open_still,
        lambda endpoint, usage: None,
        lambda _, stage: stages.append(stage),
        lambda _, data: printed.append(data),
    )


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """A scratch folder and one for the workspace as it is left."""
    (tmp_path / "scratch").mkdir()
    (tmp_path / "kept").mkdir()
    return tmp_path / "scratch", tmp_path / "kept"


SCRIPT = """
echo after > changed.txt; echo new > made.txt; echo x > conftest.py; rm kept.txt
(setsid sleep 300 &); sleep 0.5
echo working; echo oh >&2
"""


async def test_an_attempt_gives_the_run_and_the_machine_as_it_was_left(
    sandboxed: None, given: Path, places: tuple[Path, Path]
) -> None:
    stages: list[str] = []
    printed: list[bytes] = []
    task = {"grader": Grader("grep -q after changed.txt"), "context": "mind the gap", "hidden_tests": ("t1",)}
    async with attempted(assignment(given, SCRIPT, task=task), means(stages, printed), *places) as attempt:
        run, machine = attempt.run, attempt.machine
        assert (run.task, run.task_name, run.agent, run.context) == ("Do it.", "t", "command", "mind the gap")
        assert run.hidden_tests == ("t1",)
        assert (run.outcome.exit_status, run.outcome.grade, run.outcome.failure) == (0, "resolved", None)
        assert "working" in "".join(entry.text for entry in run.record.entries)
        assert run.patch is not None
        for line in ("-before", "+after", "+new", "deleted file mode 100644"):
            assert line in run.patch.splitlines()
        assert (
            await machine.run("pgrep -c sleep; cat changed.txt; ls")
        ).text == "1\nafter\nchanged.txt\nconftest.py\nmade.txt\n"
        assert machine.facts[LEFT_RUNNING] == "sleep 300"
        assert [(hook.path, hook.by) for hook in machine.hooks] == [("conftest.py", "agent")]
    assert stages == ["preparing", "working", "collecting", "grading"]
    assert b"working\n" in b"".join(printed)
    assert (given / "changed.txt").read_text() == "before\n"


async def test_two_attempts_that_did_the_same_are_two_runs(sandboxed: None, given: Path, tmp_path: Path) -> None:
    ids = set()
    for number in range(2):
        for name in ("scratch", "kept"):
            (tmp_path / f"{name}{number}").mkdir()
        places = tmp_path / f"scratch{number}", tmp_path / f"kept{number}"
        async with attempted(assignment(given, "echo the same"), means([], []), *places) as attempt:
            ids.add(attempt.run.id)
    assert len(ids) == 2


async def test_a_record_is_taken_from_the_home_and_never_through_a_link(
    sandboxed: None, given: Path, places: tuple[Path, Path], tmp_path: Path
) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text(json.dumps({"messages": [{"role": "user", "content": "a session of the host's"}]}))
    script = f"mkdir ~/sessions; ln -s {outside} ~/sessions/one.json; echo done"
    async with attempted(assignment(given, script, ("sessions",)), means([], []), *places) as attempt:
        assert attempt.run.record.format == "output"
        assert FROM_TEXT in attempt.run.notes
        assert "session of the host" not in str(list(attempt.run.record.entries))


async def test_a_secret_reaches_the_process_and_nothing_that_is_judged(
    sandboxed: None, given: Path, places: tuple[Path, Path]
) -> None:
    script = 'echo "$TOKEN" > leaked.txt; echo "the token is $TOKEN"; echo ${#TOKEN} > size.txt; echo > conftest-$TOKEN.py'
    secret = {"TOKEN": "sk-canary-4711-abcdef"}
    printed: list[bytes] = []
    async with attempted(assignment(given, script, secrets=secret), means([], printed), *places) as attempt:
        assert b"the token is [secret TOKEN]" in b"".join(printed)
        assert (await attempt.machine.run("cat size.txt")).text == "21\n"
        assert "canary" not in (await attempt.machine.run("cat leaked.txt")).text
        assert b"canary" not in (await attempt.machine.read("leaked.txt")).data
        texts = [entry.text for entry in attempt.run.record.entries]
        assert any("the token is [secret TOKEN]" in text for text in texts)
        assert "canary" not in (attempt.run.patch or "")
    assert all(b"canary" not in file.read_bytes() for file in places[1].rglob("*") if file.is_file())


async def test_a_grader_that_could_not_work_is_told_beside_the_outcome(
    sandboxed: None, given: Path, places: tuple[Path, Path]
) -> None:
    task = {"grader": Grader("no-such-grader")}
    async with attempted(assignment(given, "true", task=task), means([], []), *places) as attempt:
        assert attempt.run.outcome.grade == "error"
        assert "127" in (attempt.run.outcome.grading or "")


async def test_a_repository_within_the_workspace_hides_nothing_from_the_patch(
    sandboxed: None, given: Path, places: tuple[Path, Path]
) -> None:
    commit = "git -c user.name=a -c user.email=a commit -qm x"
    script = f"mkdir sub empty; git init -q empty; cd sub; git init -q; echo hidden > h.py; git add -A; {commit}"
    async with attempted(assignment(given, script), means([], []), *places) as attempt:
        assert attempt.run.patch is not None
        assert "+hidden" in attempt.run.patch.splitlines()
    assert (places[1] / "sub" / ".git").is_dir()


async def test_byte_code_is_in_the_patch_only_if_it_was_there_at_first(
    sandboxed: None, given: Path, places: tuple[Path, Path]
) -> None:
    (given / "__pycache__").mkdir()
    (given / "__pycache__" / "old.pyc").write_text("then\n")
    (given / "given.pyc").write_text("then\n")
    script = """
    for path in __pycache__/old.pyc __pycache__/new.pyc given.pyc made.pyc made.py; do echo now > $path; done
    mkdir -p deep/__pycache__; echo now > deep/__pycache__/m.cpython-312.pyc; echo now > deep/m.py
    """
    async with attempted(assignment(given, script), means([], []), *places) as attempt:
        changed = [line.split(" b/")[1] for line in (attempt.run.patch or "").splitlines() if line.startswith("diff --git")]
    assert changed == ["__pycache__/old.pyc", "deep/m.py", "given.pyc", "made.py"]


async def test_files_that_could_not_all_be_copied_prove_nothing(
    sandboxed: None, given: Path, places: tuple[Path, Path]
) -> None:
    script = "echo hidden > zz; for i in $(seq 10 40); do truncate -s 8M f$i; done"
    task = {"grader": Grader("test ! -e zz")}
    async with attempted(assignment(given, script, task=task), means([], []), *places) as attempt:
        assert (attempt.run.outcome.grade, attempt.run.workspace) == ("error", None)
        assert any("could not be copied whole" in note for note in attempt.run.notes)
        with pytest.raises(MachineError, match="not be copied whole"):
            await attempt.machine.list()
        with pytest.raises(MachineError, match="not be copied whole"):
            await attempt.machine.run("ls zz", fresh=True)
        assert (await attempt.machine.run("cat zz")).text == "hidden\n"


async def test_a_packed_file_is_no_record(sandboxed: None, given: Path, places: tuple[Path, Path]) -> None:
    script = 'echo \'{"messages": [{"role": "user", "content": "packed"}]}\' > ~/rec.json; gzip ~/rec.json; echo plain'
    async with attempted(assignment(given, script, ("rec.json.gz",)), means([], []), *places) as attempt:
        assert attempt.run.record.format == "output"
