"""A criterion's own words, without the code in it, and the exit status that it asks for."""

from __future__ import annotations

import re

from adjudge.rubric import Criterion

_LITERAL = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)")
_QUOTED_STATUS = re.compile(r"[`\"“'](\d{1,3}|zero|non-?zero)[`\"”'](?!\w)", re.I)


def own_words(criterion: Criterion) -> str:
    """The criterion without the code and the quotations in it."""
    return _LITERAL.sub("§", criterion.text)


_NUMBER = r"(?:\d{1,3}|zero|non-?zero)"
_STATUS = rf"(?P<status>{_NUMBER}(?: or {_NUMBER}){{0,3}})(?![\w%]|[.,]\d)"
_KIND = r"(?:(?:exit|return|status|error) ?){0,2}(?:status|code|value)"
_WITH = r"(?:(?:with|an?|the|of|equal to|equals|is|was|being|other than|different from|not|:|=) ?){0,6}"
_ASKED = re.compile(
    rf"(?P<before>(?:\bn['’]t|\bnot|\bnever|\bcannot)?) ?(?:\S*n['’]t )?"
    rf"(?:\bexit(?:s|ed)? {_WITH}(?:{_KIND} {_WITH})?"
    rf"|\b(?:finish(?:es|ed)?|ends?|ended|terminates?d?|completes?d?|quits?) {_WITH}{_KIND} {_WITH}"
    rf"|\breturns? {_WITH}exit {_KIND} {_WITH}"
    rf"|\b(?:exit|return) (?:status|code|value) (?:\S+ ){{0,8}}?(?:is|was|be|equals?|remains|=) {_WITH}){_STATUS}",
    re.I,
)
_SUCCESS = re.compile(r"\bexit(?:s|ed)? (?:successfully|cleanly)\b", re.I)
_OTHER = re.compile(r"\b(?:not|never|cannot|other than|different from)\b|n['’]t\b", re.I)


def asked_exit_status(criterion: Criterion) -> str | None:
    """The exit status that a criterion asks for: `0`, `0 or 1`, `non-zero`, or `other than 1`."""
    return exit_status_in(_LITERAL.sub("§", _QUOTED_STATUS.sub(r"\1", criterion.text)))


def exit_status_in(text: str) -> str | None:
    """The same, in a text without code."""
    if not (match := _ASKED.search(text)):
        return "0" if _SUCCESS.search(text) else None
    status = re.sub(r"\bzero", "0", re.sub(r"non-?zero", "other than 0", match["status"], flags=re.I), flags=re.I)
    return _inverted(status) if _OTHER.search(match[0].removesuffix(match["status"])) else _plain(status)


def _plain(status: str) -> str:
    return status.replace("other than 0", "non-zero")


def _inverted(status: str) -> str:
    return "0" if status == "other than 0" else _plain(f"other than {status}")
