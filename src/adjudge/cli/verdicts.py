"""A judgment as a person reads it on a terminal."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from adjudge.cli.printing import counted, hanging
from adjudge.exports.trust import beside_of, note_of
from adjudge.judgment import CAN, doubt, owned, suspected
from adjudge.record import dollars
from adjudge.untrusted import one_line, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from adjudge.evidence import Holding
    from adjudge.judgment import Judgment, Tampering, Verdict
    from adjudge.reviews.figures import Trust
    from adjudge.run import Run

CAUSES = {
    "agent": "the agent's doing",
    "environment": "the environment's doing",
    "unproven": "left unproven",
    "skipped": "not answered",
    "evidence": "stopped by the evidence gate",
}


def print_judgment(console: Console, judgment: Judgment, run: Run, trust: Trust | None = None) -> None:
    """Print who was judged by whom, each verdict with its citations, attempts to steer, the summary, score and cost.

    With `trust` each verdict says how far reviewers agree with this judge on its criterion.
    """
    from rich.text import Text

    console.print(Text(title(run), "bold"))
    console.print(Text(_judge(judgment), "dim"))
    console.print()
    for verdict in judgment.verdicts:
        _print_verdict(console, verdict, judgment.tampering, trust_words(trust, verdict.criterion, run))
    print_note_of_trust(console, trust)
    _print_tampering(console, judgment.tampering)
    print_what_was_seen(console, judgment)
    console.print(Text(_ending(judgment), "bold red" if judgment.status == "errored" else "bold"))


def print_what_was_seen(console: Console, judgment: Judgment) -> None:
    """Print attempts to steer the judge, its summary, and what a reader should know."""
    from rich.text import Text

    if judgment.steering:
        console.print(Text("Attempts to steer the judge", "bold yellow"))
        for attempt in judgment.steering:
            console.print(hanging(f"  {attempt.exhibit:<5}", f"{attempt.sign}: {one_line(attempt.excerpt, 160)}"))
        console.print()
    if judgment.summary:
        console.print(hanging("  ", shown(judgment.summary)))  # so that none of its lines looks like one of ours
        console.print()
    for warning in judgment.warnings:
        console.print(Text(f"Warning: {shown(warning)}", "yellow"))


def title(run: Run) -> str:
    """Which run it is, in one line."""
    parts = [run.agent or "unknown agent", run.agent_version or ""]
    about = [" ".join(part for part in parts if part), run.model or "", counted(len(run.record.turns), "turn")]
    return one_line(" · ".join([run.id, *(part for part in about if part)]), 200)


def title_with_source(run: Run) -> str:
    """Which run it is and where it came from, in one line."""
    return f"{title(run)} · {short_source(run)}"


def short_source(run: Run) -> str:
    """The last two parts of the path of a run's recording."""
    return one_line("/".join(PurePath(run.source).parts[-2:]), 80)


def _judge(judgment: Judgment) -> str:
    by = f"judged by {judgment.judge.model}" if judgment.judge.model else "judged without a model"
    ways = {"forced": "decided when its looks were used up", "probes": "by probes alone", "process": "by the exit status"}
    parts = [
        by,
        counted(len(judgment.looks), "look"),
        ways.get(judgment.decided or "", ""),
        f"{judgment.seconds:.1f} s",
        tokens(judgment),
    ]
    return one_line(" · ".join(part for part in parts if part), 200)


def tokens(judgment: Judgment) -> str:
    """What the judging consumed, and what it cost if that is known."""
    if not judgment.calls:
        return ""
    usage = judgment.usage()
    tokens = f"{usage.prompt or 0:,} tokens in ({usage.cached or 0:,} cached), {usage.output or 0:,} out"
    return f"{tokens}, {dollars(usage.cost)}" if usage.cost else tokens


MOST_FILES = 20
"""Files that are listed; the JSON has all."""


def _print_tampering(console: Console, tampering: Sequence[Tampering]) -> None:
    """Print the files that can change what commands do, each in a line with the looks that it could have shaped."""
    from rich.text import Text

    if not tampering:
        return
    console.print(Text("Files that can shape what commands do", "bold yellow" if suspected(tampering) else "bold"))
    for each in sorted(tampering, key=lambda each: not each.looks)[:MOST_FILES]:
        looks = f"could have shaped {', '.join(each.looks)}" if each.looks else "shaped no look"
        console.print(hanging("  ", f"{owned(each)}: {CAN[each.kind]}; {looks}"))
    if len(tampering) > MOST_FILES:
        console.print(f"  and {len(tampering) - MOST_FILES} more, which --json lists")
    console.print()


def trust_words(trust: Trust | None, item: str, run: Run) -> str:
    """How far reviewers agree with the judge on a criterion or dimension of a run like this one, in a few words."""
    words = beside_of(trust, item, run.agent or "unknown") if trust else ""
    return f"  {words}" if words else ""


def print_note_of_trust(console: Console, trust: Trust | None) -> None:
    """Print what the figures beside verdicts or scores mean, if there are any."""
    note = note_of(trust) if trust else ""
    if note:
        console.print(hanging("  ", note, "dim"))
        console.print()


def _print_verdict(console: Console, verdict: Verdict, tampering: Sequence[Tampering], trust: str) -> None:
    from rich.text import Text

    word = Text("PASS" if verdict.passed else "FAIL", "bold green" if verdict.passed else "bold red")
    line = Text.assemble(word, "  ", (one_line(verdict.criterion, 60), "bold"), (_manner(verdict) + trust, "dim"))
    console.print(line)
    console.print(hanging("      ", shown(verdict.note)))
    if verdict.answer and verdict.cause == "evidence":
        said = "pass" if verdict.answer.passed else "fail"
        console.print(hanging("      ", f"The model had answered {said}: {shown(verdict.answer.note)}", "dim"))
    for holding in verdict.holdings:
        print_holding(console, holding)
    if words := doubt(verdict, tampering):
        console.print(hanging("    ! ", words, "yellow"))
    console.print()


def print_holding(console: Console, holding: Holding, indent: str = "") -> None:
    """Print a citation: its exhibit and the quote, and what is wrong with one that does not hold."""
    quote = f"“{one_line(holding.citation.quote, 160)}”"
    if holding.standing:
        console.print(hanging(f"{indent}      {_exhibit(holding):<5} ", quote, "cyan"))
    else:
        console.print(
            hanging(f"{indent}    ✗ {_exhibit(holding):<5} ", f"{quote} {one_line(holding.fault or '', 200)}", "dim")
        )


def _manner(verdict: Verdict) -> str:
    """How the verdict came about, where that is not the model's pass."""
    by = "by probe" if verdict.probe and verdict.holdings else ""
    cause = "" if verdict.passed else CAUSES.get(verdict.cause or "", "")
    words = ", ".join(part for part in (by, cause) if part)
    return words and f"  {words}"


def _exhibit(holding: Holding) -> str:
    cited, source = holding.citation.exhibit, holding.source
    return one_line(cited if source in (None, cited) else f"{cited} → {source}", 40)


def _ending(judgment: Judgment) -> str:
    if judgment.status == "errored":
        return one_line(f"Not judged: {judgment.reason}", 400)
    if judgment.score is None:
        return one_line(judgment.reason or "Judged without a rubric.", 400)
    passed = sum(verdict.passed for verdict in judgment.verdicts)
    criteria = counted(len(judgment.verdicts), "criterion", "criteria")
    return f"{passed} of {criteria} passed (score {judgment.score:.2f})"
