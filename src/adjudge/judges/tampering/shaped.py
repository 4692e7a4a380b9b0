"""Which hooks could have shaped which looks.

"Could have" is told where a command's words allow it, and for all that a command starts and nobody can read. What a
command's words rule out (`python -I`, `pytest --noconftest`, `git -c core.hooksPath=/dev/null`) is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from adjudge.evidence import Look
from adjudge.judges.tampering.commands import starts_of
from adjudge.judges.tampering.rules import RULES
from adjudge.judges.tampering.starts import WORKSPACE, Start
from adjudge.judgment import Tampering
from adjudge.ports import Hook, Machine


def tampering_on(machine: Machine, looks: Iterable[Look]) -> tuple[Tampering, ...]:
    """Each hook of a machine with the looks that it could have shaped.

    Of the machine's facts `at`, and `PATH` and `PYTHONPATH` if it tells them, say where commands ran.
    """
    facts = machine.facts
    environment = {name: str(facts[name]) for name in ("PATH", "PYTHONPATH") if facts.get(name)}
    return shaped(machine.hooks, looks, str(facts.get("at") or WORKSPACE), environment)


def shaped(
    hooks: Sequence[Hook],
    looks: Iterable[Look],
    at: str = WORKSPACE,
    environment: Mapping[str, str] | None = None,
) -> tuple[Tampering, ...]:
    """Each hook with the ids of the looks that it could have shaped, in order; often none.

    `at` is where commands see the workspace; `environment` are the machine's PATH and PYTHONPATH, if they may hold folders
    of the workspace.
    """
    if not hooks:
        return ()
    read = [(look.id, starts_of(command, at, environment or {})) for look, command in _commands(looks)]
    return tuple(
        Tampering(hook.path, hook.kind, hook.by, tuple(name for name, starts in read if _is_shaped(starts, hook, at)))
        for hook in hooks
    )


def _commands(looks: Iterable[Look]) -> Iterator[tuple[Look, str]]:
    for look in looks:
        if look.place == "command" and not look.failed:
            yield look, str(look.arguments.get("command", ""))


def _is_shaped(starts: Iterable[Start], hook: Hook, at: str) -> bool:
    return any(not start.readable or RULES[hook.kind](hook, start, at) for start in starts)
