"""The options that several commands share."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from adjudge.settings import Settings, read_settings

Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
StorePath = Annotated[
    str | None, typer.Option("--store", help="Where runs and judgments are kept [default: .adjudge, or $ADJUDGE_STORE].")
]


def settings_with(**given: object) -> Settings:
    """The settings of the environment, with those options in place that were given."""
    return msgspec.structs.replace(read_settings(), **{name: value for name, value in given.items() if value is not None})
