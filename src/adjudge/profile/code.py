"""What a piece of Python or JavaScript does, as far as its text tells, and the commands of Codex's code mode."""

from __future__ import annotations

import re

from adjudge.profile.work import Facet

_TESTS = re.compile(r"\bunittest\.main\(|pytest\.main\(|unittest\.TextTestRunner|doctest\.testmod")
_WRITES = re.compile(
    r"open\([^)\n]{0,300},\s{0,9}(?:mode\s{0,9}=\s{0,9})?['\"][wax]b?\+?['\"]|\.write_text\(|\.write_bytes\(|writeFileSync"
    r"|fs\.writeFile|File\.write|os\.(?:rename|remove|replace|unlink)\(|shutil\.(?:copy|move|rmtree)"
    r"|fs\.(?:appendFile|rename|unlink|rm)|file_put_contents"
)
_WRITTEN = re.compile(r"open\([frb]?['\"]([^'\"\n]{1,300})['\"]\s{0,9},\s{0,9}(?:mode\s{0,9}=\s{0,9})?['\"][wax]")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: ([^\n]{1,1000}?)\r?$|^\+\+\+ (?:b/)?([^\t\n]{1,1000})", re.M)


def code_facet(text: str) -> Facet:
    """What an inline script does: it runs tests, changes files, or neither as far as its text tells."""
    if _TESTS.search(text):
        return Facet("test", words=(text,))
    if _WRITES.search(text):
        return Facet("edit", tuple(_WRITTEN.findall(text)))
    return Facet("run")


def patched_paths(patch: str) -> tuple[str, ...]:
    """The files that a patch names, in the form of `apply_patch` or a unified diff."""
    return tuple(dict.fromkeys(first or second for first, second in _PATCHED.findall(patch)))


_USED = re.compile(r"\btools\.(\w{1,100})\s{0,9}\(")
_LITERAL = r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`"
_COMMAND = re.compile(rf"\b[\"']?(?:cmd|command)[\"']?\s{{0,9}}:\s{{0,9}}(?:{_LITERAL})", re.S)
_BEGIN = r"\*\*\* Begin Patch"
_PATCH = re.compile(
    rf"(?<!\\)(?:\"({_BEGIN}(?:[^\"\\]|\\.)*)\"|'({_BEGIN}(?:[^'\\]|\\.)*)'|`({_BEGIN}(?:[^`\\]|\\.)*)`)", re.S
)
"""No literal begins at an escaped quote: so each search ends where the next may begin, and all together are linear."""
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.S)
_MEANT = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}


def tools_used(script: str) -> tuple[str, ...]:
    """The tools that a script of code mode calls by their names, in order."""
    return tuple(_USED.findall(script))


def literal_commands(script: str) -> tuple[str, ...]:
    """The commands that stand in a script of code mode as literals; those put together by expressions are not seen."""
    return tuple(_unescaped(next(filter(None, found), "")) for found in _COMMAND.findall(script))


def literal_patches(script: str) -> tuple[str, ...]:
    """The patches of `apply_patch` that stand in a script of code mode as literals."""
    return tuple(_unescaped(next(filter(None, found))) for found in _PATCH.findall(script))


def unescaped_script(script: str) -> str:
    """The script with the line ends that stand in its literals."""
    return script.replace("\\n", "\n")


def _unescaped(literal: str) -> str:
    return _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)) if escape[1] else _MEANT.get(escape[2], escape[2]), literal)
