"""Every exhibit of a run: the ids are not listed, since there may be a hundred thousand."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from adjudge.web.queries.kept import OpenRun


class Known(Collection[str]):
    """Holds the id of every entry and turn of a run, and of these looks."""

    def __init__(self, opened: OpenRun, looks: Collection[str] = ()) -> None:
        self._opened, self._looks = opened, looks

    def __contains__(self, exhibit: object) -> bool:
        return isinstance(exhibit, str) and (exhibit in self._looks or self._opened.place_of(exhibit) is not None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._looks)

    def __len__(self) -> int:
        return len(self._looks)
