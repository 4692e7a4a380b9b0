"""What `adjudge doctor` is told."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest

from adjudge.machines import order, selftest
from adjudge.machines.boot import view
from adjudge.machines.diagnosis import diagnose
from adjudge.machines.selftest import advice, proven_view, self_test
from adjudge.machines.session import Session

PROMISED = {
    "exit status", "keeps changes", "commands apart", "no network", "no file of the host", "no secret", "no privilege",
    "output limit", "memory limit", "time limit", "process limit", "leaves nothing behind", "original unchanged",
}  # fmt: skip


async def test_every_promise_is_tried_and_kept(sandboxed: None) -> None:
    checks = {check.name: check for check in await diagnose()}
    assert checks.keys() >= PROMISED
    assert [check for name, check in checks.items() if name in PROMISED and not check.works] == []


async def test_what_the_computer_has_is_told_with_help_where_it_is_missing(sandboxed: None) -> None:
    checks = {check.name: check for check in await diagnose()}
    for name in ("kernel", "user namespaces", "bubblewrap", "Landlock", "memory control group", "safe reading"):
        assert checks[name].works or checks[name].help, name
    assert version() in checks["bubblewrap"].why
    assert os.uname().release in checks["kernel"].why


def version() -> str:
    return subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]


async def test_a_filter_that_is_not_there_is_noticed(sandboxed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox that shares the host's network is not taken for one."""
    arguments = order._arguments

    def with_network(*given: object) -> list[str]:
        return [*arguments(*given), "--share-net"]  # type: ignore[arg-type]

    monkeypatch.setattr(order, "_arguments", with_network)
    found, checks = await self_test()
    assert found is None
    failed = [check.name for check in checks if not check.works]
    assert failed == ["no network"] or (os.geteuid() != 0 and failed == ["sandbox"]), "a plain user cannot even enter one"


async def test_a_secret_in_the_helpers_environment_would_be_noticed(
    sandboxed: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-canary-4711")
    environment = order.environment_inside
    monkeypatch.setattr(order, "environment_inside", lambda *given: environment(*given) | {"LEAK": "sk-canary-4711"})
    found, checks = await self_test()
    assert found is None
    assert "no secret" in [check.name for check in checks if not check.works]


async def test_many_machines_prove_the_sandbox_once(sandboxed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "_known", {})
    started: list[int] = []
    run = Session.run

    async def counted(session: Session, command: str, seconds: float) -> object:
        started.append(1)
        return await run(session, command, seconds)

    monkeypatch.setattr(Session, "run", counted)
    await asyncio.gather(*(proven_view() for _ in range(10)))
    assert len(started) < 20


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        ("no sandbox could be started: no user namespace can be made: Operation not permitted", "--privileged"),
        ("bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns"),
        ("something else", "doctor"),
    ],
)
def test_advice_fits_the_fault(fault: str, word: str) -> None:
    assert word in advice(fault)


@pytest.mark.parametrize("owner", [0, 1, 1000, 65534, 65535, 1_000_000])
def test_the_owner_becomes_the_sandboxs_user_and_no_id_is_mapped_twice(owner: int) -> None:
    ranges = [tuple(map(int, line.split())) for line in view.id_map(owner).splitlines()]
    inside = [identifier for first, _, count in ranges for identifier in range(first, first + count)]
    outside = [identifier for _, first, count in ranges for identifier in range(first, first + count)]
    assert dict(zip(inside, outside, strict=True))[owner] == 100_000
    assert len(set(inside)) == len(inside) == 65_536
    assert sorted(outside) == list(range(100_000, 165_536))
