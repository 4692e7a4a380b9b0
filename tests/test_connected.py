"""Keys in a store's folder: who may read them, what may be there, and which goes before which."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from adjudge.connected import connect, disconnect, read_connections, read_keys, require_apart, with_connected
from adjudge.errors import InputError, OutsideError
from adjudge.settings import Settings, read_settings
from adjudge.store.store import open_store

KEY = "sk-or-v1-0123456789abcdef"


def kept(folder: Path, text: str, mode: int = 0o600) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "keys.json"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_connected_key_is_there_afterwards_and_for_its_owner_alone(tmp_path: Path) -> None:
    connect(tmp_path / "store", "openrouter", KEY)
    assert read_keys(tmp_path / "store") == {"OPENROUTER_API_KEY": KEY}
    assert (tmp_path / "store/keys.json").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "store").stat().st_mode & 0o777 == 0o700
    assert sorted(os.listdir(tmp_path / "store")) == [".gitignore", "keys.json"]


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("openrouter", "OPENROUTER_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("google", "GEMINI_API_KEY"),
    ],
)
def test_each_provider_has_its_variable(tmp_path: Path, provider: str, variable: str) -> None:
    connect(tmp_path, provider, KEY)
    assert json.loads((tmp_path / "keys.json").read_text())[variable] == KEY


def test_a_store_can_be_opened_where_a_key_was_connected_first(tmp_path: Path) -> None:
    connect(tmp_path / "store", "openai", KEY)
    with open_store(tmp_path / "store") as store:
        assert list(store.runs()) == []
    assert (tmp_path / "store/.gitignore").read_text() == "*\n"
    assert read_keys(tmp_path / "store") == {"OPENAI_API_KEY": KEY}


def test_keys_are_kept_side_by_side_and_replaced_one_by_one(tmp_path: Path) -> None:
    connect(tmp_path, "openai", "first-key-of-openai")
    connect(tmp_path, "anthropic", KEY)
    connect(tmp_path, "openai", "second-key-of-openai")
    assert read_keys(tmp_path) == {"OPENAI_API_KEY": "second-key-of-openai", "ANTHROPIC_API_KEY": KEY}


def test_a_disconnected_key_is_gone(tmp_path: Path) -> None:
    connect(tmp_path, "openai", KEY)
    connect(tmp_path, "google", KEY + "g")
    assert disconnect(tmp_path, "google") is True
    assert disconnect(tmp_path, "google") is False
    assert read_keys(tmp_path) == {"OPENAI_API_KEY": KEY}
    assert KEY + "g" not in (tmp_path / "keys.json").read_text()
    disconnect(tmp_path, "openai")
    assert not (tmp_path / "keys.json").exists()


def test_disconnecting_makes_no_store(tmp_path: Path) -> None:
    assert disconnect(tmp_path / "none", "openai") is False
    assert not (tmp_path / "none").exists()


def test_no_key_of_an_unknown_provider_is_forgotten(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the providers are"):
        disconnect(tmp_path, "nobody")


def test_when_a_key_was_connected_is_kept_with_it(tmp_path: Path) -> None:
    connect(tmp_path, "openai", KEY)
    [connection] = read_connections(tmp_path).values()
    assert connection.since
    assert connection.since.startswith("20")
    assert KEY not in repr(connection)


def test_a_file_written_by_hand_will_do(tmp_path: Path) -> None:
    kept(tmp_path, json.dumps({"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": ""}))
    assert read_keys(tmp_path) == {"ANTHROPIC_API_KEY": KEY}


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o660, 0o644, 0o601])
def test_a_file_that_others_can_get_at_is_refused_with_what_to_do(tmp_path: Path, mode: int) -> None:
    path = kept(tmp_path, json.dumps({"OPENAI_API_KEY": KEY}), mode)
    with pytest.raises(InputError, match=f"chmod 600 {path}"):
        read_keys(tmp_path)


def test_the_file_of_another_user_is_refused(tmp_path: Path) -> None:
    path = kept(tmp_path, json.dumps({"OPENAI_API_KEY": KEY}))
    if os.geteuid():
        pytest.skip("only root can give a file away")
    os.chown(path, 4242, 4242)
    with pytest.raises(InputError, match="another user"):
        read_keys(tmp_path)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", f'{{"OPENAI_API_KEY": "{KEY}"', '{"OPENAI_API_KEY": 1}', '{"since": []}', "[" * 100_000, "\x00"],
)
def test_what_is_no_list_of_keys_is_refused_by_the_name_of_the_file(tmp_path: Path, text: str) -> None:
    path = kept(tmp_path, text)
    with pytest.raises(InputError) as raised:
        read_keys(tmp_path)
    assert str(raised.value).startswith(f"{path}: must be JSON such as")
    assert KEY not in f"{raised.value!r} {raised.value.__cause__!r}"


def test_only_keys_of_known_providers_are_taken(tmp_path: Path) -> None:
    kept(tmp_path, '{"PATH": "/evil"}')
    with pytest.raises(InputError, match="'PATH' is no key"):
        read_keys(tmp_path)


def test_a_link_or_a_pipe_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    path = kept(tmp_path / "elsewhere", json.dumps({"OPENAI_API_KEY": KEY}))
    (tmp_path / "keys.json").symlink_to(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_keys(tmp_path)
    (tmp_path / "keys.json").unlink()
    os.mkfifo(tmp_path / "keys.json", 0o600)
    with pytest.raises(InputError, match="must be a file"):
        read_keys(tmp_path)


@pytest.mark.parametrize(
    "key", ["", "short", "has a blank in it", "line\nbreak-in-it", "smuggled\r\nx: y", "clé-secrète", "x" * 5000]
)
def test_what_cannot_be_a_key_is_not_kept(tmp_path: Path, key: str) -> None:
    with pytest.raises(InputError, match="no key"):
        connect(tmp_path, "openai", key)
    assert not (tmp_path / "keys.json").exists()


def test_a_provider_that_there_is_not_is_told_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'ollama'.*openrouter, openai, anthropic, google"):
        connect(tmp_path, "ollama", KEY)


def test_a_store_that_is_a_database_has_no_connected_keys() -> None:
    assert read_keys("postgresql://host/adjudge") == {}
    with pytest.raises(InputError, match=r"^postgresql://u:\*\*\*@host/adjudge: .*environment instead"):
        connect("postgresql://u:s3cret@host/adjudge", "openai", KEY)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutsideError):
        connect(tmp_path / "file/store", "openai", KEY)


def test_a_folder_in_the_place_of_the_file_is_refused_and_left(tmp_path: Path) -> None:
    (tmp_path / "keys.json").mkdir()
    with pytest.raises(InputError, match="must be a file"):
        connect(tmp_path, "openai", KEY)
    assert os.listdir(tmp_path) == ["keys.json"]


# --- with the environment


def test_a_connected_key_serves_where_the_environment_has_none(tmp_path: Path) -> None:
    connect(tmp_path, "openrouter", KEY)
    settings = with_connected(read_settings({"ADJUDGE_STORE": str(tmp_path), "OPENAI_API_KEY": "from-environment"}))
    assert settings.keys == {"OPENAI_API_KEY": "from-environment", "OPENROUTER_API_KEY": KEY}


def test_the_environment_goes_first(tmp_path: Path) -> None:
    connect(tmp_path, "openrouter", KEY)
    settings = with_connected(read_settings({"ADJUDGE_STORE": str(tmp_path), "OPENROUTER_API_KEY": "from-environment"}))
    assert settings.keys == {"OPENROUTER_API_KEY": "from-environment"}


def test_the_environment_goes_first_by_any_name_of_the_provider(tmp_path: Path) -> None:
    connect(tmp_path, "google", KEY)
    settings = with_connected(read_settings({"ADJUDGE_STORE": str(tmp_path), "GOOGLE_API_KEY": "from-environment"}))
    assert settings.keys == {"GOOGLE_API_KEY": "from-environment"}


# --- and what is judged


@pytest.mark.parametrize("inside", [".", "project", "project/.adjudge"])
def test_no_workspace_may_hold_the_keys(tmp_path: Path, inside: str) -> None:
    store = tmp_path / "project/.adjudge"
    settings = Settings(store=str(store))
    store.mkdir(parents=True)
    require_apart(settings, [tmp_path / inside])
    connect(store, "openai", KEY)
    with pytest.raises(InputError, match="connected keys"):
        require_apart(settings, [tmp_path / inside])


def test_a_workspace_beside_the_store_is_apart(tmp_path: Path) -> None:
    connect(tmp_path / "store", "openai", KEY)
    (tmp_path / "store-2").mkdir()
    require_apart(Settings(store=str(tmp_path / "store")), [tmp_path / "store-2", "/usr"])


def test_a_link_to_the_store_does_not_hide_it(tmp_path: Path) -> None:
    connect(tmp_path / "work/store", "openai", KEY)
    (tmp_path / "link").symlink_to(tmp_path / "work/store")
    with pytest.raises(InputError, match="connected keys"):
        require_apart(Settings(store=str(tmp_path / "link")), [tmp_path / "work"])


def test_keys_of_another_store_must_not_lie_where_things_run_either(tmp_path: Path) -> None:
    connect(tmp_path / "project" / ".adjudge", "openrouter", "sk-or-0123456789")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "keys.json").write_text('{"a": "file of the same name"}')
    elsewhere = Settings(store=str(tmp_path / "elsewhere"))
    with pytest.raises(InputError, match=r"holds the store .*project/\.adjudge with connected keys"):
        require_apart(elsewhere, [tmp_path / "project"])
    require_apart(elsewhere, [tmp_path / "other"])
