"""What every page is made from: the store, the settings, the runs that were opened lately, what is under way, the doors."""

from __future__ import annotations

from litestar.di import NamedDependency

from adjudge.connected import with_connected
from adjudge.settings import Settings
from adjudge.store.store import Store
from adjudge.web.doing.passing import Passing
from adjudge.web.doing.watching import Watches
from adjudge.web.guard import Access, Doors
from adjudge.web.jobs import Jobs
from adjudge.web.queries.figures import KeptFigures
from adjudge.web.queries.kept import KeptRuns
from adjudge.web.queries.pass_now import PassNow, pass_now, with_judging
from adjudge.web.queries.passes import KeptStarts


class Site:
    """The store as pages see it, and what may be done with it; any thread may use it."""

    def __init__(self, store: Store, own: Settings, access: Access, doors: Doors) -> None:
        """`own` are the settings without the keys that are connected to the store."""
        self.store, self.own, self.access, self.doors = store, own, access, doors
        self.runs = KeptRuns(store)
        self.jobs = Jobs()
        self.figures = KeptFigures(store)
        self.passing, self.starts = Passing(store), KeptStarts(store)
        self.watches = Watches(self.pass_now)

    def pass_now(self, identifier: str) -> PassNow:
        """Where a pass stands. Raises InputError if there is none."""
        return with_judging(pass_now(self.store, identifier), self.passing.judging(identifier))

    async def part(self) -> None:
        """Stop jobs and let go of who watches passes, so that every stream of events ends by itself."""
        self.watches.close()
        await self.jobs.close()

    async def close(self) -> None:
        """Stop what is under way."""
        self.figures.close()
        await self.part()
        await self.passing.close()

    @property
    def settings(self) -> Settings:
        """The settings as they are now: keys may be connected and disconnected while the server runs.

        Raises:
            InputError: the connected keys cannot be used; see `connected.read_keys`.
        """
        return with_connected(self.own)


Here = NamedDependency[Site]
"""How a route asks for the site."""
