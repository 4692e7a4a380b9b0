"""Where the requests of an agent go, by its model's name and the format that it speaks."""

from __future__ import annotations

from typing import get_args

import pytest

from adjudge.agents.endpoints import Wire, endpoint_of, inside_url
from adjudge.errors import InputError, ModelError
from adjudge.settings import KEYS, Settings

KEYED = Settings(keys={name: f"key-of-{name.partition('_')[0].lower()}" for name in KEYS})


@pytest.mark.parametrize(
    ("name", "wire", "place", "model", "key", "header"),
    [
        ("openai/gpt-6-sol", "chat", "https://api.openai.com/v1", "gpt-6-sol", "key-of-openai", "authorization"),
        ("openai/gpt-6-sol", "responses", "https://api.openai.com/v1", "gpt-6-sol", "key-of-openai", "authorization"),
        (
            "openrouter/z-ai/glm-5",
            "chat",
            "https://openrouter.ai/api/v1",
            "z-ai/glm-5",
            "key-of-openrouter",
            "authorization",
        ),
        (
            "openrouter/z-ai/glm-5",
            "responses",
            "https://openrouter.ai/api/v1",
            "z-ai/glm-5",
            "key-of-openrouter",
            "authorization",
        ),
        (
            "openrouter/z-ai/glm-5",
            "anthropic",
            "https://openrouter.ai/api",
            "z-ai/glm-5",
            "key-of-openrouter",
            "authorization",
        ),
        ("anthropic/claude-x", "anthropic", "https://api.anthropic.com", "claude-x", "key-of-anthropic", "x-api-key"),
        (
            *("google/gemini-x", "gemini", "https://generativelanguage.googleapis.com", "gemini-x", "key-of-gemini"),
            "x-goog-api-key",
        ),
        (
            *("gemini/gemini-x", "chat", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-x"),
            *("key-of-gemini", "authorization"),
        ),
        ("ollama/qwen3:8b", "chat", "http://127.0.0.1:11434/v1", "qwen3:8b", None, "authorization"),
        ("ollama/qwen3:8b", "responses", "http://127.0.0.1:11434/v1", "qwen3:8b", None, "authorization"),
        ("ollama/qwen3:8b", "anthropic", "http://127.0.0.1:11434", "qwen3:8b", None, "authorization"),
        ("http://h:8080/v1#m", "chat", "http://h:8080/v1", "m", None, "authorization"),
        ("http://h:8080/v1/#m", "responses", "http://h:8080/v1", "m", None, "authorization"),
        ("http://h:8080/v1#m", "anthropic", "http://h:8080", "m", None, "authorization"),
        ("http://h:8080/v1#m", "gemini", "http://h:8080", "m", None, "x-goog-api-key"),
        ("http://h:8080/llm#m", "anthropic", "http://h:8080/llm", "m", None, "authorization"),
    ],
)
def test_a_model_is_found_in_the_format_of_the_agent(
    name: str, wire: Wire, place: str, model: str, key: str | None, header: str
) -> None:
    found = endpoint_of(name, wire, KEYED)
    assert (found.place, found.model, found.key, found.key_header, found.wire) == (place, model, key, header, wire)


@pytest.mark.parametrize(
    ("variable", "url", "name", "wire", "place"),
    [
        ("OPENAI_BASE_URL", "https://gateway/v1/", "openai/m", "responses", "https://gateway/v1"),
        ("OPENROUTER_BASE_URL", "https://gateway/api/v1", "openrouter/a/m", "anthropic", "https://gateway/api"),
        ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9/v1", "anthropic/m", "anthropic", "http://127.0.0.1:9"),
        ("GEMINI_BASE_URL", "http://127.0.0.1:9/v1beta", "google/m", "gemini", "http://127.0.0.1:9"),
        ("GOOGLE_BASE_URL", "http://127.0.0.1:9", "google/m", "chat", "http://127.0.0.1:9/v1beta/openai"),
    ],
)
def test_base_urls_of_the_environment_count(variable: str, url: str, name: str, wire: Wire, place: str) -> None:
    found = endpoint_of(name, wire, Settings(keys=KEYED.keys, base_urls={variable: url}))
    assert found.place == place
    assert found.near is place.startswith("http://127.0.0.1")


@pytest.mark.parametrize(
    ("name", "wire", "words"),
    [
        ("anthropic/m", "chat", "speaks OpenAI's chat completions (chat), which anthropic does not offer; openrouter/…, "),
        ("google/m", "responses", "(responses), which google does not offer; openrouter/…, openai/…, ollama/… or http://"),
        (
            "openai/m",
            "anthropic",
            "(anthropic), which openai does not offer; openrouter/…, anthropic/…, ollama/… or http://",
        ),
        ("ollama/m", "gemini", "(gemini), which ollama does not offer; google/… or http://HOST:PORT/v1#MODEL would do"),
        ("recorded/x.json", "chat", "over the network, which recorded/… does not offer"),
        ("local/smollm2", "chat", "over the network, which local/… does not offer"),
    ],
)
def test_who_would_do_is_told_where_a_provider_does_not(name: str, wire: Wire, words: str) -> None:
    with pytest.raises(InputError) as raised:
        endpoint_of(name, wire, KEYED)
    assert words in str(raised.value)
    assert repr(name) in str(raised.value)


def test_a_missing_key_is_told_as_everywhere() -> None:
    with pytest.raises(ModelError, match="no key for anthropic; set ANTHROPIC_API_KEY") as raised:
        endpoint_of("anthropic/m", "anthropic", Settings())
    assert raised.value.kind == "refused"


@pytest.mark.parametrize("key", ["with blank", "line\nbreak", "Schlüssel", "nul\0"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_told(key: str) -> None:
    with pytest.raises(InputError, match="the key for openai") as raised:
        endpoint_of("openai/m", "chat", Settings(keys={"OPENAI_API_KEY": key}))
    assert key not in str(raised.value)


@pytest.mark.parametrize(
    "url", ["https://user:password@gateway/v1", "https://gateway/v1?key=1", "ftp://gateway", "gateway"]
)
def test_a_base_url_must_be_a_plain_one(url: str) -> None:
    with pytest.raises(InputError, match="OPENAI_BASE_URL: must be an address") as raised:
        endpoint_of("openai/m", "chat", Settings(keys=KEYED.keys, base_urls={"OPENAI_BASE_URL": url}))
    assert "password@" not in str(raised.value)


def test_the_key_is_never_shown() -> None:
    found = endpoint_of("openai/m", "chat", KEYED)
    assert repr(found) == "AgentEndpoint('openai/m', 'chat')"
    assert "key-of" not in f"{found} {found!r}"


def test_inside_of_a_machine_the_model_is_always_at_the_same_place() -> None:
    assert {wire: inside_url(wire) for wire in get_args(Wire)} == {
        "chat": "http://127.0.0.1:47113/v1",
        "responses": "http://127.0.0.1:47113/v1",
        "anthropic": "http://127.0.0.1:47113",
        "gemini": "http://127.0.0.1:47113",
    }
