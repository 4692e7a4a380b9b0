from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.store.conftest import Place

from adjudge.store.faults import LockHeldError, LockLostError
from adjudge.store.store import Store

HOLDER = """
    import sys
    from adjudge.store.store import open_store
    with open_store(sys.argv[1], sys.argv[2] or None) as store:
        writer = store.passes.hold("a pass elsewhere")
        print("held", flush=True)
        sys.stdin.readline()
        import asyncio
        try:
            asyncio.run(writer.beat())
            print("beat", flush=True)
        except BaseException as error:
            print(type(error).__name__, flush=True)
"""


@contextmanager
def holder(place: Place) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock, and gives a sign of life when it is told to."""
    command = [sys.executable, "-c", textwrap.dedent(HOLDER), place.store, place.apart or ""]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def told(process: subprocess.Popen[str]) -> str:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def test_a_live_holders_lock_cannot_be_taken_and_the_message_names_it(store: Store, place: Place) -> None:
    with holder(place) as process:
        with pytest.raises(LockHeldError, match=rf"a pass elsewhere is under way .*: process {process.pid} on .*`kill"):
            store.passes.hold("mine")
        assert told(process) == "beat"


def test_a_dead_holders_lock_is_taken_at_once(store: Store, place: Place) -> None:
    with holder(place) as process:
        process.kill()
        process.wait()
        store.passes.hold("mine").release()


def test_a_holder_that_slept_through_its_lease_is_replaced_and_writes_nothing_more(store: Store, place: Place) -> None:
    with holder(place) as process:
        os.kill(process.pid, signal.SIGSTOP)
        mine = store.passes.hold("mine", lease=0.0)
        os.kill(process.pid, signal.SIGCONT)
        assert told(process) == "LockLostError"
        mine.release()
        store.passes.hold("mine again").release()


async def test_the_lock_of_the_replaced_is_lost_also_within_one_process(store: Store) -> None:
    first = store.passes.hold("first")
    second = store.passes.hold("second", lease=-1.0)
    with pytest.raises(LockLostError, match="taken this pass's lock over"):
        await first.beat()
    first.release()  # gives back nothing that is not its own
    await second.beat()
    second.release()


def test_a_released_lock_leaves_no_file_and_can_be_taken(store: Store) -> None:
    for _ in range(3):
        store.passes.hold("mine").release()
    assert store.folder is None or list(store.folder.glob("pass-*")) == []
