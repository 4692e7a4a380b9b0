"""Words that only look like a finding: printed exit statuses, and what a command was itself told to print."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

import msgspec

from adjudge.evidence.quotes import fold
from adjudge.record import Entry

LONGEST_COMMAND = 20_000
"""Characters of a command that is taken apart; of a longer one every word counts as told."""

_EXIT_STATUS = re.compile(
    r"\W*(?:(?:process|command|program)\s)?"
    r"(?:exit(?:ed|s)?(?:[\s_-](?:with|status|code|value))*(?:\s(?:is|was|of))?|return[\s_-]?(?:code|value)|rc)"
    r"[^\w-]*(-?\d{1,10})\W*(?:return_?code|exit_?code)?\W*",
    re.I,
)


def stated_exit_status(quote: str) -> int | None:
    """The exit status that a quote states, if it says nothing else, in whatever words."""
    match = _EXIT_STATUS.fullmatch(quote)
    return int(match[1]) if match else None


def commands(call: Entry) -> Sequence[str]:
    """The texts in a call's arguments that may be commands, and lists of words as one command."""
    try:
        arguments = msgspec.json.decode(call.arguments or "null")
    except (msgspec.DecodeError, RecursionError):
        return [call.arguments or ""]
    values = arguments.values() if isinstance(arguments, dict) else [arguments]
    texts = []
    for value in values:
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, list) and all(isinstance(word, str) for word in value):
            texts.append(shlex.join(value))
    return texts


def typed(command: str, quote: str) -> bool:
    """Whether a folded quote only repeats words that the command was itself told to print, whatever else happened.

    `echo passed` and `python -c 'print("passed")'` say nothing. `pytest && echo passed` does: whether it printed that
    hung on something. What a command searches for (`grep passed`) or is given (`ls passed`) is not told.
    """
    if len(command) > LONGEST_COMMAND:
        return quote in fold(command)
    return quote in fold(" ".join(_told(command, 3)))


_HEREDOC = re.compile(
    r"^(?P<line>[^\n]*?)<<-?[ \t]*(['\"]?)(?P<end>\w+)\2[^\n]*\n(?P<body>.*?)(?:\n[ \t]*(?P=end)[ \t]*(?=\n|\Z)|\Z)",
    re.S | re.M,
)
_PRINTERS = frozenset({"echo", "printf", "print"})
_COPIERS = frozenset({"cat", "tee"})
_FILTERS = frozenset({"cat", "tee", "head", "tail", "grep", "sort", "uniq", "sed", "tr", "nl", "cut", "fold", "column"})
_TRIVIAL = frozenset({"true", ":", "cd", "set", "export", "source", "."}) | _PRINTERS
_KEYWORDS = frozenset(
    {"then", "else", "elif", "do", "if", "while", "until", "!", "{", "}", "time", "command", "builtin", "exec"}
) | {
    "env",
    "sudo",
    "nohup",
    "done",
    "fi",
}
_BRANCHES = frozenset({"then", "else", "elif", "do"})
_SHELL = re.compile(r"(?:ba|da|z|k|a)?sh")
_INTERPRETER = re.compile(r"python[\d.]*|node|ruby|perl|php|deno|bun")


def _told(command: str, depth: int) -> Iterator[str]:
    """What a command prints whatever happens, as far as it can be read off the command."""
    for document in _HEREDOC.finditer(command):
        yield from _told_by_document(document["line"], document["body"], depth)
    segments = list(_segments(_HEREDOC.sub(r"\g<line>", command)))
    programs = [_program(words)[0] for words, _, _ in segments]
    chained = branched = False
    for at, (words, before, after) in enumerate(segments):
        chained = chained and before in ("&&", "||")
        branched = (branched or words[0] in _BRANCHES) and words[0] not in ("fi", "done")
        if not chained and not branched and _is_seen(words, after, programs[at + 1 :], segments[at + 1 :]):
            yield from _told_by_program(*_program(words), depth)
        chained = chained or programs[at] not in _TRIVIAL


Segment = tuple[list[str], str, str]
"""The words of a simple command, and the operators before and after it."""


def _segments(command: str) -> Iterator[Segment]:
    """The simple commands of a line, each with the operators before and after it; redirections stay among its words."""
    words: list[str] = []
    before = ""
    for token in _tokens(command):
        if token and not set(token) - set(";&|()\n"):
            if words:
                yield words, before, token.strip() or ";"
            words, before = [], token.strip() or ";"
        else:
            words.append(token)
    if words:
        yield words, before, ""


def _tokens(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        return list(lexer)
    except ValueError:  # quotes that do not close
        return re.sub(r"(\n|[;&|()<>]+)", r" \1 ", re.sub(r"[\"']", "", command)).split(" ")


def _program(words: list[str]) -> tuple[str, list[str]]:
    """The program's name without its path, and its arguments; keywords and assignments before it are left out."""
    for at, word in enumerate(words):
        if word and word not in _KEYWORDS and not re.match(r"\w+=", word):
            return word.rpartition("/")[2], words[at + 1 :]
    return "", []


def _is_seen(words: list[str], after: str, programs: Sequence[str], rest: Sequence[Segment]) -> bool:
    """Whether what a program prints comes out: not into a pipe that is no filter, nor into a file that nobody prints."""
    if after in ("|", "|&"):
        return bool(programs) and programs[0] in _FILTERS
    at = next((at for at, word in enumerate(words) if word in (">", ">>", "&>")), None)
    if at is None:
        return True
    target = words[at + 1] if at + 1 < len(words) else ""
    later = zip(programs, rest, strict=True)
    return target.startswith("/dev/") or any(name in _FILTERS and target in segment for name, (segment, _, _) in later)


def _told_by_program(program: str, words: list[str], depth: int) -> Iterator[str]:
    if program in _PRINTERS:
        yield " ".join(words).replace("\\n", "\n").replace("\\t", "\t")
    elif program == "git" and "commit" in words:
        yield " ".join(words)
    elif program in _COPIERS and "<<<" in words:
        yield " ".join(words[words.index("<<<") + 1 :])
    elif (
        depth
        and (flag := next((at for at, word in enumerate(words) if re.fullmatch(r"-\w*[ce]|-p", word)), None)) is not None
    ):
        code = " ".join(words[flag + 1 : flag + 2])
        if _SHELL.fullmatch(program):
            yield from _told(code, depth - 1)
        elif _INTERPRETER.fullmatch(program):
            yield from _literals(code)


def _told_by_document(line: str, body: str, depth: int) -> Iterator[str]:
    """What a here-document makes its reader print. One that is written to a file is not printed."""
    words = next(reversed([words for words, _, _ in _segments(line)]), [])
    program, rest = _program(words)
    if program == "tee" or (program == "cat" and not {">", ">>"} & set(rest)):
        yield body
    elif _SHELL.fullmatch(program) and depth:
        yield from _told(body, depth - 1)
    elif _INTERPRETER.fullmatch(program):
        yield from _literals(body)


_PRINTS = re.compile(
    r"(?:\bprint|\bputs|\bsay|\becho|\bconsole\.log|\bsys\.stdout\.write)\s{0,4}\(?\s{0,4}(?P<mark>['\"])(?P<words>.{0,2000}?)(?P=mark)",
    re.S,
)
_HANGS = re.compile(r"\b(?:assert|if|unless|try|raise|exit|while|for|throw)\b|\?")
"""After one of these, whether a program prints what follows hangs on what it found."""


def _literals(code: str) -> Iterator[str]:
    for match in _PRINTS.finditer(code):
        if _HANGS.search(code, 0, match.start()):
            return
        yield match["words"].replace("\\n", "\n")
