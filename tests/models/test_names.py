"""Names of models: what they stand for, whose key opens them, and which are one and the same."""

import pytest

from adjudge.errors import InputError, ModelError
from adjudge.models.names import read_name, same_model
from adjudge.settings import Settings

KEYS = Settings(
    keys={"OPENROUTER_API_KEY": "k-or", "OPENAI_API_KEY": "k-oa", "ANTHROPIC_API_KEY": "k-an", "GOOGLE_API_KEY": "k-go"}
)


@pytest.mark.parametrize(
    ("name", "provider", "model", "key"),
    [
        ("openrouter/anthropic/claude-sonnet-4.5", "openrouter", "anthropic/claude-sonnet-4.5", "k-or"),
        ("openrouter:anthropic/claude-sonnet-4.5", "openrouter", "anthropic/claude-sonnet-4.5", "k-or"),
        ("openrouter/deepseek/deepseek-r1:free", "openrouter", "deepseek/deepseek-r1:free", "k-or"),
        ("openai/gpt-5", "openai", "gpt-5", "k-oa"),
        ("OpenAI:gpt-5", "openai", "gpt-5", "k-oa"),
        ("anthropic/claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5", "k-an"),
        ("google/gemini-2.5-pro", "google", "gemini-2.5-pro", "k-go"),
        ("gemini/gemini-2.5-pro", "google", "gemini-2.5-pro", "k-go"),
        ("ollama/qwen3:8b", "ollama", "qwen3:8b", None),
        ("ollama:qwen3:8b", "ollama", "qwen3:8b", None),
        ("recorded/demo/exchange.json", "recorded", "demo/exchange.json", None),
        ("local/models/qwen.gguf", "local", "models/qwen.gguf", None),
        ("local//opt/qwen.gguf", "local", "/opt/qwen.gguf", None),
        ("http://127.0.0.1:8080/v1#qwen3", "endpoint", "qwen3", None),
    ],
)
def test_a_name_says_provider_and_model(name: str, provider: str, model: str, key: str | None) -> None:
    endpoint = read_name(name, KEYS)
    assert (endpoint.provider, endpoint.model, endpoint.key) == (provider, model, key)


def test_an_endpoints_name_is_read_back_to_the_same() -> None:
    for name in ("openrouter/anthropic/claude-sonnet-4.5", "http://127.0.0.1:8080/v1#qwen3", "ollama/qwen3:8b"):
        assert read_name(name, KEYS).name == name


@pytest.mark.parametrize("name", ["gpt-5", "", "/", "openai/", "mistral/large", "claude", "ftp://x/#m", "endpoint/x"])
def test_an_unknown_name_is_answered_with_what_would_be_right(name: str) -> None:
    with pytest.raises(InputError, match="openrouter/anthropic"):
        read_name(name, KEYS)


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openrouter/a/b", "OPENROUTER_API_KEY"),
        ("openai/gpt-5", "OPENAI_API_KEY"),
        ("anthropic/c", "ANTHROPIC_API_KEY"),
        ("google/g", "GEMINI_API_KEY or GOOGLE_API_KEY"),
    ],
)
def test_a_missing_key_is_named(name: str, variable: str) -> None:
    with pytest.raises(ModelError, match=variable) as caught:
        read_name(name, Settings())
    assert caught.value.kind == "refused"


def test_a_base_url_of_the_settings_is_used() -> None:
    settings = Settings(keys={"OPENAI_API_KEY": "k"}, base_urls={"OPENAI_BASE_URL": "https://llm.example.org/v1/"})
    endpoint = read_name("openai/m", settings)
    assert (endpoint.place, endpoint.near) == ("https://llm.example.org/v1", False)


@pytest.mark.parametrize(
    "place",
    [
        "http://[::1/v1",
        "127.0.0.1:8080/v1",
        "ftp://llm.example.org/v1",
        "https://user:sec/ret@llm.example.org/v1",
        "https://llm.example.org:99999/v1",
        "https://llm.example.org/v1?api-version=1",
    ],
)
def test_a_base_url_that_is_none_is_refused_without_repeating_a_password(place: str) -> None:
    with pytest.raises(InputError, match="OPENAI_BASE_URL: must be an address") as caught:
        read_name("openai/m", Settings(keys={"OPENAI_API_KEY": "k"}, base_urls={"OPENAI_BASE_URL": place}))
    assert "ret" not in str(caught.value)


@pytest.mark.parametrize("place", ["http://127.0.0.1:8080/v1", "http://localhost:11434/v1", "http://[::1]:80/v1"])
def test_a_base_url_on_this_machine_needs_no_key(place: str) -> None:
    endpoint = read_name("openai/m", Settings(base_urls={"OPENAI_BASE_URL": place}))
    assert (endpoint.key, endpoint.near) == (None, True)


@pytest.mark.parametrize("host", ["127.0.0.1.example.org", "example.org", "10.0.0.1", "localhost.example.org"])
def test_a_host_that_only_looks_near_is_far(host: str) -> None:
    assert not read_name(f"http://{host}/v1#m", Settings()).near


def test_an_address_does_not_get_the_key_of_openai() -> None:
    assert read_name("https://llm.example.org/v1#m", KEYS).key is None


@pytest.mark.parametrize(
    "name",
    ["http://127.0.0.1/v1", "http://#m", "http://[::1/v1#m", "https://me:secret@example.org/v1#m", "http://h/v1?key=s#m"],
)
def test_an_address_without_a_model_or_with_a_secret_is_refused_without_repeating_the_secret(name: str) -> None:
    with pytest.raises(InputError) as caught:
        read_name(name, KEYS)
    assert "secret" not in str(caught.value)


def test_a_key_is_not_shown_by_repr() -> None:
    assert "k-oa" not in repr(read_name("openai/gpt-5", KEYS))


@pytest.mark.parametrize(
    ("judge", "judged"),
    [
        ("openrouter/anthropic/claude-sonnet-4.5", "claude-sonnet-4-5-20250929"),
        ("anthropic/claude-sonnet-4-5", "anthropic:claude-sonnet-4-5@20250929"),
        ("openai/gpt-5", "GPT-5-2025-08-07"),
        ("openrouter/openai/gpt-5:free", "openai/gpt-5"),
        ("google/gemini-2.5-pro", "gemini-2.5-pro-latest"),
        ("http://127.0.0.1:8080/v1#qwen3", "ollama/qwen3"),
    ],
)
def test_one_model_under_two_names_is_one(judge: str, judged: str) -> None:
    assert same_model(judge, judged)


@pytest.mark.parametrize(
    ("judge", "judged"),
    [
        ("openai/gpt-5", "openai/gpt-5-mini"),
        ("openai/gpt-5", "openai/gpt-5.1"),
        ("anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4"),
        ("ollama/qwen3:8b", "ollama/qwen3:14b"),
        ("openai/gpt-5", ""),
        ("", ""),
    ],
)
def test_two_models_are_two(judge: str, judged: str) -> None:
    assert not same_model(judge, judged)
