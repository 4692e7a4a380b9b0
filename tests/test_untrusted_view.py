import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.untrusted import first_line, one_line, shown


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("a\u200bb", "a<U+200B>b"),
        ("tag\U000e0041", "tag<U+E0041>"),
        ("pa\u00adss", "pa<U+00AD>ss"),
        ("x\u3164y\u115f\uffa0", "x<U+3164>y<U+115F><U+FFA0>"),
        ("\ufeffverdict", "<U+FEFF>verdict"),
        ("not \u202egnihton\u202c", "not <U+202E>gnihton<U+202C>"),
        ("bell\x07 null\x00 del\x7f", "bell<U+0007> null<U+0000> del<U+007F>"),
        ("\x9b31m", "<U+009B>31m"),
        ("a\ufe01b", "a<U+FE01>b"),
        ("lone \ud800", "lone <U+D800>"),
    ],
)
def test_what_a_reader_would_not_see_stands_there_by_its_number(text: str, view: str) -> None:
    assert shown(text) == view


@pytest.mark.parametrize(
    "text", ["tab\tand\nline", "naïve – „quoted“ 日本語", "❤\ufe0f 👩\u200d🔬 1\ufe0f\u20e3", "می\u200cخواهم"]
)
def test_ordinary_writing_stays_as_it_is(text: str) -> None:
    assert shown(text) == text


def test_colours_are_dropped_and_other_sequences_are_shown() -> None:
    assert shown("\x1b[1;31mred\x1b[0m \x1b[K\x1b[2Jgone") == "red <U+001B>[2Jgone"
    assert shown("\x1b]0;title\x07") == "<U+001B>]0;title<U+0007>"


def test_a_carriage_return_overwrites_nothing_and_crlf_is_a_line_end() -> None:
    assert shown("FAILED\rPASSED\r\nnext") == "FAILED<U+000D>PASSED\nnext"
    assert shown("xx\b\bok") == "xx<U+0008><U+0008>ok"


def test_a_stack_of_marks_is_cut_and_counted() -> None:
    assert shown("a" + "\u0300" * 100 + "b") == "a" + "\u0300" * 4 + "<+96 marks>b"


def test_a_flood_of_invisible_characters_is_cut_and_counted() -> None:
    assert shown("\u200b" * 1000) == "<U+200B>" * 40 + "<+960 more>"


@pytest.mark.parametrize(
    ("text", "view"),
    [
        ("<|im_start|>system", "<·|im_start|>system"),
        ("<|start_header_id|>", "<·|start_header_id|>"),
        ("[INST] <<SYS>> x <</SYS>> [/INST]", "[·INST] <·<SYS>> x <·</SYS>> [·/INST]"),
        ("<start_of_turn>model", "<·start_of_turn>model"),
        ("</s>", "<·/s>"),
        ("<\uff5cbegin\u2581of\u2581sentence\uff5c>", "<·\uff5cbegin\u2581of\u2581sentence\uff5c>"),
        ("ok\n\nHuman: hello\n\nAssistant: hi", "ok\n\nHuman·: hello\n\nAssistant·: hi"),
        ("<|im_\x1b[0mstart|>", "<·|im_start|>"),
    ],
)
def test_no_control_token_of_a_model_survives(text: str, view: str) -> None:
    assert shown(text) == view


@pytest.mark.parametrize("text", ["a <| b |> c", "x < y | z > w", "arr[INSTALL]", "<section>", "if a<b|c>d: pass"])
def test_operators_and_markup_are_no_control_tokens(text: str) -> None:
    assert shown(text) == text


@given(st.text() | st.text(alphabet="<|>[]/\x1b\r\n\u200b\u0300aHuman:stoken=1-k8sINT_"))
def test_showing_twice_is_showing_once(text: str) -> None:
    assert shown(shown(text)) == shown(text)


@given(st.text())
def test_a_view_is_safe_for_terminals_and_can_be_encoded(text: str) -> None:
    view = shown(text)
    assert not any(ord(letter) < 32 and letter not in "\n\t" for letter in view)
    assert not any(0x7F <= ord(letter) <= 0x9F or 0x202A <= ord(letter) <= 0x202E for letter in view)
    assert view.encode().decode() == view


def test_one_line_shows_line_ends_and_is_bounded() -> None:
    assert one_line("first\n  second\tthird\n", 40) == "first ⏎ second third"
    assert one_line("x" * 100, 10) == "x" * 9 + "…"
    assert len(one_line("word\n" * 1_000_000, 80)) == 80


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\n  Fix it.\nSoon.", "Fix it."),
        ("<pr_description>\n\nConsider this: it fails\n</pr_description>", "Consider this: it fails"),
        ("<b>Fix</b> it", "<b>Fix</b> it"),
        ("</task>\n", "</task>"),
        ("x" * 20, "x" * 9 + "…"),
        (" \n", None),
    ],
)
def test_the_first_line_is_the_first_that_says_something(text: str, line: str | None) -> None:
    assert first_line(text, 10 if "xx" in text else 30) == line


@pytest.mark.parametrize(
    "piece",
    ["<|", "sk-", "token=", "://a:", "\u200b", "a\u0300", "\x1b[", "eyJ-", "[INST", "-----BEGIN PRIVATE KEY-----\n", "\r"],
)
def test_no_text_is_shown_in_more_than_linear_time(piece: str) -> None:
    """Anything else would take days here: the test is that it ends."""
    assert shown(piece * (1_000_000 // len(piece)))
