import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.evidence.quotes import PIECE, contains, fold, reason, stands_everywhere

TEXT = (
    'Ran 11 tests in 0.003s\n\n  OK\n{"status": "ok", "items": 12400}\n'
    "expected: 240\t(seen)\nIt is the agent’s own – first – try\n"
)


@pytest.mark.parametrize(
    "quote",
    [
        "Ran 11 tests in 0.003s",
        "0.003s OK",
        '"status": "ok"',
        "expected: 240 (seen)",
        "12400",
        "240",
        "OK",
        "agent’s own – first",
    ],
)
def test_a_quote_stands_in_a_text_whatever_the_white_space(quote: str) -> None:
    assert contains(TEXT, quote)


@pytest.mark.parametrize(
    "quote",
    [
        "Ran 12 tests",
        "ran 11 tests",
        "Ran 11 … OK",
        "Ran 11 tests ... OK",
        "Ran 11 testsin",
        "2400",
        "24",
        "124",
        "tatus",
        "agent's own",
    ],
)
def test_nothing_but_white_space_may_differ_and_a_short_quote_is_a_word(quote: str) -> None:
    assert not contains(TEXT, quote)


WORDS = st.text(alphabet="ab \n\t\u00a0\u2003.", max_size=60)


@given(WORDS, WORDS, WORDS)
def test_a_quote_over_the_seam_between_pieces_is_found_like_any_other(before: str, middle: str, after: str) -> None:
    text = "x" * (PIECE - len(before)) + before + middle + after
    quote = " ".join((before[-20:] + middle + after[:20]).split())
    naive = re.search(rf"(?<![^\W\d_]){re.escape(quote)}(?![^\W\d_])", " ".join(text.split())) is not None
    if len(quote) >= 8 and quote[0].isalpha() and quote[-1].isalpha():
        assert contains(text, quote) == naive


@given(st.text(alphabet="ab \n", max_size=200), st.text(alphabet="ab ", min_size=8, max_size=20))
def test_long_quotes_are_found_as_in_the_folded_text(text: str, quote: str) -> None:
    folded = " ".join(quote.split())
    if len(folded) >= 8:
        assert contains(text, folded) == (folded in " ".join(text.split()))


def test_a_short_quote_that_stands_everywhere_points_at_nothing() -> None:
    assert stands_everywhere("the end\n" * 21, "the")
    assert not stands_everywhere("the end\n" * 20, "the")
    assert not stands_everywhere("the end of it\n" * 50, "the end of it")


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("Ran 11 tests ... OK", "it joins places that stand apart"),
        ("Ran 11 tests […] expected: 240", "it joins places that stand apart"),
        (r"{\"status\": \"ok\", \"items\": 12400}", "it stands there without the escapes"),
        (r"0.003s\n\n  OK\n{", "it stands there without the escapes"),
        ("`Ran 11 tests in 0.003s`", "it stands there without the marks around it"),
        ("1 Ran 11 tests in 0.003s 2 3 OK", "it stands there without line numbers"),
        ("It is the agent's own - first", "it stands there with other quotation marks, dashes or spaces"),
        ("RAN 11 TESTS", "it stands there in another case"),
        ("Ran 11 tests in 0.004s and it went well", "it agrees only up to 'Ran 11 tests in'"),
    ],
)
def test_the_likely_reason_for_a_quote_that_is_not_there_is_told(quote: str, words: str) -> None:
    folded = fold(quote)
    assert not contains(TEXT, folded)
    assert (reason(TEXT, folded) or "").startswith(words)


def test_no_reason_is_made_up() -> None:
    assert reason(TEXT, "all forty tests pass") is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("a " * 25_000_000, "a " * 4_000 + "b"),
        ("ab" * 25_000_000, "ab" * 4_000 + "c"),
        (" " * 50_000_000, "nothing here"),
        ("word\n" * 10_000_000, "word worx"),
        ("a  " * 15_000_000, "a a a b"),
    ],
)
def test_fifty_megabytes_are_searched_in_bounded_time(text: str, quote: str) -> None:
    start = time.process_time()
    assert not contains(text, fold(quote))
    assert time.process_time() - start < 20
