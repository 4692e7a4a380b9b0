"""What every implementation of `ports.Machine` must do; each is a parameter of the fixture `any_machine`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.machines.docker_engine import IMAGE, IN_ONE_WORKER, ask, container_with

from adjudge.errors import InputError, MachineError
from adjudge.machines.docker import DockerMachine
from adjudge.machines.docker_live import LiveDockerMachine
from adjudge.machines.live import LiveLocalMachine
from adjudge.machines.local import LocalMachine
from adjudge.ports import LiveMachine, Machine
from adjudge.settings import AgentLimits, MachineLimits
from adjudge.testing import Command, FakeMachine, printed

LIMITS = MachineLimits(seconds=10.0, output=4096, disk=64 << 20, memory=256 << 20)


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A workspace as an agent left it."""
    (tmp_path / "src").mkdir()
    (tmp_path / "hello.txt").write_text("first line\nsecond line\n")
    (tmp_path / "src" / "main.py").write_text("print('hello')\n")
    return tmp_path


DOCKER = [pytest.param(name, marks=IN_ONE_WORKER) for name in ("docker", "docker live")]


@pytest.fixture(params=["local", "live", *DOCKER])
def kind(request: pytest.FixtureRequest) -> str:
    """One of the implementations, on a computer that has what it needs."""
    request.getfixturevalue("docker" if "docker" in request.param else "sandboxed")
    return str(request.param)


@pytest.fixture
def container(kind: str, request: pytest.FixtureRequest, left: Path) -> Iterator[str]:
    """A container with the workspace, for the implementation that is opened on one."""
    if kind != "docker":
        yield "none"
        return
    url = request.getfixturevalue("docker")
    name = container_with(url, left)
    yield f"docker:{name}"
    ask(url, "DELETE", f"containers/{name}")


@pytest.fixture
async def any_machine(
    kind: str, container: str, left: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Machine]:
    """One of the implementations, opened on the workspace, or handed over by an agent that has done nothing there."""
    opened: Machine
    if kind == "local":
        opened = LocalMachine(left, LIMITS)
    elif kind == "docker":
        opened = await DockerMachine.open(container, LIMITS)
    else:
        opened = live = await _live(kind, left)
        await live.hand_over(tmp_path_factory.mktemp("copy"))
    yield opened
    await opened.close()


async def _live(kind: str, folder: Path) -> LiveMachine:
    if kind == "live":
        return await LiveLocalMachine.open(folder, AgentLimits(), LIMITS)
    return await LiveDockerMachine.open(IMAGE, folder, AgentLimits(memory=256 << 20, processes=64), LIMITS)


async def test_a_command_runs_in_the_workspace_with_bash(any_machine: Machine) -> None:
    output = await any_machine.run("cat hello.txt; echo $((1 + 1)); [[ a == a ]] && echo bash")
    assert output.text == "first line\nsecond line\n2\nbash\n"
    assert (output.exit_status, output.size, output.ended, output.cut, output.forfeited) == (0, 30, None, False, 0)
    assert 0 < output.seconds < 10


async def test_output_and_errors_come_together_in_order(any_machine: Machine) -> None:
    output = await any_machine.run("echo one; echo two >&2; echo three")
    assert output.text == "one\ntwo\nthree\n"


@pytest.fixture(params=["local", "fake"])
async def either(request: pytest.FixtureRequest, left: Path, sandboxed: None) -> AsyncIterator[Machine]:
    """One of the implementations, or the stand-in for tests, which was told how commands end."""
    text = "first line\nsecond line\n"
    told: dict[str, Command] = {"cat hello.txt": text, "rm hello.txt": "", "exit 42": printed("", 42)}
    fake = FakeMachine({"hello.txt": text}, told)
    opened: Machine = LocalMachine(left, LIMITS) if request.param == "local" else fake
    yield opened
    await opened.close()


async def test_a_fresh_run_tells_what_any_run_tells(either: Machine) -> None:
    for fresh in (True, False):
        output = await either.run("cat hello.txt", fresh=fresh)
        assert (output.text, output.exit_status, output.size) == ("first line\nsecond line\n", 0, 23)
        assert (await either.run("exit 42", seconds=5.0, fresh=fresh)).exit_status == 42


async def test_what_a_fresh_run_changes_is_gone_with_it(either: Machine) -> None:
    assert (await either.run("rm hello.txt", fresh=True)).exit_status == 0
    assert (await either.run("cat hello.txt", fresh=True)).exit_status == 0
    assert (await either.run("cat hello.txt")).exit_status == 0
    assert (await either.read("hello.txt")).size == 23


@pytest.mark.parametrize(
    ("command", "status"),
    [("true", 0), ("false", 1), ("exit 42", 42), ("kill -9 $$", -9), ("kill -TERM $$", -15), ("no-such-program", 127)],
)
async def test_the_exit_status_is_the_commands_own(any_machine: Machine, command: str, status: int) -> None:
    assert (await any_machine.run(command)).exit_status == status


async def test_standard_input_is_empty(any_machine: Machine) -> None:
    assert (await any_machine.run("cat; read x; echo $?")).text == "1\n"


async def test_changes_last_for_commands_and_are_not_seen_by_reading(any_machine: Machine, left: Path) -> None:
    await any_machine.run("echo changed > hello.txt; echo new > new.txt; rm -r src")
    assert (await any_machine.run("cat hello.txt; ls")).text == "changed\nhello.txt\nnew.txt\n"
    assert (await any_machine.read("hello.txt")).data == b"first line\nsecond line\n"
    assert [item.name for item in (await any_machine.list())[0]] == ["hello.txt", "src"]
    assert (await any_machine.search("new")).total == 0
    assert (left / "src" / "main.py").read_text() == "print('hello')\n"


async def test_output_that_is_not_utf8_is_shown_with_replacements(any_machine: Machine) -> None:
    output = await any_machine.run(r"printf 'a\xff\xfeb\xe2\x82\xac'")
    assert output.text == "a\ufffd\ufffdb€"
    assert output.size == 7


async def test_long_output_keeps_head_and_tail_and_the_true_size(any_machine: Machine) -> None:
    output = await any_machine.run("seq 1 20000")  # 108,894 bytes, says `seq 1 20000 | wc -c`
    assert output.size == 108_894
    assert output.cut
    assert output.text.startswith("1\n2\n3\n")
    assert output.text.endswith("19999\n20000\n")
    assert len(output.text) < LIMITS.output + 100
    assert output.ended is None


async def test_a_command_that_takes_too_long_is_ended(any_machine: Machine) -> None:
    output = await any_machine.run("echo before; sleep 60; echo after", seconds=0.3)
    assert (output.ended, output.text, output.exit_status) == ("time", "before\n", -9)


async def test_a_part_of_a_file_is_read(any_machine: Machine) -> None:
    part = await any_machine.read("hello.txt", 6, 4)
    assert (part.path, part.data, part.offset, part.size) == ("hello.txt", b"line", 6, 23)


async def test_a_directory_is_listed(any_machine: Machine) -> None:
    items, count = await any_machine.list(".")
    assert [(item.name, item.kind, item.size) for item in items] == [("hello.txt", "file", 23), ("src", "directory", None)]
    assert count == 2


async def test_files_are_searched_by_words_and_by_pattern(any_machine: Machine) -> None:
    found = await any_machine.search("hello")
    assert [(match.path, match.line, match.text) for match in found.matches] == [("src/main.py", 1, "print('hello')")]
    assert (found.total, found.files) == (1, 2)
    assert [match.line for match in (await any_machine.search("^second", regex=True)).matches] == [2]
    assert (await any_machine.search("^second")).total == 0


@pytest.mark.parametrize("path", ["nothing", "../outside", "/etc/passwd", "src/../../x", "\0"])
async def test_what_is_not_in_the_workspace_cannot_be_looked_at(any_machine: Machine, path: str) -> None:
    for look in (any_machine.read(path), any_machine.list(path), any_machine.search("x", path)):
        with pytest.raises(InputError):
            await look


async def test_a_directory_cannot_be_read_nor_a_file_listed(any_machine: Machine) -> None:
    with pytest.raises(InputError):
        await any_machine.read("src")
    with pytest.raises(InputError):
        await any_machine.list("hello.txt")


async def test_a_bad_pattern_is_the_callers_fault(any_machine: Machine) -> None:
    with pytest.raises(InputError):
        await any_machine.search("(", regex=True)


async def test_commands_asked_for_together_all_run(any_machine: Machine) -> None:
    outputs = await asyncio.gather(*(any_machine.run(f"echo {number}; exit {number}") for number in range(8)))
    assert [(output.text, output.exit_status) for output in outputs] == [(f"{number}\n", number) for number in range(8)]


async def test_the_event_loop_goes_on_while_a_command_runs(any_machine: Machine) -> None:
    await any_machine.run("true")
    running = asyncio.ensure_future(any_machine.run("sleep 0.5"))
    turns = 0
    while not running.done():
        await asyncio.sleep(0.01)
        turns += 1
    assert turns > 10


async def test_a_cancelled_command_is_killed_and_the_next_one_runs(any_machine: Machine) -> None:
    await any_machine.run("true")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await any_machine.run("echo begun > begun; sleep 60; echo late > late")
    assert (await any_machine.run("cat begun; ls late 2>/dev/null; pgrep sleep")).text == "begun\n"
    assert (await any_machine.run("ls late")).exit_status == 2


async def test_closing_twice_is_closing_once_and_then_nothing_works(any_machine: Machine) -> None:
    await any_machine.run("true")
    await any_machine.close()
    await any_machine.close()
    for look in (any_machine.run("true"), any_machine.read("hello.txt"), any_machine.list(), any_machine.search("x")):
        with pytest.raises(MachineError, match="closed"):
            await look


async def test_closing_ends_a_command_that_runs(any_machine: Machine) -> None:
    await any_machine.run("true")
    running = asyncio.ensure_future(any_machine.run("sleep 60"))
    await asyncio.sleep(0.1)
    async with asyncio.timeout(5):
        await any_machine.close()
    with pytest.raises(MachineError):
        await running


async def test_facts_name_the_kind_of_machine(any_machine: Machine) -> None:
    assert isinstance(any_machine.facts["kind"], str)
