"""The reader's one question: a rubric and a prepared run as a request, and what was done to make it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from adjudge.judges.reader import prompt
from adjudge.judges.reader.answers import answer_schema
from adjudge.judges.reader.input import ReaderInput
from adjudge.judges.reader.prepare import Material, prepare
from adjudge.judges.reader.tokens import Calibration, estimate
from adjudge.judges.reader.walk import held
from adjudge.judgment import Prepared, PruneMode, Steering
from adjudge.ports import Message, Request
from adjudge.profile import profile, words
from adjudge.record import Record
from adjudge.rubric import Rubric
from adjudge.untrusted import shown

ROOM = 16_384
"""Tokens that an answer may have: reasoning counts, where a model thinks before it writes."""

SPARE = 0.95
"""The part of a model's window that is planned for; estimates are wrong now and then."""

CAUTIOUS = 3.0
"""Characters that are planned for a token. What is learned of a model must not change what it is shown: the same run is to
be the same request tomorrow."""

CHILDREN = 5
"""Sub-agents whose calls are looked at for the hints."""

SHORTEST = 4_000
"""Characters that the trajectory has at least, however small the window."""


class Bounds(msgspec.Struct, frozen=True):
    """What a question must fit into: the model's window in tokens (`None` if unknown), and how tokens are estimated."""

    window: int | None
    calibration: Calibration
    mask: bool = True


class Question(msgspec.Struct, frozen=True):
    """A request, what was done to its input, and what the material tells beside: its token, and the signs of steering.

    `masked` is how many credentials were.
    """

    request: Request
    prepared: Prepared
    masked: int
    token: str
    signs: tuple[Steering, ...]

    def in_prose(self) -> Request:
        """The same question without JSON mode: the schema in words, after everything else."""
        (message,) = self.request.messages
        text = f"{message.text}\n\n{prompt.PROSE.format(schema=json.dumps(self.request.schema))}"
        return msgspec.structs.replace(self.request, messages=(Message("user", text),), schema=None)

    def transcribing(self, reasoning: str, rubric: Rubric) -> Request:
        """The question whether this reasoning can be written down as the answer; it holds nothing of the run."""
        scales = "\n".join(f"- {each.id}: {prompt.scale_words(each)}" for each in rubric.dimensions)
        text = prompt.TRANSCRIBE.format(
            token=self.token,
            reasoning=shown(reasoning).replace(self.token, ""),
            dimensions=scales,
            schema=json.dumps(self.request.schema),
        )
        return Request(
            prompt.TRANSCRIBE_SYSTEM, (Message("user", text),), schema=self.request.schema, most=self.request.most
        )


def question(
    rubric: Rubric, seen: ReaderInput, asked: PruneMode, bounds: Bounds, characters: int | None = None
) -> Question:
    """The question about a run. The same run, mode and bounds give the same bytes.

    `characters` bounds the trajectory, if the window is known to be smaller than it was thought to be.
    """
    schema = answer_schema(rubric)
    seen = msgspec.structs.replace(seen, record=held(seen.record))
    hints = _hints(rubric, seen.record)
    frame = len(prompt.SYSTEM) + len(_schema_text(rubric)) + len(prompt.dimension_lines(rubric)) + len(hints)
    room = _room(seen, bounds, frame) if characters is None else max(characters, SHORTEST)
    material = prepare(seen, asked, room, bounds.mask, hints)
    before = "\n\n".join(part for part in _before(rubric, seen, material) if part)
    pieces = (f"{before}\n\n", *material.shown, f"\n\n{prompt.closing(rubric)}")
    message = Message("user", "".join(pieces), pieces=pieces)
    request = Request(prompt.SYSTEM, (message,), schema=schema, most=_most(bounds.window))
    told = (request.system, "\0", *pieces, "\0", _schema_text(rubric))
    prepared = _prepared(told, asked, material, bounds.calibration)
    return Question(request, prepared, material.masked, material.token, material.signs)


@lru_cache(maxsize=16)
def _schema_text(rubric: Rubric) -> str:
    return json.dumps(answer_schema(rubric))


def _most(window: int | None) -> int:
    return ROOM if window is None else min(ROOM, max(1, window // 4))


def _room(seen: ReaderInput, bounds: Bounds, frame: int) -> int | None:
    """Characters that the trajectory may have, `None` if the window is unknown."""
    if bounds.window is None:
        return None
    tokens = bounds.window * SPARE - _most(bounds.window)
    beside = frame + sum(len(text or "") for text in (seen.task, seen.context, seen.patch))
    return max(SHORTEST, int(tokens * CAUTIOUS) - beside)


def _hints(rubric: Rubric, record: Record) -> str:
    """The efficiency profile in words, if a dimension asks for causes of waste."""
    if not any(dimension.causes for dimension in rubric.dimensions):
        return ""
    return words(profile(record, CHILDREN))


def _before(rubric: Rubric, seen: ReaderInput, material: Material) -> Iterator[str]:
    """The message up to the trajectory, what all runs share first, so that a provider's cache serves them all."""
    yield prompt.DIMENSIONS.format(name=rubric.name, version=rubric.version, hash=rubric.hash)
    yield prompt.dimension_lines(rubric)
    yield prompt.MARKERS.format(token=material.token)
    yield f"{prompt.TASK}\n{material.task}" if material.task else prompt.NO_TASK
    for heading, text in (
        (prompt.CONTEXT, material.context),
        (prompt.HIDDEN_TESTS, material.hidden_tests),
        (prompt.PATCH, material.patch),
    ):
        yield f"{heading}\n{text}" if text else ""
    yield f"{prompt.AGENT}\n{material.agent}" if material.agent else ""
    status = seen.exit_status
    yield prompt.NO_EXIT_STATUS if status is None else prompt.EXIT_STATUS.format(status=status)
    yield f"{prompt.HINTS}\n{material.hints}" if material.hints else ""
    yield "\n".join(_of_trajectory(seen.record, material))


def _of_trajectory(record: Record, material: Material) -> Iterator[str]:
    yield prompt.TRAJECTORY
    if record.children:
        yield prompt.CHILDREN.format(children=len(record.children))
    if material.mode == "pruned" and (material.tool_output_pruned.pieces or material.events_elided.pieces):
        yield prompt.PRUNED


def _prepared(told: Sequence[str], asked: PruneMode, material: Material, calibration: Calibration) -> Prepared:
    """What was done to make a request; `told` is all of it, in pieces, with a NUL between its three texts."""
    data = b"".join([piece.encode("utf-8", "surrogatepass") for piece in told])
    characters = sum(map(len, told)) - 2
    return Prepared(
        asked=asked,
        mode=material.mode,
        sha256=hashlib.sha256(data).hexdigest(),
        record=material.record,
        characters=characters,
        tokens=estimate(characters, calibration),
        input_truncated=material.input_truncated,
        tool_output_pruned=material.tool_output_pruned,
        events_elided=material.events_elided,
        boilerplate=material.boilerplate,
    )
