"""A value never survives, in whatever form it is written and wherever the stream is cut."""

from __future__ import annotations

import base64
import html
import json
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.agents.masking import Marks, Masking, masked

SECRET = 'p/ss w"rd\\+=é&<1>'

SECRETS = st.dictionaries(
    st.sampled_from(["A", "B", "TOKEN"]), st.text(st.sampled_from('ab/ é"\\%+='), min_size=8, max_size=12), min_size=1
)
"""Few letters, so that values overlap, and none that stands in a mark."""


def written(value: str) -> list[str]:
    """The value as other programs write it."""
    return [
        value,
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(value)),
        json.dumps(value)[1:-1].replace("/", "\\/"),
        quote(value),
        quote(value, safe=""),
        quote_plus(value),
        quote(value, safe="").lower() if value.isascii() else quote(value),
        base64.b64encode(value.encode()).decode(),
        base64.urlsafe_b64encode(value.encode()).decode(),
        base64.b64encode(f"user:{value}".encode()).decode(),
        base64.b64encode(f"a:{value}\n".encode()).decode(),
        base64.b64encode(f"12{value}34".encode()).decode(),
    ]


@pytest.mark.parametrize("form", written(SECRET))
def test_each_form_is_found_amid_other_text(form: str) -> None:
    passed = masked(f"before {form} after".encode(), Marks({"NAME": SECRET})).decode()
    assert "[secret NAME]" in passed
    assert passed.startswith("before ")
    assert passed.endswith(" after")
    assert form not in passed


@st.composite
def streams(draw: st.DrawFn) -> tuple[dict[str, str], list[bytes]]:
    """Secrets, and a text that holds them and pieces of them, cut anywhere."""
    secrets = draw(SECRETS)
    values = list(secrets.values())
    whole = st.sampled_from([form for value in values for form in written(value)])
    piece = st.builds(lambda text, at: text[:at], whole, st.integers(0, 12))
    text = "".join(draw(st.lists(st.one_of(whole, piece, st.text("ab/ é", max_size=5)), max_size=12))).encode()
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return secrets, [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(streams(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_no_value_survives_wherever_a_stream_is_cut(stream: tuple[dict[str, str], list[bytes]], filled: bool) -> None:
    secrets, pieces = stream
    marks = Marks(secrets, same_length=filled)
    masking = Masking(marks)
    passed = b"".join([*(masking.feed(piece) for piece in pieces), masking.finish()])
    for value in secrets.values():
        for form in (value, json.dumps(value)[1:-1], quote(value, safe="")):
            assert form.encode() not in passed
    assert passed == masked(b"".join(pieces), marks)
    if filled:
        assert len(passed) == len(b"".join(pieces))


@given(streams())
@settings(max_examples=50, deadline=None)
def test_only_what_may_be_a_beginning_is_held_back(stream: tuple[dict[str, str], list[bytes]]) -> None:
    secrets, pieces = stream
    marks = Marks(secrets, same_length=True)
    masking = Masking(marks)
    came = passed = 0
    for piece in pieces:
        came, passed = came + len(piece), passed + len(masking.feed(piece))
        held = b"".join(pieces)[passed:came]
        assert any(form.startswith(held) for form in marks.of)


def test_text_without_the_value_passes_at_once_and_unchanged() -> None:
    masking = Masking(Marks({"KEY": "sk-or-v1-0123456789"}))
    assert masking.feed(b'data: {"delta": "sk"}\n\n') == b'data: {"delta": "sk"}\n\n'
    assert masking.feed(b"tasks-or-v1-012345\n") == b"tasks-or-v1-012345\n"
    assert masking.finish() == b""


def test_the_longer_of_two_values_that_begin_alike_is_found_however_it_comes() -> None:
    marks = Marks({"SHORT": "abcdefgh", "LONG": "abcdefghijkl"})
    masking = Masking(marks)
    pieces = [masking.feed(bytes([letter])) for letter in b"abcdefghijkl.abcdefgh."]
    assert b"".join([*pieces, masking.finish()]) == b"[secret LONG].[secret SHORT]."
    assert masking.found == 2


def test_what_only_looks_like_the_value_in_html_is_left() -> None:
    form = html.escape(SECRET).encode()
    assert masked(form, Marks({"NAME": SECRET})) == form


def test_a_text_full_of_values_takes_no_longer_than_others() -> None:
    marks = Marks({"KEY": "sk-0123456789", "OTHER": "x" * 3000})
    started = time.perf_counter()
    masking = Masking(marks)
    for _ in range(4):
        masking.feed(b"sk-0123456789 " * 70_000)
    assert masking.found == 280_000
    assert time.perf_counter() - started < 10
