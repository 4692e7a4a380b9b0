"""A judgment: one judge's answer on one run with one rubric, and what it is made of."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

from adjudge.evidence import Citation, Holding, Look
from adjudge.record import Usage
from adjudge.settings import PruneMode

Cause = Literal["agent", "environment", "unproven", "skipped", "evidence"]
Status = Literal["judged", "errored"]
Rung = Literal["schema", "again", "transcribed", "prose"]
HookKind = Literal["conftest", "settings", "start", "module", "program", "git", "script"]
Failure = Literal["judge_parse_failed", "timeout", "budget", "context", "filtered", "refused", "busy", "broken", "differs"]

UNRELATED: tuple[Failure, ...] = ("refused", "busy", "broken", "budget")
"""Failures that say nothing of the run: the provider or the money failed. A pass that is resumed judges it again."""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model answered for one criterion, before any check."""

    criterion: str
    passed: bool
    note: str
    citations: tuple[Citation, ...] = ()
    cause: Literal["agent", "environment", "unproven"] | None = None


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """Pass or fail for one criterion, with the citations that were checked.

    `cause` says why it failed. `fault` is what the gate found wrong, and `answer` the model's own answer where the gate
    changed it. `probe` is true if a probe decided, without a model.
    """

    criterion: str
    passed: bool
    note: str
    holdings: tuple[Holding, ...] = ()
    cause: Cause | None = None
    fault: str | None = None
    answer: Answer | None = None
    probe: bool = False


class CauseAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A cause of waste as a model named it: its share of all tokens and calls (0 to 1) and what would prevent it."""

    cause: str
    share: float | None
    recommendation: str
    citations: tuple[Citation, ...] = ()


class DimensionAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model answered for one dimension, before any check. `value` is `None` where it established nothing."""

    dimension: str
    value: float | None
    reasoning: str
    citations: tuple[Citation, ...] = ()
    share: float | None = None
    causes: tuple[CauseAnswer, ...] = ()


class CauseFound(msgspec.Struct, frozen=True, omit_defaults=True):
    """A cause with its checked citations.

    It has no share if none of them holds (`evidence_missing`), or if the model gave no share or nothing that would prevent
    it (`incomplete`).
    """

    cause: str
    share: float | None
    recommendation: str
    holdings: tuple[Holding, ...] = ()
    fault: Literal["evidence_missing", "incomplete"] | None = None


class Score(msgspec.Struct, frozen=True, omit_defaults=True):
    """The value of one dimension, with the citations that were checked.

    `value` is `None` if the model established none or a `fault` took it away; `answer` is then the model's own. `worse`
    says that the agent did worse than the blameless: by its value, or by a share of waste.
    """

    dimension: str
    value: float | None
    reasoning: str
    holdings: tuple[Holding, ...] = ()
    share: float | None = None
    causes: tuple[CauseFound, ...] = ()
    fault: Literal["evidence_missing", "missing_reasoning", "unanswered"] | None = None
    answer: DimensionAnswer | None = None
    worse: bool = False


class Omitted(msgspec.Struct, frozen=True, omit_defaults=True):
    """How many pieces of one kind were left out of the reader's input, and how many characters of them."""

    pieces: int = 0
    characters: int = 0


class Prepared(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was done to the reader's input, in numbers.

    `asked` is the prune mode that was asked for, `mode` the one that was used. `characters` is the size of the whole
    request, `tokens` what that was estimated to be; `sha256` is over the request's texts, so that the same run prepared
    again can be compared. `record` is the size of all entries' texts.
    """

    asked: PruneMode
    mode: Literal["full", "pruned"]
    sha256: str
    record: int
    characters: int
    tokens: int
    input_truncated: Omitted = Omitted()
    tool_output_pruned: Omitted = Omitted()
    events_elided: Omitted = Omitted()
    boilerplate: Omitted = Omitted()


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call to a model, for the ledger. `cost` is in US dollars, `None` where no price is known.

    `plain` says that a JSON schema was asked for and told in words, since the endpoint does not know any. `busy` counts the
    attempts that the provider refused as it had too much to do.
    """

    model: str
    usage: Usage
    seconds: float
    attempts: int = 1
    error: str | None = None
    estimated: bool = False
    plain: bool = False
    busy: int = 0


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """One exchange of the evaluator's transcript: what adjudge said, what the model answered, which looks came of it.

    `told` is the text that was added before the call (the task, looks in their envelopes, the gate's faults), `refused`
    what was wrong with calls that brought no look.
    """

    told: str
    said: str | None
    reasoning: str | None = None
    calls: tuple[str, ...] = ()
    looks: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    stop: str | None = None


class Steering(msgspec.Struct, frozen=True, omit_defaults=True):
    """An attempt in what was judged to speak to the judge, found by code (`sign`) or told by the model."""

    exhibit: str
    sign: str
    excerpt: str
    by: Literal["code", "model"] = "code"


class Tampering(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of the workspace that can change what later commands do, and the looks that it could have shaped.

    `by` says who it is from: the agent made or changed it, or the task gave it as it is; `None` where the workspace's
    original is not known.
    """

    path: str
    kind: HookKind
    by: Literal["agent", "task"] | None = None
    looks: tuple[str, ...] = ()


class Judge(msgspec.Struct, frozen=True):
    """A judge's identity: the model, a hash over every prompt and tool, the limits, and adjudge's version."""

    kind: Literal["evaluator", "reader", "process"]
    model: str | None
    prompt: str
    limits: dict[str, float | int | bool | str]
    version: str

    @property
    def hash(self) -> str:
        """A SHA-256 over all of it: the same only for the same judge."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()


class Judgment(msgspec.Struct, frozen=True, omit_defaults=True):
    """One judge's answer on one run with one rubric; a row that is never changed afterwards.

    `score` is criteria passed over criteria judged, `None` without a rubric or when `status` is `errored`, in which case
    `reason` says why in one sentence. `decided` says how the answer came about; for a reader that is the rung of its
    cascade that answered. `masked` counts the secrets that were kept from the model. A reader's judgment has `scores` in
    place of verdicts, and `prepared`. `failure` sorts the reasons why there is no answer.
    """

    id: str
    run: str
    rubric: str | None
    rubric_hash: str | None
    judge: Judge
    status: Status
    started: str
    seconds: float
    verdicts: tuple[Verdict, ...] = ()
    score: float | None = None
    summary: str = ""
    steering: tuple[Steering, ...] = ()
    reason: str | None = None
    decided: Literal["freely", "forced", "probes", "process"] | Rung | None = None
    looks: tuple[Look, ...] = ()
    steps: tuple[Step, ...] = ()
    calls: tuple[Call, ...] = ()
    machine: dict[str, str | int | bool | None] = {}
    masked: int = 0
    warnings: tuple[str, ...] = ()
    scores: tuple[Score, ...] = ()
    prepared: Prepared | None = None
    failure: Failure | None = None
    tampering: tuple[Tampering, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether a reader answered, and not one of its dimensions has a value."""
        return bool(self.scores) and all(score.value is None for score in self.scores)

    @property
    def worse(self) -> int:
        """How many dimensions a reader found worse than blameless."""
        return sum(score.worse for score in self.scores)

    @property
    def missing_reasoning(self) -> bool:
        """Whether some dimension was answered without reasoning."""
        return any(score.fault == "missing_reasoning" for score in self.scores)

    def usage(self) -> Usage:
        """What all calls to models consumed together."""
        return sum((call.usage for call in self.calls), Usage())
