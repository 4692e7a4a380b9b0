"""What the environment sets, and what it cannot."""

from __future__ import annotations

import pytest

from adjudge.errors import InputError
from adjudge.settings import Settings, read_settings


@pytest.mark.parametrize("mode", ["full", "pruned", "automatic"])
def test_how_much_a_reader_gets_can_be_set(mode: str) -> None:
    assert read_settings({"ADJUDGE_PRUNE": mode}).prune == mode


def test_a_reader_gets_a_pruned_trajectory_where_nothing_is_set() -> None:
    assert read_settings({"ADJUDGE_PRUNE": ""}) == Settings()
    assert Settings().prune == "pruned"


def test_a_mode_that_there_is_not_is_told_with_those_that_there_are() -> None:
    with pytest.raises(InputError) as raised:
        read_settings({"ADJUDGE_PRUNE": "short"})
    assert str(raised.value) == "ADJUDGE_PRUNE: must be full or pruned or automatic, got 'short'"
