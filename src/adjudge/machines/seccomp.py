"""The system call filter of the sandbox: what no command needs and what has let others out, as a BPF program.

Numbers are from the kernel's tables (arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h). Those
for aarch64 follow the same rules and are untested.
"""

from __future__ import annotations

import platform
import struct

import msgspec

from adjudge.errors import MachineError

# System calls that fail with EPERM: keys, bpf, perf, userfaultfd, io_uring, mounts and namespaces, modules, kexec,
# handles, swap, clocks, tracing and other processes' memory, the kernel log, quotas.
_DENIED = (  # noqa: SIM905  a list of words
    "add_key request_key keyctl bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register "
    "mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr unshare setns "
    "init_module delete_module finit_module kexec_load kexec_file_load name_to_handle_at open_by_handle_at swapon swapoff "
    "reboot acct settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname ptrace process_vm_readv "
    "process_vm_writev kcmp pidfd_getfd process_madvise move_pages migrate_pages syslog quotactl quotactl_fd fanotify_init "
    "lookup_dcookie iopl ioperm modify_ldt vhangup"
).split()

_X86_64 = {
    "clone": 56, "clone3": 435, "prlimit64": 302, "ioctl": 16, "socket": 41, "socketpair": 53,
    "add_key": 248, "request_key": 249, "keyctl": 250, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "mount": 165, "umount2": 166,
    "pivot_root": 155, "chroot": 161, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432,
    "fspick": 433, "mount_setattr": 442, "unshare": 272, "setns": 308, "init_module": 175, "delete_module": 176,
    "finit_module": 313, "kexec_load": 246, "kexec_file_load": 320, "name_to_handle_at": 303, "open_by_handle_at": 304,
    "swapon": 167, "swapoff": 168, "reboot": 169, "acct": 163, "settimeofday": 164, "clock_settime": 227, "adjtimex": 159,
    "clock_adjtime": 305, "sethostname": 170, "setdomainname": 171, "ptrace": 101, "process_vm_readv": 310,
    "process_vm_writev": 311, "kcmp": 312, "pidfd_getfd": 438, "process_madvise": 440, "move_pages": 279,
    "migrate_pages": 256, "syslog": 103, "quotactl": 179, "quotactl_fd": 443, "fanotify_init": 300, "lookup_dcookie": 212,
    "iopl": 172, "ioperm": 173, "modify_ldt": 154, "vhangup": 153,
}  # fmt: skip

_AARCH64 = {
    "clone": 220, "clone3": 435, "prlimit64": 261, "ioctl": 29, "socket": 198, "socketpair": 199,
    "add_key": 217, "request_key": 218, "keyctl": 219, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282,
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "mount": 40, "umount2": 39, "pivot_root": 41,
    "chroot": 51, "open_tree": 428, "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "mount_setattr": 442, "unshare": 97, "setns": 268, "init_module": 105, "delete_module": 106, "finit_module": 273,
    "kexec_load": 104, "kexec_file_load": 294, "name_to_handle_at": 264, "open_by_handle_at": 265, "swapon": 224,
    "swapoff": 225, "reboot": 142, "acct": 89, "settimeofday": 170, "clock_settime": 112, "adjtimex": 171,
    "clock_adjtime": 266, "sethostname": 161, "setdomainname": 162, "ptrace": 117, "process_vm_readv": 270,
    "process_vm_writev": 271, "kcmp": 272, "pidfd_getfd": 438, "process_madvise": 440, "move_pages": 239,
    "migrate_pages": 238, "syslog": 116, "quotactl": 60, "quotactl_fd": 443, "fanotify_init": 262, "lookup_dcookie": 18,
    "vhangup": 58,
}  # fmt: skip

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_NUMBERS = {"x86_64": _X86_64, "aarch64": _AARCH64}

_NEW_NAMESPACES = 0x7E020000
_UNIX, _INET, _NETLINK, _INET6 = 1, 2, 16, 10
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCH, _FIRST, _SECOND = 0, 4, 16, 24
_ALLOW, _KILL, _EPERM, _ENOSYS, _EAFNOSUPPORT = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026, 0x00050061


class Instruction(msgspec.Struct, frozen=True):
    """One instruction of classic BPF: on a true test skip `yes` instructions, on a false one `no`."""

    code: int
    value: int
    yes: int = 0
    no: int = 0


def filter_program(machine: str | None = None) -> bytes:
    """The filter for this processor, as an array of `struct sock_filter`.

    A system call of another architecture kills the process; new namespaces, input pushed into a terminal, limits of other
    processes and address families beyond UNIX, IPv4, IPv6 and netlink are refused. AF_VSOCK above all: it reaches a
    virtual machine's host, whatever the network namespace.

    Raises:
        MachineError: there are no numbers for this processor.
    """
    name = machine or platform.machine()
    if name not in _NUMBERS:
        raise MachineError(
            f"commands cannot be run: no system call filter is known for {name}, only for x86_64 and aarch64"
        )
    numbers = _NUMBERS[name]
    program = [Instruction(_LOAD, _ARCH), *_unless(_EQUAL, _AUDIT_ARCH[name], _KILL), Instruction(_LOAD, _NUMBER)]
    if name == "x86_64":
        program += _when(_AT_LEAST, 0x40000000, _KILL)  # x32: the same calls by other numbers
    for call in _DENIED:
        if call in numbers:
            program += _when(_EQUAL, numbers[call], _EPERM)
    program += _when(_EQUAL, numbers["clone3"], _ENOSYS)  # its flags lie in memory; libraries fall back to clone
    program += _checked(numbers["clone"], _FIRST, _when(_ANY_BIT, _NEW_NAMESPACES, _EPERM))
    program += _checked(numbers["prlimit64"], _FIRST, _unless(_EQUAL, 0, _EPERM))
    program += _checked(numbers["ioctl"], _SECOND, _when(_EQUAL, _TIOCSTI, _EPERM) + _when(_EQUAL, _TIOCLINUX, _EPERM))
    for call in ("socket", "socketpair"):
        program += _checked(numbers[call], _FIRST, _among((_UNIX, _INET, _INET6, _NETLINK), _EAFNOSUPPORT))
    program.append(Instruction(_RETURN, _ALLOW))
    return b"".join(struct.pack("HBBI", step.code, step.yes, step.no, step.value) for step in program)


def _when(test: int, value: int, answer: int) -> list[Instruction]:
    return [Instruction(test, value, yes=0, no=1), Instruction(_RETURN, answer)]


def _unless(test: int, value: int, answer: int) -> list[Instruction]:
    return [Instruction(test, value, yes=1, no=0), Instruction(_RETURN, answer)]


def _among(values: tuple[int, ...], answer: int) -> list[Instruction]:
    """Go on if the loaded word is one of the values."""
    tests = [Instruction(_EQUAL, value, yes=len(values) - at, no=0) for at, value in enumerate(values)]
    return [*tests, Instruction(_RETURN, answer)]


def _checked(number: int, argument: int, tests: list[Instruction]) -> list[Instruction]:
    """Test the low word of an argument of one system call, then load the call's number again."""
    inner = [Instruction(_LOAD, argument), *tests, Instruction(_LOAD, _NUMBER)]
    return [Instruction(_EQUAL, number, yes=0, no=len(inner)), *inner]
