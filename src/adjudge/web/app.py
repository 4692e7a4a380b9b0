"""The application: every route, what each failure means, and the guard around it all."""

from __future__ import annotations

from litestar import Litestar, Router
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin

from adjudge import __version__
from adjudge.errors import InputError, OutsideError
from adjudge.settings import Settings
from adjudge.store.store import Store
from adjudge.web import failures
from adjudge.web.bodies import Sent
from adjudge.web.guard import Access, Doors, Guard
from adjudge.web.guard.rules import LARGEST_BODY
from adjudge.web.routes import (
    agents,
    api,
    ask,
    build,
    compare,
    doors,
    imports,
    judging,
    live,
    passes,
    results,
    review,
    rubrics,
    run,
    runs,
)
from adjudge.web.site import Site

_WITH_PAGES = (doors, runs, run, live, judging, passes, results, compare, review, rubrics, build, imports, agents, ask)
_WITH_API = (api, live, judging, passes, results, compare, review, rubrics, build, imports, agents, ask)

PAGES = tuple(handler for each in _WITH_PAGES for handler in each.PAGES)
API = tuple(handler for each in _WITH_API for handler in each.API)


def create_app(store: Store, settings: Settings, access: Access, entry: Doors) -> Guard:
    """The web interface to a store, as an ASGI application.

    What is judged here is judged with the settings, to which the keys are added that are connected to their store.
    """
    site = Site(store, settings, access, entry)
    app = Litestar(
        route_handlers=[*PAGES, Router("/api", route_handlers=API)],
        on_shutdown=[site.close],
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
            use_handler_docstrings=True,
            render_plugins=[JsonRenderPlugin(path="/openapi.json")],
        ),
        request_class=Sent,
        request_max_body_size=LARGEST_BODY,
        logging_config=None,
        debug=False,
    )
    app.state.site = site
    return Guard(app, access, failures.refuse)
