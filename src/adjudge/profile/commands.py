"""What kind of work a shell command is: one facet for each thing that it does, by rules; what is not known is "unknown"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from adjudge.profile import reading, runtimes
from adjudge.profile.code import patched_paths
from adjudge.profile.programs import (
    CHECKERS,
    INSTALLERS,
    KINDS,
    SEARCHERS,
    TASK_RUNNERS,
    TEMPORARY_OR_EMPTY,
    listed,
)
from adjudge.profile.shell import Pipeline, SimpleCommand, split_command
from adjudge.profile.versioning import PRINTS_DIFFS, git, subcommand
from adjudge.profile.work import READS, Facet, is_temporary
from adjudge.profile.wrappers import Words, program_of, unwrapped

DEEPEST = 4
"""Shells inside of shells that are looked into."""

_WINDOW = re.compile(r"\s*(edit|insert|create|open|goto|scroll_up|scroll_down|str_replace_editor|end_of_edit)(?=\s|$)")
"""Commands of SWE-agent's file window, which look like a shell's and are none."""
_WINDOWS_PATH = re.compile(r"(?<![\w\\])[A-Za-z]:\\")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_LANGUAGES = frozenset(listed("node bun deno ruby php perl tsx ts-node lua Rscript julia swift elixir osascript"))
_NO_FILE = frozenset({"/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "NUL", "nul", "$null", "-", "1", "2"})
_LOCAL = re.compile(r"localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]")
_KEPT_DIFF = re.compile(r"\.(?:patch|diff|txt)$")

Rule = Callable[[SimpleCommand, Words, Sequence[SimpleCommand]], Facet]
_READERS: dict[str, Rule] = {
    **dict.fromkeys(reading.PRINTERS, reading.whole),
    **dict.fromkeys(("head", "tail"), reading.ends),
    **dict.fromkeys(("sed", "gsed"), reading.sed),
    **dict.fromkeys(("awk", "gawk", "mawk"), reading.awk),
    **dict.fromkeys(("jq", "yq", "xmllint"), reading.query),
}


def command_facets(text: str, depth: int = 0) -> tuple[Facet, ...]:
    """The facets of a shell command, in order."""
    if text.lstrip().startswith("*** Begin Patch"):
        return (Facet("edit", patched_paths(text)),)
    if window := _WINDOW.match(text):
        return (_window_facet(window[1], text.split("\n", 1)[0].split()),)
    if "\\" in text and _WINDOWS_PATH.search(text):
        text = text.replace("\\", "\\\\")
    facets: list[Facet] = []
    for pipeline in split_command(text):
        facets += _pipeline_facets(pipeline, depth)
    return tuple(facets) or (Facet("glue"),)


def _window_facet(name: str, words: Sequence[str]) -> Facet:
    if name == "str_replace_editor":
        verb, paths = " ".join(words[1:2]), tuple(words[2:3])
        if verb == "view":
            return Facet("read_part" if "--view_range" in words else "read", paths)
        return Facet("write" if verb == "create" else "edit", paths)
    if name in ("edit", "insert", "end_of_edit"):
        return Facet("edit", tuple(word for word in words[1:2] if ":" not in word and not word.isdigit()))
    return Facet("write" if name == "create" else "read_part", tuple(words[1:2]))


def _pipeline_facets(pipeline: Pipeline, depth: int) -> Iterator[Facet]:
    keeps_diff = _prints_diff(pipeline[0])
    for at, command in enumerate(pipeline):
        for facet in _facets(command, pipeline[at + 1 :], depth):
            kept = keeps_diff and facet.kind == "write" and any(map(_KEPT_DIFF.search, facet.paths))
            yield Facet("export", facet.paths) if kept else facet


def _prints_diff(command: SimpleCommand) -> bool:
    words = unwrapped(command.words)
    return program_of(words) == "git" and bool(PRINTS_DIFFS & set(subcommand(words)[:1]))


def _facets(command: SimpleCommand, following: Sequence[SimpleCommand], depth: int) -> Iterable[Facet]:
    """What one simple command does: the files that its output goes to, and what its program does."""
    words = unwrapped(command.words)
    written = [_written(each.target) for each in command.redirections if _writes(each.operator, each.target)]
    if not words:
        return written
    facets = list(_program_facets(command, words, following, depth))
    if written:
        facets = [Facet("copy", each.paths) if each.kind in READS else each for each in facets]
    return [*written, *facets]


def _writes(operator: str, target: str) -> bool:
    return operator.lstrip("0123456789") in (">", ">>", ">|", "&>", "&>>") and target not in _NO_FILE


def _written(*paths: str) -> Facet:
    return Facet("write", paths, temporary=all(map(is_temporary, paths)))


def _program_facets(
    command: SimpleCommand, words: Words, following: Sequence[SimpleCommand], depth: int
) -> Iterable[Facet]:
    name = program_of(words)
    if read := _READERS.get(name):
        return [read(command, words, following)]
    if name in _SHELLS:
        return _shell(command, words, depth)
    if name == "git":
        return git(words)
    if name in ("find", "fd", "fdfind"):
        return _find(words, depth)
    if name in CHECKERS:
        return runtimes.checker(words)
    return [_program_facet(command, name, words)]


def _program_facet(command: SimpleCommand, name: str, words: Words) -> Facet:
    """What a program does that does one thing."""
    if name in SEARCHERS:
        return _search(command, words)
    if runtimes.PYTHON.fullmatch(name):
        return runtimes.python(command, words)
    if name in _LANGUAGES:
        return runtimes.script_language(command, words)
    if name in ("npm", "pnpm", "yarn"):
        return runtimes.npm(words)
    if name in ("go", "cargo"):
        return runtimes.compiler(words)
    if name in TASK_RUNNERS:
        return runtimes.task_runner(words)
    if name in INSTALLERS:
        return runtimes.installer(words)
    if name in ("apply_patch", "applypatch", "patch"):
        return Facet("edit", patched_paths("\n".join([*words[1:], *command.documents])))
    if name in ("ed", "ex", "vim", "tee"):
        paths = reading.operands(words[1:])
        return _written(*paths) if name == "tee" and paths else Facet("edit" if name != "tee" else "filter", paths)
    return _by_table(name, words)


def _by_table(name: str, words: Words) -> Facet:
    kind = KINDS.get(name)
    if kind in ("network", "build", "container") and runtimes.informs(words) and name not in ("gcc", "g++"):
        return Facet("environment")
    if kind == "files":
        paths = reading.operands(words[1:])
        return Facet(
            "files", paths, temporary=name in TEMPORARY_OR_EMPTY or (bool(paths) and all(map(is_temporary, paths)))
        )
    if kind == "network" and name in ("curl", "wget") and any(map(_LOCAL.search, words)):
        return Facet("run")
    if kind:
        return Facet(kind, words=words if kind == "test" or name in ("cd", "pushd") else ())
    if "/" in words[0] or name.endswith((".sh", ".py", ".js", ".out")):
        return runtimes.script(words[0], words)
    return Facet("environment" if runtimes.informs(words) else "unknown", words=(name,))


def _search(command: SimpleCommand, words: Words) -> Facet:
    recursive = any(word in ("-r", "-R", "--recursive") or re.fullmatch(r"-[a-zA-Z]*[rR][a-zA-Z]*", word) for word in words)
    if command.place and not recursive:
        return Facet("filter")
    return Facet("list") if words[:2] == ("rg", "--files") else Facet("search", reading.operands(words[1:])[1:])


def _shell(command: SimpleCommand, words: Words, depth: int) -> Iterable[Facet]:
    """`bash -lc SCRIPT`, `bash <<EOF`, `bash FILE`."""
    inner = next((at for at, word in enumerate(words[1:], 2) if re.fullmatch(r"-\w*c", word)), None)
    files = reading.operands(words[1:])
    if inner is None and files:
        return [runtimes.script(files[0], words)]
    text = "\n".join(command.documents) if inner is None else " ".join(words[inner : inner + 1])
    if not text:
        return [Facet("environment" if runtimes.informs(words) else "glue")]
    return command_facets(text, depth + 1) if depth < DEEPEST else [Facet("unknown", words=words[:1])]


def _find(words: Words, depth: int) -> Iterable[Facet]:
    """`find`: a listing, and what it does with what it finds."""
    if "-delete" in words:
        return [Facet("files")]
    at = next((at for at, word in enumerate(words) if word in ("-exec", "-execdir", "-ok", "-x", "--exec")), None)
    if at is None or depth >= DEEPEST:
        return [Facet("list")]
    inner = SimpleCommand(tuple(word for word in words[at + 1 :] if word not in (";", "+")))
    done = _facets(inner, (), depth + 1)
    return [Facet("list"), *(facet for facet in done if facet.kind not in ("glue", "filter"))]


def unknown_programs(facets: Iterable[Facet]) -> tuple[str, ...]:
    """The names of programs that no rule knows."""
    return tuple(facet.words[0] for facet in facets if facet.kind == "unknown" and facet.words)
