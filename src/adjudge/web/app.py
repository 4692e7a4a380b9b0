"""The application: every route, what each failure means, and the guard around it all."""

from __future__ import annotations

from litestar import Litestar
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin

from adjudge import __version__
from adjudge.errors import InputError, OutsideError
from adjudge.store.store import Store
from adjudge.web import failures
from adjudge.web.guard import Access, Doors, Guard
from adjudge.web.guard.rules import LARGEST_BODY
from adjudge.web.routes import api, doors, run, runs
from adjudge.web.site import Site

PAGES = (
    *(doors.enter, doors.start, doors.static),
    *(runs.show_runs, run.show_run, run.show_entries, run.show_map, run.show_exhibit, run.show_look),
)


def create_app(store: Store, access: Access, entry: Doors) -> Guard:
    """The web interface to a store, as an ASGI application."""
    site = Site(store, access, entry)
    app = Litestar(
        route_handlers=[*PAGES, api.router],
        dependencies={"site": Provide(lambda: site, sync_to_thread=False)},
        exception_handlers={
            InputError: failures.on_input_error,
            OutsideError: failures.on_outside_error,
            HTTPException: failures.on_http_error,
            Exception: failures.on_bug,
        },
        openapi_config=OpenAPIConfig(
            title="adjudge",
            version=__version__,
            path="/api/schema",
            render_plugins=[JsonRenderPlugin(path="/openapi.json")],
        ),
        request_max_body_size=LARGEST_BODY,
        logging_config=None,
        debug=False,
    )
    return Guard(app, access, failures.refuse)
