"""What a criterion speaks of, read off its English words.

A rubric may say itself what a criterion is about. Where it does not, these patterns decide, in doubt for a result, which
asks for the strongest proof.
"""

from __future__ import annotations

import re

from adjudge.evidence.asked import exit_status_in, own_words
from adjudge.rubric import About, Criterion

_SAY = (
    r"\b(?:says?|said|states?|stated|mentions?|mentioned|reports?|reported|claims?|claimed|tells?|told|explains?|explained"
    r"|admits?|admitted|announces?|announced|asks?|asked|warns?|warned|acknowledges?|acknowledged|discloses?|disclosed"
    r"|names?|lists?|gives?|describes?|points? out)\b"
)
_SPEAKER = (
    r"(?:the agent|the agent['’]s (?:\w+ )?(?:messages?|answers?|reports?|summary|reply|replies)"
    r"|(?:messages?|answers?|reports?|summary|reply|replies) (?:of|by|from) the agent"
    r"|(?:the|a|any|no|its) message)"
)
_OTHERS = r"(?! (?:of|by|from|in) (?!(?:the |this )?(?:agent|run|session|record|transcript|conversation)\b))(?! lines?\b)"
_FINAL = re.compile(
    r"(?:(?<!['’]s )|(?<=agent['’]s ))\b(?:final|last|closing) (?:message|answer|report|summary|reply|response)\b"
    + _OTHERS,
    re.I,
)
"""The agent's last word, but not the last summary of a program: `pytest`'s, or one that is printed by it."""

_SAYS = re.compile(
    rf"{_FINAL.pattern}|\bmessage to the user\b|\btold the user\b"
    rf"|\b{_SPEAKER}(?: (?:also|openly|explicitly|does|did|not|never|itself))* (?!names?\b|lists?\b|gives?\b){_SAY}",
    re.I,
)
_WHAT_WAS_SAID = re.compile(rf"{_SAY}(?: (?:the )?user)?(?: (?:that|whether|how|why|where)\b|:)", re.I)
_COMPARES = re.compile(
    r"\b(?:equals?|same|match(?:es)?|agrees?|is the one|are the ones|as (?:reported|printed|shown)|consistent with"
    r"|corresponds?|contradicts?|(?:is|are|was|were) (?:true|correct|right|accurate|wrong|false)|exists?"
    r"|in fact|really|was (?:really )?(?:run|executed)|appears? in)\b",
    re.I,
)
_CONFIRMED = re.compile(
    r"[,;:.] (?:and|which|but)? ?(?:that|this|it|they|so|which|indeed)?\b ?(?:is|are|was|were|does|do|did)"
    r" (?:indeed |in fact |really )?(?:true|so|right|correct|the case|accurate|pass|hold)\b",
    re.I,
)
_RELATIVE = re.compile(
    r"(?<!shows )(?<!show )\b(?:that|which|whom) (?:the )?\Z"
    r"|^\W*(?:every|all|each|any|the) (?:\S+ ){0,3}(?!(?:of|in|to|at|by|with|and|its|that|which|the|agent['’]s) )\w+ "
    r"(?:the )?\Z",
    re.I,
)
"""What stands before a speaker in a relative clause: `every test the` …"""

_BESIDE = re.compile(r"[;.:] |, (?:and|but|which|while)\b")
"""Where a criterion goes on after what was said."""

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
_DONE_BY_AGENT = re.compile(
    rf"{_AGENT} (?:{_WORKS}|{_CHANGES})\b|\bthe agent['’]s (?:\w+ )?(?:edits?|writes?|commits?)\b", re.I
)
_RUN_BY_AGENT = re.compile(rf"{_AGENT} {_WORKS}\b", re.I)
_OF_RECORD = re.compile(
    r"\bthe record (?:itself )?(?:shows?|contains?|has|holds?)\b|\bduring the run\b|\btool calls?\b"
    rf"|\b{_DOINGS} (?:\S+ ){{0,8}}?(?:of|by|that|which) the agent\b|\bthe agent['’]s (?:\w+ )?{_DOINGS}\b",
    re.I,
)
_WAS_RUN = re.compile(r"\b(?:was|were) (?:\w+ )?(?:run|executed|called|invoked|consulted)\b", re.I)
_BY_AGENT = re.compile(r"\b(?:is|are|was|were|been|be) (?:\w+ ){1,3}by the agent\b", re.I)

_CLAUSE_ENDS = re.compile(r"[,;:.](?= |\Z)|\b(?:and|but)\b", re.I)
_SUBORDINATE = re.compile(
    r"\b(?:that|which|who|whom|whose|what|whatever|if|when|whenever|while|once|because|since|until|unless|where|as|than)\b",
    re.I,
)
_AROUND = re.compile(
    r"\W*(?:(?:then|also|finally|first|at least once|afterwards|only)\W*"
    r"|(?:in|after|before|during|at|on|within|with|for|by|to|under|from|at no point|never|nowhere) (?:\S+ )+)?",
    re.I,
)
_WITHOUT_OBJECT = re.compile(
    r"\s*(?:[,.]|\Z)|\s+(?:all|pass(?:es)?|fails?|is|are|was|were|has|have|exists?|works?)\b", re.I
)


def about(criterion: Criterion) -> About:
    """What a criterion speaks of, from the rubric if it says so, else from the criterion's text; in doubt, of a result.

    `result`: how things are. `process`: what the agent did. `answer`: what it said. `account`: whether what it said
    agrees with what is.
    """
    if criterion.about:
        return criterion.about
    text = own_words(criterion)
    if says := _SAYS.search(text):
        return "account" if _compares(text, says) else "answer"
    return "process" if _is_process(text) else "result"


def _compares(text: str, says: re.Match[str]) -> bool:
    """Whether more than what was said is asked. A comparison, or an exit status, may itself be what was said."""
    before, *said = _WHAT_WAS_SAID.split(text[says.start() :], maxsplit=1)
    if _COMPARES.search(before) or _is_relative(text, says.start()):
        return True
    return any(_CONFIRMED.search(each) or exit_status_in(_after(each)) for each in said)


def _after(said: str) -> str:
    """What a criterion adds after what was said."""
    return _BESIDE.split(said, maxsplit=1)[1] if _BESIDE.search(said) else ""


def _is_relative(text: str, at: int) -> bool:
    """Whether the speaker stands in a relative clause: `the bug that the agent reported is fixed`."""
    return _RELATIVE.search(text[:at]) is not None


def _is_process(text: str) -> bool:
    if _OF_RECORD.search(text):
        return True
    passive = [*_WAS_RUN.finditer(text), *_BY_AGENT.finditer(text)]
    return any(_acts(text, match) for match in _DONE_BY_AGENT.finditer(text)) or any(
        not _SUBORDINATE.search(_before(text, match)) for match in passive
    )


def _acts(text: str, match: re.Match[str]) -> bool:
    """Whether the agent is what the main clause speaks of: not `the tests that the agent wrote pass`."""
    before = _before(text, match)
    if _SUBORDINATE.search(before) or not _AROUND.fullmatch(before):
        return False
    return not before.strip() or not _WITHOUT_OBJECT.match(text, match.end())


def _before(text: str, match: re.Match[str]) -> str:
    """What stands before a match in its clause."""
    start = max((each.end() for each in _CLAUSE_ENDS.finditer(text, 0, match.start())), default=0)
    return text[start : match.start()]


def is_on_record(criterion: Criterion) -> bool:
    """Whether a criterion speaks of doings that leave no trace but in the record: a command run, a file read."""
    text = own_words(criterion)
    if _OF_RECORD.search(text) or any(_acts(text, match) for match in _RUN_BY_AGENT.finditer(text)):
        return True
    return any(not _SUBORDINATE.search(_before(text, match)) for match in _WAS_RUN.finditer(text))


_OUTCOME = re.compile(
    r"\b(?:pass(?:es)?|(?<!agent )passed|succeed(?:s|ed)?|success(?:ful|fully)?|fail(?:s|ed)?|received?|printed|returned"
    r"|answered|exit(?:s|ed)?)\b",
    re.I,
)


def asks_outcome(criterion: Criterion) -> bool:
    """Whether a criterion about the agent's doings also says what came of them, which a call alone does not show."""
    return _OUTCOME.search(own_words(criterion)) is not None


def names_final_message(criterion: Criterion) -> bool:
    """Whether a criterion speaks of the agent's last message, and not of any."""
    return _FINAL.search(own_words(criterion)) is not None
