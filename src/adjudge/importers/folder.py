"""adjudge's own run folder: everything about a run in one place.

With a `run.yaml` the folder is what that file says:

    task: text of the task            or  {file: task.md}
    agent: mini-swe-agent             what ran, its version and its model
    agent_version: "2.4.6"
    model: openai/gpt-5
    outcome: {exit_status: 0, grade: resolved, reward: 1.0, detail: Submitted}
    context: text for the judge       or  {file: context.md}
    record: record.json               a recording in any format that adjudge knows
    workspace: workspace              the folder that the agent worked in, as it left it
    patch: change.diff
    fail_to_pass: [test_a, test_b]    tests that must go from failing to passing
    absent_at_base: [test_b]          those of them that were not there when the agent started; true for all

Every key may be left out. What a recording itself tells (its task, its agent) holds unless `run.yaml` says otherwise. A
relative path must stay inside of the folder, links included; an absolute one is taken as it is (for `record` only if it is
a file), since someone wrote it on purpose: read a `run.yaml` that comes from others before you use it. Of the tests only
those are kept that were absent at the base. `gold_patch` may stand there, and is dropped unread.

Without `run.yaml` the names decide: `task.md` or `task.txt`, `record.*` (else the only recording in the folder),
`workspace/`, `patch.diff`, `context.md` or `context.txt`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from adjudge.errors import InputError
from adjudge.importers.build import run_id
from adjudge.importers.folder_file import LONGEST, Description, read_description
from adjudge.importers.harbor import Recognise
from adjudge.record import Record
from adjudge.run import Outcome, Run

FILE = "run.yaml"


class RunFolders:
    """The importer of run folders; it is given the means to read a recording and to recognise one."""

    name = "run folder"

    def __init__(self, read: Callable[[Path], Iterator[Run]], recognise: Recognise) -> None:
        self._read = read
        self._recognise = recognise

    def recognises(self, path: Path, head: bytes) -> bool:
        """Whether the folder has a `run.yaml`, or a task or a workspace beside a recording."""
        if head or not path.is_dir():
            return False
        if (path / FILE).is_file():
            return True
        marked = (path / "workspace").is_dir() or _first(path, "task.md", "task.txt")
        return bool(marked) and bool(self._recordings(path))

    def runs(self, path: Path) -> Iterator[Run]:
        """The one run of the folder.

        Raises:
            InputError: `run.yaml` is not as it must be, a file that it names is missing, or the recording holds no run or
                several; the message names the file, the key, what is wrong and what would be right.
        """
        described = read_description(path / FILE) if (path / FILE).is_file() else self._conventional(path)
        recorded = self._recorded(path, described)
        record = recorded.record if recorded else Record("none", ())
        agent, model = described.agent or _of(recorded, "agent"), described.model or _of(recorded, "model")
        outcome = described.outcome if described.outcome != Outcome() or not recorded else recorded.outcome
        yield Run(
            id=run_id(record, agent if recorded else f"{agent} {described.task}", model),
            record=record,
            source=str(path),
            task=described.task or _of(recorded, "task"),
            agent=agent,
            agent_version=described.agent_version or _of(recorded, "agent_version"),
            model=model,
            outcome=outcome,
            workspace=str(described.workspace) if described.workspace else None,
            machine=described.machine,
            patch=described.patch or _of(recorded, "patch"),
            context=described.context,
            hidden_tests=described.hidden_tests,
        )

    def _recorded(self, path: Path, described: Description) -> Run | None:
        """The recorded run. A folder of recordings lies inside, so that run folders cannot name each other in a ring."""
        record = described.record
        if record is None:
            return None
        if record.is_dir() and (path.resolve() == record or not record.is_relative_to(path.resolve())):
            raise InputError(f"{path / FILE}: record: must be a file, or a folder inside of {path}, got {record}")
        runs = list(self._read(record))
        if len(runs) != 1:
            raise InputError(f"{record}: holds {len(runs)} runs; the recording of a run folder must hold one")
        return runs[0]

    def _conventional(self, path: Path) -> Description:
        recordings = self._recordings(path)
        if len(recordings) != 1:
            names = ", ".join(file.name for file in recordings) or "none"
            raise InputError(f"{path}: must hold one recording, or a record.*, or a {FILE} that names it; found {names}")
        patch, task = _first(path, "patch.diff"), _first(path, "task.md", "task.txt")
        context, workspace = _first(path, "context.md", "context.txt"), path / "workspace"
        return Description(
            task=_text(path, task),
            context=_text(path, context),
            record=_own(path, recordings[0]),
            workspace=_own(path, workspace) if workspace.is_dir() else None,
            patch=_text(path, patch),
        )

    def _recordings(self, path: Path) -> list[Path]:
        """The recordings directly in the folder; those called `record.*` if there are any."""
        named = sorted(path.glob("record.*"))
        if (path / "record").is_dir():
            named.append(path / "record")
        files = named or sorted(file for file in path.iterdir() if file.is_file())
        return [file for file in files if file.is_dir() or self._recognise(file)]


def _of(run: Run | None, field: str) -> str | None:
    value: str | None = getattr(run, field) if run else None
    return value


def _first(path: Path, *names: str) -> Path | None:
    return next((path / name for name in names if (path / name).is_file()), None)


def _own(path: Path, place: Path) -> Path:
    """The place with its links followed, if it is still in the folder."""
    resolved = place.resolve()
    if not resolved.is_relative_to(path.resolve()):
        raise InputError(f"{place}: is a link to {resolved}; without a {FILE} nothing outside of the folder is read")
    return resolved


def _text(path: Path, file: Path | None) -> str | None:
    if file is None:
        return None
    if file.stat().st_size > LONGEST:
        raise InputError(f"{file}: must be at most {LONGEST} bytes")
    return _own(path, file).read_text("utf-8", "replace").strip() or None
