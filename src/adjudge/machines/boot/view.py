"""The file systems: a bounded one of our own, and in it the copy-on-write view of the workspace."""

from __future__ import annotations

import os
import struct
from types import SimpleNamespace

from adjudge.machines.boot.kernel import (
    BASE,
    BIND,
    MOUNT_SETATTR,
    MOVE_MOUNT,
    NEWNS,
    NEWUSER,
    NODEV,
    NOSUID,
    OPEN_TREE,
    PRIVATE,
    REC,
    ROOM,
    check,
    libc,
    mount,
    write,
)

LITTLE = 64 << 10  # bytes


def furnish(order: SimpleNamespace) -> None:
    """Cover `ROOM`, and put there the view of the workspace and what else bubblewrap shall bind."""
    overlaid = order.workspace is not None and order.view == "overlay"
    idmap = _idmap_namespace(order.workspace) if order.privileged and overlaid else None
    _enter_own_mounts(order)
    workspace = None if order.workspace is None else os.open(order.workspace, os.O_PATH | os.O_DIRECTORY)
    exposed = [os.open(path, os.O_PATH) for path in order.exposed]  # the cover may hide them
    mount("tmpfs", ROOM, "tmpfs", NOSUID | NODEV, f"size={order.disk},nr_inodes={order.files},mode=711")
    for name, mode in (("view", 0o755), ("temporary", 0o1777), ("shm", 0o1777), ("home", 0o755), ("etc", 0o755)):
        _directory(f"{ROOM}/{name}", mode, order)
    if order.home_size:
        _home(order)
    for number, fd in enumerate(exposed):
        _bind(fd, f"{ROOM}/x{number}")
    for name, text in vars(order.etc).items():
        write(f"{ROOM}/etc/{name}", text)
    if workspace is not None and overlaid:
        _overlay(workspace, idmap, order)
    elif workspace is not None:
        _copy(workspace, order)


def _enter_own_mounts(order: SimpleNamespace) -> None:
    """A mount namespace of our own: no mount ever shows on the host, and all of them vanish with the last process."""
    check(libc.unshare(NEWNS | (0 if order.privileged else NEWUSER)), "no user namespace can be made")
    if not order.privileged:
        write("/proc/self/setgroups", "deny")
        write("/proc/self/uid_map", f"0 {order.uid} 1")
        write("/proc/self/gid_map", f"0 {order.gid} 1")
    mount("none", "/", None, REC | PRIVATE)


def _directory(path: str, mode: int, order: SimpleNamespace) -> None:
    os.mkdir(path)
    os.chmod(path, mode)
    if order.privileged:
        os.chown(path, BASE, BASE)


def _home(order: SimpleNamespace) -> None:
    """The home on a file system of its own: who fills the workspace's disk still has room to write down that he did."""
    size = f"size={order.home_size},nr_inodes={order.files},mode=755"
    mount("tmpfs", f"{ROOM}/home", "tmpfs", NOSUID | NODEV, size)
    if order.privileged:
        os.chown(f"{ROOM}/home", BASE, BASE)


def own_home(place: str, size: int) -> int:
    """A mount namespace like the one that this process is in, with an empty file system at `place` besides.

    The process must be inside. What runs there already stays in the old namespace, so that it can neither prepare what
    programs read from their home nor change it later.
    """
    check(libc.unshare(NEWNS), "no mount namespace can be made")
    mount("none", "/", None, REC | PRIVATE)
    mount("tmpfs", place, "tmpfs", NOSUID | NODEV, f"size={size},mode=700")
    return os.open("/proc/self/ns/mnt", os.O_RDONLY)


def room_left() -> bool:
    """Whether the file system of the workspace's changes has room for a little more."""
    facts = os.statvfs(ROOM)
    return facts.f_bavail * facts.f_frsize >= LITTLE and facts.f_favail > 0


def _bind(fd: int, target: str) -> None:
    if os.path.isdir(f"/proc/self/fd/{fd}"):
        os.mkdir(target)
    else:
        write(target, "")
    mount(f"/proc/self/fd/{fd}", target, None, BIND | REC)


def _overlay(workspace: int, idmap: int | None, order: SimpleNamespace) -> None:
    """Copy-on-write over the workspace. The upper directory gives the root of the view its mode and times.

    Nothing may change the workspace while this stands: what overlayfs shows then is undefined.
    """
    lower, options = f"/proc/self/fd/{workspace}", "userxattr"
    _directory(f"{ROOM}/upper", 0o755, order)
    os.mkdir(f"{ROOM}/work")
    if idmap is not None:
        os.mkdir(f"{ROOM}/lower")
        _bind_idmapped(workspace, f"{ROOM}/lower", idmap)
        lower, options = f"{ROOM}/lower", "redirect_dir=on,metacopy=off,index=off"
    facts = os.fstat(workspace)
    os.chmod(f"{ROOM}/upper", facts.st_mode & 0o7777)
    os.utime(f"{ROOM}/upper", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    places = f"lowerdir={lower},upperdir={ROOM}/upper,workdir={ROOM}/work"
    mount("overlay", f"{ROOM}/view", "overlay", NOSUID | NODEV, f"{places},{options}")


def _copy(workspace: int, order: SimpleNamespace) -> None:
    """The workspace copied, for a kernel or file system without a usable overlay; it must fit into the disk limit."""
    os.set_inheritable(workspace, True)
    pid = os.posix_spawn("/bin/cp", ["cp", "-a", f"/proc/self/fd/{workspace}/.", f"{ROOM}/view"], {})
    if os.waitpid(pid, 0)[1]:
        raise OSError("copying the workspace failed")
    if order.privileged:
        for directory, folders, files in os.walk(f"{ROOM}/view"):
            for name in (".", *folders, *files):
                os.lchown(f"{directory}/{name}", BASE, BASE)


def _idmap_namespace(workspace: str) -> int:
    """A user namespace that shows the workspace's owner as `BASE` and other ids behind it, for the lower mount alone.

    Without it the sandbox would need the host's root user to read what root owns, and as the host's root a process can
    write to /proc/sys, whatever namespaces it is in.
    """
    owner = os.stat(workspace)
    (made, made_to), (done, done_to) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(done_to)
        if libc.unshare(NEWUSER) == 0:
            os.write(made_to, b"1")
            os.read(done, 1)
        os._exit(0)
    os.close(made_to)
    try:
        if os.read(made, 1) != b"1":
            raise OSError("no user namespace can be made, not even by root")
        write(f"/proc/{pid}/uid_map", id_map(owner.st_uid))
        write(f"/proc/{pid}/gid_map", id_map(owner.st_gid))
        return os.open(f"/proc/{pid}/ns/user", os.O_RDONLY)
    finally:
        for fd in (made, done, done_to):
            os.close(fd)
        os.waitpid(pid, 0)


def id_map(owner: int) -> str:
    """Lines for uid_map: the owner becomes `BASE`, the ids 0 to 65535 around it follow, 65,536 in all."""
    before = min(owner, 65535)
    lines = [f"{owner} {BASE} 1"]
    if before:
        lines.append(f"0 {BASE + 1} {before}")
    if before < 65535:
        lines.append(f"{owner + 1} {BASE + 1 + before} {65535 - before}")
    return "\n".join(lines)


def _bind_idmapped(source: int, target: str, idmap: int) -> None:
    clone, empty_path, cloexec = 0x1, 0x1000, 0o2000000
    tree = check(libc.syscall(OPEN_TREE, source, b"", clone | empty_path | cloexec), "open_tree")
    attributes = struct.pack("QQQQ", 0x100000 | 0x1 | 0x2 | 0x4, 0, 0, idmap)  # IDMAP, RDONLY, NOSUID, NODEV
    done = libc.syscall(MOUNT_SETATTR, tree, b"", empty_path, attributes, len(attributes))
    check(done, "the workspace's file system has no id-mapped mounts")
    check(libc.syscall(MOVE_MOUNT, tree, b"", -100, target.encode(), 0x4), "move_mount")
    os.close(tree)
