"""What git runs or leaves out because files of the workspace say so: hooks, its configuration, attributes, exclusions.

Names and what they act on are from git's manual: githooks(5), git-config(1), gitattributes(5), gitignore(5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from adjudge.machines.candidates import Candidate
from adjudge.ports import Hook

_COMMITS = "commit merge cherry-pick revert rebase am pull"
_CHECKOUTS = "checkout switch clone worktree pull rebase stash"
_INDEX = "add commit status diff checkout switch restore reset stash rm mv merge rebase"
_SHOWS = "diff show log blame grep format-patch stash"
_REMOTES = "fetch pull push clone ls-remote submodule"

_HOOKS: dict[str, str] = {
    **dict.fromkeys(("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"), _COMMITS),
    **dict.fromkeys(("applypatch-msg", "pre-applypatch", "post-applypatch"), "am"),
    **dict.fromkeys(("pre-merge-commit", "post-merge"), "merge pull"),
    **dict.fromkeys(("pre-receive", "update", "post-receive", "post-update", "proc-receive", "push-to-checkout"), "push"),
    "pre-push": "push",
    "pre-rebase": "rebase pull",
    "post-rewrite": "commit rebase",
    "post-checkout": _CHECKOUTS,
    "post-index-change": _INDEX,
    "fsmonitor-watchman": _INDEX,
    "reference-transaction": f"{_COMMITS} {_CHECKOUTS} branch tag reset fetch push update-ref init",
    "pre-auto-gc": "gc commit merge rebase fetch",
    "sendemail-validate": "send-email",
}
"""A hook's name, and the subcommands that run it."""

_ALL_HOOKS = " ".join(dict.fromkeys(" ".join(_HOOKS.values()).split()))

_SETTINGS: tuple[tuple[str, str], ...] = (
    (r"core\.hookspath", _ALL_HOOKS),
    (r"core\.fsmonitor", _INDEX),
    (r"core\.worktree|include\.path|includeif\..*\.path", ""),
    (r"core\.attributesfile|diff\.external|diff\..*\.(?:command|textconv)", _SHOWS),
    (r"core\.excludesfile|status\.showuntrackedfiles", "status add clean ls-files"),
    (r"filter\..*\.(?:clean|smudge|process)", _INDEX),
    (r"merge\..*\.driver", _COMMITS),
    (r"core\.(?:editor|commentstring)|sequence\.editor|gpg\.(?:.*\.)?program", f"{_COMMITS} log show tag"),
    (r"core\.(?:sshcommand|gitproxy)|credential\.(?:.*\.)?helper|submodule\..*\.update", _REMOTES),
)
"""Settings by which git runs a program, looks elsewhere or leaves something out; no subcommands means all."""
_ACTING = tuple((re.compile(pattern), subcommands) for pattern, subcommands in _SETTINGS)
_HEADING = re.compile(r'\[\s*([\w.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\](.*)')
_KEY = re.compile(r"([A-Za-z][\w-]*)\s*(?:=\s*(.*))?")
_ATTRIBUTE = re.compile(r"[ \t](?:[-!]?(?:diff|merge)(?:=\S+)?|filter=\S+|binary)(?=[ \t]|$)", re.MULTILINE)
_MOST_ACTS = 200
"""Ways to act on git that are told apart; a file that has more acts on all of it."""


def git_hooks(file: Candidate) -> Iterator[Hook]:
    """What a file can do to git's commands."""
    if acts_on := tuple(dict.fromkeys(_acts_on(file))):
        yield file.hook("git", *(acts_on if len(acts_on) <= _MOST_ACTS else ("git",)))


def _acts_on(file: Candidate) -> Iterator[str]:
    of_git = ".git" in file.folder.split("/")
    if file.name == ".git":
        yield "git"  # it names the place of another repository
    elif file.name in _HOOKS and _is_hook(file, of_git):
        yield from _acts("core.hookspath", _HOOKS[file.name])
    elif file.name in ("config", "config.worktree") and (of_git or "repositoryformatversion" in file.text):
        yield from _configured(file)
    elif file.name == ".gitattributes" or (of_git and file.path.endswith("info/attributes")):
        if _ATTRIBUTE.search(file.text):
            yield from (f"git {name}" for name in f"{_SHOWS} {_INDEX}".split())
    elif of_git and file.path.endswith("info/exclude") and _excludes(file):
        yield from ("git status", "git add", "git clean", "git ls-files")


def _excludes(file: Candidate) -> bool:
    return any(line and not line.startswith("#") for line in file.lines_below(""))


def _is_hook(file: Candidate, of_git: bool) -> bool:
    """A file of a hook's name runs if it lies in git's own folder for them, or in another one that a setting names."""
    placed = file.folder.endswith("/hooks") if of_git else "-" in file.name
    return placed and file.is_executable()


def _acts(setting: str, subcommands: str) -> list[str]:
    if not subcommands:
        return [f"git -c {setting}"]
    return [f"git -c {setting} {name}" for name in subcommands.split()]


def _configured(file: Candidate) -> Iterator[str]:
    for setting, value in _settings(file.text):
        if setting == "core.fsmonitor" and value in ("true", "false", ""):
            continue  # git's own file watcher, or none
        if setting.startswith("alias."):
            yield from _acts(setting, setting.removeprefix("alias."))
        for pattern, subcommands in _ACTING:
            if pattern.fullmatch(setting):
                yield from _acts(setting.replace(" ", "_"), subcommands)


def _settings(text: str) -> Iterator[tuple[str, str]]:
    """The names, in small letters, and the values of a configuration's settings."""
    section = ""
    for line in text.splitlines():
        rest = line.strip()
        if heading := _HEADING.match(rest):
            section = ".".join(part for part in heading.group(1, 2) if part)
            rest = heading[3].strip()
        if key := _KEY.match(rest):
            yield f"{section}.{key[1]}".lower(), (key[2] or "").strip()
