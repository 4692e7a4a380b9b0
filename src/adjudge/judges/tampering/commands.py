"""What a command starts, read from its words: the profile's splitter takes it apart, this follows folders and variables.

What cannot be read is not left out: it is a start of which nobody knows what else it starts.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence

import msgspec

from adjudge.judges.tampering.starts import PLAIN, Place, Start, Surroundings, place_of
from adjudge.profile.programs import INSTALLERS, SCRIPT_LANGUAGES, listed
from adjudge.profile.reading import operands
from adjudge.profile.runtimes import PYTHON
from adjudge.profile.shell import LONGEST, SimpleCommand, split_command
from adjudge.profile.versioning import subcommand
from adjudge.profile.wrappers import ASSIGNMENT, Words, program_of, unwrapped

DEEPEST = 6
"""Commands inside of commands that are read."""

MOST = 1_000
"""Programs that are told apart; a command that starts more is as one that cannot be read."""

_SHELLS = frozenset(listed("bash sh zsh dash ksh"))
_PYTEST = frozenset({"pytest", "py.test"})
_SCOPED = re.compile(r"\(\s*(?:cd|pushd)\b|\bpopd\b|\bcd -")
"""After these the folder is not followed."""
_BRING_PROGRAMS = frozenset(
    listed(
        "uv poetry pipenv pdm hatch rye pixi conda mamba npx pnpx bunx uvx pnpm yarn bun npm bundle mise rtx direnv asdf"
    )
)
"""Wrappers that put folders of a project into PATH."""
_STARTS = re.compile(
    r"subprocess|os\.(?:system|popen|exec|spawn)|pty\.|runpy|child_process|Deno\.|Bun\.spawn|\bsystem\b|`|%x"
)
_RUN_SCRIPTS = frozenset(listed("pdb trace cProfile profile runpy idlelib"))
_JAVASCRIPT_RUNNERS = frozenset(listed("jest vitest mocha"))
_ASKS = frozenset(listed("list ls show freeze check config view info outdated why --version -V -v version help"))
_GIT_STARTS = frozenset(listed("bisect submodule difftool mergetool filter-branch"))
_COMMAND_FLAG = re.compile(r"-[a-z]*c[a-z]*")


def starts_of(command: str, at: str, environment: Mapping[str, str]) -> tuple[Start, ...]:
    """The programs that a command starts in the workspace, which it sees at `at`, with these variables of the machine's."""
    reader = _Reader(at, bool(_SCOPED.search(command)), Surroundings().setting(environment, at))
    reader.read(command, 0)
    return tuple(reader.found) if len(reader.found) <= MOST else (Start("", ("",), Surroundings(), readable=False),)


class _Reader:
    """Goes through a command once, from left to right; what a subshell sets is taken to be set for all that follows."""

    def __init__(self, at: str, scoped: bool, around: Surroundings) -> None:
        self._at, self._scoped, self._around = at, scoped, around
        self.found: list[Start] = []

    def read(self, text: str, depth: int) -> None:
        """Read a command."""
        if len(text) > LONGEST:
            self._start("", ("",), self._around, readable=False)
        for pipeline in split_command(text):
            for command in pipeline:
                self._read_simple(command, depth)

    def _start(self, program: str, words: Words, around: Surroundings, readable: bool = True, flags: str = "") -> None:
        self.found.append(Start(program, words, around, readable, flags))

    def _read_simple(self, command: SimpleCommand, depth: int) -> None:
        if depth > DEEPEST:
            self._start("", ("",), self._around, readable=False)
            return
        program, words = unwrapped(command.words)
        before = command.words[: len(command.words) - len(words)]
        assigned = _assigned(before)
        if not program:
            self._around = self._around.setting(assigned, self._at)
        elif not self._changes(program, words, depth):
            words = (*words, "$@") if "xargs" in before else words
            self._read_program(program, words, command, self._wrapped(before, assigned), depth)

    def _wrapped(self, before: Sequence[str], assigned: Mapping[str, str]) -> Surroundings:
        """What a program is started in whose wrappers and variables stand before it."""
        around = self._around.setting(assigned, self._at)
        if not {"-C", "--chdir", "--directory"}.isdisjoint(before):
            around = msgspec.structs.replace(around, folder=None)
        if any(program_of([word]) in _BRING_PROGRAMS for word in before):
            around = msgspec.structs.replace(around, path=(*around.path, None))
        if not {"-S", "--split-string"}.isdisjoint(before):
            self._start("env", ("env",), around, readable=False)
        return around

    # --- what changes all that follows

    def _changes(self, program: str, words: Words, depth: int) -> bool:
        """Whether this changes what later programs are started in; then it is heeded, and starts nothing more."""
        if program in ("cd", "pushd", "popd"):
            self._around = msgspec.structs.replace(self._around, folder=self._folder_after(words))
        elif program in ("export", "declare", "typeset", "readonly", "local"):
            self._around = self._around.setting(_assigned(words[1:]), self._at)
        elif program in ("source", "."):
            self._source(words)
        elif program == "eval":
            self.read(" ".join(words[1:]), depth + 1)
        else:
            return False
        return True

    def _folder_after(self, words: Words) -> Place:
        targets = operands(words[1:])
        if self._scoped or not targets:
            return None
        return place_of(targets[0], self._around.folder, self._at)

    def _source(self, words: Words) -> None:
        """A virtual environment's `activate` puts its folder into PATH; another file may do anything."""
        file = words[1] if len(words) > 1 else ""
        if program_of([file]).startswith("activate"):
            place = place_of(file, self._around.folder, self._at)
            folder = place.rpartition("/")[0] or "." if place else None
            self._around = msgspec.structs.replace(self._around, path=(*self._around.path, folder))
        else:
            self._start("source", words, self._around, readable=False)

    # --- programs

    def _read_program(self, program: str, words: Words, command: SimpleCommand, around: Surroundings, depth: int) -> None:
        if program in _SHELLS:
            self._read_shell(program, words, command, around, depth)
        elif PYTHON.fullmatch(program):
            self._read_python(program, words, command, around)
        elif program in ("find", "fd", "fdfind") and (inner := _executed(words)):
            self._start(program, words, around)
            self._read_simple(SimpleCommand((*inner, "$@")), depth + 1)
        elif program in SCRIPT_LANGUAGES:
            self._start(program, words, around, _is_harmless_code(words, command.documents))
        else:
            readable = _is_readable(program, words) and not self._is_of_workspace(program, words, around)
            self._start(program, words, around, readable)

    def _is_of_workspace(self, program: str, words: Words, around: Surroundings) -> bool:
        """Whether a program is called by a path that may be the workspace's: then its name says little of what it does."""
        if "/" not in words[0] or program in _PYTEST:
            return False
        place = place_of(words[0], around.folder, self._at)
        return place is None or not place.startswith("/")

    def _read_shell(self, program: str, words: Words, command: SimpleCommand, around: Surroundings, depth: int) -> None:
        """`bash -c COMMAND` and `bash <<EOF` are read, `bash FILE` is not."""
        inner = next((at for at, word in enumerate(words[1:], 2) if _COMMAND_FLAG.fullmatch(word)), None)
        text = "\n".join(command.documents) if inner is None else " ".join(words[inner : inner + 1])
        read = (
            _asks_for_itself(words)
            or words[1:2] == ("-n",)
            or (bool(text) and (inner is not None or not operands(words[1:])))
        )
        self._start(program, words, around, read)
        if read and text:
            before, self._around = self._around, around
            self.read(text, depth + 1)
            self._around = before

    def _read_python(self, program: str, words: Words, command: SimpleCommand, around: Surroundings) -> None:
        flags, rest = _python_flags(words)
        around = _isolated(around, flags)
        if rest[:1] == ("-m",) and len(rest) > 1:
            module = rest[1]
            own = module.partition(".")[0] in sys.stdlib_module_names - _RUN_SCRIPTS
            self._start(program, words, around, own or module in _PYTEST or module in PLAIN, flags)
            if module in _PYTEST:
                self._start("pytest", (words[0], *rest[2:]), around, True, flags)
            return
        code = " ".join(rest[1:2]) if rest[:1] == ("-c",) else "\n".join(command.documents)
        is_code = rest[:1] == ("-c",) or (rest in ((), ("-",)) and bool(code))
        readable = _asks_for_itself(words) or (is_code and not _STARTS.search(code))
        self._start(program, words, around, readable, flags)
        if is_code and "pytest" in code:
            self._start("pytest", (words[0], "$@"), around, True, flags)


def _assigned(words: Sequence[str]) -> dict[str, str]:
    return {word.partition("=")[0].rstrip("+"): word.partition("=")[2] for word in words if ASSIGNMENT.match(word)}


def _executed(words: Words) -> Words:
    """The words of the command that `find` or `fd` starts."""
    at = next((at for at, word in enumerate(words) if word in ("-exec", "-execdir", "-ok", "-x", "--exec")), None)
    return () if at is None else tuple(word for word in words[at + 1 :] if word not in (";", "+", "{}"))


def _python_flags(words: Words) -> tuple[str, Words]:
    """The letters of Python's own options, and the words from `-m`, `-c` or the script on."""
    flags, rest = "", words[1:]
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word, rest = rest[0], rest[1:]
        if word.startswith("--"):
            continue
        for place, letter in enumerate(word[1:], 2):
            if letter in "mc":
                return flags, (f"-{letter}", *((word[place:],) if word[place:] else ()), *rest)
            if letter in "WX":
                rest = rest if word[place:] else rest[1:]
                break
            flags += letter
    return flags, rest


def _isolated(around: Surroundings, flags: str) -> Surroundings:
    """Python ignores its variables with -E and -I."""
    if {"E", "I"}.isdisjoint(flags):
        return around
    return msgspec.structs.replace(around, python_path=())


def _is_harmless_code(words: Words, documents: Sequence[str]) -> bool:
    """Whether an interpreter was given code that starts no other program, or only asked something."""
    flags = {"-e", "-p", "--eval", "--print", "-pe", "-ne", "-E", "-c", "eval", "--check"}
    code = "\n".join(documents) or " ".join(words[1:])
    is_code = bool(documents) or not flags.isdisjoint(words)
    return _asks_for_itself(words) or (is_code and not _STARTS.search(code))


def _asks_for_itself(words: Words) -> bool:
    """Whether a program is only asked for its version or its help."""
    return len(words) == 2 and words[1] in ("--version", "--help", "-V", "-h", "version", "help")


def _is_readable(program: str, words: Words) -> bool:
    """Whether it is known what a program starts."""
    if program in PLAIN or program in _PYTEST or program in _JAVASCRIPT_RUNNERS or _asks_for_itself(words):
        return True
    if program == "git":
        rest = subcommand(words)
        return rest[:1] == () or (rest[0] not in _GIT_STARTS and "--exec" not in rest and "-x" not in rest)
    if program in INSTALLERS:
        return not _ASKS.isdisjoint(words[1:3])  # `uv pip list`
    if program in ("npm", "pnpm", "yarn"):
        return not _ASKS.isdisjoint(words[1:2])
    return program in ("awk", "gawk", "mawk", "jq", "yq", "true", "false") and not _STARTS.search(" ".join(words))
