"""Untrusted text as markup: escaped, marked, folded, and told apart as a diff."""

from __future__ import annotations

import html
import re

import pytest
from hypothesis import given, strategies

from adjudge.untrusted import shown
from adjudge.web.text import Mark, block_of, clock, counted, diff_block, money, size, tokens, when, with_code


def mark(quote: str, anchor: str = "v1c1") -> Mark:
    return Mark(anchor, quote, "v1", "C1", "pass")


def plain(markup: str) -> str:
    """The text that a browser would show of a block, folds opened."""
    without = re.sub(r"<summary>.*?</summary>|<p class=\"left-out\">.*?</p>", "", markup)
    lines = re.sub(r"<pre>\n", "", without).replace("</pre>", "\n")
    return html.unescape(re.sub(r"<[^>]+>", "", lines)).rstrip("\n")


@given(strategies.text(alphabet=strategies.characters(exclude_categories=["Cs"]), max_size=3_000))
def test_every_text_is_shown_whole_and_nothing_else(text: str) -> None:
    lines = "\n".join(text.splitlines())
    assert plain(block_of(lines).html) == shown(lines).rstrip("\n")


@given(strategies.lists(strategies.sampled_from(["one", "two two", "<b>", ""]), max_size=80))
def test_folding_hides_lines_and_loses_none(lines: list[str]) -> None:
    assert plain(block_of("\n".join(lines)).html) == "\n".join(lines).rstrip("\n")


def test_a_quote_is_marked_where_it_stands() -> None:
    assert '<mark id="v1c1">3 failed</mark>, 10 passed' in block_of("3 failed, 10 passed", [mark("3 failed")]).html


def test_a_quote_over_several_lines_is_marked_in_each() -> None:
    block = block_of("a\nfirst half\n  second half\nb", [mark("first half second half")])
    assert '<mark id="v1c1">first half</mark>' in block.html
    assert '<mark data-of="v1c1">  second half</mark>' in block.html


def test_two_quotes_that_overlap_share_a_mark_and_each_has_its_place() -> None:
    block = block_of("the tests passed at last", [mark("the tests passed"), mark("tests passed at last", "v2c1")])
    assert '<mark id="v1c1"><span id="v2c1"></span>the tests passed at last</mark>' in block.html


def test_a_quote_that_is_not_there_is_told() -> None:
    assert block_of("nothing", [mark("something")]).unplaced == ("v1c1",)


def test_a_quoted_line_stays_open_in_a_folded_text() -> None:
    text = "\n".join(f"line {number}" for number in range(200))
    block = block_of(text, [mark("line 100")])
    before = block.html[: block.html.index('<mark id="v1c1">')]
    assert before.count("<details") == before.count("</details>") == 1
    assert "lines folded · 1.7 kB in all" in block.html


def test_a_quote_deep_in_a_very_long_text_is_found_and_the_rest_left_out() -> None:
    text = "".join(f"row {number}\n" for number in range(200_000))
    block = block_of(text, [mark("row 123456")], "/runs/r/exhibits/e1")
    assert '<mark id="v1c1">row 123456</mark>' in block.html
    assert len(block.html) < 60_000
    assert "characters left out" in block.html
    assert 'href="/runs/r/exhibits/e1"' in block.html


def test_a_line_of_any_length_is_folded_too() -> None:
    block = block_of("a" * 100_000)
    assert "1 line left out, 87 kB" in block.html
    assert len(block.html) < 60_000


DIFF = "before\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n+ not of the hunk\n- nor this"


def test_lines_of_a_diff_are_told_apart_only_where_its_head_counts_them() -> None:
    block = block_of(DIFF).html
    assert '<span class="del">-old</span>' in block
    assert '<span class="add">+new</span>' in block
    assert '<span class="add">+ not' not in block
    assert '<span class="del">- nor' not in block


PATCH = (
    "apply_patch\n- not yet\n*** Begin Patch\n*** Update File: a.py\n@@ def f\n same\n-old\n+new\n*** End Patch\n+ after"
)


def test_a_patch_of_codex_is_a_diff_between_its_marks() -> None:
    block = block_of(PATCH).html
    assert '<span class="hunk">@@ def f</span>' in block
    assert '<span class="del">-old</span>' in block
    assert '<span class="add">+new</span>' in block
    assert '<span class="del">- not yet' not in block
    assert '<span class="add">+ after' not in block


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("`a` and `b`", "<code>a</code> and <code>b</code>"),
        ("`<b>`", "<code>&lt;b&gt;</code>"),
        ("one ` only", "one ` only"),
        ("`` empty", "`` empty"),
        ("`over\nlines`", "`over\nlines`"),
        ("*no* [markdown](x)", "*no* [markdown](x)"),
    ],
)
def test_what_stands_between_backticks_is_code_and_nothing_else_is_read(text: str, markup: str) -> None:
    assert with_code(text) == markup


def test_numbers_are_worded() -> None:
    assert [counted(1, "entry", "entries"), counted(2_000, "entry", "entries")] == ["1 entry", "2,000 entries"]
    assert [size(858), size(1_300), size(41_200), size(1_900_000)] == ["858 B", "1.3 kB", "41 kB", "1.9 MB"]
    assert [tokens(412), tokens(40_900), tokens(2_670_000), tokens(None)] == ["412", "40.9k", "2.67M", "not known"]
    assert [clock(0.4), clock(38), clock(1_690), clock(7_500)] == ["0.4 s", "38 s", "28 min", "2 h 5 min"]
    assert [money(None), money(0.0888)] == ["not known", "$0.0888"]
    assert [when("2026-04-11T07:53:12+00:00"), when("2026-04-11T07:53", "2026"), when("yesterday"), when(None)] == [
        "11 Apr 2026 07:53",
        "11 Apr 07:53",
        "yesterday",
        "",
    ]


def test_a_patch_that_an_argument_holds_is_a_diff_and_names_its_files() -> None:
    block = block_of("patchText: *** Begin Patch\n*** Add File: a.py\n+new\n*** End Patch").html
    assert '<span class="path">*** Add File: a.py</span>' in block
    assert '<span class="add">+new</span>' in block


def test_what_aider_searches_and_replaces_is_a_diff_between_its_marks() -> None:
    block = block_of("a.py\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n=======\nplain").html
    assert '<span class="del">old</span>' in block
    assert '<span class="add">new</span>' in block
    assert block.count('class="') == 5  # and the three marks


def test_marks_that_never_end_enclose_nothing() -> None:
    assert "class" not in block_of("<<<<<<< SEARCH\nold\n=======\nnew").html


def test_a_diff_of_long_texts_says_where_it_ends() -> None:
    block = diff_block("", "\n".join(f"line {number}" for number in range(2_500)))
    assert "what follows line 2,000 is not shown here" in block.html
    assert "+line 2000<" not in block.html
