"""A machine on which an agent works first: what it finds there, what is seen of its end, and what the evaluator gets."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.machines.agents import ASKS, SERVER, greeting, handed_over, made, work
from tests.machines.conftest import AGENTS, SMALL

from adjudge.errors import InputError, MachineError
from adjudge.machines.live import LiveLocalMachine
from adjudge.machines.order import make_live_order
from adjudge.machines.session import open_session
from adjudge.ports import Launch, LiveMachine
from adjudge.settings import AgentLimits, MachineLimits

Opening = Callable[..., Awaitable[LiveLocalMachine]]
PORT = 47113


# --- the agent's process


async def test_an_agent_works_on_a_copy_and_the_evaluator_sees_what_it_did(live: Opening, tmp_path: Path) -> None:
    machine: LiveMachine = await live()
    worked = await work(machine, tmp_path / "s", "pwd; cat keep.txt; echo changed > keep.txt; mkdir new; echo x > new/x")
    assert worked.out == "/workspace\noriginal\n"
    await handed_over(machine, tmp_path / "copy")
    assert (await machine.read("keep.txt")).data == b"changed\n"
    assert (await machine.run("cat keep.txt new/x")).text == "changed\nx\n"


async def test_its_environment_is_a_users_and_what_it_was_started_with(live: Opening, tmp_path: Path) -> None:
    worked = await work(await live(), tmp_path / "s", "env", {"API_KEY": "k", "TERM": "xterm"})
    assert dict(
        line.split("=", 1) for line in worked.out.splitlines() if not line.startswith(("PWD=", "SHLVL=", "_="))
    ) == {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": "/home/agent",
        "USER": "agent",
        "LANG": "C.UTF-8",
        "TERM": "xterm",
        "API_KEY": "k",
    }


async def test_nothing_inside_tells_what_it_is_for(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    files = "cat /etc/{passwd,group,hosts,nsswitch.conf} /proc/sys/kernel/hostname /proc/mounts"
    processes = "cat /proc/[0-9]*/{environ,cmdline,comm,cgroup,mountinfo,status} /proc/net/unix | tr '\\0' '\\n'"
    names = "find / -path /usr -prune -o -path /proc -prune -o -print; ls -l /proc/[0-9]*/fd /proc/[0-9]*/exe; env"
    listening = await machine.listen(PORT)
    with listening:
        worked = await work(machine, tmp_path / "s", f"{{ {files}; {processes}; {names}; }} 2>&1")
    assert "agent:x:1000:1000::/home/agent:" in worked.out
    assert "/workspace/keep.txt" in worked.out
    assert not [word for word in ("evaluator", "judge", str(tmp_path)) if word in worked.out.lower()]


async def test_its_user_has_a_name_and_a_terminal_can_be_had(live: Opening, tmp_path: Path) -> None:
    asks = "import getpass, os, pty; print(getpass.getuser(), os.uname().nodename, flush=True); pty.spawn(['echo', 'tty'])"
    assert (await work(await live(), tmp_path / "s", f'python3 -c "{asks}"')).out.split() == ["agent", "machine", "tty"]


async def test_files_are_put_into_its_home_for_it_alone(live: Opening, tmp_path: Path) -> None:
    files = {".config/agent/settings.json": b"{}", "key": bytes(range(256))}
    worked = await work(
        await live(), tmp_path / "s", "cd; stat -c %a:%s:%U key .config/agent/settings.json; ls -A", {}, **files
    )
    assert worked.out == "600:256:agent\n600:2:agent\n.config\nkey\n"


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/x", "", "a//b", "./x", "x/", "a\0b"])
async def test_no_file_can_be_put_elsewhere(live: Opening, tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError):
        await (await live()).work(Launch(("/bin/true",), {}, {path: b""}), tmp_path)


async def test_both_streams_are_kept_apart_and_told_as_they_come(live: Opening, tmp_path: Path) -> None:
    heard: list[bytes] = []
    launch = Launch(("/bin/sh", "-c", "echo out; echo problem >&2; printf '\\377'"))
    ended = await (await live()).work(launch, tmp_path, heard.append)
    assert (ended.output, ended.errors) == (5, 8)
    assert (tmp_path / "stdout").read_bytes() == b"out\n\xff"
    assert (tmp_path / "stderr").read_bytes() == b"problem\n"
    assert sorted(b"".join(heard)) == sorted(b"out\nproblem\n\xff")


@pytest.mark.parametrize(("script", "status"), [("true", 0), ("exit 42", 42), ("kill -9 $$", -9), ("kill $$", -15)])
async def test_the_exit_status_is_its_own(live: Opening, tmp_path: Path, script: str, status: int) -> None:
    ended = (await work(await live(), tmp_path / "s", script)).ended
    assert (ended.exit_status, ended.stopped, ended.full, ended.left, ended.processes) == (status, None, False, (), 0)
    assert 0 < ended.seconds < 10


@pytest.mark.parametrize(
    "arguments",
    [
        ("/opt/nothing",),
        ("/etc/passwd",),
        ("/bin/echo", "x" * 200_000),
        ("echo",),
        (),
        ("/bin/echo", "a\0b"),
        ("/bin/echo", "\ud800"),
    ],
    ids=["missing", "no program", "too long", "relative", "none", "NUL", "no Unicode"],
)
async def test_what_cannot_be_started_is_the_callers_fault(
    live: Opening, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    machine = await live()
    (tmp_path / "first").mkdir()
    with pytest.raises(InputError):
        await machine.work(Launch(arguments), tmp_path / "first")
    assert (await work(machine, tmp_path / "second", "echo alive")).out == "alive\n"


@pytest.mark.parametrize("program", ["/workspace/agent.sh", "/workspace/keep.txt"])
async def test_of_a_program_that_is_none_the_path_is_told_once_and_what_it_must_be(
    live: Opening, tmp_path: Path, program: str
) -> None:
    with pytest.raises(InputError) as refused:
        await (await live()).work(Launch((program,)), tmp_path)
    assert str(refused.value).count(program) == 1
    assert "must be an executable file inside" in str(refused.value)


async def test_an_argument_reaches_it_as_it_is(live: Opening, tmp_path: Path) -> None:
    text = "a 'quoted' \"text\"\n$HOME `id` \\ ä€ " + "x" * 100_000
    await (await live()).work(Launch(("/usr/bin/printf", "%s", text)), tmp_path)
    assert (tmp_path / "stdout").read_text() == text


async def test_an_empty_workspace_can_be_had(live: Opening, tmp_path: Path) -> None:
    machine = await live(None)
    assert (await work(machine, tmp_path / "s", "ls -A; echo made > file")).out == ""
    assert [path.name for path in (await handed_over(machine, tmp_path / "copy")).iterdir()] == ["file"]


# --- its network


async def test_its_only_network_is_the_port_that_is_listened_on(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    asks = "for p in {port} {other}; do (exec 3<>/dev/tcp/127.0.0.1/$p && head -n 1 <&3) 2>/dev/null || echo refused; done"
    other = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    script = asks.format(port=PORT, other=other.sockets[0].getsockname()[1])
    async with other, greeting(await machine.listen(PORT)):
        worked = await work(machine, tmp_path / "s", script + "; tail -n +3 /proc/net/dev | grep -vc lo:")
    assert worked.out == "hello\nrefused\n0\n"


async def test_after_the_handing_over_nothing_of_it_is_left(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    keeps = "import socket, time; s = socket.create_connection(('127.0.0.1', 47113)); print(s.recv(6)); "
    keeps += "open('/tmp/end', 'w').write(f'{s.recv(6)}'); time.sleep(60)"
    async with greeting(await machine.listen(PORT)) as told:
        await work(
            machine,
            tmp_path / "s",
            f'(setsid python3 -u -c "{keeps}" > /tmp/begun &); until grep -q hello /tmp/begun; do :; done',
        )
        assert told == ["begun"]
        await handed_over(machine, tmp_path / "copy")
        looks = "until test -s /tmp/end; do sleep 0.05; done; cat /tmp/end; (exec 3<>/dev/tcp/127.0.0.1/47113) 2>&1"
        seen = await machine.run(f"{looks} | grep -c refused")
        assert int(seen.text.removeprefix("b''")) > 0
    assert told == ["begun", "ended"]


async def test_a_port_that_is_taken_is_said_to_be_and_the_machine_goes_on(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    with await machine.listen(PORT), pytest.raises(MachineError, match=f"{PORT}: cannot be listened on"):
        await machine.listen(PORT)
    assert (await work(machine, tmp_path / "s", "echo alive")).out == "alive\n"


# --- its end


async def test_what_it_leaves_running_is_named_and_serves_the_evaluator(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    worked = await work(machine, tmp_path / "s", f"{SERVER}; echo done")
    assert worked.out == "done\n"
    assert (worked.ended.left, worked.ended.processes) == (("python3 -u -m http.server 8077",), 1)
    await handed_over(machine, tmp_path / "copy")
    for _ in range(2):
        assert (await machine.run(ASKS)).text == "original\n"
    assert machine.facts["processes left"] == 1


async def test_a_process_that_hides_its_name_is_counted_all_the_same(live: Opening, tmp_path: Path) -> None:
    hides = "bash -c 'exec -a \"\" sleep 60' & "
    ended = (await work(await live(), tmp_path / "s", f"{hides} sleep 0.3")).ended
    assert (ended.left, ended.processes) == (("60",), 1)


async def test_the_names_of_what_it_leaves_running_are_made_harmless(live: Opening, tmp_path: Path) -> None:
    named = "(exec -a $'\\e[2Jx\\nlimit\\u202e' setsid sleep 60 &); for i in {1..60}; do (sleep 50 &) ; done; sleep 0.3"
    ended = (
        await work(await live(processes=128), tmp_path / "s", f"{named}; (exec -a {'y' * 900} sleep 60 &); sleep 0.3")
    ).ended
    assert ended.processes == 62
    assert len(ended.left) == 50
    assert max(map(len, ended.left)) <= 200
    assert not [line for line in ended.left if not line.isprintable()]


async def test_one_that_takes_too_long_may_end_by_itself_and_its_server_stays(live: Opening, tmp_path: Path) -> None:
    machine = await live(seconds=1.0)
    worked = await work(machine, tmp_path / "s", f"trap 'echo saved > saved; exit 7' TERM; {SERVER}; sleep 60 & wait")
    assert (worked.ended.stopped, worked.ended.exit_status) == ("time", 7)
    assert worked.ended.seconds < 2
    await handed_over(machine, tmp_path / "copy")
    assert (await machine.run(f"cat saved; {ASKS}")).text == "saved\noriginal\n"


async def test_a_cancelled_one_is_killed(live: Opening, tmp_path: Path, processes_with: Callable[[str], list[int]]) -> None:
    machine, number = await live(), f"87654{os.getpid()}"
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await work(machine, tmp_path / "s", f"trap '' TERM; echo begun; sleep {number}; sleep {number}")
    assert (await work(machine, tmp_path / "again", "echo alive; pgrep sleep")).out == "alive\n"
    assert not processes_with(number)
    assert (tmp_path / "s" / "stdout").read_text() == "begun\n"


async def test_closing_ends_an_agent_that_works(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    working = asyncio.ensure_future(work(machine, tmp_path / "s", "sleep 60"))
    await asyncio.sleep(0.3)
    async with asyncio.timeout(5):
        await machine.close()
    with pytest.raises(MachineError):
        await working


# --- what is copied out

SOCKET = "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('rec/socket')\""


async def test_its_record_is_copied_whatever_the_modes(live: Opening, tmp_path: Path) -> None:
    machine, home = await live(), tmp_path / "home"
    script = "cd; mkdir -p rec/sub other; echo 1 > rec/a; echo 2 > rec/sub/b; chmod 0 rec/a; ln -s /etc/shadow rec/link; "
    script += f"mkfifo rec/pipe; {SOCKET}; echo 3 > other/c; chmod 0 rec/sub; echo 4 > -f; chmod 640 -- -f"
    await work(machine, tmp_path / "s", script)
    fetched = await machine.fetch(["rec", "nothing/here", "-f"], made(home))
    assert (fetched.files, fetched.size, fetched.left_out, fetched.cut) == (4, 6, 2, False)
    assert sorted(str(path.relative_to(home)) for path in home.rglob("*")) == [
        "-f",
        "rec",
        "rec/a",
        "rec/link",
        "rec/sub",
        "rec/sub/b",
    ]
    assert ((home / "rec" / "a").read_text(), (home / "rec" / "sub" / "b").read_text()) == ("1\n", "2\n")
    assert os.readlink(home / "rec" / "link") == "/etc/shadow"
    assert stat.S_IMODE((home / "-f").stat().st_mode) == 0o640


@pytest.mark.parametrize("path", ["..", "/etc/passwd", "rec/../../x", "."])
async def test_nothing_else_can_be_asked_for(live: Opening, tmp_path: Path, path: str) -> None:
    with pytest.raises(InputError):
        await (await live()).fetch([path], tmp_path)


async def test_more_than_it_may_hold_is_said_to_be_missing(live: Opening, tmp_path: Path) -> None:
    machine = await live(disk=4 << 20)
    await work(machine, tmp_path / "s", "for i in $(seq 100); do truncate -s 4M f$i; done")
    (tmp_path / "copy").mkdir()
    fetched = await machine.hand_over(tmp_path / "copy")
    assert fetched.cut or fetched.left_out > 0
    assert fetched.size < 16 << 20


# --- the evaluator's turn


async def test_the_order_of_things_is_kept(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    for look in (
        machine.run("true"),
        machine.read("keep.txt"),
        machine.list(),
        machine.search("x"),
        machine.run("true", fresh=True),
    ):
        with pytest.raises(MachineError, match="not been handed over"):
            await look
    await handed_over(machine, tmp_path / "copy")
    for step in (machine.work(Launch(("/bin/true",)), tmp_path), machine.listen(1234), machine.hand_over(tmp_path)):
        with pytest.raises(MachineError, match="no longer the agent's"):
            await step


PREPARES = """
import os, time
end = time.time() + 20
while time.time() < end:
    for home in ("/home/agent", "/mnt/home", "/home/evaluator"):
        try:
            os.makedirs(home, exist_ok=True)
            open(home + "/.gitconfig", "w").write("[user]\\nname = planted\\n")
        except OSError:
            pass
    time.sleep(0.01)
"""


async def test_the_evaluators_home_is_nothing_that_the_agent_could_prepare(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    await work(
        machine,
        tmp_path / "s",
        f"cat > /tmp/p.py <<'E'\n{PREPARES}\nE\n(setsid python3 /tmp/p.py &)",
    )
    await handed_over(machine, tmp_path / "copy")
    planted = "for n in $(seq 100); do grep planted /home/agent/.gitconfig && break; sleep 0.1; done"
    output = await machine.run(f"echo mine > ~/kept; {planted}; git config user.name; ls -A ~")
    assert output.text == "name = planted\nkept\n"
    assert (await machine.run("cat ~/kept; ls -A ~; echo $USER")).text == "mine\nkept\nagent\n"


async def test_no_later_command_can_read_the_agents_secrets(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    await work(machine, tmp_path / "s", "(setsid sleep 60 &); sleep 0.2", {"TOKEN": "sk-canary-4711"})
    await handed_over(machine, tmp_path / "copy")
    output = await machine.run("cat /proc/*/cmdline | tr '\\0' ' '; cat /proc/*/environ 2>/dev/null | grep -ac canary", 5)
    assert "sleep 60" in output.text
    assert output.text.endswith("0\n")
    assert "canary" not in (await machine.run("env; set", fresh=True)).text


LEAVES = "echo changed > keep.txt; echo x > ~/x; (setsid sleep 60 &); sleep 0.1"
LOOKS = "cat keep.txt; pgrep sleep; echo $USER ~; ls -A ~; echo x > keep.txt"


async def test_a_fresh_run_works_on_the_files_without_the_processes(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    await work(machine, tmp_path / "s", LEAVES)
    await handed_over(machine, tmp_path / "copy")
    assert (await machine.run(LOOKS, fresh=True)).text == "changed\nagent /home/agent\n"
    assert (await machine.run("pgrep -c sleep; cat keep.txt")).text == "1\nchanged\n"


async def test_a_grader_works_on_the_files_and_what_it_brings_is_seen_by_nobody_else(live: Opening, tmp_path: Path) -> None:
    (made(tmp_path / "grader") / "check.sh").write_text(f"{LOOKS}; touch /grader/x; exit 3\n")
    machine = await live()
    worked = await work(machine, tmp_path / "s", f"ls /grader; {LEAVES}")
    assert "No such file" in worked.errors
    await handed_over(machine, tmp_path / "copy")
    output = await machine.grade("sh /grader/check.sh 2>/dev/null", 30.0, tmp_path / "grader")
    assert (output.text, output.exit_status) == ("changed\nagent /home/agent\n", 3)
    for fresh in (False, True):
        assert (await machine.run("ls /grader; cat keep.txt", fresh=fresh)).text.splitlines()[1:] == ["changed"]
    assert (await machine.grade("cat keep.txt; ls -d /grader; sleep 9", 0.5)).ended == "time"
    with pytest.raises(InputError, match="nothing is not there"):
        await machine.grade("true", 1.0, tmp_path / "nothing")


async def test_closing_ends_a_grader_that_works(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    await handed_over(machine, tmp_path / "copy")
    grading = asyncio.ensure_future(machine.grade("sleep 60", 100.0))
    await asyncio.sleep(1.0)
    async with asyncio.timeout(5):
        await machine.close()
    with pytest.raises(MachineError):
        await grading


async def test_facts_tell_what_kind_of_machine_it_was(live: Opening, tmp_path: Path) -> None:
    machine = await live()
    await work(machine, tmp_path / "s", "echo > conftest.py; sleep 60 & sleep 60 &")
    await handed_over(machine, tmp_path / "copy")
    expected = {"kind": "local", "at": "/workspace", "live": True, "hooks complete": True, "processes left": 2}
    assert machine.hooks[0].path == "conftest.py"
    assert expected.items() <= machine.facts.items()
    assert machine.facts["fresh sandbox per command"] is False


async def test_a_folder_that_is_none_is_the_callers_fault(sandboxed: None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be a folder"):
        await LiveLocalMachine.open(tmp_path / "nothing", AgentLimits(), MachineLimits())
    with pytest.raises(InputError, match="expose"):
        await LiveLocalMachine.open(tmp_path, AgentLimits(), MachineLimits(), expose=["relative"])


async def test_an_older_landlock_still_keeps_the_agents_processes_from_looking_into_others(
    sandboxed: None, scene: Any, tmp_path: Path
) -> None:
    order = msgspec.structs.replace(make_live_order(scene.workspace, AGENTS, SMALL, (), "overlay"), landlock=5)
    if not make_live_order(scene.workspace, AGENTS, SMALL, (), "overlay").landlock:
        pytest.skip("this kernel has no Landlock")
    machine = LiveLocalMachine(await open_session(order, SMALL.output), order, AGENTS, SMALL)
    try:
        await work(
            machine,
            tmp_path / "s",
            "mv sub/x moved; ln moved sub/again; (setsid sleep 60 &); sleep 0.1",
            {"KEY": "sk-canary"},
        )
        await handed_over(machine, tmp_path / "copy")
        output = await machine.run("cat moved sub/again; cat /proc/*/environ 2>/dev/null | grep -ac canary")
        assert output.text == "1\n1\n0\n"
    finally:
        await machine.close()
