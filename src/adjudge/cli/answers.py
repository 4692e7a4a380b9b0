"""An answer as a person reads it on a terminal: what stands with what it rests on, and apart from it what does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.cli.printing import counted, hanging, results, say
from adjudge.record import dollars
from adjudge.untrusted import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from adjudge.asking.values import Argument, Asking, Holding, Look, Statement, Untold

WIDE = 400
"""Characters of a quote that are shown."""


def print_asking(asking: Asking) -> None:
    """Print an answer, and on standard error how it can be followed."""
    console, looks = results(), {look.id: look for look in asking.looks}
    for number, statement in enumerate(asking.statements, 1):
        _print_statement(console, f"{number}. ", statement, looks)
    for untold in asking.untold:
        _print_untold(console, untold, looks)
    if asking.reason:
        console.print(hanging("", one_line(asking.reason, 1000)))
    if asking.unsupported:
        console.print()
        console.print("Not supported, and no part of the answer:")
        for wrong in asking.unsupported:
            console.print(hanging("  - ", one_line(wrong.text, 1000)))
            console.print(hanging("    ", one_line(wrong.fault or "", 1000), "dim"))
    if asking.steering:
        console.print()
        console.print("Tries to steer whoever reads it:")
        for sign in asking.steering:
            console.print(hanging(f"  {one_line(sign.exhibit, 60)} ", one_line(f"{sign.sign}: {sign.excerpt}", WIDE)))
    console.print()
    console.print(_account(asking))
    _say_how_to_follow(asking)


def _print_statement(console: Console, label: str, statement: Statement, looks: Mapping[str, Look]) -> None:
    console.print(hanging(label, one_line(statement.text, 2000)))
    for holding in statement.holdings:
        console.print(hanging("   ", _holding(holding, looks), "dim"))


def _holding(holding: Holding, looks: Mapping[str, Look]) -> str:
    """What is cited, what it is, and the words."""
    exhibit, quote = one_line(holding.citation.exhibit, 80), holding.citation.quote or holding.shown
    look = looks.get(holding.citation.exhibit)
    what = _asked(look) if look else one_line(holding.what, 60)
    caution = "  caution: these words speak to a judge" if holding.sign else ""
    return f"{exhibit}{f' ({what})' if what else ''} “{one_line(quote, WIDE)}”{caution}"


def _print_untold(console: Console, untold: Untold, looks: Mapping[str, Look]) -> None:
    console.print(hanging("The store does not tell: ", one_line(untold.text, 2000)))
    for name in untold.looks:
        found = one_line("; ".join(looks[name].facts), WIDE)
        console.print(hanging("   ", f"{name} ({_asked(looks[name])}): {found}", "dim"))


def _asked(look: Look) -> str:
    """A look's tool, and what it was asked for."""
    given = (f"{name} {_plainly(value)}" for name, value in look.arguments.items() if value not in (0, False))
    return one_line(", ".join([look.tool, *given]), 200)


def _plainly(value: Argument) -> str:
    return " and ".join(value) if isinstance(value, tuple) else str(value)


def _account(asking: Asking) -> str:
    """What it took."""
    made = sum(look.id != "L0" for look in asking.looks)
    cost = "cost not known" if asking.cost is None else dollars(asking.cost)
    masked = f" · {counted(asking.masked, 'credential')} masked" if asking.masked else ""
    return one_line(f"{counted(made, 'look')} · {asking.seconds:.1f} s · {cost} · {asking.model}{masked}", 200)


def _say_how_to_follow(asking: Asking) -> None:
    """Name a command that prints what is cited, if there is one."""
    cited = (holding.citation.exhibit for statement in asking.statements for holding in statement.holdings)
    place = next((exhibit for exhibit in cited if exhibit.startswith("r-") and "/" in exhibit), None)
    if place:
        run, _, entry = place.partition("/")
        say(f"`adjudge show {run} {entry}` prints an entry that it cites.")
