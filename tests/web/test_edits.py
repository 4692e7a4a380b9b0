"""What editing calls change, in the ways in which agents' tools say it."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from adjudge.importers.sniff import read_runs
from adjudge.profile.code import literal_patches
from adjudge.record import Entry
from adjudge.web.views.edits import Change, changes_of

FIXTURES = Path(__file__).parents[1] / "importers" / "fixtures"


def call(tool: str, arguments: Any) -> Entry:
    """A call of a tool with its arguments as JSON, or as the text that they are."""
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Entry("e1", "call", "agent", 1, f"{tool}\n…", tool, given)


def lines(change: Change) -> list[str]:
    """The lines of a diff that come or go."""
    return [unescape(text) for text in re.findall(r'<span class="(?:add|del)">(.*?)</span>', change.html)]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Edit", {"file_path": "a.py", "old_string": "one", "new_string": "two"}),
        ("edit", {"filePath": "a.py", "oldString": "one", "newString": "two"}),
        ("replace", {"file_path": "a.py", "old_string": "one", "new_string": "two", "instruction": "count on"}),
        ("editor", {"path": "a.py", "old_text": "one", "new_text": "two"}),
        ("str_replace_editor", {"command": "str_replace", "path": "a.py", "old_str": "one", "new_str": "two"}),
        ("edit", {"path": "a.py", "edits": [{"oldText": "one", "newText": "two"}]}),
    ],
)
def test_a_text_that_is_replaced_is_a_diff_of_its_file(tool: str, arguments: dict[str, Any]) -> None:
    (change,) = changes_of(call(tool, arguments))
    assert (change.path, change.how, lines(change)) == ("a.py", "", ["-one", "+two"])


def test_several_edits_of_one_call_are_several_diffs() -> None:
    edits = [{"old_string": "one", "new_string": "two"}, "no edit", {"old_string": "three", "new_string": "four"}]
    first, second = changes_of(call("MultiEdit", {"file_path": "a.py", "edits": edits}))
    assert (first.how, lines(first)) == ("edit 1 of 2", ["-one", "+two"])
    assert (second.how, lines(second)) == ("edit 2 of 2", ["-three", "+four"])


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Write", {"file_path": "a.py", "content": "one\ntwo"}),
        ("write", {"filePath": "a.py", "content": "one\ntwo"}),
        ("write_file", {"content": "one\ntwo", "file_path": "a.py"}),
        ("str_replace_editor", {"command": "create", "path": "a.py", "file_text": "one\ntwo"}),
    ],
)
def test_a_file_that_is_written_whole_is_shown_with_its_path(tool: str, arguments: dict[str, Any]) -> None:
    (change,) = changes_of(call(tool, arguments))
    assert (change.path, change.how, lines(change)) == ("a.py", "written whole", ["+one", "+two"])


def test_a_text_that_is_put_in_says_after_which_line() -> None:
    given = {"command": "insert", "path": "a.py", "insert_line": 3, "new_str": "one"}
    (change,) = changes_of(call("str_replace_editor", given))
    assert (change.path, change.how, lines(change)) == ("a.py", "put in after line 3", ["+one"])


def test_a_patch_in_a_script_is_a_diff_with_its_line_ends() -> None:
    (path,) = (FIXTURES / "codex" / "codexjs-badtool").glob("*.jsonl")
    (run,) = read_runs(path)
    (change,) = changes_of(next(entry for entry in run.record.entries if entry.id == "e19"))
    assert lines(change) == ["-    return sum(values) / (len(values) - 1)", "+    return sum(values) / len(values)"]


def test_quotes_in_a_scripts_patch_stand_as_they_are_meant() -> None:
    script = r'const patch = "*** Begin Patch\n*** Add File: a.json\n+{\"a\": \"b\\n\"}\n*** End Patch"; apply(patch)'
    (change,) = changes_of(call("exec", script))
    assert lines(change) == ['+{"a": "b\\n"}']


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Edit", '{"file_path": "a.py", "old_string": "one"'),
        ("Edit", {"file_path": "a.py", "old_string": ["one"], "new_string": {}}),
        ("Edit", {"file_path": "a.py", "new_string": "two"}),
        ("Write", {"file_path": "a.py", "content": 3}),
        ("MultiEdit", {"file_path": "a.py", "edits": "one"}),
        ("Write", "[]"),
        ("bash", {"command": "echo", "content": "one", "old_string": "a", "new_string": "b"}),
        ("some_server__edit", {"old_string": "a", "new_string": "b"}),
        ("exec", "*** Begin Patch"),
    ],
)
def test_what_is_no_edit_or_malformed_stays_the_text_that_it_is(tool: str, arguments: Any) -> None:
    assert changes_of(call(tool, arguments)) == ()


def test_an_edits_result_is_no_edit() -> None:
    assert changes_of(Entry("e1", "result", "tool", 1, "", "Write", '{"content": "one"}')) == ()


def test_patches_that_begin_at_escaped_quotes_are_none_and_hold_nobody_up() -> None:
    assert literal_patches('\\"*** Begin Patch' * 20_000) == ()
    assert literal_patches('x("*** Begin Patch\\n*** End Patch")') == ("*** Begin Patch\n*** End Patch",)
