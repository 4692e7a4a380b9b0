"""What `git` does: it looks at a state or at history, writes, changes the tree, or goes to the network."""

from __future__ import annotations

import re
from collections.abc import Iterator

from adjudge.profile.programs import listed
from adjudge.profile.reading import operands
from adjudge.profile.work import Facet, Work
from adjudge.profile.wrappers import Words

_KINDS: dict[str, Work] = {
    **dict.fromkeys(
        listed(
            "log show blame reflog shortlog annotate whatchanged cherry range-diff rev-list bisect cat-file fsck ls-tree "
            "diff-tree describe merge-base archive bundle ls-remote fetch"
        ),
        "history",
    ),
    **dict.fromkeys(
        listed(
            "status config remote version help check-ignore rev-parse symbolic-ref worktree var submodule branch tag "
            "hash-object check-attr for-each-ref show-ref diff-files name-rev count-objects write-tree diff-index lfs "
            "update-index maintenance gc sparse-checkout stripspace notes --version --help"
        ),
        "git_state",
    ),
    **dict.fromkeys(listed("checkout restore reset revert switch clean merge rebase pull cherry-pick rm mv"), "git_tree"),
    **dict.fromkeys(listed("add commit push init clone filter-branch update-ref prune read-tree"), "git_write"),
    "grep": "search",
    "ls-files": "list",
    "format-patch": "history",
}
_REVISION = re.compile(r".*\.\.|(?:HEAD[~^@]|[0-9a-f]{7,40}$|origin/|upstream/|(?:main|master|develop)$)")
_REFERENCE_CHANGES = frozenset({"-d", "-D", "-m", "-f", "--delete", "add", "set-url", "remove"})
PRINTS_DIFFS = frozenset({"diff", "show", "format-patch"})


def subcommand(words: Words) -> Words:
    """The words from git's subcommand on."""
    rest = words[1:]
    while rest and rest[0].startswith("-") and rest[0] not in ("--version", "--help"):
        rest = rest[2:] if rest[0] in ("-C", "-c", "--git-dir", "--work-tree") else rest[1:]
    return rest


def git(words: Words) -> Iterator[Facet]:
    """The facets of a call of git."""
    name, *rest = subcommand(words) or ("help",)
    if name in ("clone", "fetch", "pull", "ls-remote", "push"):
        yield Facet("network")
    yield Facet(_kind(name, rest), operands(rest) if name in ("checkout", "restore", "rm", "mv") else ())


def _kind(name: str, rest: list[str]) -> Work:
    if name in ("apply", "am"):
        return "git_state" if "--check" in rest or "--stat" in rest else "edit"
    if name == "stash":
        return "history" if rest[:1] in (["list"], ["show"]) else "git_tree"
    if name == "diff":
        named = rest[: rest.index("--")] if "--" in rest else rest
        return "history" if any(_REVISION.match(word) for word in operands(named)) else "git_state"
    if name in ("branch", "tag", "remote", "notes") and _REFERENCE_CHANGES & set(rest):
        return "git_write"
    return _KINDS.get(name, "unknown")
