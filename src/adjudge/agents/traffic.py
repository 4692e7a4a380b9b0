"""What went through a proxy, and whether the agent's last question was answered."""

from __future__ import annotations

import msgspec


class Traffic(msgspec.Struct, frozen=True):
    """Counts of one agent's requests.

    `requests` were let through, of them `asked` for an answer of the model and `failed` were not answered with success.
    `refused` were not let through: not a model's business, malformed, too large, or `beyond` the most that were allowed.
    The others tell of the latest request that asked for an answer and had its end: whether it was `answered` (`None` if
    there was none), the last status, and the endpoint's words for a failure, short, masked and made visible.
    """

    requests: int = 0
    asked: int = 0
    failed: int = 0
    refused: int = 0
    beyond: int = 0
    answered: bool | None = None
    last_status: int | None = None
    last_error: str = ""


def told_of_refused(traffic: Traffic | None) -> tuple[str, ...]:
    """A note if requests were refused, other than those beyond the most that were allowed."""
    refused = traffic.refused - traffic.beyond if traffic else 0
    if not refused:
        return ()
    were = "was" if refused == 1 else "were"
    return (f"of the agent's requests {refused} {were} refused: not its model's business, or malformed",)


class Ledger:
    """Counts while requests come and go. Questions are numbered by their beginning, so that a late end changes nothing."""

    def __init__(self) -> None:
        self.traffic = Traffic()
        self._begun = self._latest = 0

    def begin(self, answer: bool) -> int:
        """A request comes in; its number, or 0 if it asks for no answer."""
        self._begun += answer
        return self._begun if answer else 0

    def let_through(self, answer: bool) -> None:
        """It goes to the endpoint."""
        self._change(requests=self.traffic.requests + 1, asked=self.traffic.asked + answer)

    def refuse(self, number: int = 0, status: int = 0, words: str = "", beyond: bool = False) -> None:
        """It does not."""
        self._change(refused=self.traffic.refused + 1, beyond=self.traffic.beyond + beyond)
        self._end(number, False, status, words)

    def succeed(self, number: int, status: int) -> None:
        """It was answered, to the end."""
        self._end(number, True, status, "")

    def fail(self, number: int, status: int | None, words: str) -> None:
        """It was not: an error's status came, or no whole reply."""
        self._change(failed=self.traffic.failed + 1)
        self._end(number, False, status, words)

    def _end(self, number: int, answered: bool, status: int | None, words: str) -> None:
        if number > self._latest:
            self._latest = number
            self._change(answered=answered, last_status=status, last_error=words)

    def _change(self, **fields: object) -> None:
        self.traffic = msgspec.structs.replace(self.traffic, **fields)
