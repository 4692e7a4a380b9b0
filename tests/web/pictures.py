"""`python -m tests.web.pictures FOLDER`: a picture of every page, in light and dark, wide and narrow."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

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
NAMES = {
    "run": RUN,
    "failed": FAILED,
    "fresh": FRESH,
    "beside": "r-f000000000000003",
    "besides": "r-f000000000000004",
    "word": "pytest",
    "entry": "e40",
    "look": "L1",
    "step": "s1",
    "evaluation": EVALUATION,
    "reading": READING,
    "rubric": sample.RUBRIC.hash,
    "next": sample_doing.NEXT.hash,
    "dimensions": DIMENSIONS.hash,
    "criterion": "clean",
    "asked": "as-written",
    "dimension": "loop",
    "first": quote(THREE[0]),
    "second": quote(THREE[1]),
    "third": quote(THREE[2]),
    "stratum": "*/unresolved",
}
"""What the pages below name, in a form that fits into an address: another store has other names."""
OF_THREE = "agent={first}&agent={second}&agent={third}&against={first}"
PAIR = "first={first}&second={second}"

PAGES = {
    "runs": "/runs",
    "runs-none": "/runs?agent=nobody",
    "run": "/runs/{run}",
    "run-cite": "/runs/{run}#v2c2",
    "run-gate": "/runs/{run}#v7",
    "run-look": "/runs/{run}#v6c1",
    "run-dimensions": "/runs/{run}#d5",
    "run-patch": "/runs/{run}#patch",
    "run-machine": "/runs/{run}#machine",
    "run-reader": "/runs/{run}#reader",
    "run-search": "/runs/{run}?q={word}#record",
    "run-outline": "/runs/{run}?outline=0#record",
    "run-errored": "/runs/{failed}",
    "run-not-judged": "/runs/{fresh}",
    "exhibit": "/runs/{run}/exhibits/{entry}",
    "missing": "/runs/r-none",
    "agents": "/agents",
    "build": "/build",
    "build-rubric": "/build?rubric={next}",
    "import": "/import",
    "rubrics": "/rubrics",
    "rubric": "/rubrics/{rubric}",
    "rubric-next": "/rubrics/{next}",
    "rubric-edit": "/rubrics/{next}/edit",
    "rubric-new": "/rubrics/new",
    "review": "/review",
    "review-blind": "/review/{evaluation}/{asked}?order=random",
    "review-after": "/review/{evaluation}/{asked}?order=random&seen=true#judgec1",
    "ask": "/ask",
    "answer": "/ask/{job}",
    "job": "/live/{job}",
    "review-dimension": "/review/{reading}/{dimension}?order=random",
    "results-list": "/results",
    "results-criteria": "/results?rubric={rubric}",
    "results-dimensions": "/results?rubric={dimensions}&by=harness&by=outcome",
    "compare-list": "/compare",
    "compare": "/compare?rubric={rubric}&" + OF_THREE,
    "compare-each": "/compare?rubric={dimensions}&" + OF_THREE + "&first=",
    "compare-pair": "/compare/pair?rubric={rubric}&item={criterion}&" + PAIR,
    "compare-scores": "/compare/pair?rubric={dimensions}&item={dimension}&" + PAIR,
    "compare-runs": "/compare?run={beside}&run={besides}&run={run}",
    "run-trust": "/runs/{beside}#trust-h",
    "judge": "/runs/{run}/judge",
    "judge-several": "/judge?run={run}&run={fresh}&run={failed}",
    "passes": "/passes",
    "pass-live": "/passes/{live}",
    "pass-stopped": "/passes/{stopped}",
    "pass-finished": "/passes/{finished}",
    "plan": "/passes/new",
    "jobs": "/live",
    "results-pass": "/results/{finished}",
    "look": "/judgments/{evaluation}/looks/{look}",
    "step": "/judgments/{evaluation}/steps/{step}",
    "plan-fault": "/passes/new?rubric={rubric}&share=200%25",
    "plan-shown": "/passes/new?rubric={rubric}&model=openai/gpt-4o&share=50%25&always={stratum}&seed=7",
}
EMPTY = {
    f"empty-{name}": f"/{name}"
    for name in ("runs", "passes", "passes/new", "results", "compare", "review", "rubrics", "agents", "ask", "live")
}
"""Pages of a store that holds nothing."""
DOOR = {"door": "/runs", "door-spent": "/enter?code=spent"}
"""What someone sees who is outside."""
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
        known = NAMES | names | {"job": job.id}
        draw(browser, door, {name: path.format_map(known) for name, path in PAGES.items()}, folder, wanted)


def draw_empty(folder: Path, wanted: list[str]) -> None:
    """Pictures of an empty store's pages, and of the door as someone finds it who has no address that opens it."""
    with (
        tempfile.TemporaryDirectory() as place,
        open_store(Path(place) / "store") as store,
        served(store) as door,
        launched() as browser,
    ):
        draw(browser, door, EMPTY, folder, wanted)
        draw(browser, door, DOOR, folder, wanted, inside=None)


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
