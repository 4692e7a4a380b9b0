"""Files that could have shaped looks, on the page: what each is, and the looks with their links."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from adjudge.judgment import CAN, Judgment, Tampering

BY = {"agent": "the agent made or changed it", "task": "the task gave it as it is", None: "whose it is, is not known"}


class Planted(msgspec.Struct, frozen=True):
    """A file that can shape what commands do; `looks` are those that it could have shaped and that are on the page."""

    path: str
    can: str
    by: str
    looks: tuple[str, ...]


def planted_of(judgment: Judgment, there: Collection[str]) -> tuple[Planted, ...]:
    """Those that could have shaped something first; `there` are the ids of all exhibits on the page."""
    ordered = sorted(judgment.tampering, key=lambda each: not each.looks)
    return tuple(_planted(each, there) for each in ordered)


def _planted(each: Tampering, there: Collection[str]) -> Planted:
    return Planted(each.path, CAN[each.kind], BY[each.by], tuple(look for look in each.looks if look in there))
