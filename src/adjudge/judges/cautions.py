"""What a reader of a judgment should be warned of, though it decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from adjudge import untrusted
from adjudge.run import Run

SameModel = Callable[[str, str], bool]

SAME = "The judge is the model that is judged ({model}); models are kinder to their own work."
NO_LANDLOCK = "Commands were not kept apart by Landlock: a process left by the agent could have written into their output."
HOOKS = "The workspace holds files that change what commands do: {hooks}."


def same_name(judge: str, judged: str) -> bool:
    """Whether two models have the same name, whoever provides them."""
    return _bare(judge) == _bare(judged)


def _bare(model: str) -> str:
    return model.casefold().rpartition("/")[2]


def cautions(run: Run, model: str | None, facts: Mapping[str, str | int | bool | None], same: SameModel) -> Iterator[str]:
    """The warnings of one judgment. `facts` are the machine's: `landlock` is its ABI, `hooks` what was found."""
    judged = {run.model, *(turn.model for turn in run.record.turns)}
    for name in sorted(filter(None, judged)):
        if model and same(model, name):
            yield SAME.format(model=untrusted.one_line(name, 100))
    if "landlock" in facts and not facts["landlock"]:
        yield NO_LANDLOCK
    if facts.get("hooks"):
        yield HOOKS.format(hooks=untrusted.one_line(str(facts["hooks"]), 300))
