"""The system call filter, run by a small interpreter of classic BPF and by the kernel itself."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from adjudge.errors import MachineError
from adjudge.machines import seccomp
from adjudge.machines.local import LocalMachine

X86_64, AARCH64, I386 = 0xC000003E, 0xC00000B7, 0x40000003
ALLOW, KILL = 0x7FFF0000, 0x80000000


def refused(number: int) -> int:
    return 0x00050000 | number


def verdict(program: bytes, arch: int, call: int, *arguments: int) -> int:
    """What the kernel would answer, after `man 2 seccomp` and linux/bpf_common.h."""
    data = struct.pack("IIQ6Q", call, arch, 0, *(arguments + (0,) * 6)[:6])
    steps = list(struct.iter_unpack("HBBI", program))
    at, loaded = 0, 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        if code == 0x20:  # load a word
            (loaded,) = struct.unpack_from("I", data, value)
        elif code == 0x06:  # return
            return int(value)
        else:  # jump if equal, at least, or any bit set
            true = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            at += yes if true else no


@pytest.mark.parametrize(
    ("call", "arguments", "answer"),
    [
        (0, (), ALLOW),  # read
        (59, (), ALLOW),  # execve
        (165, (), refused(errno.EPERM)),  # mount
        (321, (), refused(errno.EPERM)),  # bpf
        (101, (), refused(errno.EPERM)),  # ptrace
        (272, (), refused(errno.EPERM)),  # unshare
        (435, (), refused(errno.ENOSYS)),  # clone3
        (56, (0x11,), ALLOW),  # clone, as fork does
        (56, (0x3D0F00,), ALLOW),  # clone, as a thread is made
        (56, (0x10000011,), refused(errno.EPERM)),  # clone with a new user namespace
        (56, (0x00020011,), refused(errno.EPERM)),  # with a new mount namespace
        (41, (1,), ALLOW),  # socket: AF_UNIX
        (41, (2,), ALLOW),  # AF_INET
        (41, (10,), ALLOW),  # AF_INET6
        (41, (16,), ALLOW),  # AF_NETLINK
        (41, (40,), refused(errno.EAFNOSUPPORT)),  # AF_VSOCK
        (41, (17,), refused(errno.EAFNOSUPPORT)),  # AF_PACKET
        (302, (0,), ALLOW),  # prlimit64 of oneself
        (302, (7,), refused(errno.EPERM)),  # of another
        (16, (0, 0x5412), refused(errno.EPERM)),  # ioctl TIOCSTI
        (16, (0, 0x5401), ALLOW),  # TCGETS
        (0x40000000 + 165, (), KILL),  # mount by its x32 number
    ],
)
def test_calls_are_answered_as_they_should_be(call: int, arguments: tuple[int, ...], answer: int) -> None:
    assert verdict(seccomp.filter_program("x86_64"), X86_64, call, *arguments) == answer


def test_calls_of_another_architecture_kill() -> None:
    assert verdict(seccomp.filter_program("x86_64"), I386, 11) == KILL
    assert verdict(seccomp.filter_program("aarch64"), X86_64, 0) == KILL
    assert verdict(seccomp.filter_program("aarch64"), AARCH64, 40) == refused(errno.EPERM)


HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize("machine", HEADERS)
def test_the_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    if not HEADERS[machine].exists():
        pytest.skip("the kernel's headers (linux-libc-dev) are not installed")
    text = HEADERS[machine].read_text()
    known = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    ours = seccomp._NUMBERS[machine]
    assert {name: number for name, number in ours.items() if known.get(name, number) != number} == {}
    assert len(ours.keys() & known.keys()) > 50


def test_every_denied_call_has_a_number() -> None:
    assert set(seccomp._DENIED) <= set(seccomp._NUMBERS["x86_64"])
    assert set(seccomp._DENIED) - set(seccomp._NUMBERS["aarch64"]) == {"iopl", "ioperm", "modify_ldt"}, "only x86 has these"


def test_an_unknown_processor_is_refused() -> None:
    with pytest.raises(MachineError, match="riscv64"):
        seccomp.filter_program("riscv64")


async def test_ordinary_programs_do_not_notice(machine: LocalMachine) -> None:
    program = (
        "import threading, subprocess, socket; t = threading.Thread(target=print, args=('thread',)); t.start(); t.join(); "
    )
    program += "subprocess.run(['echo', 'child']); a, b = socket.socketpair(); print(socket.if_nameindex())"
    assert (await machine.run(f'python3 -uc "{program}"')).text == "thread\nchild\n[(1, 'lo')]\n"
