"""On which addresses the web interface may stand open, and with what."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.errors import InputError, OutsideError
from adjudge.settings import Settings
from adjudge.store.store import open_store
from adjudge.web.serving import Serving, chosen_token, names_of, require_safe, serve

CERTIFICATE, KEY = Path("c.pem"), Path("k.pem")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "localhost"])
def test_this_computer_alone_needs_nothing(host: str) -> None:
    require_safe(Serving(host))
    require_safe(Serving(host, token=False))


OPEN = ("0.0.0.0", "::", "", "192.168.1.7", "10.0.0.1", "judge.example.org", "fe80::1")


@pytest.mark.parametrize("host", OPEN)
def test_an_address_that_others_can_reach_needs_tls_or_an_explicit_word(host: str) -> None:
    with pytest.raises(InputError, match="--plain-http"):
        require_safe(Serving(host, names=("judge.example.org",)))
    require_safe(Serving(host, names=("judge.example.org",), plain=True))
    require_safe(Serving(host, names=("judge.example.org",), certificate=CERTIFICATE, key=KEY))


@pytest.mark.parametrize("host", OPEN)
def test_it_is_never_served_without_a_token(host: str) -> None:
    names = ("judge.example.org",)
    for open_to_all in (
        Serving(host, token=False, names=names, plain=True),
        Serving(host, token=False, names=names, certificate=CERTIFICATE, key=KEY),
    ):
        with pytest.raises(InputError, match="--no-token"):
            require_safe(open_to_all)


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_every_address_needs_the_names_under_which_it_is_reached(host: str) -> None:
    with pytest.raises(InputError, match="--name"):
        require_safe(Serving(host, plain=True))


def test_a_certificate_without_its_key_is_refused() -> None:
    with pytest.raises(InputError, match="belong together"):
        require_safe(Serving(certificate=Path("c.pem")))


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="is no host name"):
        require_safe(Serving(names=("http://judge",)))


def test_a_token_is_drawn_by_lot_from_256_bits() -> None:
    tokens = {chosen_token(Serving(), {}) for _ in range(20)}
    assert len(tokens) == 20
    assert all(token and len(token) == 43 for token in tokens)


def test_a_short_token_of_ones_own_is_refused() -> None:
    assert chosen_token(Serving(), {"ADJUDGE_TOKEN": "a" * 32}) == "a" * 32
    for given in ("short", "a" * 31, "a" * 31 + "é", "a" * 31 + ";", "a b" * 20):
        with pytest.raises(InputError, match="ADJUDGE_TOKEN"):
            chosen_token(Serving(), {"ADJUDGE_TOKEN": given})


def test_without_a_token_there_is_none() -> None:
    assert chosen_token(Serving(token=False), {"ADJUDGE_TOKEN": "a" * 32}) is None


def test_the_names_are_those_of_loopback_or_those_given() -> None:
    assert names_of(Serving()) == {"localhost", "127.0.0.1", "::1"}
    assert names_of(Serving("0.0.0.0", names=("Judge.example.org",))) == {"judge.example.org"}
    assert names_of(Serving("192.168.1.7")) == {"192.168.1.7"}


def test_an_address_that_is_taken_is_said(tmp_path: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken, open_store(tmp_path / "s") as store:
        port = taken.getsockname()[1]
        with pytest.raises(OutsideError, match=f"--port {port}"):
            serve(store, Settings(), Serving(port=port), print)
