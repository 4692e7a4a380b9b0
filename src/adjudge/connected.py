"""Keys that were connected to a store: kept in its folder, for the evaluator, readers and agents of this project alike."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from adjudge.errors import InputError, OutsideError
from adjudge.settings import KEYS, KEYS_OF, Settings, is_url, without_password

FILE = "keys.json"
MOST = 500_000
"""Names below a folder among which connected keys are looked for."""
SHORTEST, LONGEST = 8, 4096
"""Characters of a key."""

_LARGEST = 1 << 20
_SINCE = "since"


class Connection(msgspec.Struct, frozen=True):
    """A connected key, and since when it is there (UTC, ISO 8601), if the file says so."""

    key: str
    since: str | None = None

    def __repr__(self) -> str:
        return f"Connection(since={self.since!r})"


def read_keys(folder: Path | str) -> dict[str, str]:
    """The connected keys by the names of their variables; none for a store that is no folder, or not there.

    Raises:
        InputError: the file can be read by others, or is not as `connect` writes it.
    """
    return {name: connection.key for name, connection in read_connections(folder).items()}


def read_connections(folder: Path | str) -> dict[str, Connection]:
    """As `read_keys`, with what is known of each key."""
    if is_url(folder):
        return {}
    path = Path(folder) / FILE
    text = _read(path)
    return {} if text is None else _parsed(path, text)


def with_connected(settings: Settings) -> Settings:
    """The settings with the connected keys of their store, for those providers for which the environment has none.

    Raises:
        InputError: as `read_keys`.
    """
    connected = read_keys(settings.store)
    wanted = {
        name: connected[name]
        for names in KEYS_OF.values()
        if not any(settings.keys.get(each) for each in names)
        for name in names
        if name in connected
    }
    return msgspec.structs.replace(settings, keys={**settings.keys, **wanted}) if wanted else settings


def connect(folder: Path | str, provider: str, key: str) -> None:
    """Keep a key for this provider, in place of one that is there already. The folder is made if it is not there.

    Raises:
        InputError: there is no such provider, the key cannot be one, or the store is no folder.
        OutsideError: the folder cannot be written.
    """
    variable = variable_of(provider)
    if not (SHORTEST <= len(key) <= LONGEST and key.isascii() and key.isprintable() and " " not in key):
        raise InputError(f"this is no key: one has {SHORTEST} to {LONGEST} letters, digits and signs, and no blanks")
    kept = read_connections(folder)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    _write(_folder(folder), {**kept, variable: Connection(key, now)})


def disconnect(folder: Path | str, provider: str) -> bool:
    """Forget the key for this provider, and say whether there was one.

    Raises:
        InputError: there is no such provider, or as `read_keys`.
        OutsideError: the folder cannot be written.
    """
    variables = KEYS_OF[_known(provider)]
    kept = read_connections(folder)
    left = {name: each for name, each in kept.items() if name not in variables}
    if len(left) < len(kept):
        _write(_folder(folder), left)
    return len(left) < len(kept)


def variable_of(provider: str) -> str:
    """The variable for which a key of this provider stands. Raises InputError if there is no such provider."""
    return KEYS_OF[_known(provider)][0]


def require_apart(settings: Settings, folders: Iterable[Path | str]) -> None:
    """Refuse folders in which connected keys lie, of this store or another, before anything is run that can read there.

    Raises:
        InputError: they lie in one of them.
    """
    keys = None if is_url(settings.store) else Path(os.path.realpath(settings.store)) / FILE
    for folder in map(os.path.realpath, folders):
        own = keys is not None and keys.exists() and keys.is_relative_to(folder)
        found = keys if own else next(_keys_below(folder), None)
        if found is not None:
            raise InputError(
                f"{folder}: holds the store {found.parent} with connected keys, which what runs there could read; "
                "keep that store elsewhere (--store or ADJUDGE_STORE), or `adjudge disconnect` its keys"
            )


def _keys_below(folder: str) -> Iterator[Path]:
    """Files with connected keys in a folder, looked for under its first `MOST` names."""
    seen = 0
    for directory, folders, files in os.walk(folder):
        seen += len(folders) + len(files)
        if FILE in files and _are_keys(Path(directory)):
            yield Path(directory, FILE)
        if seen > MOST:
            return


def _are_keys(folder: Path) -> bool:
    try:
        return bool(read_connections(folder))
    except InputError:  # another's file of this name; or ours, open to others, which may not be read here either
        return (folder / ".gitignore").exists() and (folder / "adjudge.db").exists()


# --- the file


def _known(provider: str) -> str:
    if provider not in KEYS_OF:
        raise InputError(f"{provider!r}: no key can be connected for this; the providers are {', '.join(KEYS_OF)}")
    return provider


def _read(path: Path) -> bytes | None:
    """The file's bytes, from a descriptor whose owner and mode were checked; `None` if there is no file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"{path}: the connected keys cannot be read: {error.strerror}") from error
    try:
        _check(path, os.fstat(handle))
        return os.read(handle, _LARGEST + 1)
    finally:
        os.close(handle)


def _check(path: Path, facts: os.stat_result) -> None:
    if not stat.S_ISREG(facts.st_mode):
        raise InputError(f"{path}: must be a file with connected keys; move away what is there")
    if facts.st_mode & 0o077:
        raise InputError(f"{path}: other users can get at the keys in it; `chmod 600 {path}`, and renew them")
    if facts.st_uid not in (os.geteuid(), 0):
        raise InputError(f"{path}: belongs to another user, whose keys these would be")


def _parsed(path: Path, text: bytes) -> dict[str, Connection]:
    wrong = InputError(f'{path}: must be JSON such as {{"{KEYS[0]}": "…"}}; `adjudge connect` writes it')
    try:
        value: Any = json.loads(text) if len(text) <= _LARGEST else None
    except (ValueError, RecursionError):
        raise wrong from None  # the cause would show the text
    if not isinstance(value, dict):
        raise wrong
    since = value.pop(_SINCE, {})
    if not isinstance(since, dict) or not all(isinstance(each, str) for each in (*value.values(), *since.values())):
        raise wrong
    if unknown := sorted(set(value) - set(KEYS)):
        raise InputError(f"{path}: {unknown[0]!r} is no key that can be connected; it may hold {', '.join(KEYS)}")
    return {name: Connection(key, since.get(name)) for name, key in value.items() if key}


def _folder(folder: Path | str) -> Path:
    """The store's folder, made as the store makes it: closed to other users, and no source to git.

    Raises:
        InputError: the store is no folder.
        OutsideError: it cannot be made.
    """
    if is_url(folder):
        name = without_password(folder)
        raise InputError(f"{name}: keys are connected to a store that is a folder; set them in the environment instead")
    place = Path(folder).absolute()
    try:
        if not place.is_dir():
            place.mkdir(mode=0o700, parents=True)
        if not (place / ".gitignore").exists():
            (place / ".gitignore").write_text("*\n")
    except OSError as error:
        raise OutsideError(f"{place}: {error.strerror or error}") from error
    return place


def _write(folder: Path, connections: Mapping[str, Connection]) -> None:
    """Put a new file in the place of the old one, or none for no keys; who reads meanwhile sees either."""
    if not connections:
        (folder / FILE).unlink(missing_ok=True)
        return
    value: dict[str, Any] = {name: each.key for name, each in connections.items()}
    value[_SINCE] = {name: each.since for name, each in connections.items() if each.since}
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{FILE}-", dir=folder)  # with mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(value, file, indent=2)
                file.flush()
                os.fsync(handle)
            os.replace(temporary, folder / FILE)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise OutsideError(f"{folder / FILE}: {error.strerror or error}") from error
