"""A pass answers whoever started it what it is judging, over a socket that was handed down."""

from __future__ import annotations

import socket
from contextlib import suppress
from itertools import islice
from threading import Thread

import msgspec

from adjudge.errors import InputError
from adjudge.exports.telling import told
from adjudge.passes.under_way import Answer, Judged, Question, RunUnderWay, UnderWay

MOST_RUNS, MOST_STEPS = 50, 50
"""Runs under way that are named in one answer, and steps of the one that is followed; the next question brings more."""


def answer_at(descriptor: int | None, under_way: UnderWay) -> None:
    """Answer whoever asks over the socket that is open under this number, if one is given, until it is closed there.

    Raises:
        InputError: no socket is open under it.
    """
    if descriptor is None:
        return
    try:
        asking = socket.socket(fileno=descriptor)
    except (OSError, ValueError, OverflowError) as error:
        raise InputError(f"--watched-at {descriptor}: no socket is open under this number") from error
    asking.set_inheritable(False)
    Thread(target=_answer, args=(asking, under_way), daemon=True).start()


def _answer(asking: socket.socket, under_way: UnderWay) -> None:
    with suppress(OSError), asking, asking.makefile("rwb") as lines:
        for line in lines:
            lines.write(msgspec.json.encode(_told(msgspec.json.decode(line, type=Question), under_way)) + b"\n")
            lines.flush()


def _told(question: Question, under_way: UnderWay) -> Answer:
    if question.run is None:
        runs = under_way.all()
        return Answer(question.number, tuple(map(_line, runs[:MOST_RUNS])), max(0, len(runs) - MOST_RUNS))
    said = under_way.follow(question.run, question.after)
    return Answer(question.number, steps=None if said is None else tuple(map(told, islice(said, MOST_STEPS))))


def _line(judged: Judged) -> RunUnderWay:
    """Where one run stands: the last look that was made, else what was said last."""
    looks = (each for each in reversed(judged.said) if getattr(each, "look", None))
    last = next(looks, judged.said[-1] if judged.said else None)
    return RunUnderWay(judged.run, judged.since, told(last)[0] if last else "Its judge is being prepared.")
