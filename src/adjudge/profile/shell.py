"""A shell command taken apart into simple commands: words, redirections, here-documents, and places in pipelines.

It takes what an agent wrote, which need not be valid: nothing is refused, and what does not close ends with the text.
Every character is passed a fixed number of times for each substitution around it, and those are bounded.
"""

from __future__ import annotations

import re

import msgspec

from adjudge.profile.shell_words import WordReader

LONGEST = 100_000
"""Characters of a command that are taken apart; what follows is left out."""


class Redirection(msgspec.Struct, frozen=True, gc=False):
    """A redirection: `2>`, `>>`, `<<`, … and the word that follows."""

    operator: str
    target: str


class SimpleCommand(msgspec.Struct, frozen=True, gc=False):
    """One command with its words as the program gets them, but for expansions, which stay as written.

    `documents` are the bodies of its here-documents. `place` is above 0 if its input comes from a pipe.
    """

    words: tuple[str, ...]
    redirections: tuple[Redirection, ...] = ()
    documents: tuple[str, ...] = ()
    place: int = 0


Pipeline = tuple[SimpleCommand, ...]


def split_command(text: str) -> tuple[Pipeline, ...]:
    """The pipelines of a command, in order; those of a substitution stand before the one that it is part of."""
    return tuple([tuple(pipeline) for pipeline in _split(text[:LONGEST], 0)])


_PREFIXES = frozenset({"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "time", "-p"})
"""Reserved words that a command may follow, and the flag of `time`."""
_NO_OPERATORS = ("pattern", "test")
_HEADS = {"for": "head", "select": "head", "case": "case", "function": "function"}
_RESERVED = _PREFIXES | _HEADS.keys() | {"esac", "[["}

_OTHER_SPACE = r"\n\r\f\v\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SPECIAL = rf"\\'\"`$|&;()<>\#{_OTHER_SPACE}"
_QUOTED = r"'[^']*+'|\"(?:[^\"\\$`]++|\$(?![({]))*\""
# Only single characters are matched possessively: before 3.11.5 Python got that wrong for groups (gh-106052).
_TOKEN = re.compile(
    rf"[ \t]*+((?:[^{_SPECIAL}]++|{_QUOTED}|\$(?![({{'\"]))*)"
    r"(?:(&&|\|\||;;&|;;|;&|\|&|[|;\n]|&(?!>)|(?<![^\s|&;()<>])\#[^\n]*+|\Z|(?=\)))"
    r"|((?:&>>?|<<<|<<-?|<>|<&|>>|>&|>\||[<>])(?!\())"
    rf"(?:[ \t]*+(?:([^{_SPECIAL} \t]++)|'([^'\s]++)')(?=[ \t\r\n|;&)]|\Z))?)?"
)
"""A row of words whose quotes can simply be taken off; then what ends a command, a comment, or a redirection and target.
If none of these follows, the last word may go on: with a substitution, an escape, a parenthesis."""
_RAW_WORD = re.compile(rf"(?:[^\s'\"]++|{_QUOTED})+")
_QUOTED_PIECE = re.compile(_QUOTED)
_ENDS_WORD = frozenset("<>&\r\f\v")
_BLANK = re.compile(r"(?:[ \t\r\f\v]|\\\r?\n)+")


class _Document(msgspec.Struct):
    """A here-document whose body is still to come, and the command that it is for."""

    delimiter: str
    indented: bool
    pipeline: list[SimpleCommand]
    place: int


class _List:
    """A list of commands while it is read: the text itself, or a substitution in it.

    `mode` says what words are, if not a command's: the head of a loop ("head"), the subject of a case ("case") or its
    patterns ("pattern"), a name ("function"), a `[[ … ]]` ("test"). `wanted` is the redirection whose target is next.
    """

    mode = wanted = ""
    groups = cases = place = 0

    def __init__(self) -> None:
        self.words: list[str] = []
        self.redirections: list[Redirection] = []
        self.pipeline: list[SimpleCommand] = []
        self.pending: list[_Document] = []


def _split(text: str, depth: int) -> list[list[SimpleCommand]]:
    splitter = _Splitter(text, depth)
    while splitter.at < splitter.end:  # a parenthesis too many ends a list, but not the text
        splitter.read_list()
    return splitter.found


class _Splitter(WordReader):
    def __init__(self, text: str, depth: int) -> None:
        super().__init__(text, depth)
        self.found: list[list[SimpleCommand]] = []

    def read_inner(self, text: str) -> None:
        self.found += _split(text, self.depth)

    def read_list(self) -> None:
        """Read commands up to the parenthesis that closes a substitution, or to the end."""
        now, text, next_token = _List(), self.text, _TOKEN.match
        while self.at < self.end:
            token = next_token(text, self.at)
            assert token is not None  # all of it may be absent
            self.at = token.end()
            run, separator, redirection, bare_target, quoted_target = token.groups()
            if run:
                redirection = self._take_run(now, run, separator, redirection)
            if redirection:
                now.wanted = redirection if now.mode not in _NO_OPERATORS else ""
                if target := bare_target or quoted_target:
                    self._take(now, target, bare_target is not None)
            elif separator:
                self._separate(now, separator)
            elif self.at < self.end and self._read_other(now):
                break
        self._end_pipeline(now)

    def _read_other(self, now: _List) -> bool:
        """Read what is no usual token; whether it closes the substitution that this list is."""
        if blank := _BLANK.match(self.text, self.at):
            self.at = blank.end()
            return False
        if self.text[self.at] in "()":
            return self._parenthesis(now, self.text[self.at])
        start = self.at
        word = self.read_word()
        if self.at == start:
            self.at += 1
        else:
            self._take(now, word, word == self.text[start : self.at])
        return False

    # --- words

    def _take_run(self, now: _List, run: str, separator: str | None, redirection: str | None) -> str | None:
        """Take words in a row; the redirection after them, with the number that stood among them.

        A last word that goes on after the row is not taken, and is next.
        """
        quoted = "'" in run or '"' in run
        words = _RAW_WORD.findall(run) if quoted else run.split()
        if separator is None and run[-1] not in " \t":
            if redirection is None:
                if self.text[self.at] not in _ENDS_WORD:
                    self.at -= len(words.pop())
            elif words[-1].isdecimal() and redirection[0] != "&":
                redirection = words.pop() + redirection
        if now.wanted or now.mode or (not now.words and words and words[0] in _RESERVED):
            for word in words:
                self._take(now, bare := _unquoted(word), word == bare)
        else:
            now.words += map(_unquoted, words) if quoted else words
        return redirection

    def _take(self, now: _List, word: str, bare: bool) -> None:
        """Give a word its meaning: a target, a reserved word, a part of something that is no command, or a word."""
        if now.wanted:
            self._redirect(now, word)
        elif now.mode:
            _take_aside(now, word, bare)
        elif not (bare and not now.words and self._is_reserved(now, word)):
            now.words.append(word)

    def _is_reserved(self, now: _List, word: str) -> bool:
        """Whether a first word is one of the shell's own; what it opens is noted."""
        if word in _HEADS:
            now.mode = _HEADS[word]
        elif word == "esac" and now.cases:
            now.cases -= 1
        elif word == "[[" and self.has_test():
            now.mode = "test"
        else:
            return word in _PREFIXES
        return True

    def _redirect(self, now: _List, word: str) -> None:
        operator, now.wanted = now.wanted, ""
        now.redirections.append(Redirection(operator, word))
        if operator.endswith(("<<", "<<-")):
            now.pending.append(_Document(word, operator.endswith("-"), now.pipeline, len(now.pipeline)))

    # --- operators and parentheses

    def _separate(self, now: _List, operator: str) -> None:
        """End a command, and with it the pipeline, or the line with the here-documents that begin there."""
        if now.mode in _NO_OPERATORS or operator[0] == "#":  # a comment ends nothing
            return
        if operator in ("|", "|&"):
            self._end_command(now)
            return
        self._end_pipeline(now)
        if operator == "\n" and now.pending:
            self._read_documents(now)
        elif now.cases and operator in (";;", ";&", ";;&"):
            now.mode = "pattern"

    def _read_documents(self, now: _List) -> None:
        for each in now.pending:
            start = self.at
            stop = self._pass_document(each)
            command = each.pipeline[each.place]
            documents = (*command.documents, self.text[start:stop])
            each.pipeline[each.place] = SimpleCommand(command.words, command.redirections, documents, command.place)
        now.pending.clear()

    def _pass_document(self, document: _Document) -> int:
        """Pass the lines of a here-document and the delimiter after them; where its body ends."""
        while self.at < self.end:
            start, stop = self.at, self.find("\n")
            self.at = min(stop + 1, self.end)
            line = self.text[start:stop].removesuffix("\r")
            if (line.lstrip("\t") if document.indented else line) == document.delimiter:
                return start
        return self.end

    def _parenthesis(self, now: _List, char: str) -> bool:
        starts_command = char == "(" and not now.words
        if starts_command and self.text.startswith("((", self.at) and self.skip_balanced():
            return False
        self.at += 1
        if now.mode in _NO_OPERATORS:
            now.mode = "" if now.mode == "pattern" and char == ")" else now.mode
        elif char == "(" and not starts_command and self.text.startswith(")", self.at):
            self.at += 1  # a function is defined
            now.words.clear()
        else:
            if not starts_command:
                self._end_pipeline(now)
            now.groups += 1 if char == "(" else -1
        return now.groups < 0

    def _end_command(self, now: _List) -> None:
        if now.words or now.redirections:
            now.pipeline.append(SimpleCommand(tuple(now.words), tuple(now.redirections), (), now.place))
            now.words.clear()
            now.redirections.clear()
        now.place += 1
        now.wanted = now.mode = ""

    def _end_pipeline(self, now: _List) -> None:
        self._end_command(now)
        now.place = 0
        if now.pipeline:
            self.found.append(now.pipeline)
            now.pipeline = []


def _unquoted(raw: str) -> str:
    """A word without its quotes, in which nothing has a meaning."""
    if '"' not in raw:
        return raw.replace("'", "")
    if "'" not in raw:
        return raw.replace('"', "")
    return _QUOTED_PIECE.sub(lambda piece: piece[0][1:-1], raw)


def _take_aside(now: _List, word: str, bare: bool) -> None:
    """Take a word that is no command's, and see whether it is the last of them."""
    if now.mode == "function" or (now.mode == "test" and word == "]]"):
        now.mode = ""
    elif now.mode == "case" and bare and word == "in":
        now.mode, now.cases = "pattern", now.cases + 1
    elif now.mode == "pattern" and bare and word == "esac":
        now.mode, now.cases = "", now.cases - 1
    elif now.mode == "head" and bare and word == "do":
        now.mode = ""
