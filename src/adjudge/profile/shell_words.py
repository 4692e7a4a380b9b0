"""The words of a shell command: quotes taken off, expansions as written, the commands inside of substitutions handed on."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

DEEPEST = 12
"""Substitutions inside of one another that are taken apart; the characters of deeper ones mean nothing."""

_PLAIN = re.compile(r"[^\s\\'\"`$|&;()<>]+")
_ENDS = frozenset(" \t\r\n\f\v|&;)<>")
_IN_DOUBLE = re.compile(r"[^\"\\$`]+")
_IN_BRACES = re.compile(r"[^'\"\\$`}]+")
_ESCAPED_UNTIL = {char: re.compile(rf"(?:[^{char}\\]|\\.)*", re.S) for char in "'`"}
_PARENTHESIS = re.compile(r"[()]")


class WordReader(ABC):
    """Walks over a text word by word. What reads lists of commands is to be added: `read_list` and `read_inner`."""

    def __init__(self, text: str, depth: int) -> None:
        self.text, self.end, self.at, self.depth = text, len(text), 0, depth
        self._unbalanced = False
        self._has_test: bool | None = None

    @abstractmethod
    def read_list(self) -> None:
        """Read commands up to the parenthesis that closes a substitution, and pass it."""

    @abstractmethod
    def read_inner(self, text: str) -> None:
        """Read commands that stood in backticks."""

    def find(self, char: str) -> int:
        """Where the character comes next; the end of the text if it does not."""
        found = self.text.find(char, self.at)
        return self.end if found < 0 else found

    def has_test(self) -> bool:
        """Whether the text has a `]]`; looked for once."""
        if self._has_test is None:
            self._has_test = "]]" in self.text
        return self._has_test

    def at_process_substitution(self) -> bool:
        """Whether `<(` or `>(` comes next."""
        return self.text[self.at] in "<>" and self.text.startswith("(", self.at + 1)

    def skip_balanced(self) -> bool:
        """Pass `((…))`; nothing is passed if it does not close like that."""
        if self._unbalanced:
            return False
        depth = 0
        for parenthesis in _PARENTHESIS.finditer(self.text, self.at):
            depth += 1 if parenthesis[0] == "(" else -1
            if depth == 0:
                last = parenthesis.end()
                closes = self.text.startswith("))", last - 2)
                self.at = last if closes else self.at
                return closes
        self._unbalanced = True  # nor will any later one, which is not looked for again
        return False

    def read_word(self) -> str:
        """Read the word that begins here; at least one character is passed."""
        pieces = [self._deeper(1)] if self.at_process_substitution() else []
        while self.at < self.end:
            if plain := _PLAIN.match(self.text, self.at):
                pieces.append(plain[0])
                self.at = plain.end()
                continue
            char = self.text[self.at]
            if char in _ENDS or (char == "(" and not (pieces and pieces[-1].endswith(("=", "?", "*", "+", "@", "!")))):
                break
            pieces.append(self._deeper(0) if char == "(" else self._piece(char))
        return "".join(pieces)

    def _piece(self, char: str) -> str:
        """Read what begins with a quote, a backslash, a dollar or a backtick."""
        match char, self.text[self.at + 1 : self.at + 2]:
            case "'", _:
                return self._single()
            case '"', _:
                return self._double()
            case "`", _:
                return self._backticks()
            case "\\", _:
                return self._escaped()
            case "$", "'":
                self.at += 1
                return self._until_unescaped("'")
            case "$", "(":
                return self._deeper(1)
            case "$", "{":
                return self._braces()
        self.at += 1
        return char

    def _single(self) -> str:
        self.at += 1
        start, close = self.at, self.find("'")
        self.at = min(close + 1, self.end)
        return self.text[start:close]

    def _until_unescaped(self, char: str) -> str:
        """Pass a quote of this kind; what stands in it, its escapes as written."""
        body = _ESCAPED_UNTIL[char].match(self.text, self.at + 1)
        assert body is not None
        self.at = min(body.end() + 1, self.end)
        return body[0]

    def _backticks(self) -> str:
        start = self.at
        body = self._until_unescaped("`")
        if self.depth < DEEPEST:
            self.depth += 1
            self.read_inner(re.sub(r"\\([\\`$])", r"\1", body))
            self.depth -= 1
        return self.text[start : self.at]

    def _escaped(self) -> str:
        following = self.text[self.at + 1 : self.at + 2]
        self.at = min(self.at + 2, self.end)
        if following == "\r" and self.text.startswith("\n", self.at):
            self.at += 1
            return ""
        return "" if following == "\n" else following

    def _double(self) -> str:
        self.at += 1
        pieces = []
        while self.at < self.end:
            if plain := _IN_DOUBLE.match(self.text, self.at):
                pieces.append(plain[0])
                self.at = plain.end()
                continue
            char, following = self.text[self.at], self.text[self.at + 1 : self.at + 2]
            if char == '"':
                self.at += 1
                break
            literal = following == "'" if char == "$" else following not in ('"', "\\", "$", "`", "\n")
            if char in "\\$" and literal:
                pieces.append(char)
                self.at += 1
            else:
                pieces.append(self._piece(char))
        return "".join(pieces)

    def _braces(self) -> str:
        """Read `${…}`."""
        start = self.at
        self.at += 2
        if self.depth >= DEEPEST:
            return self.text[start : self.at]
        self.depth += 1
        while self.at < self.end and self.text[self.at] != "}":
            plain = _IN_BRACES.match(self.text, self.at)
            if plain:
                self.at = plain.end()
            else:
                self._piece(self.text[self.at])
        self.at = min(self.at + 1, self.end)
        self.depth -= 1
        return self.text[start : self.at]

    def _deeper(self, sign: int) -> str:
        """Read `$(…)`, `<(…)` or, with no sign before it, an array or a pattern in parentheses."""
        start = self.at
        self.at += sign
        if self.text.startswith("((", self.at) and sign and self.skip_balanced():
            return self.text[start : self.at]
        self.at += 1
        if self.depth < DEEPEST:
            self.depth += 1
            if sign:
                self.read_list()
            else:
                self._group()
            self.depth -= 1
        return self.text[start : self.at]

    def _group(self) -> None:
        """Pass words up to the parenthesis that closes them."""
        while self.at < self.end:
            char = self.text[self.at]
            if char in _ENDS or char == "(":
                self.at += 1
                if char == ")":
                    return
            else:
                self.read_word()
