"""Interpreters, package managers and task runners: what they run is in their arguments."""

from __future__ import annotations

import re

from adjudge.profile.code import code_facet
from adjudge.profile.programs import BUILDERS, CHECKERS, TEST_RUNNERS, listed
from adjudge.profile.ran import Ran
from adjudge.profile.reading import operands
from adjudge.profile.work import Facet, Work
from adjudge.profile.wrappers import Words

PYTHON = re.compile(r"(?:python|pypy|py)[\d.]*")
_TEST_NAME = re.compile(r"(?:^|[_\-.])(?:tests?|specs?|e2e)(?:[_\-.]|$)|^(?:run)?_?tests?", re.I)
_TEST_SCRIPT = re.compile(
    r"(?:test|tests|spec|e2e|vitest|jest|check:test|unit|integration|coverage)(?:[:\-_.].*)?"
    r"|\w+[:\-](?:test|tests|e2e|spec)(?:[:\-].*)?"
)
_LINT_SCRIPT = re.compile(r"(?:lint|format|fmt|typecheck|type-check|check|tsc|prettier|eslint|biome|validate)(?:[:\-].*)?")
_BUILD_SCRIPT = re.compile(r"(?:build|compile|bundle|package|prepare|prepack|dist|generate)(?:[:\-].*)?")
_TEST_TARGET = re.compile(
    r"(?:^|[\s:_\-/])(?:tests?|check|verify|spec|itest|integrationTest|e2e|unittest|pytest|ctest|vitest|jest)(?:[\s:_\-]|$)"
)
_LINT_TARGET = re.compile(r"\b(?:lint|fmt|format|typecheck|vet|style|clippy)\b")
_INSTALL_TARGET = re.compile(r"(?:^|\s)(?:install|deps|setup|bootstrap)(?:\s|$)")
_INFORMS = frozenset({"--version", "--help", "-h", "-V", "version", "help", "-v"})

_GO: dict[str, Work] = {
    "test": "test",
    **dict.fromkeys(("build", "install", "generate", "clean"), "build"),
    **dict.fromkeys(("vet", "fmt", "fix"), "lint"),
    **dict.fromkeys(("get", "mod", "work"), "install"),
    **dict.fromkeys(("list", "doc"), "packages"),
    **dict.fromkeys(("env", "version", "help"), "environment"),
    **dict.fromkeys(("run", "tool"), "run"),
}
_CARGO: dict[str, Work] = {
    **dict.fromkeys(listed("test nextest t bench miri tarpaulin llvm-cov insta"), "test"),
    **dict.fromkeys(listed("build b check c doc clean"), "build"),
    **dict.fromkeys(listed("clippy fmt"), "lint"),
    **dict.fromkeys(listed("run r"), "run"),
    **dict.fromkeys(listed("install add update remove fetch"), "install"),
    **dict.fromkeys(listed("metadata tree search"), "packages"),
}
_NPM: dict[str, Work] = {
    **dict.fromkeys(listed("test t tst"), "test"),
    **dict.fromkeys(listed("install i ci add remove uninstall update up upgrade link dedupe rebuild"), "install"),
    **dict.fromkeys(listed("build compile"), "build"),
    **dict.fromkeys(listed("init create publish version"), "run"),
    **dict.fromkeys(
        listed(
            "view info search outdated audit whoami login pack ls list why config root bin --version cache help "
            "owner dist-tag explain prefix pkg"
        ),
        "packages",
    ),
}
_INSTALLER_ASKS = frozenset(
    listed("list show freeze search info outdated --version config cache download index check policy")
)
_FORMATTERS = frozenset({"black", "isort", "rustfmt", "gofumpt"})
_WRITING_FLAGS = frozenset({"-w", "--write", "--fix", "-i", "--apply", "--unsafe-fixes"})
_CHECKING_FLAGS = frozenset({"--check", "--diff", "-l", "-d"})


def is_test_name(path: str) -> bool:
    """Whether a script's name says that it runs tests."""
    return _TEST_NAME.search(path.rpartition("/")[2]) is not None


def script(path: str, words: Words) -> Facet:
    """A script that is run by its path."""
    return Facet("test" if is_test_name(path) else "run", (path,), words=words)


def named_script(name: str, words: Words) -> Facet:
    """A script of a package, by its name."""
    if name in TEST_RUNNERS or _TEST_SCRIPT.fullmatch(name):
        return Facet("test", words=words)
    if name in CHECKERS or _LINT_SCRIPT.fullmatch(name):
        return Facet("lint")
    return Facet("build" if name in BUILDERS or _BUILD_SCRIPT.fullmatch(name) else "run")


def python(ran: Ran) -> Facet:
    """`python`: a module, a piece of code, or a script."""
    words, rest = ran.words, ran.words[1:]
    while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c", "-") and not rest[0].endswith("c"):
        rest = rest[2:] if rest[0] in ("-W", "-X") else rest[1:]
    if not rest or rest[0] == "-":
        informs = not ran.documents and _INFORMS & set(words)
        return Facet("environment") if informs else code_facet("\n".join(ran.documents))
    if rest[0] == "-m":
        return _module(rest[1:], words)
    if rest[0].startswith("-"):
        return code_facet(" ".join(rest[1:2]))
    if rest[0].endswith("manage.py") and rest[1:2] == ("test",):
        return Facet("test", words=words)
    if rest[0] == "setup.py" and len(rest) > 1:
        kinds: dict[str, Work] = {"test": "test", "install": "install", "develop": "install"}
        return Facet(kinds.get(rest[1], "build"), words=words)
    return script(rest[0], words)


def _module(rest: Words, words: Words) -> Facet:
    name = rest[0] if rest else ""
    if name in TEST_RUNNERS or name in ("doctest", "nose", "twisted.trial", "testtools.run") or name.endswith(".test"):
        return Facet("test", words=words)
    if name in ("pip", "ensurepip", "venv", "virtualenv", "uv", "pipx"):
        return Facet("packages" if name == "pip" and _INSTALLER_ASKS & set(rest[1:2]) else "install")
    if name in CHECKERS:
        return Facet("lint")
    return Facet("filter" if name == "json.tool" else "build" if name in BUILDERS else "run")


def script_language(ran: Ran) -> Facet:
    """`node`, `bun`, `deno`, `ruby`, `php`, `perl` and their like."""
    name, words, arguments = ran.program, ran.words, ran.words[1:]
    files = operands(arguments)
    if name == "perl" and any(re.match(r"-[a-hj-z0-9]*i", argument) for argument in arguments):
        return Facet("edit", files[1:] or files)
    if name == "perl" and ran.piped:
        return Facet("filter")
    if arguments[:1] == ("test",) or "--test" in arguments:
        return Facet("test", words=words)
    if name in ("bun", "deno") and (managed := _managed(name, arguments, words)):
        return managed
    if "--check" in arguments:
        return Facet("lint")
    for flag, value in zip(arguments, [*arguments[1:], ""], strict=True):
        if flag in ("-e", "-p", "--eval", "-pe", "--print", "-r", "eval", "-ne", "-E"):
            return code_facet(value)
    if ran.documents:
        return code_facet("\n".join(ran.documents))
    if files:
        return script(files[0], words)
    return Facet("environment" if _INFORMS & set(arguments) else "run")


def _managed(name: str, arguments: Words, words: Words) -> Facet | None:
    """What `bun` and `deno` do besides running files."""
    verb, *rest = operands(arguments) or ("",)
    if verb in ("install", "add", "i", "remove"):
        return Facet("install")
    if verb in ("run", "task") and rest:
        return script(rest[0], words) if "." in rest[0] else named_script(rest[0], words)
    if verb in ("check", "lint", "fmt"):
        return Facet("lint")
    if verb == "build":
        return Facet("build")
    return named_script(verb, words) if name == "bun" and verb and not re.search(r"[./]", verb) else None


def npm(ran: Ran) -> Facet:
    """`npm`, `pnpm`, `yarn`: by the script's name."""
    words = ran.words
    rest = words[1:]
    while rest and rest[0].startswith("-") and rest[0] != "--version":
        valued = rest[0] in ("--prefix", "-C", "--filter", "-F", "--cwd", "-w", "--workspace", "--dir")
        rest = rest[2:] if valued else rest[1:]
    if rest[:1] == ("workspace",):
        rest = rest[2:]
    if rest[:1] in (("run",), ("run-script",)):
        names = operands(rest[1:])
        return named_script(names[0], words) if names else Facet("packages")
    verb = rest[0] if rest else "install"
    kind = _NPM.get(verb)
    return Facet(kind, words=words if kind == "test" else ()) if kind else named_script(verb, words)


def compiler(ran: Ran) -> Facet:
    """`go` and `cargo`: by the verb."""
    words = ran.words
    verb = next((word for word in words[1:] if not word.startswith(("-", "+"))), "version")
    kind = (_GO if ran.program == "go" else _CARGO).get(verb, "unknown")
    return Facet(kind, words=words if kind == "test" else ())


def task_runner(ran: Ran) -> Facet:
    """`make` and its like: by what the target is called."""
    words = ran.words
    told = " ".join(words[1:])
    if ran.program != "cmake" and "-DskipTests" not in told and _TEST_TARGET.search(told):
        return Facet("test", words=words)
    if set(words[1:2]) & {"add", "restore", "require", "update", "deps.get", "pub"} or _INSTALL_TARGET.search(told):
        return Facet("install")
    if _LINT_TARGET.search(told):
        return Facet("lint")
    asks = {"--list", "--summary", "tasks", "which", "ls", "doctor", *_INFORMS}
    return Facet("environment" if asks & set(words[1:]) else "build")


def checker(ran: Ran) -> list[Facet]:
    """A linter or formatter; with a flag, or by its nature, it writes as well."""
    words, arguments = ran.words, set(ran.words[1:])
    formats = ran.program in _FORMATTERS or words[1:2] == ("format",)
    writes = _WRITING_FLAGS & arguments or (formats and not _CHECKING_FLAGS & arguments)
    return [Facet("lint"), *([Facet("format", operands(words[1:]))] if writes else [])]


def installer(ran: Ran) -> Facet:
    """`pip`, `apt` and their like: installing, or asking what there is."""
    words = ran.words
    verb = next(iter(operands(words[1:])), "--version")
    if verb == "build":
        return Facet("build")
    return Facet("packages" if verb in _INSTALLER_ASKS else "install")


def informs(words: Words) -> bool:
    """Whether a program is only asked for its version or its help."""
    return bool(_INFORMS & set(words[1:3]))
