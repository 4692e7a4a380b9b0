"""How far a judge can be trusted, in words beside what it qualifies: the same on a terminal and on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.statistics import MEANINGFUL
from adjudge.untrusted import one_line

if TYPE_CHECKING:
    from adjudge.reviews.agreement import Agreement, Endorsement
    from adjudge.reviews.figures import Figures, Trust
    from adjudge.reviews.kappa import Kappa
    from adjudge.statistics import Interval

NOT_YET = "not yet meaningful"
NOTE = (
    "agree: reviewers who answered before they saw it, and this judge, over all runs it judged with this rubric, "
    "or those of one agent where that is named"
)
ENDORSED = "endorsed: reviewers had seen the verdict, so that is no agreement"


def agreed(found: Agreement) -> str:
    """How often two said the same: `agree 15/16`; nothing if nobody answered blind."""
    same = sum(row[place] for place, row in enumerate(found.counts))
    return f"agree {same}/{found.pairs}" if found.pairs else ""


def endorsed(found: Endorsement) -> str:
    """How many reviews approve: `endorsed 3/4`; nothing if there is none."""
    return f"endorsed {found.approved}/{found.reviews}" if found.reviews else ""


def beside(found: Figures | None) -> str:
    """Both, and kappa once it is meaningful: `agree 20/21, κ 0.90 (0.72 to 1.00), endorsed 3/4`."""
    if found is None:
        return ""
    return ", ".join(filter(None, (agreed(found.blind), _meaningful(found.blind), endorsed(found.endorsement))))


def beside_of(trust: Trust, item: str, harness: str) -> str:
    """What stands beside a verdict or score of a run: the figures of its harness once they are meaningful, else of all."""
    apart = trust.items_of.get(harness, {}).get(item)
    if apart is not None and apart.blind.meaningful:
        return f"{beside(apart)}, with {one_line(harness, 60)}"
    return beside(trust.items.get(item))


def _meaningful(found: Agreement) -> str:
    if not found.meaningful or found.kappa is None:
        return ""
    value, _, interval = kappa_words(found.kappa).partition(", ")
    return f"κ {value} ({interval})" if interval else f"κ {value}"


def kappa_words(found: Kappa | None) -> str:
    """`0.74, 0.58 to 0.87`; without the bounds where nothing tells of a spread."""
    if found is None:
        return ""
    return f"{found.value:.2f}" + ("" if found.low is None else f", {found.low:.2f} to {found.high:.2f}")


def interval_words(found: Interval | None) -> str:
    """`0.88, 0.77 to 0.94`."""
    return "" if found is None else f"{found.share:.2f}, {found.low:.2f} to {found.high:.2f}"


def note_of(trust: Trust) -> str:
    """What figures beside verdicts or scores mean, said once under all of them; nothing if there are none."""
    blind = [each for each in trust.items.values() if each.blind.pairs]
    seen = any(each.endorsement.reviews for each in trust.items.values())
    told = [_blind_note(len(blind), sum(not each.blind.meaningful for each in blind))] if blind else []
    return "; ".join([*told, *([ENDORSED] if seen else [])])


def _blind_note(all_of_them: int, few: int) -> str:
    if not few:
        return NOTE
    which = "each" if few == all_of_them else f"in {few} of {all_of_them}"
    return f"{NOTE}; under {MEANINGFUL} items {which}, so {NOT_YET}"
