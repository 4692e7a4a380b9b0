"""What is sent is the same in whatever way it was put together."""

from __future__ import annotations

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from adjudge.models.exchange import clean
from adjudge.models.sendable import quoted

ANY = st.text(st.characters(exclude_categories=()) | st.sampled_from('"\\\0\n\x7f\u2028·…😀\ud83d\ude00'))
"""Texts with lone surrogates and all that JSON escapes."""


@given(st.lists(ANY.map(lambda text: f"{text}\n")))
@example([])
@example(["a\0", "\ud83d", "“b”"])
def test_a_text_in_pieces_is_the_same_string_of_json(pieces: list[str]) -> None:
    assert bytes(quoted(pieces)) == msgspec.json.encode(clean("".join(pieces)))
