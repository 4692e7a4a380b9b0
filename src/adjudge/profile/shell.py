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


class Redirection(msgspec.Struct, frozen=True):
    """A redirection: `2>`, `>>`, `<<`, … and the word that follows."""

    operator: str
    target: str


class SimpleCommand(msgspec.Struct, frozen=True):
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
    return tuple(tuple(draft.finished() for draft in pipeline) for pipeline in _split(text[:LONGEST], 0))


_PREFIXES = frozenset({"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "{", "}", "!", "time", "-p"})
"""Reserved words that a command may follow, and the flag of `time`."""
_HEADS = {"for": "head", "select": "head", "case": "case", "function": "function"}

_USUAL_WORD = re.compile(r"[ \t]*(?:([^\s\\'\"`$|&;()<>#]+)|'([^']*)'|\"([^\"\\$`]*)\")(?=[ \t\n|;]|$)")
"""A word that is bare or wholly in quotes, and ends."""
_BLANK = re.compile(r"(?:[ \t\r\f\v]|\\\r?\n)+")
_REDIRECTION = re.compile(r"&>>?|<<<|<<-?|<>|<&|>>|>&|>\||<|>")
_OPERATOR = re.compile(r"&&|\|\||\|&|;;&|;;|;&|[|&;()]")


class _Draft:
    """A simple command while it is read."""

    __slots__ = ("documents", "place", "redirections", "words")

    def __init__(self, place: int) -> None:
        self.words: list[str] = []
        self.redirections: list[Redirection] = []
        self.documents: list[str] = []
        self.place = place

    def finished(self) -> SimpleCommand:
        return SimpleCommand(tuple(self.words), tuple(self.redirections), tuple(self.documents), self.place)


class _List:
    """A list of commands while it is read: the text itself, or a substitution in it.

    `mode` says what words are, if not a command's: the head of a loop ("head"), the subject of a case ("case") or its
    patterns ("pattern"), a name ("function"), a `[[ … ]]` ("test"). `wanted` is the redirection whose target is next.
    """

    def __init__(self) -> None:
        self.draft = _Draft(0)
        self.pipeline: list[_Draft] = []
        self.mode = self.wanted = ""
        self.groups = self.cases = 0
        self.pending: list[tuple[str, bool, _Draft]] = []


def _split(text: str, depth: int) -> list[list[_Draft]]:
    splitter = _Splitter(text, depth)
    while splitter.at < splitter.end:  # a parenthesis too many ends a list, but not the text
        splitter.read_list()
    return splitter.found


class _Splitter(WordReader):
    def __init__(self, text: str, depth: int) -> None:
        super().__init__(text, depth)
        self.found: list[list[_Draft]] = []
        self._last_test = text.rfind("]]")

    def read_inner(self, text: str) -> None:
        self.found += _split(text, self.depth)

    def read_list(self) -> None:
        """Read commands up to the parenthesis that closes a substitution, or to the end."""
        now, text = _List(), self.text
        while self.at < self.end:
            if word := _USUAL_WORD.match(text, self.at):
                self.at = word.end()
                self._take(now, word[word.lastindex or 0], word.lastindex == 1)
            elif blank := _BLANK.match(text, self.at):
                self.at = blank.end()
            elif text[self.at] in "\n#":
                self._end_line(now)
            elif text[self.at] in "|&;()<>" and not self.at_process_substitution():
                if self._operator(now):
                    break
            else:
                start = self.at
                read = self.read_word()
                self._take(now, read, read == text[start : self.at])
        now.mode = ""
        self._end_pipeline(now)

    def _end_line(self, now: _List) -> None:
        """Pass a comment or the end of a line, and the here-documents that begin there."""
        if self.text[self.at] == "#":
            self.at = self.find("\n")
            return
        self.at += 1
        self._end_pipeline(now)
        for delimiter, indented, draft in now.pending:
            tabs = r"\t*" if indented else ""
            last = re.compile(rf"^{tabs}{re.escape(delimiter)}\r?$", re.M).search(self.text, self.at)
            draft.documents.append(self.text[self.at : last.start() if last else self.end])
            self.at = last.end() if last else self.end
            self.at += self.text.startswith("\n", self.at)
        now.pending.clear()

    # --- words

    def _take(self, now: _List, word: str, bare: bool) -> None:
        """Give a word its meaning: a target, a reserved word, a part of something that is no command, or a word."""
        if now.wanted:
            self._redirect(now, word)
        elif now.mode:
            _take_aside(now, word, bare)
        elif bare and not now.draft.words and self._is_reserved(now, word):
            return
        elif bare and word.isdigit() and self.text[self.at : self.at + 1] in ("<", ">"):
            self._want(now, word)
        else:
            now.draft.words.append(word)

    def _is_reserved(self, now: _List, word: str) -> bool:
        """Whether a first word is one of the shell's own; what it opens is noted."""
        if word in _HEADS:
            now.mode = _HEADS[word]
        elif word == "esac" and now.cases:
            now.cases -= 1
        elif word == "[[" and self._last_test >= self.at:
            now.mode = "test"
        else:
            return word in _PREFIXES
        return True

    def _redirect(self, now: _List, word: str) -> None:
        operator, now.wanted = now.wanted, ""
        now.draft.redirections.append(Redirection(operator, word))
        if operator.endswith(("<<", "<<-")):
            now.pending.append((word, operator.endswith("-"), now.draft))

    # --- operators

    def _operator(self, now: _List) -> bool:
        """Read an operator; whether it closes the substitution that this list is."""
        if _REDIRECTION.match(self.text, self.at):
            self._want(now, "")
            return False
        operator = _OPERATOR.match(self.text, self.at)
        assert operator is not None
        if operator[0] in ("(", ")"):
            return self._parenthesis(now, operator[0])
        self.at = operator.end()
        if now.mode in ("pattern", "test"):
            return False
        if operator[0] in ("|", "|&"):
            self._end_command(now)
        else:
            self._end_pipeline(now)
            now.mode = "pattern" if now.cases and operator[0] in (";;", ";&", ";;&") else ""
        return False

    def _parenthesis(self, now: _List, char: str) -> bool:
        starts_command = char == "(" and not now.draft.words
        if starts_command and self.text.startswith("((", self.at) and self.skip_balanced():
            return False
        self.at += 1
        if now.mode in ("pattern", "test"):
            now.mode = "" if now.mode == "pattern" and char == ")" else now.mode
        elif char == "(" and not starts_command and self.text.startswith(")", self.at):
            self.at += 1  # a function is defined
            now.draft.words.clear()
        else:
            if not starts_command:
                self._end_pipeline(now)
            now.groups += 1 if char == "(" else -1
        return now.groups < 0

    def _want(self, now: _List, descriptor: str) -> None:
        redirection = _REDIRECTION.match(self.text, self.at)
        assert redirection is not None
        self.at = redirection.end()
        if now.mode not in ("pattern", "test"):
            now.wanted = descriptor + redirection[0]

    def _end_command(self, now: _List) -> None:
        if now.draft.words or now.draft.redirections:
            now.pipeline.append(now.draft)
        now.draft, now.wanted, now.mode = _Draft(now.draft.place + 1), "", ""

    def _end_pipeline(self, now: _List) -> None:
        if now.mode in ("pattern", "test"):
            return
        self._end_command(now)
        now.draft.place = 0
        if now.pipeline:
            self.found.append(now.pipeline)
            now.pipeline = []


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
