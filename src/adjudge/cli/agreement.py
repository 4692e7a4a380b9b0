"""The tables of `adjudge review agreement`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from adjudge.cli.printing import print_table, results, say
from adjudge.statistics import MEANINGFUL

if TYPE_CHECKING:
    from adjudge.reviews.agreement import Agreement, Endorsement
    from adjudge.reviews.figures import Figures, Report
    from adjudge.reviews.kappa import Kappa
    from adjudge.statistics import Interval

NOT_YET = "not yet meaningful"
NAMES = {"rubric_hash": "of rubric", "judge_hash": "identity"}
SHORT = 12
"""Characters of a hash that are printed."""


def print_report(report: Report) -> None:
    """Print a table of each kind of figure of which there is any, then what they mean."""
    rows = [report.whole, *report.groups] if len(report.groups) != 1 else list(report.groups)
    whole = report.whole
    if whole.endorsement.reviews:
        _print_endorsements([each for each in rows if each.endorsement.reviews])
    if _has(whole.blind):
        _print_blind([each for each in rows if _has(each.blind)])
    if _has(whole.repeated):
        _print_repeated([each for each in rows if _has(each.repeated)])
    if not (whole.endorsement.reviews or _has(whole.blind) or _has(whole.repeated)):
        say("Nothing of what was asked for is reviewed, and no run was judged again; `adjudge review` reviews.")
        return
    results().print(
        f"Intervals are of 95 %. Under {MEANINGFUL} items a figure is {NOT_YET}. κ is Cohen's, of values on a scale "
        "weighted linearly; over several items what counts is pass or fail, worse than blameless or not."
    )


def _has(agreement: Agreement) -> bool:
    return bool(agreement.pairs or agreement.without_value)


def _print_endorsements(rows: Sequence[Figures]) -> None:
    results().print("Endorsement: the reviewer had seen what the judge said")
    headings = (*_names(rows), "items", "reviews", "approved", "rate", "interval", "")
    _print(headings, [(*_key(each, rows), *_of_endorsement(each.endorsement)) for each in rows])


def _of_endorsement(found: Endorsement) -> Iterator[str]:
    yield from map(str, (found.items, found.reviews, found.approved))
    yield from _share(found.rate)
    yield "" if found.meaningful else NOT_YET


def _print_blind(rows: Sequence[Figures]) -> None:
    results().print("Blind agreement: the reviewer answered first")
    _print_pairs(rows, [each.blind for each in rows])
    results().print("False pass: the judge passed what reviewers failed; false fail: the other way round")
    headings = (*_names(rows), "items", "false pass", "interval", "false fail", "interval", "")
    _print(headings, [(*_key(each, rows), *_of_wrong(each.blind)) for each in rows])


def _of_wrong(found: Agreement) -> Iterator[str]:
    yield str(found.items)
    yield from _share(found.false_pass)
    yield from _share(found.false_fail)
    yield _remark(found)


def _print_repeated(rows: Sequence[Figures]) -> None:
    results().print("Repeatability: the same judge judged the same run again")
    _print_pairs(rows, [each.repeated for each in rows])


def _print_pairs(rows: Sequence[Figures], agreements: Sequence[Agreement]) -> None:
    headings = (*_names(rows), "items", "pairs", "agree", "interval", "κ", "interval", "")
    cells = [(*_key(each, rows), *_of_pairs(found), _remark(found)) for each, found in zip(rows, agreements, strict=True)]
    _print(headings, cells)


def _of_pairs(found: Agreement) -> Iterator[str]:
    yield from map(str, (found.items, found.pairs))
    yield from _share(found.raw)
    yield from _kappa(found.kappa)


def _print(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    first = headings.index("items")
    print_table(headings, rows, right=tuple(range(first, len(headings) - 1)))
    results().print()


# --- cells


def _names(rows: Sequence[Figures]) -> list[str]:
    return [NAMES.get(name, name) for name in _columns(rows)] or ["of"]


def _key(figures: Figures, rows: Sequence[Figures]) -> list[str]:
    if figures.key:
        return [figures.key[name][:SHORT] if name in NAMES else figures.key[name] for name in _columns(rows)]
    return ["all", *[""] * (len(_names(rows)) - 1)]


def _columns(rows: Sequence[Figures]) -> list[str]:
    """The keys that are printed: a rubric's hash only where its name does not tell it from another."""
    keys = next((list(each.key) for each in rows if each.key), [])
    rubrics = {(each.key["rubric"], each.key["rubric_hash"]) for each in rows if "rubric" in each.key}
    told = len({name for name, _ in rubrics}) == len(rubrics)
    return [name for name in keys if not (told and name == "rubric_hash")]


def _share(found: Interval | None) -> tuple[str, str]:
    return ("", "") if found is None else (f"{found.share:.2f}", f"{found.low:.2f} to {found.high:.2f}")


def _kappa(found: Kappa | None) -> tuple[str, str]:
    if found is None:
        return ("", "")
    return (f"{found.value:.2f}", "" if found.low is None else f"{found.low:.2f} to {found.high:.2f}")


def _remark(found: Agreement) -> str:
    without = f"{found.without_value} more without a value of the judge's" if found.without_value else ""
    return "; ".join(filter(None, ["" if found.meaningful else NOT_YET, without]))
