"""What looks are made from, and how what a model names is found there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from adjudge.errors import InputError
from adjudge.judges.evaluator.patterns import as_stated
from adjudge.store.found import RunFilter
from adjudge.store.judged import rubrics_of
from adjudge.store.store import Store

SECONDS = 20.0
"""How long one look may walk through runs or judgments."""

SHORTEST = 4
"""Characters of a rubric's hash by which it may be named."""


@dataclass(frozen=True)
class Source:
    """The store that is asked, whether credentials are masked, and whether whoever asked has gone."""

    store: Store
    mask: bool
    gone: Callable[[], bool]

    def patience(self) -> Callable[[], bool]:
        """A function that says whether a look that begins now must end."""
        end = time.monotonic() + SECONDS
        return lambda: self.gone() or time.monotonic() > end

    def rubric(self, name: str) -> str:
        """The hash of the rubric with this name, or whose hash begins so. Raises InputError if it is not one."""
        known = rubrics_of(self.store)
        found = [hash for hash, given in known if given == name or (len(name) >= SHORTEST and hash.startswith(name))]
        if len(found) == 1:
            return found[0]
        which = "no rubric is" if not found else f"{len(found)} rubrics are"
        raise InputError(f"{which} called {as_stated(name)}; list_rubrics names them, a hash tells those of one name apart")


def asked_for(wanted: RunFilter) -> str:
    """The filter as it was asked for, as a fact."""
    named = (("agent", wanted.agent), ("model", wanted.model), ("task", wanted.task), ("outcome", wanted.outcome))
    given = ", ".join(f"{name} {as_stated(words)}" for name, words in named if words is not None)
    return f"only runs with {given}" if given else ""
