"""What a pass's workers on other machines judge with: all that they are told, which travels to them by value."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from adjudge.judges.reader.tokens import Calibration
from adjudge.rubric import Rubric
from adjudge.settings import Settings, read_settings

if TYPE_CHECKING:
    from adjudge.wiring.work import LocalWork


class WorkElsewhere(msgspec.Struct, frozen=True):
    """Makes, where it is called, a work that judges as these settings say, with runs from `blobs`.

    `blobs` is a folder that all machines see under this path, or an fsspec URL. Without a key in the settings those of the
    worker's own environment are used.
    """

    rubric: Rubric
    settings: Settings
    calibration: Calibration
    blobs: str

    def __call__(self) -> LocalWork:
        """The work. Raises as `LocalWork`."""
        from adjudge.store.blobs import open_blobs
        from adjudge.store.records import read_run
        from adjudge.wiring.work import LocalWork

        load = partial(read_run, open_blobs(self.blobs))
        return LocalWork(self.rubric, with_own_keys(self.settings), self.calibration, load)

    def __repr__(self) -> str:
        """Without the settings, which hold keys."""
        return f"WorkElsewhere(rubric={self.rubric.name!r}, blobs={self.blobs!r})"


def work_elsewhere(rubric: Rubric, settings: Settings, calibration: Calibration, blobs: str) -> WorkElsewhere:
    """What workers are to be sent: as it is given here, without the store's URL, whose password is nothing to them."""
    store = Settings().store if "://" in settings.store else os.path.realpath(settings.store)
    where = blobs if "://" in blobs else os.path.realpath(blobs)
    return WorkElsewhere(rubric, msgspec.structs.replace(settings, store=store), calibration, where)


def with_own_keys(settings: Settings) -> Settings:
    """The settings, if they hold a key, else with the keys that this process's environment holds."""
    return settings if settings.keys else msgspec.structs.replace(settings, keys=read_settings().keys)
