"""What a pass has acknowledged stays, and what it may have spent is counted, however it ends.

The numbers are small here; `make soak` sets ADJUDGE_SOAK, which makes them large, and prints what was done.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.passes.provider import MOST
from tests.store.postgres_server import Server
from tests.store.test_durability import in_its_own_mounts

ROOT = Path(__file__).parents[2]
SOAK = bool(os.environ.get("ADJUDGE_SOAK"))
AT_ONCE = 8

SEED = 20261130

Trials = dict[str, dict[str, Any]]
Tell = Callable[[str, dict[str, Any]], None]

pytestmark = pytest.mark.xdist_group("passes")  # several trials share a process, as starting one takes seconds


def ran(folder: Path, *wanted: str, before: tuple[str, ...] = ()) -> Trials:
    command = [*before, sys.executable, "-m", "tests.passes.trials", str(folder), str(SEED), *wanted]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600 if SOAK else 150, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    results: Trials = json.loads(done.stdout)
    return {name: result | {"traces": done.stderr} for name, result in results.items()}


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Trials:
    numbers = "kill=300", "signal=50", "start=30", "sleep"
    return ran(tmp_path_factory.mktemp("trials"), *(numbers if SOAK else ("kill=15", "signal=5", "start=10", "sleep")))


@pytest.fixture(scope="module")
def on_small_disks(tmp_path_factory: pytest.TempPathFactory) -> Trials:
    return ran(tmp_path_factory.mktemp("disks"), "fill", "bare", "readonly", before=in_its_own_mounts())


@pytest.fixture(scope="module")
def on_postgres(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Trials:
    url = postgres.url(postgres.create())
    return ran(tmp_path_factory.mktemp("postgres"), f"kill={100 if SOAK else 8}@{url}")


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Tell:
    """Prints what a trial did, in `make soak`."""

    def told(what: str, result: dict[str, Any]) -> None:
        if SOAK:
            with capsys.disabled():
                print(f"\n{what}: {lines_of(result)}", end="")

    return told


def lines_of(result: dict[str, Any]) -> str:
    return (
        f"{result['lives']} processes, ends {result['ends']}, {result['saved']} judgments acknowledged, "
        f"{len(result['missing'])} of them missing, {result['rows']} rows, {len(result['contradictions'])} contradictions, "
        f"judged again {result['judged_again']} (at most {result['most_wasted_in_a_life']} after one end), "
        f"bill ${result['bill']:.4f}, spend ${result['spend']:.4f}, passes {result['statuses']}, {result['seconds']:.0f} s"
        + (f", start to lock in {result['slowest_hold']:.2f} s at most" if "slowest_hold" in result else "")
        + (f", ended {result['slowest_end']:.2f} s after its signal at most" if "slowest_end" in result else "")
    )


def holds_what_it_promised(result: dict[str, Any], cut_off: int) -> None:
    """`cut_off` processes ended with something in flight."""
    assert result["missing"] == []
    assert result["contradictions"] == []
    assert result["judged_without_bill"] == []
    assert list(result["statuses"]) == ["finished"]
    assert result["most_wasted_in_a_life"] <= AT_ONCE
    assert result["judged_again"] <= AT_ONCE * cut_off
    assert result["undercounted"] <= 1e-9  # sums of binary fractions
    over = result["spend"] - result["bill"]
    assert -1e-9 <= over <= result["may_exceed"] + cut_off * AT_ONCE * MOST  # reserved, and not yet called


def of(trials: Trials, name: str) -> dict[str, Any]:
    result = trials[name]
    assert "broke_off" not in result, f"{result['broke_off']}\n{result['traces']}"
    return result


def survived(result: dict[str, Any], kills: int) -> None:
    assert result["ends"]["-9"] == kills, result["traces"]
    assert set(result["ends"]) <= {"-9", "0"}, result["traces"]
    assert result["saved"] > 5 * kills
    holds_what_it_promised(result, kills)
    assert result["slowest_hold"] < 20  # a dead holder's lock is had at once: its lease would be 60 s


def test_a_pass_that_is_killed_at_random_moments_loses_nothing_and_judges_nothing_twice(trials: Trials, tell: Tell) -> None:
    result = of(trials, "kill")
    tell(f"kill -9 at {result['ends']['-9']} random moments, SQLite", result)
    survived(result, 300 if SOAK else 15)


def test_so_it_is_with_postgresql(on_postgres: Trials, tell: Tell) -> None:
    result = of(on_postgres, "kill")
    tell(f"kill -9 at {result['ends']['-9']} random moments, PostgreSQL", result)
    survived(result, 100 if SOAK else 8)


def test_a_pass_that_is_asked_to_stop_ends_in_time_and_goes_on_later(trials: Trials, tell: Tell) -> None:
    result = of(trials, "signal")
    tell(f"SIGTERM and SIGINT at {len(result['stopped'])} random moments", result)
    for signals, status, row in result["stopped"]:
        if "SIGKILL" in signals and status == -9:
            continue
        assert (status, row) in ((130 if "SIGINT" in signals else 143, "stopped"), (0, "finished")), result["traces"]
    assert {status for _, status, _ in result["stopped"]} >= {130, 143}
    holds_what_it_promised(result, len(result["stopped"]))
    assert result["holders"] == [[None]]
    assert result["slowest_end"] < 10  # calls take 0.1 s, and may land for 30 s
    assert result["errors"] == []  # the lock was free for each that came next


def test_a_holder_that_slept_through_its_lease_wakes_up_and_writes_nothing(trials: Trials, tell: Tell) -> None:
    result = of(trials, "sleep")
    tell("SIGSTOP past the lease, another finishes, SIGCONT", result)
    assert "is under way in this store" in result["early"][0]
    assert result["finished"] == 0, result["traces"]
    assert result["sleeper"].startswith("LockLostError: another process has taken this pass's lock over")
    assert result["woken"] == 3
    assert result["same"]
    holds_what_it_promised(result, 1)


def test_of_two_that_start_at_once_exactly_one_wins(trials: Trials) -> None:
    result = of(trials, "start")
    assert result["outcomes"] == [["LockHeldError", "held"]] * (30 if SOAK else 10), result["traces"]


@pytest.mark.parametrize("name", ["fill", "bare"])
def test_a_full_disk_ends_a_pass_loudly_and_loses_nothing(on_small_disks: Trials, name: str, tell: Tell) -> None:
    result = of(on_small_disks, name)
    tell(f"disk full, with{'out' if name == 'bare' else ''} a reserve", result)
    assert result["full"] == [3, 3], result["traces"]
    assert any("free some" in words for words in (result["row"][1] or "", *result["said"])), result
    assert result["halves"] == []
    holds_what_it_promised(result, 2)
    assert name == "bare" or result["judged_again"] == 0  # what was paid for landed on the reserve


def test_a_disk_that_cannot_be_written_is_told(on_small_disks: Trials) -> None:
    result = of(on_small_disks, "readonly")
    assert result["refused"][0] == 3, result["traces"]
    assert "a store must be able to write in its folder" in result["refused"][1]
    holds_what_it_promised(result, 1)
