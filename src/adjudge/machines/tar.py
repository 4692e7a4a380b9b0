"""Reading a tar stream of others block by block: no header can make it read much, recurse, or look twice.

The standard library parses single header blocks here, but not the stream: it takes extended headers of any length into
memory, follows them by recursion, and loads maps of sparse files without a bound.

Source of the format: POSIX.1-2017, `pax`, "ustar Interchange Format" and "pax Extended Header"; GNU's types L and K.
"""

from __future__ import annotations

import contextlib
import tarfile
from collections.abc import Iterator
from typing import IO

_BLOCK = tarfile.BLOCKSIZE
_LARGEST_HEADER = 1 << 20
_MOST_HEADERS = 8
_CHUNK = 1 << 20
_GLOBAL, _LONG_NAME, _LONG_LINK = tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK
_EXTENDED = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE, _GLOBAL, _LONG_NAME, _LONG_LINK)
_WITHOUT_CONTENT = (
    *(tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.DIRTYPE),
    *(tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE),
)


class BrokenTarError(Exception):
    """The stream is no tar stream from here on, or has a header that no honest one has."""


class TarStream:
    """The members of a stream, in order. A member's content can be read until the next one is asked for."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._rest = self._padding = 0

    def members(self) -> Iterator[tarfile.TarInfo]:
        """The members, with their long names, sizes and times in place; names may be anything.

        Raises:
            BrokenTarError: as its docstring says; what came before is whole.
        """
        extended: dict[str, str] = {}
        headers = 0
        while block := self._block():
            info = _parsed(block)
            headers += 1
            if headers > _MOST_HEADERS:
                raise BrokenTarError("too many extended headers for one member")
            if info.type in _EXTENDED:
                self._enter(info)
                extended |= _meaning(info.type, self._header())
            else:
                _extend(info, extended)
                self._enter(info)
                yield info
                extended, headers = {}, 0

    def content(self) -> Iterator[bytes]:
        """What is left of the present member's content. Raises BrokenTarError if the stream ends within it."""
        while self._rest:
            data = self._stream.read(min(self._rest, _CHUNK))
            if not data:
                raise BrokenTarError("the stream ends within a file")
            self._rest -= len(data)
            yield data

    def _enter(self, info: tarfile.TarInfo) -> None:
        """What follows this header is its content; links, folders and devices have none, whatever size they state."""
        size = 0 if info.type in _WITHOUT_CONTENT else info.size
        self._rest, self._padding = size, -size % _BLOCK

    def _block(self) -> bytes:
        """The next header; nothing at the end of the archive."""
        for _ in self.content():
            pass
        self._exactly(self._padding)
        block = self._exactly(_BLOCK)
        return block if block.strip(b"\0") else b""

    def _header(self) -> bytes:
        if self._rest > _LARGEST_HEADER:
            raise BrokenTarError(f"an extended header of {self._rest} bytes")
        return b"".join(self.content())

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._stream.read(size - len(data))
            if not more:
                raise BrokenTarError("the stream ends before the archive does")
            data += more
        return data


def _parsed(block: bytes) -> tarfile.TarInfo:
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError) as error:
        raise BrokenTarError(str(error)) from error
    if info.size < 0 or info.type == tarfile.GNUTYPE_SPARSE:
        raise BrokenTarError("a header that is not read here")
    return info


def _meaning(kind: bytes, data: bytes) -> dict[str, str]:
    if kind == _GLOBAL:
        return {}
    if kind == _LONG_NAME:
        return {"path": _text(data.partition(b"\0")[0])}
    if kind == _LONG_LINK:
        return {"linkpath": _text(data.partition(b"\0")[0])}
    return dict(_records(data))


def _records(data: bytes) -> Iterator[tuple[str, str]]:
    r"""Records of the form `LENGTH KEY=VALUE\n`, whose length counts itself."""
    at = 0
    while at < len(data):
        digits, _, _ = data[at : at + 20].partition(b" ")
        if not digits.isdigit() or not len(digits) < int(digits) <= len(data) - at:
            raise BrokenTarError("an extended header that is not made of records")
        key, _, value = data[at + len(digits) + 1 : at + int(digits) - 1].partition(b"=")
        yield _text(key), _text(value)
        at += int(digits)


def _extend(info: tarfile.TarInfo, extended: dict[str, str]) -> None:
    if any(key.startswith("GNU.sparse.") for key in extended):
        raise BrokenTarError("a sparse file, which is not read here")
    info.name = extended.get("path", info.name)
    info.linkname = extended.get("linkpath", info.linkname)
    if "size" in extended:
        if not (extended["size"].isascii() and extended["size"].isdigit() and len(extended["size"]) < 20):
            raise BrokenTarError("a size that is no number")
        info.size = int(extended["size"])
    with contextlib.suppress(ValueError):
        info.mtime = float(extended.get("mtime", info.mtime))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
