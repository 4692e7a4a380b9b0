"""Importing recordings that lie on the server's machine."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from litestar import Response, get, post
from litestar.params import JSONBody

from adjudge.web.jobs import Tell
from adjudge.web.queries.agents import require_token
from adjudge.web.queries.imports import import_from, place_of
from adjudge.web.rendering import page
from adjudge.web.routes.build import Begun
from adjudge.web.site import Here


class Recordings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A recording, a run folder, or a folder of recordings, by its absolute path; `~/` is the home."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4_096)]


@get("/import", include_in_schema=False, sync_to_thread=False)
def show_import(site: Here) -> Response[bytes]:
    """Where recordings are brought in."""
    return page("import.html", here="Runs", open=site.access.token is not None)


@post("/import", status_code=200)
async def api_import(site: Here, data: JSONBody[Recordings]) -> Begun:
    """Keep the runs that recordings of the server's machine hold. Importing a run again changes nothing."""
    require_token(site, "read files of it")
    place = await asyncio.to_thread(place_of, data.path)

    async def work(tell: Tell) -> str:
        return str(await import_from(place, site.store, tell))

    job = site.jobs.start("import", f"Import {place}", work)
    return Begun(job.facts.id, f"/live/{job.facts.id}")


PAGES = (show_import,)
API = (api_import,)
