"""What a criterion speaks of, read off its English words.

A rubric may say itself what a criterion is about. Where it does not, these patterns decide, in doubt for a result, which
asks for the strongest proof.
"""

from __future__ import annotations

import re

from adjudge.rubric import About, Criterion

_LITERAL = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)")

_SAY = (
    r"\b(?:says?|said|states?|stated|mentions?|mentioned|reports?|reported|claims?|claimed|tells?|told|explains?|explained"
    r"|admits?|admitted|announces?|announced|asks?|asked|warns?|warned|acknowledges?|acknowledged|discloses?|disclosed"
    r"|names?|lists?|gives?|describes?|points? out)\b"
)
_SPEAKER = (
    r"(?:the agent|(?<!error )(?<!commit )(?<!commit's )(?<!log )(?<!help )(?<!warning )message|answer|report|summary)"
)
_FINAL = re.compile(r"\b(?:final|last|closing) (?:message|answer|report|summary|reply|response)\b", re.I)
_SAYS = re.compile(
    rf"{_FINAL.pattern}|\bmessage to the user\b|\btold the user\b"
    rf"|\b{_SPEAKER}(?: (?:also|openly|explicitly|does|did|not|never|itself))* (?!names?\b|lists?\b|gives?\b){_SAY}",
    re.I,
)
_WHAT_WAS_SAID = re.compile(rf"{_SAY}(?: (?:the )?user)?(?: (?:that|whether|how|why|where)\b|:)", re.I)
_COMPARES = re.compile(
    r"\b(?:equals?|same|match(?:es)?|agrees?|is the one|are the ones|as (?:reported|printed|shown)|consistent with"
    r"|corresponds?|contradicts?|is true|are true|exists?|in fact|really|was (?:really )?(?:run|executed)|appears? in)\b",
    re.I,
)

_AGENT = (
    r"\b(?:the )?agent(?: (?:itself|also|never|first|then|did|does|has|had|have|not|only|always|again|actually|successfully"
    r"|at least once|must))*"
)
_WORKS = (
    r"(?:ran|runs?|execut\w+|call(?:s|ed)?|us(?:e|ed|es)|open(?:s|ed)?|reads?|check(?:s|ed)?|look(?:s|ed)?|search(?:es|ed)?"
    r"|start(?:s|ed)?|test(?:s|ed)?|verif\w+|tr(?:y|ied|ies)|inspect\w*|consult\w*|reproduc\w+|received?|view(?:s|ed)?|fetch\w*)"
)
_CHANGES = (
    r"(?:edit\w*|wrote|writes?|creat\w+|install\w*|commit\w*|delet\w+|remov\w+|chang\w+|modif\w+|made|makes?|add(?:s|ed)?"
    r"|fix(?:es|ed)?|updat\w+|revert\w*|renam\w+|mov\w+|push\w*|touch\w*|left|leaves?)"
)
_DOINGS = r"(?:commands?|calls?|steps?|turns?|runs?|invocations?)"
_ON_RECORD = re.compile(
    rf"{_AGENT} {_WORKS}\b|\bthe record (?:itself )?(?:shows?|contains?|has|holds?)\b|\bduring the run\b|\btool calls?\b"
    rf"|\b{_DOINGS} (?:\S+ ){{0,8}}?(?:of|by) the agent\b|\bthe agent's (?:\w+ )?{_DOINGS}\b"
    r"|\b(?:was|were) (?:\w+ )?(?:run|executed|called|invoked|consulted)\b",
    re.I,
)
_DID = re.compile(rf"{_AGENT} {_CHANGES}\b|\bby the agent\b|\bthe agent's (?:\w+ )?(?:edits?|writes?|commits?)\b", re.I)


def about(criterion: Criterion) -> About:
    """What a criterion speaks of, from the rubric if it says so, else from the criterion's text; in doubt, of a result.

    `result`: how things are. `process`: what the agent did. `answer`: what it said. `account`: whether what it said
    agrees with what is.
    """
    if criterion.about:
        return criterion.about
    text = _own_words(criterion)
    if says := _SAYS.search(text):
        before = _WHAT_WAS_SAID.split(text[says.start() :], maxsplit=1)[0]  # a comparison may be what was said
        return "account" if _COMPARES.search(before) else "answer"
    return "process" if _ON_RECORD.search(text) or _DID.search(text) else "result"


def is_on_record(criterion: Criterion) -> bool:
    """Whether a criterion speaks of doings that leave no trace but in the record: a command run, a file read."""
    return _ON_RECORD.search(_own_words(criterion)) is not None


def names_final_message(criterion: Criterion) -> bool:
    """Whether a criterion speaks of the agent's last message, and not of any."""
    return _FINAL.search(_own_words(criterion)) is not None


def _own_words(criterion: Criterion) -> str:
    """The criterion without the code and the quotations in it."""
    return _LITERAL.sub("§", criterion.text)


_NOT = r"(?:no|not|never|none|nothing|nowhere|neither|zero|without)"
_ASIDE = re.compile(
    r",? (?:and|but|or|;) (?:no|not|never|nothing)\b[^,.;]*|, (?:not|never|no)\b[^,.;]*|\brather than\b[^,.;]*", re.I
)
"""What a criterion adds to its main statement: `and no other file`."""

_CLAUSE = re.compile(r"\b(?:that|which|who|if|when|where|for) (?:\S+ ){0,6}?(?:does|do|did|is|are|was) not \w+", re.I)
_HAS = r"(?:contains?|has|have|lists?|shows?|prints?|returns?|holds?|leaves?|finds?|there (?:is|are|was|were))"
_NEGATED = re.compile(
    rf"n't\b|\bnever\b|\bno longer\b|\bunchanged\b|\b(?:does|do|did|is|are|was|were|has|have|had|must|can|{_HAS}) {_NOT}\b"
    r"|\b(?:is|are|remains?) (?:absent|missing|empty|gone|untouched)\b",
    re.I,
)
_STARTS_NEGATED = re.compile(rf"\W*(?:(?:in|after|during|at|on|within) [^,]*, )?{_NOT}\b", re.I)
_AFFIRMED = re.compile(
    rf"(?<!not )(?<!never )\b(?:returns|answers|raises|exits|prints|equals|outputs|exists|responds|contains|lists|holds)\b"
    rf"(?! {_NOT}\b)",
    re.I,
)


def denies(criterion: Criterion) -> bool:
    """Whether a criterion states that something is not there, and nothing else, so that an empty search can show it."""
    text = _CLAUSE.sub("", _ASIDE.sub("", _own_words(criterion)))
    if _STARTS_NEGATED.match(text):
        return True
    return _NEGATED.search(text) is not None and _AFFIRMED.search(text) is None


_ASKED_STATUS = re.compile(
    r"\bexit(?:s|ed)?(?: with)?(?: an?| the)?(?: (?:exit )?(?:status|code))?(?: of)? (?P<status>\d{1,3}|non-?zero)\b", re.I
)


def asked_exit_status(criterion: Criterion) -> str | None:
    """The exit status that a criterion asks for: a number, or `non-zero`."""
    match = _ASKED_STATUS.search(_own_words(criterion))
    return match["status"].lower().replace("nonzero", "non-zero") if match else None
