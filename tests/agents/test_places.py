"""A commit becomes a workspace without anything that came after it."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from adjudge.agents import git as host_git
from adjudge.agents.places import prepared
from adjudge.agents.tasks import Place
from adjudge.errors import InputError, OutsideError

pytestmark = pytest.mark.asyncio


class Repository:
    """A repository on disk whose second commit is the solution of what the first is a task for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.git("init", "-q", "-b", "main")
        self.base = self.commit("return 1 / 0", "base")
        self.git("tag", "v1")
        self.git("tag", "-a", "-m", "the first", "v1-annotated")
        self.fix = self.commit("return 42", "fix")
        self.git("tag", "v2")
        self.git("checkout", "-q", "-b", "topic", self.base)
        self.topic = self.commit("return 'topic'", "topic")
        self.git("checkout", "-q", "main")

    def git(self, *arguments: str) -> str:
        """What git prints, run by somebody."""
        who = ("-c", "user.name=someone", "-c", "user.email=someone@example.org")
        done = subprocess.run(["git", *who, *arguments], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, text: str, message: str) -> str:
        """The id of a new commit with this text."""
        (self.folder / "answer.py").write_text(f"{text}\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


async def cloned(repository: Repository, tmp_path: Path, commit: str) -> Repository:
    """The clone at a commit."""
    (tmp_path / "scratch").mkdir()
    folder = await prepared(Place(git=str(repository.folder), commit=commit), tmp_path / "scratch")
    assert folder is not None
    clone = Repository.__new__(Repository)
    clone.folder = folder
    return clone


def runs(pid: int) -> bool:
    """Whether a process is there, and no zombie that nobody has waited for yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def ends(pid: int) -> bool:
    """Whether a process ends within five seconds."""
    for _ in range(100):
        if not runs(pid):
            return True
        await asyncio.sleep(0.05)
    return False


async def test_a_folder_is_used_as_it_is_and_nothing_stays_nothing(tmp_path: Path) -> None:
    assert await prepared(Place(folder=tmp_path), tmp_path) == tmp_path
    assert await prepared(Place(image="python:3.12"), tmp_path) is None


async def test_the_commit_is_checked_out_with_its_past(repository: Repository, tmp_path: Path) -> None:
    clone = await cloned(repository, tmp_path, repository.fix)
    assert (clone.folder / "answer.py").read_text() == "return 42\n"
    assert clone.git("log", "--format=%s") == "fix\nbase"
    assert clone.git("status", "--porcelain") == ""
    assert clone.git("rev-parse", "--abbrev-ref", "HEAD") == "HEAD"


async def test_nothing_of_the_future_is_left(repository: Repository, tmp_path: Path) -> None:
    clone = await cloned(repository, tmp_path, repository.base)
    needed = clone.git("rev-list", "--objects", "--no-object-names", "HEAD", "v1", "v1-annotated").split()
    there = clone.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    assert sorted(there) == sorted(needed)
    assert repository.fix not in there
    assert clone.git("for-each-ref", "--format=%(refname)").split() == ["refs/tags/v1", "refs/tags/v1-annotated"]
    assert clone.git("remote") == ""
    assert clone.git("reflog") == ""
    kept = b"".join(path.read_bytes() for path in (clone.folder / ".git").rglob("*") if path.is_file())
    assert not [
        word for word in (repository.fix, repository.topic, "topic", str(repository.folder)) if word.encode() in kept
    ]


async def test_a_file_that_no_commit_needs_is_not_copied(repository: Repository, tmp_path: Path) -> None:
    (repository.folder / "secret").write_text("the solution, staged once\n")
    blob = repository.git("hash-object", "-w", "secret")
    clone = await cloned(repository, tmp_path, repository.base)
    with pytest.raises(subprocess.CalledProcessError):
        clone.git("cat-file", "-e", blob)


@pytest.mark.parametrize("name", ["topic", "v2", "main"])
async def test_a_branch_or_a_tag_names_its_commit(repository: Repository, tmp_path: Path, name: str) -> None:
    clone = await cloned(repository, tmp_path, name)
    assert clone.git("rev-parse", "HEAD") == repository.git("rev-parse", name)


async def test_a_commit_of_no_branch_can_be_had_by_its_full_id(repository: Repository, tmp_path: Path) -> None:
    repository.git("branch", "-q", "-D", "topic")
    clone = await cloned(repository, tmp_path, repository.topic)
    assert clone.git("log", "--format=%s") == "topic\nbase"
    assert not (clone.folder / ".git/FETCH_HEAD").exists()


async def test_the_repository_itself_stays_as_it_was(repository: Repository, tmp_path: Path) -> None:
    before = repository.git("for-each-ref"), repository.git("count-objects"), repository.git("status", "--porcelain")
    await cloned(repository, tmp_path, repository.base)
    assert (
        repository.git("for-each-ref"),
        repository.git("count-objects"),
        repository.git("status", "--porcelain"),
    ) == before


async def test_hooks_and_submodules_do_not_come_along(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = tmp_path / "template/hooks"
    template.mkdir(parents=True)
    (template / "post-checkout").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (template / "post-checkout").chmod(0o755)
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.gitconfig").write_text(f"[init]\ntemplateDir = {template.parent}\n[submodule]\nrecurse = true\n")
    (repository.folder / ".gitmodules").write_text('[submodule "x"]\npath = x\nurl = https://example.invalid/x\n')
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{repository.base},x")
    commit = repository.commit("return 7", "with a submodule")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    clone = await cloned(repository, tmp_path, commit)
    assert (clone.folder / "answer.py").read_text() == "return 7\n"
    assert not (tmp_path / "ran").exists()
    assert not (clone.folder / ".git/hooks").exists()


async def test_a_commit_that_is_not_there_is_named(repository: Repository, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{repository.folder} at v9: the repository has no such commit, tag or branch"):
        await cloned(repository, tmp_path, "v9")


async def test_a_folder_that_is_no_repository_is_named_with_gits_word(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(InputError, match=f"^{tmp_path}/plain at v1: git clone: fatal: "):
        await prepared(Place(git=str(tmp_path / "plain"), commit="v1"), tmp_path)


async def test_a_protocol_that_runs_commands_is_refused_by_git_too(tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match="transport 'ext' not allowed"):
        await prepared(Place(git=f"ext::sh -c touch% {tmp_path}/ran", commit="v1"), tmp_path)
    assert not (tmp_path / "ran").exists()


async def test_a_server_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ssh").write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    (tmp_path / "bin/ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(host_git, "LONGEST", 1.0)
    with pytest.raises(OutsideError, match=r"^ssh://x/y at v1: git clone was not done after 1 s"):
        await prepared(Place(git="ssh://x/y", commit="v1"), tmp_path)
    assert await ends(int((tmp_path / "pid").read_text()))


async def test_nobody_is_asked_for_a_password_and_no_key_to_a_model_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/ssh").write_text(f"#!/bin/sh\nenv > {tmp_path}/env; echo $@ > {tmp_path}/arguments; exit 255\n")
    (tmp_path / "bin/ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-secret")
    monkeypatch.setenv("SSH_ASKPASS", "/bin/false")
    with pytest.raises(OutsideError, match="git clone: fatal: "):
        await prepared(Place(git="someone@x:y", commit="v1"), tmp_path)
    assert "BatchMode=yes" in (tmp_path / "arguments").read_text()
    seen = (tmp_path / "env").read_text()
    assert "GIT_TERMINAL_PROMPT=0" in seen
    assert not [word for word in ("sk-or-secret", "SSH_ASKPASS") if word in seen]
