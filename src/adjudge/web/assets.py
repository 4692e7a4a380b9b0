"""The style sheet and the script: read once, served by name. The style sheet is written in parts, one a concern."""

from __future__ import annotations

from functools import cache
from pathlib import Path

STYLES = ("tokens", "base", "frame", "fields", "signs", "run", "cards", "record", "tables", "states", "media")
"""The parts of the style sheet, in the order in which they count."""


@cache
def assets() -> dict[str, tuple[str, bytes]]:
    """By name, the content type and the bytes of what may be fetched without a token."""
    folder = Path(__file__).parent / "static"
    style = b"\n".join((folder / "css" / f"{name}.css").read_bytes() for name in STYLES)
    return {
        "app.css": ("text/css", style),
        "app.js": ("text/javascript", (folder / "app.js").read_bytes()),
        "icon.svg": ("image/svg+xml", (folder / "icon.svg").read_bytes()),
    }
