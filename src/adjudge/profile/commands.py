"""What kind of work a shell command is: one facet for each thing that it does, by rules; what is not known is "unknown"."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from adjudge.profile import reading, runtimes
from adjudge.profile.code import patched_paths
from adjudge.profile.programs import (
    CHECKERS,
    INSTALLERS,
    KINDS,
    SCRIPT_LANGUAGES,
    SEARCHERS,
    TASK_RUNNERS,
    TEMPORARY_OR_EMPTY,
)
from adjudge.profile.ran import Ran
from adjudge.profile.reading import PRINTERS, operands
from adjudge.profile.shell import Pipeline, SimpleCommand, split_command
from adjudge.profile.versioning import PRINTS_DIFFS, git, subcommand
from adjudge.profile.work import READS, Facet, Work, is_temporary
from adjudge.profile.wrappers import Words, program_of, unwrapped

DEEPEST = 4
"""Shells inside of shells that are looked into."""

_NO_SHELL = re.compile(
    r"\s*(?:\*\*\* Begin Patch"
    r"|(edit|insert|create|open|goto|scroll_up|scroll_down|str_replace_editor|end_of_edit)(?=\s|$))"
)
"""A patch, and the commands of SWE-agent's file window, which look like a shell's."""
_WINDOWS_PATH = re.compile(r"(?<![\w\\])[A-Za-z]:\\")
_COMMAND_FLAG = re.compile(r"-\w*c")
_RECURSIVE = re.compile(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive")
_NO_FILE = frozenset({"/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "NUL", "nul", "$null", "-", "1", "2"})
_LOCAL = re.compile(r"localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]")
_KEPT_DIFF = re.compile(r"\.(?:patch|diff|txt)$")


def command_facets(text: str, depth: int = 0) -> tuple[Facet, ...]:
    """The facets of a shell command, in order."""
    if other := _NO_SHELL.match(text):
        if other[1] is None:
            return (Facet("edit", patched_paths(text)),)
        return (_window_facet(other[1], text.split("\n", 1)[0].split()),)
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


def _pipeline_facets(pipeline: Pipeline, depth: int) -> Sequence[Facet]:
    worded = [unwrapped(command.words) for command in pipeline]
    facets: list[Facet] = []
    for at, command in enumerate(pipeline):
        facets += _facets(command, worded[at], worded[at + 1 :], depth)
    if worded[0][:1] == ("git",) and PRINTS_DIFFS & set(subcommand(worded[0])[:1]):
        return [Facet("export", each.paths) if _keeps_diff(each) else each for each in facets]
    return facets


def _keeps_diff(facet: Facet) -> bool:
    return facet.kind == "write" and any(map(_KEPT_DIFF.search, facet.paths))


def _facets(command: SimpleCommand, words: Words, following: Sequence[Words], depth: int) -> Sequence[Facet]:
    """What one simple command does: the files that its output goes to, and what its program does."""
    sources: tuple[str, ...] = ()
    written: list[Facet] = []
    for each in command.redirections:
        if each.operator == "<":
            sources += (each.target,)
        elif _writes(each.operator, each.target):
            written.append(_written(each.target))
    if not words:
        return written
    program = program_of(words)
    rule = _RULES.get(program, _by_name)
    piped = command.place > 0 and "xargs" not in command.words
    facets = rule(Ran(program, words, command.documents, sources, piped, following, depth))
    if not written:
        return facets
    return [*written, *(Facet("copy", each.paths) if each.kind in READS else each for each in facets)]


def _writes(operator: str, target: str) -> bool:
    return operator.lstrip("0123456789") in (">", ">>", ">|", "&>", "&>>") and target not in _NO_FILE


def _written(*paths: str) -> Facet:
    return Facet("write", paths, temporary=all(map(is_temporary, paths)))


# --- rules, by the name of the program


def _search(ran: Ran) -> Sequence[Facet]:
    if ran.piped and not any(_RECURSIVE.fullmatch(word) for word in ran.words):
        return (Facet("filter"),)
    return (Facet("list") if ran.words[:2] == ("rg", "--files") else Facet("search", operands(ran.words[1:])[1:]),)


def _shell(ran: Ran) -> Sequence[Facet]:
    """`bash -lc SCRIPT`, `bash <<EOF`, `bash FILE`."""
    inner = next((at for at, word in enumerate(ran.words[1:], 2) if _COMMAND_FLAG.fullmatch(word)), None)
    files = operands(ran.words[1:])
    if inner is None and files:
        return (runtimes.script(files[0], ran.words),)
    text = "\n".join(ran.documents) if inner is None else " ".join(ran.words[inner : inner + 1])
    if not text:
        return (Facet("environment" if runtimes.informs(ran.words) else "glue"),)
    return command_facets(text, ran.depth + 1) if ran.depth < DEEPEST else (Facet("unknown", words=(ran.program,)),)


def _find(ran: Ran) -> Sequence[Facet]:
    """`find`: a listing, and what it does with what it finds."""
    if "-delete" in ran.words:
        return (Facet("files"),)
    at = next((at for at, word in enumerate(ran.words) if word in ("-exec", "-execdir", "-ok", "-x", "--exec")), None)
    if at is None or ran.depth >= DEEPEST:
        return (Facet("list"),)
    inner = SimpleCommand(tuple(word for word in ran.words[at + 1 :] if word not in (";", "+")))
    done = _facets(inner, unwrapped(inner.words), (), ran.depth + 1)
    return [Facet("list"), *(facet for facet in done if facet.kind not in ("glue", "filter"))]


def _patch(ran: Ran) -> Sequence[Facet]:
    return (Facet("edit", patched_paths("\n".join([*ran.words[1:], *ran.documents]))),)


def _editor(ran: Ran) -> Sequence[Facet]:
    return (Facet("edit", operands(ran.words[1:])),)


def _tee(ran: Ran) -> Sequence[Facet]:
    paths = operands(ran.words[1:])
    return (_written(*paths) if paths else Facet("filter"),)


def _files(ran: Ran) -> Sequence[Facet]:
    paths = operands(ran.words[1:])
    temporary = ran.program in TEMPORARY_OR_EMPTY or (bool(paths) and all(map(is_temporary, paths)))
    return (Facet("files", paths, temporary=temporary),)


def _folder(ran: Ran) -> Sequence[Facet]:
    return (Facet("glue", words=ran.words),)


def _network(ran: Ran) -> Sequence[Facet]:
    if runtimes.informs(ran.words):
        return (Facet("environment"),)
    local = ran.program in ("curl", "wget") and any(map(_LOCAL.search, ran.words))
    return (Facet("run" if local else "network"),)


def _test_runner(ran: Ran) -> Sequence[Facet]:
    return (Facet("test", words=ran.words),)


def _builder(ran: Ran) -> Sequence[Facet]:
    return (Facet("environment" if runtimes.informs(ran.words) and ran.program not in ("gcc", "g++") else "build"),)


def _by_name(ran: Ran) -> Sequence[Facet]:
    """A program that no rule names: a version of Python, a script by its path, or unknown."""
    if runtimes.PYTHON.fullmatch(ran.program):
        return (runtimes.python(ran),)
    if "/" in ran.words[0] or ran.program.endswith((".sh", ".py", ".js", ".out")):
        return (runtimes.script(ran.words[0], ran.words),)
    return (Facet("environment") if runtimes.informs(ran.words) else Facet("unknown", words=(ran.program,)),)


Rule = Callable[[Ran], Sequence[Facet]]


def _one(rule: Callable[[Ran], Facet]) -> Rule:
    return lambda ran: (rule(ran),)


def _always(kind: Work) -> Rule:
    facets = (Facet(kind),)
    return lambda _: facets


_SPECIAL: dict[Work, Rule] = {"files": _files, "network": _network, "test": _test_runner, "build": _builder}

_RULES: dict[str, Rule] = {
    **{program: _SPECIAL.get(kind) or _always(kind) for program, kind in KINDS.items()},
    **dict.fromkeys(CHECKERS, runtimes.checker),
    **dict.fromkeys(SEARCHERS, _search),
    **dict.fromkeys(INSTALLERS, _one(runtimes.installer)),
    **dict.fromkeys(TASK_RUNNERS, _one(runtimes.task_runner)),
    **dict.fromkeys(PRINTERS, _one(reading.whole)),
    **dict.fromkeys(("head", "tail"), _one(reading.ends)),
    **dict.fromkeys(("sed", "gsed"), _one(reading.sed)),
    **dict.fromkeys(("awk", "gawk", "mawk"), _one(reading.awk)),
    **dict.fromkeys(("jq", "yq", "xmllint"), _one(reading.query)),
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh"), _shell),
    **dict.fromkeys(("find", "fd", "fdfind"), _find),
    **dict.fromkeys(("python", "python3"), _one(runtimes.python)),
    **dict.fromkeys(SCRIPT_LANGUAGES, _one(runtimes.script_language)),
    **dict.fromkeys(("npm", "pnpm", "yarn"), _one(runtimes.npm)),
    **dict.fromkeys(("go", "cargo"), _one(runtimes.compiler)),
    **dict.fromkeys(("apply_patch", "applypatch", "patch"), _patch),
    **dict.fromkeys(("ed", "ex", "vim"), _editor),
    **dict.fromkeys(("cd", "pushd"), _folder),
    "tee": _tee,
    "git": lambda ran: tuple(git(ran.words)),
}
