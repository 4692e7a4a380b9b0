"""Whether citations that hold can prove a criterion, and what is missing if they cannot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adjudge.evidence.asked import asked_exit_status
from adjudge.evidence.denial import denies
from adjudge.evidence.exhibits import Holding
from adjudge.evidence.wording import about, asks_outcome, is_on_record, names_final_message
from adjudge.rubric import Criterion


def suffices(criterion: Criterion, holdings: Sequence[Holding]) -> str | None:
    """`None` if these holdings can prove the criterion, else what is missing, in words for the evaluator."""
    holding = [each for each in holdings if each.standing]
    if not holding:
        return "no citation holds"
    match about(criterion):
        case "result":
            return _result(criterion, holding)
        case "process":
            return _process(criterion, holding)
        case "answer":
            return _answer(criterion, holding)
        case "account":
            return _account(criterion, holding)


def _result(criterion: Criterion, holdings: Sequence[Holding]) -> str | None:
    observed = [each for each in holdings if each.standing == "observed"]
    absent = denies(criterion) and any(each.standing == "absence" and each.place != "record" for each in holdings)
    if not observed and not absent:
        return _needs("a result", "a tool's result, a file or a command's output", holdings)
    return _exit_status(criterion, holdings)


def _exit_status(criterion: Criterion, holdings: Sequence[Holding]) -> str | None:
    """What is missing if a criterion, whatever it is about, asks for an exit status that nothing cited ended with."""
    asked = asked_exit_status(criterion)
    observed = [each for each in holdings if each.standing == "observed"]
    if asked is None or any(_ended_so(each, asked) for each in observed):
        return None
    known = {f"{each.source} with {each.exit_status}" for each in observed if each.exit_status is not None}
    cited = f"cited ended: {', '.join(sorted(known))}" if known else "of what is cited, no exit status is known"
    return f"it asks for exit status {asked}, and {cited}; cite `exit status: …` of the command that it names"


def _ended_so(holding: Holding, asked: str) -> bool:
    if holding.exit_status is None:
        return False
    if asked == "non-zero" or asked.startswith("other than "):
        return str(holding.exit_status) not in asked.replace("non-zero", "0").removeprefix("other than ").split(" or ")
    return any(
        _ended_so(holding, each) if each == "non-zero" else holding.exit_status == int(each) for each in asked.split(" or ")
    )


def _process(criterion: Criterion, holdings: Sequence[Holding]) -> str | None:
    on_record, denied = is_on_record(criterion), denies(criterion)
    counted = [each for each in holdings if not on_record or each.place == "record"]
    standings = {each.standing for each in counted}
    if "observed" in standings or ("absence" in standings and denied):
        return _exit_status(criterion, counted)
    if "done" in standings:
        if asks_outcome(criterion) and not denied:
            return _needs("what came of the agent's doing", "the result of its call", holdings)
        return _exit_status(criterion, counted)
    if on_record and any(each.place != "record" for each in holdings):
        return (
            "it is about what the agent did and needs a call or a result of the record; "
            "what you ran or read yourself is not its doing"
        )
    return _needs("what the agent did", "its call or the result in the record", holdings)


def _answer(criterion: Criterion, holdings: Sequence[Holding]) -> str | None:
    final = names_final_message(criterion)
    if any(_is_said(each, final) for each in holdings):
        return None
    if denies(criterion) and any(each.standing == "absence" and each.place == "record" for each in holdings):
        return None
    if not final and any(each.standing == "observed" and each.place != "record" for each in holdings):
        return None  # a report that is a file
    return _needs("what the agent said", "a quote of its final message" if final else "a quote of its message", holdings)


def _account(criterion: Criterion, holdings: Sequence[Holding]) -> str | None:
    said = any(_is_said(each, names_final_message(criterion)) for each in holdings)
    seen = any(each.standing == "observed" or (each.standing == "absence" and denies(criterion)) for each in holdings)
    if said and seen:
        return _exit_status(criterion, holdings)
    missing = "the agent's message" if seen else "what was observed" if said else "both"
    return (
        "it compares words with facts: it needs a quote of the agent's message and one of what was observed; "
        f"missing is {missing}"
    )


def _is_said(holding: Holding, final: bool) -> bool:
    return holding.standing in ("said", "done") and (holding.final or not final)


_NAMES = {
    "said": "the agent's own words",
    "done": "a call without its result",
    "given": "the task or a harness's note",
    "absence": "a search that found nothing",
    "observed": "an observation",
}


def _needs(subject: str, wanted: str, holdings: Iterable[Holding]) -> str:
    names = sorted({_NAMES[each.standing] for each in holdings if each.standing})
    return f"it is about {subject} and needs {wanted}; cited is only {' and '.join(names)}"
