"""Whether a criterion only denies, so that a search that found nothing can show it."""

from __future__ import annotations

import re

from adjudge.evidence.asked import own_words
from adjudge.evidence.wording import about
from adjudge.rubric import Criterion

_NOT = r"(?:no|not|never|none|nothing|nowhere|neither|zero)\b(?!-)"
_SEEMING = re.compile(
    r"\bno matter\b|\bno(?:t|ne)? (?:fewer|less|more|later|earlier|other|larger|smaller|longer) than\b"
    r"|\bno(?:thing|ne|where|body)? but\b"
    r"|\bnot (?:only|just|merely|all|every)\b|\bnothing (?:other|more|less|else) than\b|\bnone other than\b|\bno doubt\b",
    re.I,
)
"""Negative words that affirm."""

_ASIDE = re.compile(
    r",? (?:and|but|or|;) (?:no|not|never|nothing)\b[^,.;]*|, (?:not|never|no)\b[^,.;]*|\brather than\b[^,.;]*", re.I
)
"""What a criterion adds to its main statement: `and no other file`."""

_CLAUSE = re.compile(r"\b(?:that|which|who|if|when|where|for) (?:\S+ ){0,6}?(?:does|do|did|is|are|was) not \w+", re.I)
_HAS = r"(?:contains?|has|have|lists?|shows?|prints?|returns?|holds?|leaves?|finds?|there (?:is|are|was|were))"
_LACKING = r"(?:absent|missing|empty|gone|untouched|unchanged)"
_NEGATED = re.compile(
    rf"n['’]t\b|\bnever\b(?!-)|\bno longer\b|\bunchanged\b|\b(?:does|do|did|is|are|was|were|has|have|had|must|can|{_HAS})"
    rf" {_NOT}"
    rf"|\b(?:is|are|remains?) {_LACKING}\b",
    re.I,
)
_STARTS_NEGATED = re.compile(rf"\W*(?:(?:in|after|during|at|on|within) [^,]*, )?{_NOT}", re.I)
_AFFIRMED = re.compile(
    rf"(?<!not )(?<!never )\b(?:returns|answers|raises|exits|prints|equals|outputs|exists|responds|contains|lists|holds)\b"
    rf"(?! {_NOT})",
    re.I,
)
_DOUBLE = re.compile(rf"{_STARTS_NEGATED.pattern}.*\b(?:{_LACKING}|lacks?|lacking|without|not|un\w+ed)\b", re.I | re.S)
_RUNNING = re.compile(
    r"\b(?:fail(?:s|ed)?|pass(?:es|ed)?|crash(?:es|ed)?|hangs?|succeeds?|works?|breaks?|terminates?|exits?|prints?|returns?"
    r"|raises?|outputs?|answers?|responds?|accepts?|throws?|logs?|starts?|stops?|listens?)\b",
    re.I,
)
"""What only shows when something runs; no search of files finds it, or finds it missing."""

_THEN = re.compile(
    r"(?:\b(?:and|but)|;) (?:then |also |instead |still )?(?:(?:the|all|every|each|its|it|they|§)(?: [^\s,;.]+){0,6}? )?"
    r"(?:is|are|was|were|has|have|does|do|can|will|pass|exist|work|run|serve|contain|hold|print|return|answer"
    r"|(?:serve|print|return|answer|work|run|start|keep|create|write|contain|hold|exit|stay|remain|use|handle|respond|log|read|show"
    r"|give|accept|add|list|exist|raise|report|support|include|set|send|produce|import|define|call|need|end|load)s"
    r"|passes|catches)\b(?! not\b)",
    re.I,
)
"""A second statement, which affirms."""


def denies(criterion: Criterion) -> bool:
    """Whether a criterion states that something is not there, and nothing else, so that an empty search can show it."""
    text = _CLAUSE.sub("", _ASIDE.sub("", _SEEMING.sub("", own_words(criterion))))
    kind = about(criterion)
    if _DOUBLE.match(text) or (kind != "answer" and _THEN.search(text)) or (kind == "result" and _RUNNING.search(text)):
        return False
    if _STARTS_NEGATED.match(text):
        return True
    return _NEGATED.search(text) is not None and _AFFIRMED.search(text) is None
