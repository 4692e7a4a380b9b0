"""What the environment sets, and what it cannot."""

from __future__ import annotations

import pytest

from adjudge.errors import InputError
from adjudge.settings import Settings, read_settings, without_password


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


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        (".adjudge", ".adjudge"),
        ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("postgresql://u:secret@h:5432/d?sslmode=require", "postgresql://u:***@h:5432/d?sslmode=require"),
        ("postgresql://u:se:c@r/e?t@h/d", "postgresql://u:***@h/d"),
        ("postgresql://:secret@h/d", "postgresql://:***@h/d"),
        ("postgresql://u@h/d?sslpassword=secret&password=secret", "postgresql://u@h/d?sslpassword=***&password=***"),
        ("s3://key:secret@bucket/blobs", "s3://key:***@bucket/blobs"),
        ("postgresql://u@h:5432/d", "postgresql://u@h:5432/d"),
    ],
)
def test_a_url_is_shown_without_its_password(place: str, shown: str) -> None:
    assert without_password(place) == shown


def test_where_the_blobs_are_can_be_set() -> None:
    assert read_settings({"ADJUDGE_BLOBS": "s3://bucket/adjudge"}).blobs == "s3://bucket/adjudge"
    assert Settings().blobs is None
