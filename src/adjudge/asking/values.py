"""An asking: a question over a store, the looks that were made for it, and the statements that stand on them."""

from __future__ import annotations

from typing import Literal

import msgspec

from adjudge.judgment import Call, Failure, Steering, Step

Kind = Literal["look", "run", "entry", "judgment"]
"""What can be cited."""

Argument = str | int | float | bool | None | tuple[str, ...]


class Look(msgspec.Struct, frozen=True, omit_defaults=True):
    """One use of a tool by the model, with all that it was shown.

    `facts` are statements of adjudge's own. `text` is what was found, as it may be seen and with credentials masked: of a
    look into records the words of others, else lines of adjudge's own in which the words of others stand in “…”. `shows`
    are the runs, entries and judgments that may be cited from then on, each with what was shown of it in a line; an entry
    is quoted from its record. `found` counts what was looked for, `None` where that is not known.
    """

    id: str
    tool: str
    place: Literal["store", "record"]
    arguments: dict[str, Argument]
    facts: tuple[str, ...]
    text: str = ""
    shows: dict[str, str] = {}
    found: int | None = None
    failed: bool = False
    seconds: float = 0.0


class Cited(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a statement points at: a look (`L3`), a run (`r-…`), an entry (`r-…/e12`), a judgment (`j-…`, `j-…/c1`)."""

    exhibit: str
    quote: str = ""


class Holding(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of checking one citation: it holds, or `fault` says why it does not.

    `kind` is what was cited, `what` says more of it (`message of agent`, `fail`), and `shown` is the line about a run, a
    judgment or a verdict that was cited without a quote. `sign` names an attempt to steer that stands in the quote.
    """

    citation: Cited
    kind: Kind | None = None
    fault: str | None = None
    what: str = ""
    shown: str = ""
    sign: str | None = None


class Statement(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that the model says, with its citations. It is part of the answer if nothing is wrong with it (`fault`)."""

    text: str
    holdings: tuple[Holding, ...] = ()
    fault: str | None = None


class Untold(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that the store does not tell, as the end of such a sentence, and the looks in which it was looked for."""

    text: str
    looks: tuple[str, ...] = ()
    fault: str | None = None


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far an asking has come: the question's number, looks used of those it may use, and its latest look.

    `cost` is what its calls to the model have cost so far, in US dollars, `None` if some call has no known price.
    """

    step: int
    used: int
    most: int
    look: Look | None = None
    cost: float | None = 0.0


class Asking(msgspec.Struct, frozen=True, omit_defaults=True):
    """One question over a store and what came of it.

    `answered` says that there are `statements` or things `untold`, all of which stand on what was looked up; `unanswered`
    that the model answered and nothing of it stands; `errored` that there is no answer, and `reason` why. `unsupported`
    are statements (and what was said to be untold) that do not stand, each with its fault; they are no part of the answer.
    `prompt` is a hash over every word and tool, `cost` in US dollars, `None` if some call has no known price. `masked`
    counts the credentials that were kept from the model.
    """

    id: str
    question: str
    status: Literal["answered", "unanswered", "errored"]
    model: str | None
    prompt: str
    version: str
    started: str
    seconds: float
    statements: tuple[Statement, ...] = ()
    untold: tuple[Untold, ...] = ()
    unsupported: tuple[Statement | Untold, ...] = ()
    reason: str | None = None
    failure: Failure | None = None
    decided: Literal["freely", "forced"] | None = None
    steering: tuple[Steering, ...] = ()
    looks: tuple[Look, ...] = ()
    steps: tuple[Step, ...] = ()
    calls: tuple[Call, ...] = ()
    cost: float | None = None
    masked: int = 0
