"""The quick look for credentials misses none that the full search finds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.untrusted import count_secrets, secrets, shown, view
from adjudge.untrusted.suspicion import Suspicion, fold, suspicion

ALL = Suspicion(True, True, True)
PATTERNS = [pattern for _, pattern in secrets._FORMATS]
NAMED = [secrets._ASSIGNED, secrets._BEARER, secrets._IN_ADDRESS]

WORDS = """
token passw password pwd secret SECRET api_key api-key ApiKey APIKEY Bearer BASIC :// @ = : => := " ' ` < | [ ] > · to ken -
key value access_ sk- sk-proj- gsk_ ghp_ github_pat_ glpat- AKIA ASIA AIza ya29. xoxb- eyJ .eyJ sk_live_ hf_ npm_ pypi- xai-
a1b2c3d4e5f6g7h8 Qw3rT7yU1opA5sdF9ghJ2klZ6xcV 0123456789ABCDEF im_start INST s think -----BEGIN RSA PRIVATE KEY----- / _ \\
Human: Assistant: .
"""
CHARACTERS = "\u212a\u0130\u017f\u00a0\u2003\u200b\u0300\ufe0f\u200d\U0001f468\r\n\x00\x07\x1f\x85\ud800\uff5c "
PIECES = [*WORDS.split(), *CHARACTERS, "\x1b[1m", "\n\n", "\u0300" * 5, "\u200b" * 41]
PUT_TOGETHER = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


def suspected(text: str) -> Suspicion:
    data = text.encode("utf-8", "surrogatepass")
    return suspicion(data, fold(data))


@pytest.mark.parametrize("pattern", [*PATTERNS, *NAMED], ids=lambda pattern: str(pattern.pattern)[:40])
def test_whatever_a_pattern_finds_raises_suspicion(pattern: re.Pattern[str]) -> None:
    @settings(deadline=None)
    @given(st.from_regex(pattern), st.sampled_from(["", " ", "=", "\u00e9"]), st.text(max_size=5))
    def check(found: str, before: str, after: str) -> None:
        text = f"{before}{found}{after}"
        assert secrets._spans(text, suspected(text)) == secrets._spans(text, ALL)

    check()


@pytest.mark.parametrize("letter", "\u0130\u0131\u017f\u212a")
def test_a_letter_that_counts_as_one_of_a_to_z_hides_nothing(letter: str) -> None:
    for text in (
        f"token=pass{letter}a1b2c3d4e5f6g7h8",
        f"Bearer pass{letter}a1b2c3d4e5f6g7h8",
        f"to{letter}en=a1b2c3d4e5f6",
    ):
        assert secrets._spans(text, suspected(text)) == secrets._spans(text, ALL)


@settings(deadline=None)
@given(PUT_TOGETHER | st.text())
def test_a_text_is_masked_as_if_everything_were_suspected(text: str) -> None:
    assert secrets.masked(text, suspected(text)) == secrets.masked(text, ALL)
    assert count_secrets(text) == len(secrets._spans(text, ALL))


NOISE = re.compile(r"\x1b\[[0-9;:]*m|\x1b\[[0-2]?K|\x1b\(B|\r(?=\n)")
TOKENS = re.compile(f"{view._TOKEN.pattern}|{view._BRACKETED.pattern}|\n\n(?:Human|Assistant)(?=:)")


def shown_slowly(text: str, mask: bool) -> str:
    """The view in one plain pass for each rule, without a look at what can be left out."""
    text = NOISE.sub("", text)
    if mask:
        text = secrets.masked(text, ALL)
    named = view._INVISIBLE.sub(lambda match: f"<U+{ord(match[0]):04X}>" if match["unseen"] else match[0], text)
    if view._ANY_UNSEEN.search(text):
        named = view._ROW.sub(lambda row: f"{row[1]}<+{row[2].count('>')} more>", named)
    text = view._STACK.sub(lambda stack: f"{stack[1]}<+{len(stack[2])} marks>", named)
    return TOKENS.sub(r"\g<0>·", text)


@settings(deadline=None)
@given(PUT_TOGETHER | st.text(), st.booleans())
def test_a_text_is_shown_as_if_every_rule_were_tried(text: str, mask: bool) -> None:
    assert shown(text, mask) == shown_slowly(text, mask)


@pytest.mark.parametrize("text", ["The tests pass.\n" * 5, "result = module.token_count(items[0])", "a \u2013 b \u2192 c"])
def test_an_ordinary_text_raises_none(text: str) -> None:
    assert not any(suspected(text))


@pytest.mark.parametrize(
    "piece",
    ["sk_", "token ", "token=", "key", "ap_key \u00a0", "J.eyJ", "_", "secret\\", "Bearer ", "passw=", "AKIA", "=", "k"],
)
def test_no_text_takes_more_than_linear_time(piece: str) -> None:
    """Anything else would take days here: the test is that it ends."""
    suspected(piece * (1_000_000 // len(piece)))
