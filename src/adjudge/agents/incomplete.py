"""A machine of whose files only a part could be copied: what is looked for and not found there proves nothing."""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.errors import MachineError
from adjudge.ports import DirectoryItem, Fetched, FilePart, Found, Machine, Output

NOT_WHOLE = (
    "the workspace could not be copied whole: it holds more than the limits of its task allow; only commands on the "
    "machine itself see all of it"
)


class IncompleteMachine:
    """A `ports.Machine` that shows another one without its files, as they are not all known. Commands run as ever.

    `fresh` says whether a fresh run has all files none the less, as in a container's snapshot.
    """

    def __init__(self, machine: Machine, fresh: bool = False) -> None:
        self._machine, self._fresh = machine, fresh
        self.facts, self.hooks = machine.facts, machine.hooks

    async def run(self, command: str, seconds: float | None = None, fresh: bool = False) -> Output:
        """Run a command on the machine itself.

        Raises:
            MachineError: a fresh one was asked for, which would work on the copied files; or as `ports.Machine.run`.
        """
        if fresh and not self._fresh:
            raise MachineError(NOT_WHOLE)
        return await self._machine.run(command, seconds, fresh)

    async def read(self, path: str, offset: int = 0, limit: int = 65536) -> FilePart:  # noqa: ARG002  the port's shape
        """Refuse.

        Raises:
            MachineError: always.
        """
        raise MachineError(NOT_WHOLE)

    async def list(self, path: str = ".") -> tuple[Sequence[DirectoryItem], int]:  # noqa: ARG002  the port's shape
        """Refuse, as `read`."""
        raise MachineError(NOT_WHOLE)

    async def search(self, pattern: str, path: str = ".", regex: bool = False) -> Found:  # noqa: ARG002  the port's shape
        """Refuse, as `read`."""
        raise MachineError(NOT_WHOLE)

    async def close(self) -> None:
        """Close the machine."""
        await self._machine.close()


def told_of(copied: Fetched, what: str) -> tuple[str, ...]:
    """What is to be said of a copy that is not all there was."""
    if copied.cut:
        return (f"{what} could not be copied whole: it holds more than the limits allow",)
    if copied.left_out:
        return (
            f"left out of the copy of {what}, as neither files, folders nor links, or as they could not be read: "
            f"{copied.left_out}",
        )
    return ()
