"""From a place to the folder that becomes the workspace: a folder as it is, or a commit of a git repository and its past.

What came after the commit must not reach the agent, since it may hold the solution: no later commit, no other branch, no
object that the commit does not need is in the clone's `.git`.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from adjudge.agents.git import git
from adjudge.agents.tasks import Place
from adjudge.errors import InputError

_FULL_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


async def prepared(place: Place, scratch: Path) -> Path | None:
    """The folder that a workspace begins with, `None` for nothing; all attempts of a task can start from it.

    A repository is cloned into `scratch`, without submodules and without large files kept elsewhere (LFS), and its commit
    checked out with a detached HEAD.

    Raises:
        InputError: there is no such repository or commit.
        OutsideError: git is not installed, a server does not answer as it should, or it took too long.
    """
    if place.git is None:
        return place.folder
    clone, where = scratch / "clone", f"{place.git} at {place.commit}"
    # `--no-local` goes through git's transport: nothing but what the repository's branches and tags need is copied.
    await git(scratch, where, "clone", "-q", "--no-local", "--no-checkout", "--template=", "--", place.git, str(clone))
    commit = await _commit(clone, str(place.commit), where)
    await git(clone, where, "checkout", "-q", "--detach", commit)
    await _forget_the_rest(clone, where)
    return clone


async def _commit(clone: Path, name: str, where: str) -> str:
    """The full id of the commit that a name means; a branch is one of the repository that was cloned."""
    for each in (f"refs/remotes/origin/{name}", name):
        with suppress(InputError):
            return (await git(clone, where, "rev-parse", "-q", "--verify", f"{each}^{{commit}}")).strip()
    if _FULL_ID.fullmatch(name):  # of no branch, as the commits of a closed pull request are
        with suppress(InputError):
            await git(clone, where, "fetch", "-q", "--no-tags", "--no-write-fetch-head", "origin", name)
            return name
    raise InputError(f"{where}: the repository has no such commit, tag or branch")


async def _forget_the_rest(clone: Path, where: str) -> None:
    """Leave nothing but the commit checked out, its past, and the tags on it."""
    await git(clone, where, "remote", "remove", "origin")
    refs = await _names(clone, where)
    kept = await _names(clone, where, "--merged=HEAD", "refs/tags")
    orders = "".join(f"delete {ref}\n" for ref in refs if ref not in kept)
    await git(clone, where, "update-ref", "--no-deref", "--stdin", given=orders)
    await git(clone, where, "gc", "-q", "--prune=now")


async def _names(clone: Path, where: str, *which: str) -> list[str]:
    return (await git(clone, where, "for-each-ref", "--format=%(refname)", *which)).splitlines()
