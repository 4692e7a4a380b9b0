"""The web interface served on loopback, and a browser that looks at it."""

from __future__ import annotations

import asyncio
import shutil
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import uvicorn
from playwright.sync_api import Browser, Error, Page, Request

from adjudge.settings import Settings
from adjudge.store.store import Store
from adjudge.web.app import create_app
from adjudge.web.guard import Access, Doors, Guard
from adjudge.web.guard.access import draw_token

CHROMIUM = shutil.which("chromium")
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"]
TWO_FRAMES = """() => document.documentElement.classList.contains("js")
    && new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"""
"""Where no script runs there are no frames to wait for, and nothing is fetched."""


@contextmanager
def served(
    store: Store, settings: Settings | None = None, prepare: Callable[[Guard], Coroutine[Any, Any, object]] | None = None
) -> Iterator[str]:
    """Serve a store, having done something in the application before; gives the address that opens it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        doors = Doors()
        app = create_app(
            store,
            settings or Settings(store=str(store.folder)),
            Access(frozenset({"127.0.0.1"}), draw_token(), port=port),
            doors,
        )
        if prepare is not None:
            with ThreadPoolExecutor(1) as apart:  # Playwright has an event loop in this thread
                apart.submit(lambda: asyncio.run(prepare(app))).result()
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none", access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.02)
        try:
            yield f"http://127.0.0.1:{port}/enter?code={doors.code}"
        finally:
            server.should_exit = True
            thread.join(10)


def entered(browser: Browser, door: str) -> Any:
    """Go through the door once; gives what other windows need to be inside."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(door)
    page.wait_for_url("**/runs")
    state = context.storage_state()
    context.close()
    return state


class Traffic:
    """What a window waits for: a page is settled when all that it fetched has come and stands on it.

    Streams of events, which go on, are not waited for.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._open: set[Request] = set()
        page.on("request", self._begun)
        page.on("requestfinished", self._ended)
        page.on("requestfailed", self._ended)

    def _begun(self, request: Request) -> None:
        if request.resource_type != "eventsource":
            self._open.add(request)

    def _ended(self, request: Request) -> None:
        self._open.discard(request)

    def settle(self) -> None:
        """Wait for it, two frames at a time. Raises AssertionError if something does not come within half a minute."""
        until = time.monotonic() + 30
        settled = False
        while not settled:
            assert time.monotonic() < until, f"these did not come: {[request.url for request in self._open]}"
            settled = not self._open
            with _unless_it_leads_on():
                self._page.evaluate(TWO_FRAMES)
            settled = settled and not self._open


@contextmanager
def _unless_it_leads_on() -> Iterator[None]:
    """Let it pass that a page leaves for another while it is asked: what that one fetches is waited for in turn."""
    try:
        yield
    except Error as error:
        if "Execution context was destroyed" not in error.message:
            raise
