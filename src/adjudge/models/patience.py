"""How long and how often a call is tried again: six times and two minutes at most, within one total deadline."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import NoReturn, TypeVar

from adjudge.errors import ModelError
from adjudge.models.faults import Fault

T = TypeVar("T")


class Patience:
    """Tries again what may succeed later.

    Retries end after `retries` of them, `waiting` seconds after the first failure, or at `deadline` seconds in all,
    the time of the attempts included. Waits grow from half a second, with full jitter (Brooker, "Exponential backoff
    and jitter"), and are never shorter than what the provider asked for. `clock`, `sleep` and `chance` are seams for
    tests.
    """

    def __init__(
        self,
        deadline: float,
        retries: int = 6,
        waiting: float = 120.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._deadline, self._retries, self._waiting = deadline, retries, waiting
        self._clock, self._sleep, self._chance = clock, sleep, chance

    async def first_success(
        self, name: str, attempt: Callable[[], Awaitable[T]], retries: int | None = None
    ) -> tuple[T, int]:
        """What the first attempt that succeeds brings, and which one it was; `retries` may be fewer than there are.

        Raises:
            ModelError: none did; the message starts with `name` and says how often it was tried.
        """
        started = self._clock()
        failed: float | None = None
        most = self._retries if retries is None else min(retries, self._retries)
        for number in range(1, most + 2):
            try:
                async with asyncio.timeout(max(0.0, self._deadline - (self._clock() - started))):
                    return await attempt(), number
            except TimeoutError:
                raise ModelError(f"{name}: no answer within {self._deadline:g} s (attempt {number})", "timeout") from None
            except Fault as fault:
                failed = self._clock() if failed is None else failed
                left = min(self._waiting - (self._clock() - failed), self._deadline - (self._clock() - started))
                wait = self._wait(fault, number, number > most, left, name)
            await self._sleep(wait)
        raise AssertionError("the last attempt either returns or gives up")

    def _wait(self, fault: Fault, number: int, last: bool, left: float, name: str) -> float:
        """Seconds to wait after a failed attempt; gives up where no further one may follow."""
        wait: float = max(fault.after or 0.0, self._chance() * min(30.0, 0.5 * 2.0 ** (number - 1)))
        if not fault.again or last or wait >= left:
            _give_up(name, fault, number)
        return wait


def _give_up(name: str, fault: Fault, number: int) -> NoReturn:
    tried = f" (tried {number} times)" if number > 1 else ""
    later = ""
    if fault.after:
        moment = datetime.now(UTC) + timedelta(seconds=fault.after)
        later = f"; it asks to wait {fault.after:.0f} s, until {moment:%Y-%m-%d %H:%M} UTC"
    raise ModelError(f"{name}: {fault.words}{later}{tried}", fault.kind) from fault
