"""The store that the settings name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.errors import InputError
from adjudge.settings import is_url, without_password

if TYPE_CHECKING:
    from adjudge.settings import Settings
    from adjudge.store.store import Store


def open_store(settings: Settings) -> Store:
    """The store that the settings name.

    Raises:
        InputError: it cannot be a store, or a newer adjudge made it.
        OutsideError: the disk or the database does not let it be opened.
    """
    from adjudge.store.store import open_store as open_place

    return open_place(settings.store, settings.blobs)


def open_kept_store(settings: Settings) -> Store:
    """The store that the settings name, if it is there already; reading makes none.

    Raises:
        InputError: there is none, or as `open_store`.
    """
    if not is_there(settings):
        raise InputError(
            f"{without_password(settings.store)}: there is no store here yet; `adjudge import PATH` and "
            "`adjudge judge PATH` make one, --store or ADJUDGE_STORE name another"
        )
    return open_store(settings)


def is_there(settings: Settings) -> bool:
    """Whether the store that the settings name is there already.

    Raises:
        InputError: it cannot be a store, or its database refuses.
        OutsideError: its database cannot be reached.
    """
    if not is_url(settings.store):
        return Path(settings.store).is_dir()
    from adjudge.store.database import has_store

    return has_store(settings.store)
