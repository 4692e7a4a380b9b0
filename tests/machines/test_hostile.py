"""Commands that would be dangerous anywhere else: each is contained, and the original stays as it was.

What is expected stands beside each command; none of it is learnt from the code under test.
"""

from __future__ import annotations

import contextlib
import http.server
import os
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from adjudge.machines.local import LocalMachine
from adjudge.ports import Output
from adjudge.settings import MachineLimits

pytestmark = [pytest.mark.hostile, pytest.mark.usefixtures("watched")]

PYTHON = "/usr/bin/python3 -c "
SMALL = MachineLimits(seconds=10.0, memory=256 << 20, processes=64, output=256 << 10, disk=128 << 20, files=20_000)


class Attack(msgspec.Struct, frozen=True):
    """A command and what must hold of its output. `{port}`, `{socket}`, `{abstract}`, `{outside}` are the host's."""

    name: str
    command: str
    fails: Callable[[Output], bool]
    limits: dict[str, Any] = {}


def within(seconds: float) -> Callable[[Output], bool]:
    return lambda output: output.seconds < seconds


def stopped(reason: str, seconds: float) -> Callable[[Output], bool]:
    return lambda output: output.ended == reason and output.seconds < seconds


def prints(text: str) -> Callable[[Output], bool]:
    return lambda output: output.text.strip() == text


def never(*words: str) -> Callable[[Output], bool]:
    return lambda output: not any(word in output.text for word in words)


def last_number(most: int) -> Callable[[Output], bool]:
    return lambda output: int((output.text.split() or ["0"])[-1]) <= most


ATTACKS = [
    Attack("fork bomb", ":(){ :|:& };:; sleep 2", stopped("processes", 3)),
    Attack(
        "fork bomb in Python",
        PYTHON + "'import os\nwhile 1:\n  try: os.fork()\n  except OSError: pass'",
        stopped("processes", 3),
    ),
    Attack("rm -rf of the workspace", "rm -rf /workspace/* /workspace/.[a-z]*; ls -A /workspace | wc -l", prints("0")),
    Attack("rm -rf of everything", "rm -rf --no-preserve-root / 2>/dev/null; echo done", within(5), {"seconds": 3}),
    Attack(
        "content, mode, time and size",
        "echo pwn > keep.txt; chmod 777 sub; touch -d 2000-01-01 sub/x; truncate -s 1M sub/x; cat keep.txt",
        prints("pwn"),
    ),
    Attack("a directory replaced", "rm -rf sub && mkdir sub && ls -A sub | wc -l", prints("0")),
    Attack(
        "writing outside of the workspace",
        "for p in /usr/x /etc/x /x /dev/x /proc/x /etc/passwd; do (echo a > $p) 2>/dev/null && echo WROTE $p; done",
        never("WROTE"),
    ),
    Attack("writing to a path of the host", "mkdir -p $(dirname {outside}); echo a > {outside}", within(10)),
    Attack("a hard link to an outside file", "echo pwn >> hard; tail -n 1 hard", prints("pwn")),
    Attack(
        "the host's loopback",
        "(exec 3<>/dev/tcp/127.0.0.1/{port}) 2>/dev/null && echo CONNECTED; "
        + PYTHON
        + '\'import socket; socket.create_connection(("127.0.0.1", {port}), 2); print("CONNECTED")\' 2>&1',
        never("CONNECTED"),
    ),
    Attack(
        "interfaces and routes",
        "tail -n +3 /proc/net/dev | grep -vc lo:; tail -n +2 /proc/net/route | wc -l",
        lambda output: output.text.split() == ["0", "0"],
    ),
    Attack(
        "public, metadata and name servers",
        PYTHON + '\'import socket\nfor a in ("1.1.1.1", "169.254.169.254", "192.0.2.1"):\n'
        '  for port in (53, 80, 443):\n    try: socket.create_connection((a, port), 2); print("CONNECTED")\n'
        '    except OSError as e: print(e)\ntry: print("CONNECTED", socket.getaddrinfo("example.com", 80))\n'
        "except OSError as e: print(e)'",
        never("CONNECTED"),
    ),
    Attack(
        "sockets of the host, by path and abstract",
        PYTHON + '\'import socket\nfor a in ("\\0{abstract}", "{socket}", "/run/docker.sock", "/var/run/docker.sock"):\n'
        '  try: socket.socket(socket.AF_UNIX).connect(a); print("CONNECTED", a)\n  except OSError as e: print(e)\'',
        never("CONNECTED"),
    ),
    Attack(
        "sockets to the host of a virtual machine, raw packets, kernel crypto",
        PYTHON + "'import socket\nfor family, kind in ((40, 1), (17, 3), (38, 5), (31, 3)):\n"
        '  try: socket.socket(family, kind); print("OPENED", family)\n  except OSError as e: print(e.errno)\'',
        prints("97\n97\n97\n97"),
    ),
    Attack("accounts and keys", "cat /etc/shadow /root/.bashrc /root/.ssh/* /home/*/.ssh/* 2>/dev/null", prints("")),
    Attack(
        "links out of the workspace",
        "cat to_shadow to_outside to_root/etc/shadow {outside} 2>/dev/null; ls to_root/root 2>/dev/null",
        prints(""),
    ),
    Attack(
        "secrets in environments",
        "env; cat /proc/*/environ /proc/self/task/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n'",
        never("CANARY", "{outside}", "adjudge"),
    ),
    Attack("other processes", "ls /proc | grep -cE '^[0-9]+$'", last_number(5)),
    Attack(
        "a memory hog",
        PYTHON + "'x=[]\nwhile 1: x.append(bytearray(8<<20))'",
        lambda output: output.exit_status != 0 and output.ended != "time" and output.seconds < 8,
        {"memory": 128 << 20},
    ),
    Attack(
        "memory as files",
        "for f in /dev/shm/x /tmp/x ~/x; do dd if=/dev/zero of=$f bs=1M count=4000 2>/dev/null; done; "
        "du -cm /dev/shm /tmp ~ | tail -1 | cut -f1",
        last_number(129),
    ),
    Attack(
        "a disk hog",
        "for i in $(seq 40); do dd if=/dev/zero of=f$i bs=1M count=50 2>/dev/null; done; du -sm /workspace | cut -f1",
        last_number(131),
    ),
    Attack(
        "an inode hog",
        "i=0; while :; do : > n$i 2>/dev/null || break; i=$((i+1)); done; echo $i",
        last_number(3_000),
        {"files": 3_000},
    ),
    Attack(
        "output without end",
        "yes AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        lambda output: len(output.text) < (256 << 10) + 100 and output.ended == "output" and output.cut,
    ),
    Attack("a spinning processor", "while :; do :; done", stopped("time", 3), {"seconds": 0.5}),
    Attack(
        "ignoring signals", "trap '' TERM INT HUP QUIT; while :; do sleep 1; done", stopped("time", 3), {"seconds": 0.5}
    ),
    Attack(
        "a daemon that holds the output", "(setsid sleep 300 &); echo bye", lambda o: prints("bye")(o) and o.seconds < 2
    ),
    Attack(
        "a set-uid program",
        "./suid_bash -p -c 'id -u'; (su root -c id; mount -t tmpfs x /mnt; sudo id) 2>&1 | grep uid=0",
        prints("1000"),
    ),
    Attack(
        "new namespaces and mounts",
        "unshare -Ur id 2>&1; unshare -m true 2>&1; mount -t tmpfs none /tmp 2>&1; nsenter -t 1 -m id 2>&1; "
        + PYTHON
        + "'import ctypes; l = ctypes.CDLL(None); print(\"CLONED\", l.syscall(56, 0x10000011, 0, 0, 0, 0) >= 0)'",
        never("uid=0", "CLONED True"),
    ),
    Attack(
        "settings of the kernel",
        "for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/vm/drop_caches /proc/sysrq-trigger "
        "/proc/sys/fs/binfmt_misc/register /sys/kernel/uevent_helper; do (exec 3>>$f) 2>/dev/null && echo OPENED $f; done",
        prints(""),
    ),
    Attack(
        "devices",
        "mknod b b 8 0 2>&1; mknod c c 1 1 2>&1; ls b c /dev/vda /dev/mem /dev/kmsg /dev/kvm /dev/fuse 2>/dev/null",
        lambda output: "/dev/" not in output.text and not {"b", "c"} & set(output.text.split()),
    ),
    Attack(
        "keys pushed into a terminal",
        PYTHON + "'import fcntl, os\nfor request in (0x5412, 0x541C):\n"
        '  try: fcntl.ioctl(os.open("/dev/tty", 2), request, b"x"); print("PUSHED")\n  except OSError as e: print(e)\'',
        never("PUSHED"),
    ),
    Attack(
        "keyrings, bpf, io_uring, userfaultfd, perf",
        PYTHON + "'import ctypes; l = ctypes.CDLL(None, use_errno=True)\n"
        "for n in (248, 249, 250, 321, 425, 323, 298): print(l.syscall(n, 0, 0, 0), ctypes.get_errno())'",
        prints("\n".join(["-1 1"] * 7)),
    ),
    Attack("inherited descriptors", "ls /proc/self/fd", prints("0\n1\n2\n3")),  # 3 is the folder that ls reads
    Attack(
        "a sparse terabyte",
        "truncate -s 1T big 2>&1; stat -c %s big 2>/dev/null | grep -c 1099511627776",
        lambda output: output.text.split()[-1] == "0",
    ),
    Attack(
        "a zip bomb",
        PYTHON + '\'import zlib\nc = zlib.compress(bytes(50 << 20), 9)\nf = open("/workspace/z", "wb")\n'
        "for i in range(40): f.write(zlib.decompress(c))' 2>/dev/null",
        lambda output: output.exit_status != 0,
    ),
    Attack(
        "limits of another process",
        "sleep 5 & "
        + PYTHON
        + "'import resource, sys\ntry: resource.prlimit(int(sys.argv[1]), resource.RLIMIT_CPU, (1, 1)); "
        'print("CHANGED")\nexcept PermissionError: print("refused")\' $!',
        prints("refused"),
    ),
]


class Host(msgspec.Struct, frozen=True):
    """What of the host a command might reach: a port, sockets; and who came."""

    port: int
    socket: str
    abstract: str
    visitors: list[str]


@pytest.fixture
def host() -> Iterator[Host]:
    """A server on the host's loopback and two UNIX sockets."""
    visitors: list[str] = []

    class Visited(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            visitors.append(self.path)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp"))  # a socket's path has 107 bytes at most
        path, abstract = f"{folder}/s", f"adjudge-test-{os.getpid()}"
        for name in (path, "\0" + abstract):
            listening = stack.enter_context(socket.socket(socket.AF_UNIX))
            listening.bind(name)
            listening.listen()
        server = stack.enter_context(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Visited))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        stack.callback(thread.join)
        stack.callback(server.shutdown)
        yield Host(server.server_port, path, abstract, visitors)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret in the judge's environment."""
    monkeypatch.setenv("JUDGE_API_KEY", "sk-CANARY-123")


@pytest.mark.parametrize("opened", ["local", "live"], indirect=True)
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
async def test_it_is_contained(attack: Attack, opened: Callable[..., LocalMachine], scene: Any, host: Host) -> None:
    machine = opened(msgspec.structs.replace(SMALL, **attack.limits))
    command = attack.command
    for name, value in (
        ("port", host.port),
        ("socket", host.socket),
        ("abstract", host.abstract),
        ("outside", scene.outside),
    ):
        command = command.replace(f"{{{name}}}", str(value))
    output = await machine.run(command)
    assert attack.fails(output), output
    assert not host.visitors
    assert (await machine.read("keep.txt")).data == b"original\n"
    again = await machine.run("echo alive")
    assert again.text == "alive\n", again


@pytest.mark.parametrize("opened", ["local", "live"], indirect=True)
async def test_a_daemon_does_not_outlive_the_machine(
    machine: LocalMachine, processes_with: Callable[[str], list[int]]
) -> None:
    word = f"canary-daemon-{os.getpid()}"
    await machine.run(
        PYTHON + "'import os\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n"
        f'    os.execv("/bin/sleep", ["{word}", "444"])\''
    )
    assert processes_with(word)
    await machine.close()
    assert not processes_with(word)
