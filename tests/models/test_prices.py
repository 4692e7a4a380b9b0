"""Prices and windows of models."""

import pytest

from adjudge.models.names import Endpoint
from adjudge.models.prices import price, window
from adjudge.record import Usage

CLAUDE = Endpoint("anthropic", "claude-sonnet-4-5", "https://api.anthropic.com", "k")


def test_a_known_model_costs_what_its_provider_publishes() -> None:
    # three dollars for a million tokens of prompt, a tenth of it for cached ones, fifteen for output
    assert price(CLAUDE, Usage(prompt=1000, cached=500, output=100)) == pytest.approx(
        (500 * 3 + 500 * 0.3 + 100 * 15) / 1e6
    )


def test_the_name_at_a_gateway_is_known_too() -> None:
    assert price(Endpoint("openrouter", "anthropic/claude-sonnet-4.5", "x", "k"), Usage(prompt=1000)) == pytest.approx(
        0.003
    )


@pytest.mark.parametrize(
    "endpoint", [Endpoint("openai", "nonesuch-9", "x", "k"), Endpoint("endpoint", "gpt-5", "https://example.org/v1")]
)
def test_an_unknown_price_is_none_and_not_zero(endpoint: Endpoint) -> None:
    assert price(endpoint, Usage(prompt=1000, output=100)) is None


def test_what_runs_here_costs_nothing() -> None:
    assert price(Endpoint("ollama", "qwen3", "http://127.0.0.1:11434/v1", near=True), Usage(prompt=1000)) == 0.0


def test_counts_that_contradict_each_other_still_have_a_price() -> None:
    assert price(CLAUDE, Usage(prompt=100, cached=900, written=900, output=1)) is not None


def test_windows_are_known_for_some_models() -> None:
    assert window(Endpoint("openai", "gpt-5", "x", "k")) == 400_000
    assert window(Endpoint("endpoint", "gpt-5", "https://example.org/v1")) is None
