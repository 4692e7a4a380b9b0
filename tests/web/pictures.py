"""`python -m tests.web.pictures FOLDER`: a picture of every page, in light and dark, wide and narrow."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from tests.web import sample
from tests.web.served import ARGUMENTS, CHROMIUM, entered, served

RUN = sample.long_run().id
FAILED = "r-0000000000000006"
FRESH = "r-0000000000000004"

PAGES = {
    "runs": "/runs",
    "runs-none": "/runs?agent=nobody",
    "run": f"/runs/{RUN}",
    "run-cite": f"/runs/{RUN}#v2c2",
    "run-gate": f"/runs/{RUN}#v7",
    "run-look": f"/runs/{RUN}#v6c1",
    "run-dimensions": f"/runs/{RUN}#d5",
    "run-patch": f"/runs/{RUN}#patch",
    "run-machine": f"/runs/{RUN}#machine",
    "run-reader": f"/runs/{RUN}#reader",
    "run-search": f"/runs/{RUN}?q=pytest#record",
    "run-outline": f"/runs/{RUN}?outline=0#record",
    "run-errored": f"/runs/{FAILED}",
    "run-not-judged": f"/runs/{FRESH}",
    "exhibit": f"/runs/{RUN}/exhibits/e40",
    "missing": "/runs/r-none",
}
SHAPES = {"light": (1440, 1000, "light"), "dark": (1440, 1000, "dark"), "narrow-light": (360, 800, "light")}


def main(folder: Path, wanted: list[str]) -> None:
    """Make all pictures, or those of the pages named."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as place,
        sample.make(Path(place) / "store") as store,
        served(store) as door,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        inside = entered(browser, door)
        for shape, (width, height, scheme) in SHAPES.items():
            size: Any = {"width": width, "height": height}
            context = browser.new_context(viewport=size, color_scheme=scheme, storage_state=inside)  # type: ignore[arg-type]  # a scheme
            page = context.new_page()
            page.on("console", lambda message: print(message.type, message.text[:200]))
            for name, path in PAGES.items():
                if not wanted or name in wanted:
                    page.goto(door.partition("/enter")[0] + path)
                    page.wait_for_load_state("networkidle")
                    page.screenshot(path=folder / f"{name}-{shape}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
