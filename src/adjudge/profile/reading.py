"""Programs that print files: which, which lines of them, and whether that is all that came of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from adjudge.profile.programs import SEARCHERS, listed
from adjudge.profile.ran import Ran
from adjudge.profile.work import END, Facet, Span
from adjudge.profile.wrappers import Words, program_of

PRINTERS = frozenset(listed("cat less more bat batcat nl xxd hexdump od strings tac Get-Content gc zcat pdftotext base64"))
"""Programs that print whole files."""

_IN_PLACE = re.compile(r"-[nErsuz]*i|--in-place")
_LINES = re.compile(r"\s*(\d+)\s*(?:,\s*(\+?\d+|\$)\s*)?p\s*")
_FROM_TO = re.compile(r"NR\s*>=?\s*(\d+)\s*&&\s*NR\s*<=?\s*(\d+)")
_COUNT = re.compile(r"-(?:n|-lines=)?([+-]?\d+)")
_SHORTENERS = frozenset(listed("jq yq awk gawk wc cut"))
_SHAPERS = frozenset(listed("sort tr sed column uniq nl cat base64 md5sum sha256sum less more"))


def operands(arguments: Sequence[str], with_value: Sequence[str] = ()) -> Words:
    """The arguments that are neither flags nor values of those flags that take one."""
    kept, at = [], 0
    while at < len(arguments):
        if arguments[at] in with_value:
            at += 1
        elif not arguments[at].startswith("-"):
            kept.append(arguments[at])
        at += 1
    return tuple(kept)


def _lines_of(arguments: Sequence[str]) -> Span | None:
    """The lines that a sed script prints, if it is one range."""
    for argument in arguments:
        if found := _LINES.fullmatch(argument.rstrip(";")):
            first, last = int(found[1]), found[2] or found[1]
            return first, END if last == "$" else first + int(last) if last[0] == "+" else int(last)
    return None


def sed(ran: Ran) -> Facet:
    """`sed`: an edit in place, a read of lines, or a filter."""
    arguments = ran.words[1:]
    scripted = any(argument in ("-e", "-f", "--expression") for argument in arguments)
    files = operands([argument for argument in arguments if argument], ("-e", "-f", "--expression", "-l"))
    files = files if scripted else files[1:]
    if any(_IN_PLACE.match(argument) for argument in arguments):
        return Facet("edit", files)
    if not files or ran.piped:
        return Facet("filter")
    if _searched(ran.following):
        return Facet("search", files)
    span = _lines_of(arguments)
    silent = any(argument.startswith("-n") for argument in arguments)
    return Facet("read_part", files, span) if span or silent else Facet("read", files)


def awk(ran: Ran) -> Facet:
    """`awk`: a read of lines, or a filter."""
    script, *files = operands(ran.words[1:], ("-F", "-v", "-f", "-i")) or ("",)
    if "inplace" in ran.words:
        return Facet("edit", tuple(files))
    if not files or ran.piped:
        return Facet("filter")
    lines = _FROM_TO.search(script)
    return Facet("read_part", tuple(files), (int(lines[1]), int(lines[2])) if lines else None)


def query(ran: Ran) -> Facet:
    """`jq` and its like: a part of a file, or a filter."""
    files = operands(ran.words[1:], ("--arg", "--argjson"))[1:]
    if ran.program == "yq" and "-i" in ran.words:
        return Facet("edit", files)
    return Facet("filter") if ran.piped or not files else Facet("read_part", files)


def ends(ran: Ran) -> Facet:
    """`head` and `tail`."""
    files = tuple(name for name in operands(ran.words[1:], ("-n", "-c", "--lines", "--bytes")) if not _is_count(name))
    if not files or ran.piped:
        return Facet("filter")
    if _searched(ran.following):
        return Facet("search", files)
    return Facet("read_part", files, _narrowed(_end_lines(ran.words), ran.following))


def _searched(following: Sequence[Words]) -> bool:
    """Whether only lines are left of the output that a search has found."""
    return any(program_of(words) in SEARCHERS for words in following)


def _is_count(word: str) -> bool:
    return word.lstrip("+").isdigit()


def _end_lines(words: Words) -> Span | None:
    """The lines that `head` or `tail` prints, if they can be told."""
    if any(word.startswith(("-c", "--bytes")) for word in words):
        return None
    count = next((found[1] for word in words[1:] if (found := _COUNT.fullmatch(word))), None)
    if count is None:
        after = [value for flag, value in pairwise(words) if flag in ("-n", "--lines")]
        count = after[0] if after else next((word for word in words[1:] if word.startswith("+")), "10")
    if not count.lstrip("+-").isdigit():
        return None
    if program_of(words) == "head":
        return None if count.startswith("-") else (1, int(count))
    return (int(count), END) if count.startswith("+") else None


def _narrowed(span: Span | None, following: Sequence[Words]) -> Span | None:
    """The lines that are left of these after a `head`, or the `sed` of a range, at the end of the pipe."""
    words = following[0] if following else ()
    program = program_of(words)
    limit = _end_lines(words) if program == "head" else _lines_of(words[1:]) if program in ("sed", "gsed") else None
    if limit is None or span is None:
        return span
    return span[0] + limit[0] - 1, min(span[1], span[0] + limit[1] - 1)


def whole(ran: Ran) -> Facet:
    """`cat` and its like: by what becomes of the output."""
    files = operands(ran.words[1:]) + ran.sources
    if not files or (ran.piped and ran.program != "cat"):
        return Facet("print" if ran.documents else "filter")
    programs = [program_of(each) for each in ran.following]
    if not programs:
        return Facet("read", files)
    first = programs[0]
    if _searched(ran.following):
        return Facet("search", files)
    if first in ("head", "tail", "sed") and (span := _narrowed((1, END), ran.following)) != (1, END):
        return Facet("read_part", files, span)
    prints_lines = first == "sed" and any(word.startswith("-n") for word in ran.following[0])
    if prints_lines or first in _SHORTENERS or {"head", "tail"} & set(programs):
        return Facet("read_part", files)
    return Facet("read" if first in _SHAPERS else "copy", files)
