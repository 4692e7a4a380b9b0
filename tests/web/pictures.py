"""`python -m tests.web.pictures FOLDER`: a picture of every page, in light and dark, wide and narrow."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from tests.conftest import RUBRIC as DIMENSIONS
from tests.web import sample, sample_doing, sample_figures, sample_passes
from tests.web.sample_asking import KeptJob, an_asking
from tests.web.served import ARGUMENTS, CHROMIUM, Traffic, entered, served

from adjudge.store.store import open_store

RUN = sample.long_run().id
FAILED = "r-0000000000000006"
FRESH = "r-0000000000000004"
EVALUATION, READING = "j-00000000000000e1", "j-00000000000000d1"
THREE = ("mini-swe-agent=deepseek-chat", "claude-code=large-model", "codex=gpt-5-codex")
OF_THREE = "&".join(f"agent={name}" for name in THREE) + f"&against={THREE[0]}"
PAIR = f"first={THREE[0]}&second={THREE[1]}"

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
    "agents": "/agents",
    "build": "/build",
    "build-rubric": f"/build?rubric={sample_doing.NEXT.hash}",
    "import": "/import",
    "rubrics": "/rubrics",
    "rubric": f"/rubrics/{sample.RUBRIC.hash}",
    "rubric-next": f"/rubrics/{sample_doing.NEXT.hash}",
    "rubric-edit": f"/rubrics/{sample_doing.NEXT.hash}/edit",
    "rubric-new": "/rubrics/new",
    "review": "/review",
    "review-blind": f"/review/{EVALUATION}/as-written?order=random",
    "review-after": f"/review/{EVALUATION}/as-written?order=random&seen=true#judgec1",
    "ask": "/ask",
    "review-dimension": f"/review/{READING}/loop?order=random",
    "results-list": "/results",
    "results-criteria": f"/results?rubric={sample.RUBRIC.hash}",
    "results-dimensions": f"/results?rubric={DIMENSIONS.hash}&by=harness&by=outcome",
    "compare-list": "/compare",
    "compare": f"/compare?rubric={sample.RUBRIC.hash}&{OF_THREE}",
    "compare-each": f"/compare?rubric={DIMENSIONS.hash}&{OF_THREE}&first=",
    "compare-pair": f"/compare/pair?rubric={sample.RUBRIC.hash}&item=clean&{PAIR}",
    "compare-scores": f"/compare/pair?rubric={DIMENSIONS.hash}&item=loop&{PAIR}",
    "compare-runs": "/compare?run=r-f000000000000003&run=r-f000000000000004&run=r-f000000000000005",
    "run-trust": "/runs/r-f000000000000003#trust-h",
    "judge": f"/runs/{RUN}/judge",
    "judge-several": f"/judge?run={RUN}&run={FRESH}&run={FAILED}",
    "passes": "/passes",
    "pass-live": "/passes/{live}",
    "pass-stopped": "/passes/{stopped}",
    "pass-finished": "/passes/{finished}",
    "plan": "/passes/new",
    "jobs": "/live",
    "results-pass": "/results/{finished}",
    "look": f"/judgments/{EVALUATION}/looks/L1",
    "plan-shown": f"/passes/new?rubric={sample.RUBRIC.hash}&model=openai/gpt-4o&share=50%25&always=*/unresolved&seed=7",
}
EMPTY = {
    f"empty-{name}": f"/{name}"
    for name in ("runs", "passes", "passes/new", "results", "compare", "review", "rubrics", "agents", "ask", "live")
}
"""Pages of a store that holds nothing."""
SHAPES = {"light": (1440, 1000, "light"), "dark": (1440, 1000, "dark"), "narrow-light": (360, 800, "light")}


def main(folder: Path, wanted: list[str]) -> None:
    """Make all pictures, or those of the pages named."""
    folder.mkdir(parents=True, exist_ok=True)
    draw_full(folder, wanted)
    draw_empty(folder, wanted)


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser. Stores are made before: that needs an event loop, of which Playwright then has the only one."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


def draw_full(folder: Path, wanted: list[str]) -> None:
    """Pictures of the pages of a store as a person would have one."""
    job = KeptJob(an_asking())
    with (
        tempfile.TemporaryDirectory() as place,
        sample_figures.make(Path(place) / "store") as store,
        sample_passes.passes(store) as names,
        served(store, prepare=job) as door,
        launched() as browser,
    ):
        sample_doing.fill(store)
        pages = {name: path.format(**names) for name, path in PAGES.items()}
        draw(browser, door, pages | {"answer": f"/ask/{job.id}", "job": f"/live/{job.id}"}, folder, wanted)


def draw_empty(folder: Path, wanted: list[str]) -> None:
    """Pictures of an empty store's pages, and of the door as someone finds it who has no address that opens it."""
    with (
        tempfile.TemporaryDirectory() as place,
        open_store(Path(place) / "store") as store,
        served(store) as door,
        launched() as browser,
    ):
        draw(browser, door, EMPTY, folder, wanted)
        draw(browser, door, {"door": "/runs", "door-spent": "/enter?code=spent"}, folder, wanted, inside=None)


def draw(
    browser: Browser, door: str, pages: dict[str, str], folder: Path, wanted: list[str], inside: str | None = "Ada Lovelace"
) -> None:
    """Pictures of these pages in all shapes, for a reviewer of that name who is inside, or for someone outside."""
    pages = {name: path for name, path in pages.items() if not wanted or name in wanted}
    if not pages:
        return
    base = door.partition("/enter")[0]
    state = entered(browser, door) if inside else None
    for shape, (width, height, scheme) in SHAPES.items():
        size: Any = {"width": width, "height": height}
        context = browser.new_context(viewport=size, color_scheme=scheme, storage_state=state)  # type: ignore[arg-type]  # a scheme
        page = context.new_page()
        traffic = Traffic(page)
        if inside:
            page.request.put(f"{base}/api/reviewer", data={"name": inside}, headers={"x-adjudge": "1"})
        page.on("console", lambda message: print(message.type, message.text[:200]))
        for name, path in pages.items():
            page.goto(base + path)
            traffic.settle()
            page.screenshot(path=folder / f"{name.replace('/', '-')}-{shape}.png")
        context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
