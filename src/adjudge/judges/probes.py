"""Probes: criteria that a command or a file decides, without a model. Each is a look, and its verdict cites it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Literal

import msgspec
import regex

from adjudge.errors import InputError, MachineError
from adjudge.evidence import SHORTEST, Citation, Exhibits, Holding, Look, fold
from adjudge.judges.evaluator.machine_looks import FAILED, LONGEST_REASON, command_look
from adjudge.judgment import Verdict
from adjudge.ports import Machine
from adjudge.rubric import CommandProbe, Criterion, FileProbe, Probe, Rubric

MATCH_SECONDS = 2.0
MOST_READ = 4 << 20
"""Bytes of a file that a probe reads."""
MOST_KEPT = 64 << 10
"""Bytes of it that are kept as the look's text."""
QUOTED = 200
"""Characters of an output that a probe's verdict quotes."""
NO_MACHINE = "The probe was not run, because there is no machine."

Finding = tuple[Literal["pass", "fail", "unproven"], str]


async def run_probes(rubric: Rubric, machine: Machine | None, exhibits: Exhibits) -> tuple[Verdict, ...]:
    """One verdict for every criterion with a probe, in the rubric's order; its looks are added to the exhibits.

    A probe that cannot be run or decided fails as unproven, and its note says why. Whose fault another fail is, no code
    can know: it has no cause.
    """
    verdicts = []
    for criterion in rubric.criteria:
        if criterion.probe is None:
            continue
        if machine is None:
            verdicts.append(Verdict(criterion.id, False, NO_MACHINE, cause="unproven", probe=True))
        else:
            verdicts.append(await _verdict(criterion, criterion.probe, machine, exhibits))
    return tuple(verdicts)


async def _verdict(criterion: Criterion, probe: Probe, machine: Machine, exhibits: Exhibits) -> Verdict:
    identifier, started = f"L{len(exhibits.looks) + 1}", time.monotonic()
    try:
        if isinstance(probe, CommandProbe):
            look, (finding, note) = await run_command_probe(identifier, probe, machine)
        else:
            look, (finding, note) = await read_file_probe(identifier, probe, machine)
    except (InputError, MachineError) as error:
        look, finding, note = _failed(identifier, probe, str(error)), "unproven", f"The probe could not be run: {error}"
    changed = look.place == "command" or any(made.place == "command" for made in exhibits.looks.values())
    exhibits.add(msgspec.structs.replace(look, changed=changed, seconds=round(time.monotonic() - started, 3)))
    holdings = tuple(cited(exhibits, look))
    cause: Literal["unproven"] | None = "unproven" if finding == "unproven" else None
    return Verdict(criterion.id, finding == "pass", note[: 2 * LONGEST_REASON], holdings, cause, probe=True)


def _failed(identifier: str, probe: Probe, reason: str) -> Look:
    text, facts = reason[:LONGEST_REASON], (FAILED,)
    if isinstance(probe, CommandProbe):
        return Look(identifier, "probe_command", "command", {"command": probe.run}, text, facts, failed=True)
    return Look(identifier, "probe_file", "files", {"file": probe.file}, text, facts, failed=True)


def cited(exhibits: Exhibits, look: Look) -> Iterator[Holding]:
    """Citations of a probe's look that hold: its first fact, and the beginning of what it found."""
    beginning = fold(look.text[: 2 * QUOTED])[:QUOTED].strip()
    for quote in (*look.facts[:1], beginning):
        if sum(map(str.isalnum, quote)) >= SHORTEST:
            holding = exhibits.check(Citation(look.id, quote))
            if holding.standing:
                yield holding


async def run_command_probe(identifier: str, probe: CommandProbe, machine: Machine) -> tuple[Look, Finding]:
    """Run a probe's command, on a view of its own: what judged code does in one probe has no hand in the next.

    A live one runs on the machine itself, since it asks for what the agent left running. Where its output is compared,
    standard error is left out of it: the probe speaks of stdout.
    """
    if probe.live and not machine.facts.get("live"):
        raise MachineError("what the agent left running is gone; a live probe needs `adjudge run`, or a container")
    compares = probe.stdout is not None or probe.stdout_matches is not None
    command = f"exec 2>/dev/null\n{probe.run}" if compares else probe.run
    output = await machine.run(command, fresh=not probe.live)
    look = command_look(identifier, "probe_command", command, output)
    if output.ended:
        return look, ("unproven", f"`{probe.run}` was stopped before it ended: {'; '.join(look.facts)}.")
    if output.exit_status != probe.exit:
        return look, ("fail", f"`{probe.run}` ended with exit status {output.exit_status}, not {probe.exit}.")
    if compares and output.cut:
        return look, ("unproven", f"`{probe.run}` printed {output.size} bytes, more than are kept to compare.")
    if probe.stdout is not None and output.text != probe.stdout:
        return look, ("fail", f"`{probe.run}` printed {_brief(output.text)}, not {_brief(probe.stdout)}.")
    if probe.stdout_matches is not None:
        finding, note = found_in(output.text, probe.stdout_matches)
        return look, (finding, f"What `{probe.run}` printed {note}.")
    printed = f" and printed {_brief(output.text)}" if compares else ""
    return look, ("pass", f"`{probe.run}` ended with exit status {output.exit_status}{printed}.")


def found_in(text: str, pattern: str) -> Finding:
    """Whether a regular expression is found in a text, within a time."""
    try:
        match = regex.search(pattern, text, timeout=MATCH_SECONDS, concurrent=True)
    except regex.error as error:
        return "unproven", f"cannot be compared: {pattern!r} is no regular expression ({error})"
    except TimeoutError:
        return "unproven", f"was not compared: {pattern!r} took longer than {MATCH_SECONDS:.0f} s"
    return ("pass", f"matches {pattern!r} at {_brief(match[0])}") if match else ("fail", f"does not match {pattern!r}")


async def read_file_probe(identifier: str, probe: FileProbe, machine: Machine) -> tuple[Look, Finding]:
    """Read a probe's file, from the host's side."""
    try:
        part = await machine.read(probe.file, 0, MOST_READ)
    except InputError as error:
        return await _unreadable(identifier, probe, machine, str(error))
    text = part.data.decode("utf-8", "replace")
    kept = part.data[:MOST_KEPT].decode("utf-8", "replace")
    facts = [f"size: {part.size} bytes"] + ["cut: only its beginning is kept"] * (part.size > MOST_KEPT)
    look = Look(identifier, "probe_file", "files", {"file": probe.file}, kept, tuple(facts))
    if probe.exists is False:
        return look, ("fail", f"`{probe.file}` is there, with {part.size} bytes.")
    if probe.equals is not None and part.data != probe.equals.encode():
        return look, ("fail", f"`{probe.file}` holds {_brief(text)}, not {_brief(probe.equals)}.")
    if probe.matches is not None:
        finding, note = found_in(text, probe.matches)
        if finding == "fail" and part.size > len(part.data):
            finding, note = "unproven", f"does not match in its first {len(part.data)} bytes"
        return look, (finding, f"`{probe.file}` {note}.")
    return look, ("pass", f"`{probe.file}` is there, with {part.size} bytes" + _held(probe, text) + ".")


def _held(probe: FileProbe, text: str) -> str:
    return "" if probe.equals is None else f", and holds {_brief(text)}"


async def _unreadable(identifier: str, probe: FileProbe, machine: Machine, reason: str) -> tuple[Look, Finding]:
    """What a file that cannot be read means: it is not there, or what is there is no file that may be read."""
    absent = await is_absent(machine, probe.file)
    if not absent:
        note = f"`{probe.file}` cannot be read as a file: {reason}"
        finding: Finding = ("unproven", note) if probe.exists is False else ("fail", note)
        return _failed(identifier, probe, reason), finding
    facts = ("matches: 0", "no file of this name is in the workspace")
    look = Look(identifier, "probe_file", "files", {"file": probe.file}, "", facts, found=0)
    return look, ("pass" if probe.exists is False else "fail", f"`{probe.file}` is not there.")


async def is_absent(machine: Machine, path: str) -> bool:
    """Whether listings show that a path leads nowhere. A link that leads out of the workspace does not show it."""
    at = "."
    for name in [part for part in path.split("/") if part not in ("", ".")]:
        items, total = await machine.list(at)
        item = next((item for item in items if item.name == name), None)
        if item is None:
            return len(items) == total
        if item.kind != "directory":
            return False
        at = f"{at}/{name}"
    return False


def _brief(text: str) -> str:
    return repr(text) if len(text) <= QUOTED else f"{text[:QUOTED]!r}… ({len(text)} characters)"
