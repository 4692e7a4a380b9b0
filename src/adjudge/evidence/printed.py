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
    told = [*_told(_with_values(command), 3), *(_literals(command) if _IS_CODE.search(_HEREDOC.sub("", command)) else ())]
    return quote in fold(" ".join(told))


_IS_CODE = re.compile(r"^\s{0,200}(?:print|puts|console\.log) ?\(", re.M)
"""A line as only a program has it: what a tool gets that runs code, and no shell."""

_VALUE = re.compile(
    r"(?<![\w$.-])(?P<name>[A-Za-z_]\w{0,60})=(?:'(?P<single>[^']*)'|\"(?P<double>[^\"$`]*)\"|(?P<bare>[\w.,/-]+))"
)


def _with_values(command: str) -> str:
    """The command with its variables replaced by the words that it gives them itself."""
    values = {each["name"]: each["single"] or each["double"] or each["bare"] or "" for each in _VALUE.finditer(command)}
    if not values:
        return command
    filled = re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda name: values.get(name[1] or name[2], name[0]), command)
    return filled if len(filled) <= LONGEST_COMMAND else command


_HEREDOC = re.compile(
    r"^(?P<line>[^\n]*?)<<-?[ \t]*(['\"]?)(?P<end>\w+)\2[^\n]*\n(?P<body>.*?)(?:\n[ \t]*(?P=end)[ \t]*(?=\n|\Z)|\Z)",
    re.S | re.M,
)
_PRINTERS = frozenset({"echo", "printf", "print", "yes"})
_COPIERS = frozenset({"cat", "tee"})
_FILTERS = _COPIERS | {
    *("head", "tail", "grep", "sort", "uniq", "sed", "tr", "nl", "cut", "fold", "column", "awk", "xargs", "rev", "tac"),
}
_TRIVIAL = frozenset({"true", ":", "cd", "set", "export", "source", "."}) | _PRINTERS
_KEYWORDS = frozenset(
    {"then", "else", "elif", "do", "if", "while", "until", "!", "{", "}", "time", "command", "builtin", "exec"}
) | {
    "env",
    "sudo",
    "nohup",
    "done",
    "fi",
    "eval",
}
_WRAPPERS = frozenset({"timeout", "nice", "stdbuf", "setsid"})
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
        branched = (branched or (words[0] in _BRANCHES and not _is_certain(segments[:at]))) and words[0] not in (
            "fi",
            "done",
        )
        if not chained and not branched and _is_seen(words, after, programs[at + 1 :], segments[at + 1 :]):
            yield from _told_by_program(*_program(words), depth)
        chained = chained or programs[at] not in _TRIVIAL


def _is_certain(before: Sequence[Segment]) -> bool:
    """Whether a branch is taken whatever happens: after `if true`, or in a loop over words that are written out."""
    words = before[-1][0] if before else []
    return words in (["if", "true"], ["if", ":"], ["while", "true"], ["while", ":"]) or (
        words[:1] == ["for"] and len(words) > 3 and not set("".join(words[3:])) & set("$*?[`{")
    )


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
    wrapped = False
    for at, word in enumerate(words):
        wrapped = wrapped or word in _WRAPPERS
        if wrapped and (word in _WRAPPERS or not word[:1].isalpha()):
            continue
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
    if words and words[0] == "<<<" and depth and _SHELL.fullmatch(program):
        yield from _told(" ".join(words[1:]), depth - 1)
    elif program in ("awk", "gawk", "mawk") and (code := next((each for each in words if "{" in each), "")):
        yield from _literals(code) if re.match(r"\s*(?:BEGIN|END)?\s*\{", code) else ()
    elif " " in program and depth:  # the one word of `eval 'echo …'`
        yield from _told(program, depth - 1)
    elif program == "printf" and words and "%" in words[0]:
        yield _formatted(words)
    elif program in _PRINTERS:
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


def _formatted(words: Sequence[str]) -> str:
    """What `printf` makes of its format and the words after it."""
    rest = iter(words[1:])
    return re.sub(r"%[-\d.]{0,8}[a-z]", lambda _: next(rest, ""), words[0]).replace("\\n", "\n").replace("\\t", "\t")


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
    r"(?:\bprint|\bputs|\bsay|\becho|\bconsole\.log|\bsys\.stdout\.write)\s{0,4}\(?\s{0,4}[fFrRbBuU]{0,2}(?P<mark>['\"])(?P<words>.{0,2000}?)(?P=mark)",
    re.S,
)
_HANGS = re.compile(r"\b(?:assert|if|unless|try|raise|exit|while|for|throw)\b|\?")
"""After one of these, whether a program prints what follows hangs on what it found."""


_GIVEN = re.compile(
    r"\b(?P<name>[A-Za-z_]\w{0,60})\s{0,4}=\s{0,4}[fFrRbBuU]{0,2}(?P<mark>['\"])(?P<words>[^'\"]{0,2000})(?P=mark)"
)
_PRINTS_NAME = re.compile(
    r"\b(?:print|puts|say|echo|console\.log|sys\.stdout\.write)\s{0,4}\(?\s{0,4}(?P<name>[$A-Za-z_]\w{0,60})"
)


def _literals(code: str) -> Iterator[str]:
    """What a program prints of its own strings, directly or by a name, before anything that it may hang on."""
    hangs = _HANGS.search(code)
    end = hangs.start() if hangs else len(code)
    printed = {match["name"].lstrip("$") for match in _PRINTS_NAME.finditer(code, 0, end)}
    for match in _PRINTS.finditer(code):
        if match.start() > end:
            break
        yield match["words"].replace("\\n", "\n")
    yield from (match["words"] for match in _GIVEN.finditer(code, 0, end) if match["name"] in printed)
