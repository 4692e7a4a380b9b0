"""What a reader of a judgment should be warned of, though it decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice

from adjudge import untrusted
from adjudge.judgment import Tampering, owned, suspected
from adjudge.run import Run

SameModel = Callable[[str, str], bool]

SAME = "The judge's model goes by the name of the model that is judged ({model}); models are kinder to their own work."
NO_LANDLOCK = "Commands were not kept apart by Landlock: a process left by the agent could have written into their output."
NOT_APART = (
    "Commands were not kept apart from each other on this machine: a process that was left running could have written into "
    "the output of a later one."
)
NO_QUOTA = "What commands write to this machine's disk is not limited in all."
CUT = "The workspace could not be copied whole; its files were not looked at from outside."
PROGRAMS = (
    "Programs outside of the workspace differ from the image's, so that what they print may be the agent's: {programs}."
)
SHAPED = "What commands printed could have been shaped by files of the workspace: {shaped}."
NOT_ALL = "Not all files of the workspace that can shape what commands print are known: there are too many files."
NAMED = 5
"""Files that a warning names."""


def same_name(judge: str, judged: str) -> bool:
    """Whether two models have the same name, whoever provides them."""
    return _bare(judge) == _bare(judged)


def _bare(model: str) -> str:
    return model.casefold().rpartition("/")[2]


def cautions(
    run: Run,
    model: str | None,
    facts: Mapping[str, str | int | bool | None],
    same: SameModel,
    tampering: Sequence[Tampering] = (),
) -> Iterator[str]:
    """The warnings of one judgment.

    `facts` are the machine's: `landlock` is its ABI, `commands apart` is false where nothing does its work.
    """
    judged = {run.model, *(turn.model for turn in run.record.turns)}
    for name in sorted(filter(None, judged)):
        if model and same(model, name):
            yield SAME.format(model=untrusted.one_line(name, 100))
    if "landlock" in facts and not facts["landlock"]:
        yield NO_LANDLOCK
    elif facts.get("commands apart") is False:
        yield NOT_APART
    if facts.get("disk limit") is False:
        yield NO_QUOTA
    if facts.get("files cut"):
        yield CUT
    if programs := facts.get("programs changed"):
        yield PROGRAMS.format(programs=untrusted.one_line(str(programs), 300))
    if acting := suspected(tampering):
        yield SHAPED.format(shaped=_with_looks(acting))
    if facts.get("hooks complete") is False:
        yield NOT_ALL


def _with_looks(acting: Sequence[Tampering]) -> str:
    looks: dict[str, list[str]] = {}
    for each in acting:
        looks.setdefault(owned(each), []).extend(each.looks)
    named = [f"{name} {_brief(dict.fromkeys(ids))}" for name, ids in islice(looks.items(), NAMED)]
    more = [f"{len(looks) - NAMED} more"] if len(looks) > NAMED else []
    return "; ".join([*named, *more])


def _brief(looks: Collection[str]) -> str:
    rest = f" and {len(looks) - NAMED} more" if len(looks) > NAMED else ""
    return ", ".join(islice(looks, NAMED)) + rest
