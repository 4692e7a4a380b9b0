"""The page of all runs."""

from __future__ import annotations

from litestar import Response, get

from adjudge.store.listing import choices_of, list_runs
from adjudge.web.rendering import page
from adjudge.web.routes.asked import WANTED, BySort, Key, Wanted, key_of, place_of
from adjudge.web.site import Here
from adjudge.web.views.runs import runs_page


@get("/runs", include_in_schema=False, sync_to_thread=True, dependencies=WANTED)
def show_runs(
    site: Here,
    wanted: Wanted,
    sort: BySort = "added",
    after: Key = None,
) -> Response[bytes]:
    """Runs, filtered and sorted, one page of them."""
    listed = list_runs(site.store, wanted, sort, place_of(after))
    shown = runs_page(listed, choices_of(site.store), wanted, sort, key_of(listed.next), after is not None)
    return page("runs.html", here="Runs", page=shown, jobs=len(site.jobs.all()))


PAGES = (show_runs,)
