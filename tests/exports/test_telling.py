"""A judgment that goes on, in words."""

from __future__ import annotations

from adjudge.evidence import Look
from adjudge.exports.telling import LONGEST_SHOWN, detail_of, words_of


def test_a_look_that_brought_much_is_cut_with_a_word_on_how_much() -> None:
    text = "a" * 15_000 + "b" * 15_000
    look = Look("L1", "run", "command", {"command": "cat big\x1b[2J\nfile"}, text, ("exit status: 0",), exit_status=0)
    detail = detail_of(look)
    assert "[10,000 characters are left out here; the judgment has them]" in detail
    assert detail.startswith("exit status: 0\naaa")
    assert detail.endswith("bbb")
    assert len(detail) < LONGEST_SHOWN + 200
    assert "\x1b" not in words_of(look, 3, 40)
    assert words_of(look, 3, 40).startswith("Look 3 of at most 40: run  command cat big")
