"""Draw the README's picture: what `adjudge demo` prints, as an SVG file that needs no font from elsewhere.

python scripts/picture.py docs/images/demo.svg
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

from adjudge import wiring
from adjudge.cli.judging import judge_live
from adjudge.cli.verdicts import print_judgment
from adjudge.settings import Settings

WIDTH = 104


def main(target: Path) -> None:
    """Judge the bundled run and draw the result."""
    console = Console(
        record=True, width=WIDTH, file=io.StringIO(), markup=False, emoji=False, highlight=False, force_terminal=True
    )
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(store=folder, model=f"recorded/{wiring.DEMO / 'exchange.json'}")
        run = wiring.find_run(str(wiring.DEMO), settings)
        judgment = judge_live(run, wiring.find_rubric(str(wiring.DEMO / "rubric.yaml")), settings)
    print_judgment(console, judgment, run)
    drawn = console.export_svg(title="adjudge demo", theme=MONOKAI, unique_id="demo")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.S).replace("Fira Code", "DejaVu Sans Mono")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(drawn)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
