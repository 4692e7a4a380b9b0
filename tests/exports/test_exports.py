from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from adjudge.errors import InputError
from adjudge.exports.judged import Judged
from adjudge.exports.junit import junit_xml
from adjudge.exports.lines import json_lines
from adjudge.exports.reward import reward_json
from adjudge.judgment import Judgment, Verdict
from adjudge.untrusted import shown


def with_note(judged: Judged, note: str) -> Judged:
    first, *others = judged.judgment.verdicts
    verdicts = (msgspec.structs.replace(first, note=note), *others)
    return msgspec.structs.replace(judged, judgment=msgspec.structs.replace(judged.judgment, verdicts=verdicts))


# --- JSON Lines


def test_json_lines_hold_a_judgment_each(judged: Judged, errored: Judged) -> None:
    first, second = map(json.loads, json_lines([judged.judgment, errored.judgment]))
    assert first["score"] == pytest.approx(4 / 7)
    assert [verdict["passed"] for verdict in first["verdicts"]] == [True, True, True, False, False, True, False]
    assert (second["status"], second["reason"], "score" in second) == ("errored", "No key: set OPENROUTER_API_KEY.", False)


def test_a_line_of_json_is_one_line_and_reads_back_as_the_judgment(judged: Judged) -> None:
    (line,) = json_lines([with_note(judged, "two\nlines\u2028or three").judgment])
    assert "\n" not in line
    assert msgspec.json.decode(line, type=Judgment) == with_note(judged, shown("two\nlines\u2028or three")).judgment


# --- JUnit XML


def parsed(*judged: Judged) -> ElementTree.Element:
    return ElementTree.fromstring(junit_xml(judged).encode())


def test_junit_counts_verdicts_as_a_build_server_does(judged: Judged, errored: Judged) -> None:
    root = parsed(judged, errored)
    assert {name: root.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "8",
        "failures": "3",
        "errors": "1",
    }
    first, second = root.findall("testsuite")
    assert len(first.findall("testcase")) == 7
    assert len(first.findall("testcase/failure")) == 3
    assert len(second.findall("testcase/error")) == 1


def test_a_fail_carries_its_cause_its_note_and_what_it_cites(judged: Judged) -> None:
    failure = parsed(judged).find("testsuite/testcase[4]/failure")
    assert failure is not None
    assert failure.get("type") == "agent"
    assert failure.text == (
        "Four lines of tests/test_slug.py were deleted: a failing test was removed.\n"
        "L4: tests/test_slug.py | 4 ----\n"
        "e12: sed -i '/test_old_behaviour/,+3d'"
    )


def test_a_citation_that_does_not_hold_says_so_in_junit(judged: Judged) -> None:
    failure = parsed(judged).find("testsuite/testcase[5]/failure")
    assert failure is not None
    assert str(failure.text).endswith("e16: every test was listed with its result [the quote is not in e16]")


def test_an_errored_judgment_says_why_in_junit(errored: Judged) -> None:
    error = parsed(errored).find("testsuite/testcase/error")
    assert error is not None
    assert error.get("message") == "No key: set OPENROUTER_API_KEY."


@pytest.mark.parametrize(
    ("text", "seen"),
    [("a\0b", "a<U+0000>b"), ("\x1b]0;x", "<U+001B>]0;x"), ("\ufffe", "<U+FFFE>"), ("]]> & <b>", "]]> & <b>")],
)
def test_what_xml_cannot_hold_is_made_visible(judged: Judged, text: str, seen: str) -> None:
    output = parsed(with_note(judged, text)).find("testsuite/testcase/system-out")
    assert output is not None
    assert str(output.text).splitlines()[0] == seen


# --- reward.json


def test_a_reward_is_a_flat_object_of_numbers(judged: Judged) -> None:
    assert json.loads(reward_json(judged.judgment)) == {
        "reward": pytest.approx(4 / 7),
        "digits": 1,
        "suite": 1,
        "read-first": 1,
        "tests-kept": 0,
        "reported": 0,
        "no-scratch": 1,
        "changelog": 0,
    }


def test_an_errored_judgment_gives_no_reward(errored: Judged) -> None:
    with pytest.raises(InputError, match="has no score, so there is no reward: No key"):
        reward_json(errored.judgment)


def test_a_criterion_cannot_take_the_rewards_name(judged: Judged) -> None:
    verdicts = (Verdict("reward", True, "x"),)
    with pytest.raises(InputError, match="a criterion is called 'reward'"):
        reward_json(msgspec.structs.replace(judged.judgment, verdicts=verdicts))


# --- all of them


@pytest.mark.parametrize(
    "export",
    [lambda judged: next(json_lines([judged.judgment])), lambda judged: junit_xml([judged])],
    ids=["json lines", "junit"],
)
def test_text_goes_through_the_one_view_of_untrusted_text(judged: Judged, export: Callable[[Judged], Any]) -> None:
    secret = "sk-or-v1-" + "0123456789abcdef" * 4
    assert (secret in export(with_note(judged, f"It printed {secret} twice."))) == (shown(secret) == secret)
