"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from adjudge.connected import with_connected
from adjudge.errors import InputError
from adjudge.settings import Settings, read_settings

if TYPE_CHECKING:
    from adjudge.store.store import Store

JudgmentNames = Annotated[
    list[str] | None,
    typer.Argument(metavar="JUDGMENT", help="Judgments, or the beginnings of their ids [default: all]."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
StorePath = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="Where runs and judgments are kept: a folder or postgresql://… [default: .adjudge, or $ADJUDGE_STORE].",
    ),
]


def settings_with(**given: object) -> Settings:
    """The settings of the environment, with those options in place that were given, and the keys connected to the store."""
    return with_connected(own_settings(**given))


def own_settings(**given: object) -> Settings:
    """As `settings_with`, without the keys connected to the store."""
    chosen = {name: value for name, value in given.items() if value is not None}
    return msgspec.structs.replace(read_settings(), **chosen)


def find_judgments(store: Store, names: Sequence[str] | None) -> list[str]:
    """The ids of the judgments that were named, or of all.

    Raises:
        InputError: there is no such judgment, or a run was named.
    """
    for name in names or ():
        if name.startswith("r-"):
            raise InputError(f"{name}: is a run's id; `adjudge show {name}` lists its judgments")
    return [store.find_judgment(name) for name in names] if names else [row.id for row in store.judgments()]
