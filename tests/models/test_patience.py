"""How often and how long a failed attempt is tried again."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from adjudge.errors import ModelError
from adjudge.models.faults import Fault
from adjudge.models.patience import Patience


class Clock:
    """A time that only sleeping and `pass_by` move."""

    def __init__(self) -> None:
        self.now, self.waits = 0.0, list[float]()

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def failing(*faults: Fault, clock: Clock | None = None, takes: float = 0.0) -> Callable[[], Awaitable[str]]:
    """An attempt that fails in these ways one after another, then succeeds; each takes some seconds of the clock."""
    left = list(faults)

    async def attempt() -> str:
        if clock:
            clock.pass_by(takes)
        if left:
            raise left.pop(0)
        return "done"

    return attempt


def busy(after: float | None = None) -> Fault:
    return Fault("HTTP 429: slow down", "busy", again=True, after=after)


async def first_success(attempt: Callable[[], Awaitable[str]], clock: Clock, deadline: float = 600.0, chance: float = 1.0):  # type: ignore[no-untyped-def]  # as Patience has it
    return await Patience(deadline, clock=clock, sleep=clock.sleep, chance=lambda: chance).first_success("m", attempt)


async def test_the_first_success_is_returned_with_its_number() -> None:
    assert await first_success(failing(), Clock()) == ("done", 1)
    assert await first_success(failing(busy(), busy()), Clock()) == ("done", 3)


async def test_waits_double_from_half_a_second() -> None:
    clock = Clock()
    await first_success(failing(*[busy()] * 6), clock)
    assert clock.waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0]


async def test_chance_spreads_the_waits() -> None:
    clock = Clock()
    await first_success(failing(busy(), busy()), clock, chance=0.25)
    assert clock.waits == [0.125, 0.25]


async def test_a_seventh_retry_is_not_made() -> None:
    with pytest.raises(ModelError, match=r"slow down.*tried 7 times") as caught:
        await first_success(failing(*[busy()] * 7), Clock())
    assert caught.value.kind == "busy"


async def test_retries_end_two_minutes_after_the_first_failure() -> None:
    clock = Clock()
    with pytest.raises(ModelError, match="tried 3 times"):
        await first_success(failing(*[busy(50.0)] * 7), clock)
    assert clock.waits == [50.0, 50.0]


async def test_slow_attempts_use_up_the_two_minutes_too() -> None:
    clock = Clock()
    with pytest.raises(ModelError, match="tried 3 times"):
        await first_success(failing(*[busy()] * 7, clock=clock, takes=70.0), clock)


async def test_a_slow_first_attempt_does_not_use_them_up() -> None:
    clock = Clock()
    assert await first_success(failing(busy(), clock=clock, takes=200.0), clock) == ("done", 2)


async def test_no_wait_goes_beyond_the_deadline() -> None:
    clock = Clock()
    with pytest.raises(ModelError):
        await first_success(failing(busy(30.0)), clock, deadline=20.0)
    assert clock.waits == []


async def test_a_wait_that_is_asked_for_is_not_shortened() -> None:
    clock = Clock()
    await first_success(failing(busy(45.0)), clock, chance=0.0)
    assert clock.waits == [45.0]


async def test_what_no_retry_can_mend_is_not_tried_again() -> None:
    with pytest.raises(ModelError) as caught:
        await first_success(failing(Fault("wrong key", "refused")), Clock())
    assert (caught.value.kind, str(caught.value)) == ("refused", "m: wrong key")


async def test_an_attempt_that_never_ends_is_ended_by_the_deadline() -> None:
    async def attempt() -> str:
        await asyncio.sleep(3600)
        return "never"

    with pytest.raises(ModelError, match=r"no answer within 0\.05 s") as caught:
        await Patience(0.05).first_success("m", attempt)
    assert caught.value.kind == "timeout"


async def test_giving_up_from_outside_is_no_failure_of_the_model() -> None:
    async def attempt() -> str:
        await asyncio.sleep(3600)
        return "never"

    task = asyncio.create_task(Patience(600.0).first_success("m", attempt))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_call_may_be_given_fewer_retries() -> None:
    clock = Clock()
    patience = Patience(600.0, clock=clock, sleep=clock.sleep, chance=lambda: 1.0)
    with pytest.raises(ModelError, match="tried 2 times"):
        await patience.first_success("m", failing(busy(), busy(), busy()), retries=1)
    with pytest.raises(ModelError, match="slow down"):
        await patience.first_success("m", failing(busy()), retries=0)
