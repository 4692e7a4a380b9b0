"""A judgment as a person reads it on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.untrusted import one_line, shown

if TYPE_CHECKING:
    from rich.console import Console

    from adjudge.evidence import Holding
    from adjudge.judgment import Judgment, Verdict
    from adjudge.run import Run

CAUSES = {
    "agent": "the agent's doing",
    "environment": "the environment's doing",
    "unproven": "left unproven",
    "skipped": "not answered",
    "evidence": "stopped by the evidence gate",
}


def print_judgment(console: Console, judgment: Judgment, run: Run) -> None:
    """Print who was judged by whom, each verdict with its citations, attempts to steer, the summary, score and cost."""
    from rich.text import Text

    console.print(Text(_title(run), "bold"))
    console.print(Text(_judge(judgment), "dim"))
    console.print()
    for verdict in judgment.verdicts:
        _print_verdict(console, verdict)
    if judgment.steering:
        console.print(Text("Attempts to steer the judge", "bold yellow"))
        for attempt in judgment.steering:
            console.print(_hanging(f"  {attempt.exhibit:<5}", f"{attempt.sign}: {one_line(attempt.excerpt, 160)}", ""))
        console.print()
    if judgment.summary:
        console.print(Text(shown(judgment.summary)))
        console.print()
    for warning in judgment.warnings:
        console.print(Text(f"Warning: {shown(warning)}", "yellow"))
    console.print(Text(_ending(judgment), "bold red" if judgment.status == "errored" else "bold"))


def _title(run: Run) -> str:
    parts = [run.agent or "unknown agent", run.agent_version or ""]
    about = [" ".join(part for part in parts if part), run.model or "", _counted(len(run.record.turns), "turn")]
    return one_line(" · ".join([run.id, *(part for part in about if part)]), 200)


def _counted(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def _judge(judgment: Judgment) -> str:
    by = f"judged by {judgment.judge.model}" if judgment.judge.model else "judged without a model"
    ways = {"forced": "decided when its looks were used up", "probes": "by probes alone", "process": "by the exit status"}
    parts = [
        by,
        _counted(len(judgment.looks), "look"),
        ways.get(judgment.decided or "", ""),
        f"{judgment.seconds:.1f} s",
        _cost(judgment),
    ]
    return one_line(" · ".join(part for part in parts if part), 200)


def _cost(judgment: Judgment) -> str:
    if not judgment.calls:
        return ""
    usage = judgment.usage()
    tokens = f"{usage.prompt or 0:,} tokens in ({usage.cached or 0:,} cached), {usage.output or 0:,} out"
    return f"{tokens}, ${usage.cost:.4f}" if usage.cost is not None else tokens


def _print_verdict(console: Console, verdict: Verdict) -> None:
    from rich.text import Text

    word = Text("PASS" if verdict.passed else "FAIL", "bold green" if verdict.passed else "bold red")
    cause = (
        "by probe" if verdict.probe and verdict.holdings else "" if verdict.passed else CAUSES.get(verdict.cause or "", "")
    )
    line = Text.assemble(word, "  ", (one_line(verdict.criterion, 60), "bold"), ("  " + cause if cause else "", "dim"))
    console.print(line)
    console.print(_hanging("      ", shown(verdict.note), ""))
    for holding in verdict.holdings:
        if holding.standing:
            console.print(_hanging(f"      {_exhibit(holding):<5} ", f"“{one_line(holding.citation.quote, 160)}”", "cyan"))
        else:
            console.print(_hanging("      ✗ ", one_line(f"{holding.citation.exhibit}: {holding.fault}", 200), "dim"))
    console.print()


def _exhibit(holding: Holding) -> str:
    cited, source = holding.citation.exhibit, holding.source
    return one_line(cited if source in (None, cited) else f"{cited} → {source}", 40)


def _hanging(label: str, text: str, style: str) -> object:
    """Text that wraps to the right of its label."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=0)
    grid.add_column(width=len(label), no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_row(Text(label, "dim"), Text(text, style))
    return grid


def _ending(judgment: Judgment) -> str:
    if judgment.status == "errored":
        return one_line(f"Not judged: {judgment.reason}", 400)
    if judgment.score is None:
        return one_line(judgment.reason or "Judged without a rubric.", 400)
    passed = sum(verdict.passed for verdict in judgment.verdicts)
    return f"{passed} of {len(judgment.verdicts)} criteria passed (score {judgment.score:.2f})"
