"""Values of the wrong kind in others' JSON."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from adjudge.importers.documents_values import amount, attachment, count, moment, without_base64


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, 3), (3.0, 3), (0, 0), (-1, None), (True, None), ("3", None), (10**400, None), (float("inf"), None)],
)
def test_a_count_is_a_whole_number_that_is_not_negative(value: Any, expected: int | None) -> None:
    assert count(value) == expected


@pytest.mark.parametrize(("value", "expected"), [(0.5, 0.5), (0, None), (float("nan"), None), (None, None)])
def test_a_cost_of_zero_is_an_unknown_cost(value: Any, expected: float | None) -> None:
    assert amount(value) == expected


def test_a_time_as_a_number_becomes_iso_and_a_text_stays() -> None:
    assert moment(1795983075502, 0.001) == "2026-11-29T20:11:15.502Z"
    assert moment("2026-11-29T20:11:15") == "2026-11-29T20:11:15"
    assert moment(1e300) is None


def test_embedded_data_is_replaced_by_its_size_and_hash() -> None:
    data = base64.b64encode(bytes(3000)).decode()
    assert without_base64(f'{{"type": "base64", "data": "{data}"}}').startswith(
        '{"type": "base64", "data": "[base64, 3000 bytes'
    )
    assert "3000 bytes" in without_base64(f"see data:image/png;base64,{data} there")
    assert attachment("image/png", f"data:image/png;base64,{data}").startswith("[image/png, 3000 bytes, sha256 ")


def test_a_long_line_of_output_is_no_embedded_data() -> None:
    assert without_base64("x" * 5000) == "x" * 5000
