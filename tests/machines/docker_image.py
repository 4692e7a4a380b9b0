"""A small root file system out of this computer's own files, for an image that needs no network."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

_PROGRAMS = (  # noqa: SIM905  a list of words
    "bash sh ls cat cp mv rm mkdir rmdir ln chmod chown touch truncate dd df du head tail wc sort uniq cut tr tee seq "
    "sleep true false echo printf pwd env id whoami date stat readlink realpath dirname basename mktemp mkfifo mknod "
    "kill timeout nohup yes test expr sync uname od sha256sum md5sum ps pgrep pkill grep sed awk mawk gawk find xargs "
    "diff cmp tar gzip setsid unshare nsenter mount prlimit git python3 nproc hostname which tac paste comm tty "
).split()
_STDLIB_LEFT_OUT = {"test", "idlelib", "tkinter", "ensurepip", "lib2to3", "pydoc_data", "dist-packages", "__pycache__"}
_TOP = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ACCOUNTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


def write_root(stream: io.BufferedIOBase) -> None:
    """Write the file system as a tar stream."""
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT) as tar:
        for name in ("dev", "proc", "sys", "etc", "root", "home", "tmp", "usr", "usr/bin", "workspace"):
            _folder(tar, name, 0o1777 if name == "tmp" else 0o755)
        for name in _TOP:
            if os.path.islink(f"/{name}"):
                link = tarfile.TarInfo(name)
                link.type, link.linkname = tarfile.SYMTYPE, os.readlink(f"/{name}")
                tar.addfile(link)
        for name, text in _ACCOUNTS.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
        for place in sorted({_place(path) for path in _files()}):
            _file(tar, place)


def _folder(tar: tarfile.TarFile, name: str, mode: int) -> None:
    info = tarfile.TarInfo(name)
    info.type, info.mode = tarfile.DIRTYPE, mode
    tar.addfile(info)


def _place(path: str) -> Path:
    """The very name by which a file is looked for, but with its folder's links resolved."""
    return Path(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def _file(tar: tarfile.TarFile, place: Path) -> None:
    info = tarfile.TarInfo(str(place).lstrip("/"))
    facts = place.stat()
    info.size, info.mode, info.mtime = facts.st_size, facts.st_mode & 0o755, int(facts.st_mtime)
    with place.open("rb") as file:
        tar.addfile(info, file)


def _files() -> set[str]:
    programs = {path for name in _PROGRAMS if (path := shutil.which(name, path="/usr/bin:/bin:/usr/sbin:/sbin"))}
    modules = set(_standard_library())
    linked = {path for path in modules if path.endswith(".so")} | programs
    linked |= {os.path.realpath(path) for name in ("node",) if (path := shutil.which(name))}
    libraries = _libraries(linked)
    beside = {os.path.join(os.path.dirname(path), "librt.so.1") for path in libraries}  # which Claude Code still names
    return programs | modules | libraries | {path for path in beside if os.path.exists(path)}


def _standard_library() -> Iterator[str]:
    asked = [
        shutil.which("python3", path="/usr/bin:/bin") or "python3",
        "-Ic",
        "import sysconfig; print(sysconfig.get_path('stdlib'))",
    ]
    top = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in _STDLIB_LEFT_OUT and not name.startswith("config-")]
        yield from (f"{folder}/{name}" for name in names if os.path.isfile(f"{folder}/{name}"))


def _libraries(programs: set[str]) -> set[str]:
    """The shared libraries that programs are linked with; scripts and static programs have none."""
    done = subprocess.run(["ldd", *sorted(programs)], capture_output=True, text=True, check=False)
    return {path for path in re.findall(r"(/\S+) \(0x", done.stdout) if os.path.exists(path)}
