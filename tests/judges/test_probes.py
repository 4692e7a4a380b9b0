"""Probes: criteria that are decided without a model."""

from pathlib import PurePosixPath

import pytest

from adjudge.errors import InputError
from adjudge.evidence import Exhibits
from adjudge.judges.evaluator.judge import Evaluator
from adjudge.judges.probes import run_probes
from adjudge.judgment import Judgment, Verdict
from adjudge.ports import FilePart, Output
from adjudge.rubric import CommandProbe, Criterion, FileProbe, Probe
from adjudge.testing import FakeMachine, ScriptedModel, decides, make_record, make_rubric, make_run, printed, verdict


def one(probe: Probe) -> Criterion:
    return Criterion("p1", "It holds.", probe)


async def judged(probe: Probe, machine: FakeMachine | None) -> tuple[Verdict, Judgment]:
    judgment = await Evaluator(None).judge(make_run(), make_rubric(one(probe)), machine)
    return judgment.verdicts[0], judgment


def machine_that_prints(text: str, exit_status: int = 0) -> FakeMachine:
    return FakeMachine(commands=lambda _: printed(text, exit_status))


@pytest.mark.parametrize(
    ("probe", "printed_text", "status", "passed"),
    [
        (CommandProbe("true"), "", 0, True),
        (CommandProbe("true"), "", 1, False),
        (CommandProbe("false", exit=1), "", 1, True),
        (CommandProbe("cat hello.txt", stdout="redline\n"), "redline\n", 0, True),
        (CommandProbe("cat hello.txt", stdout="redline\n"), "redline", 0, False),
        (CommandProbe("cat hello.txt", stdout="redline\n"), "redline\n", 1, False),
        (CommandProbe("cat hello.txt", stdout=""), "", 0, True),
        (CommandProbe("pytest", stdout_matches=r"\d+ passed"), "== 12 passed ==", 0, True),
        (CommandProbe("pytest", stdout_matches=r"\d+ passed"), "== 1 failed ==", 0, False),
    ],
)
async def test_a_command_probe_is_decided_by_what_the_command_does(
    probe: CommandProbe, printed_text: str, status: int, passed: bool
) -> None:
    found, judgment = await judged(probe, machine_that_prints(printed_text, status))
    assert (found.passed, judgment.score) == (passed, float(passed))
    assert (judgment.status, judgment.decided) == ("judged", "probes")
    assert found.probe


@pytest.mark.parametrize(
    ("probe", "passed"),
    [
        (FileProbe("a/hello.txt", equals="redline\n"), True),
        (FileProbe("a/hello.txt", equals="redline"), False),
        (FileProbe("a/hello.txt", matches="^red"), True),
        (FileProbe("a/hello.txt", matches="blue"), False),
        (FileProbe("a/hello.txt", exists=True), True),
        (FileProbe("a/hello.txt", exists=False), False),
        (FileProbe("a/none.txt", exists=True), False),
        (FileProbe("a/none.txt", exists=False), True),
        (FileProbe("b/none.txt", exists=False), True),
        (FileProbe("a/none.txt", equals=""), False),
    ],
)
async def test_a_file_probe_is_decided_by_the_file(probe: FileProbe, passed: bool) -> None:
    found, _ = await judged(probe, FakeMachine({"a/hello.txt": "redline\n"}))
    assert (found.passed, found.cause) == (passed, None)


async def test_every_decided_probe_cites_its_look() -> None:
    machine = FakeMachine({"a.txt": "some text"}, {"cat a.txt": "some text"})
    criteria = [Criterion("x", "x", CommandProbe("cat a.txt")), Criterion("y", "y", FileProbe("a.txt", matches="text"))]
    judgment = await Evaluator(None).judge(make_run(), make_rubric(*criteria), machine)
    assert [look.id for look in judgment.looks] == ["L1", "L2"]
    exhibits = Exhibits(make_record(), judgment.looks)
    for position, found in enumerate(judgment.verdicts, 1):
        assert {holding.citation.exhibit for holding in found.holdings} == {f"L{position}"}
        assert all(exhibits.check(holding.citation).standing for holding in found.holdings)


async def test_a_probe_without_a_machine_fails_as_unproven_and_says_so() -> None:
    found, judgment = await judged(CommandProbe("true"), None)
    assert (found.passed, found.cause, judgment.score) == (False, "unproven", 0.0)
    assert "no machine" in found.note


async def test_a_probe_that_cannot_be_run_fails_as_unproven_with_a_failed_look() -> None:
    found, judgment = await judged(CommandProbe("true"), FakeMachine())
    assert (found.passed, found.cause, judgment.looks[0].failed) == (False, "unproven", True)


async def test_a_command_that_was_stopped_decides_nothing() -> None:
    machine = FakeMachine(commands=lambda _: Output("", -9, 0, 60.0, "time"))
    found, _ = await judged(CommandProbe("sleep 100", exit=-9), machine)
    assert (found.passed, found.cause) == (False, "unproven")


@pytest.mark.parametrize("pattern", ["(", "(a|a)+$"])
async def test_a_pattern_that_cannot_be_matched_in_time_or_at_all_passes_nothing(pattern: str) -> None:
    machine = machine_that_prints("a" * 64 + "!")
    found, _ = await judged(CommandProbe("x", stdout_matches=pattern), machine)
    assert not found.passed


async def test_standard_error_is_no_part_of_what_is_compared() -> None:
    machine = machine_that_prints("out\n")
    await judged(CommandProbe("make", stdout="out\n"), machine)
    assert machine.runs == ["exec 2>/dev/null\nmake"]


async def test_every_command_has_a_view_of_its_own() -> None:
    machine = machine_that_prints("out\n")
    rubric = make_rubric(Criterion("a", "a", CommandProbe("make")), Criterion("b", "b", CommandProbe("cat x", stdout="x")))
    await run_probes(rubric, machine, Exhibits(make_record()))
    assert machine.fresh_runs == ["make", "exec 2>/dev/null\ncat x"]


class Linked(FakeMachine):
    """A machine on which `secret` is a link that leads out of the workspace."""

    async def read(self, path: str, offset: int = 0, limit: int = 65536) -> FilePart:
        if PurePosixPath(path).name == "secret":
            raise InputError(f"{path}: lies outside of the workspace")
        return await super().read(path, offset, limit)


async def test_a_link_that_leads_out_of_the_workspace_is_not_taken_for_absence() -> None:
    found, _ = await judged(FileProbe("secret", exists=False), Linked({"secret": ""}))
    assert (found.passed, found.cause) == (False, "unproven")


async def test_probes_are_decided_even_where_no_model_can_judge_the_rest() -> None:
    rubric = make_rubric(one(CommandProbe("true")), "The other thing is so.")
    judgment = await Evaluator(None).judge(make_run(), rubric, machine_that_prints(""))
    assert (judgment.status, judgment.score) == ("errored", None)
    assert [(found.criterion, found.passed) for found in judgment.verdicts] == [("p1", True)]
    assert judgment.reason is not None
    assert "--model" in judgment.reason


async def test_probes_and_the_models_verdicts_stand_together_in_the_rubrics_order() -> None:
    rubric = make_rubric("c1 is so", one(CommandProbe("true")), Criterion("c3", "c3 is so"))
    model = ScriptedModel([decides(verdict("c3", False, cause="unproven"), verdict("c1", False, cause="unproven"))])
    judgment = await Evaluator(model).judge(make_run(), rubric, machine_that_prints(""))
    assert [found.criterion for found in judgment.verdicts] == ["c1", "p1", "c3"]
    assert judgment.score == pytest.approx(1 / 3)


async def test_a_command_of_a_probe_marks_the_machine_as_changed() -> None:
    exhibits = Exhibits(make_record())
    rubric = make_rubric(
        Criterion("a", "a", FileProbe("f", exists=True)),
        Criterion("b", "b", CommandProbe("true")),
        Criterion("c", "c", FileProbe("f", exists=True)),
    )
    await run_probes(rubric, FakeMachine({"f": ""}, {"true": ""}), exhibits)
    assert [look.changed for look in exhibits.looks.values()] == [False, True, True]


async def test_a_live_probe_runs_among_what_the_agent_left_running_and_others_apart_from_it() -> None:
    machine = FakeMachine(commands=lambda _: printed("up\n"), facts={"live": True})
    found, _ = await judged(CommandProbe("curl localhost:8000", stdout="up\n", live=True), machine)
    assert (found.passed, machine.fresh_runs) == (True, [])
    await judged(CommandProbe("true"), machine)
    assert machine.fresh_runs == ["true"]


async def test_a_live_probe_where_nothing_runs_any_more_is_unproven() -> None:
    found, _ = await judged(CommandProbe("curl localhost:8000", exit=7, live=True), machine_that_prints("", 7))
    assert (found.passed, found.cause) == (False, "unproven")
    assert "left running is gone" in found.note
