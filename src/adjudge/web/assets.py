"""The style sheet and the script: read once, served by name. Both are written in parts, one a concern."""

from __future__ import annotations

from functools import cache
from pathlib import Path

STYLES = (
    "tokens",
    "base",
    "frame",
    "fields",
    "signs",
    "run",
    "cards",
    "record",
    "tables",
    "figures",
    "steps",
    "states",
    "build",
    "passes",
    "review",
    "ask",
    "media",
)
"""The parts of the style sheet, in the order in which they count."""
SCRIPTS = ("page", "pieces", "run", "runs", "forms", "build", "live", "rubric", "making", "passes", "review", "keys")
"""The parts of the script, each of which may use what stands in those before it."""


@cache
def assets() -> dict[str, tuple[str, bytes]]:
    """By name, the content type and the bytes of what may be fetched without a token."""
    folder = Path(__file__).parent / "static"
    style = b"\n".join((folder / "css" / f"{name}.css").read_bytes() for name in STYLES)
    script = b"\n".join((folder / "js" / f"{name}.js").read_bytes() for name in SCRIPTS)
    return {
        "app.css": ("text/css", style),
        "app.js": ("text/javascript", script),
        "icon.svg": ("image/svg+xml", (folder / "icon.svg").read_bytes()),
    }
