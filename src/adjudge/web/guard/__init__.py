"""The guard: what every request must show before anything else sees it, and what every response carries.

It stands around the whole application, so that no route, no error and no file can be without it.
"""

from adjudge.web.guard.access import Access, Doors
from adjudge.web.guard.guard import Guard, Refuse
from adjudge.web.guard.headers import HEADERS

__all__ = ["HEADERS", "Access", "Doors", "Guard", "Refuse"]
