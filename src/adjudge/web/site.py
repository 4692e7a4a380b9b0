"""What every page is made from: the store, the runs that were opened lately, and the doors."""

from __future__ import annotations

from litestar.di import NamedDependency

from adjudge.store.store import Store
from adjudge.web.guard import Access, Doors
from adjudge.web.queries.kept import KeptRuns


class Site:
    """The store as pages see it; any thread may use it."""

    def __init__(self, store: Store, access: Access, doors: Doors) -> None:
        self.store, self.access, self.doors = store, access, doors
        self.runs = KeptRuns(store)


Here = NamedDependency[Site]
"""How a route asks for the site."""
