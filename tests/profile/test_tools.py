"""What calls of the harnesses' tools ask for, with arguments as the harnesses write them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.profile.tool_table import find_tool
from adjudge.profile.tools import Asked, Requests
from adjudge.profile.work import END, Work, primary


def asked(name: str, arguments: dict[str, Any] | str) -> Asked:
    return Requests().asked(name, arguments if isinstance(arguments, str) else json.dumps(arguments))


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Bash", {"command": "pytest -q"}, "test"),  # Claude Code
        ("Read", {"file_path": "/a.py"}, "read"),
        ("MultiEdit", {"file_path": "/a.py", "edits": []}, "edit"),
        ("BashOutput", {"bash_id": "1"}, "poll"),
        ("TodoWrite", {"todos": []}, "plan"),
        ("Task", {"prompt": "x"}, "delegate"),
        ("mcp__github__get_issue", {"number": 3}, "other"),
        ("exec_command", {"cmd": "ls"}, "list"),  # Codex
        ("shell", {"command": ["bash", "-lc", "cat a.py"]}, "read"),
        ("shell", {"command": ["rg", "-n", "a b", "src"]}, "search"),
        ("shell", {"command": ["apply_patch", "*** Begin Patch\n*** Add File: b.py\n*** End Patch"]}, "edit"),
        ("apply_patch", "*** Begin Patch\n*** Update File: a.py\n*** End Patch", "edit"),
        ("write_stdin", {"session_id": 1, "chars": ""}, "poll"),
        ("write_stdin", {"session_id": 1, "chars": "y\n"}, "run"),
        ("multi_agent_v1/wait_agent", {"targets": []}, "poll"),
        ("memory__create_entities", {}, "other"),
        ("command_execution", {"command": "/bin/bash -lc 'ls'"}, "list"),
        ("file_change", {"changes": [{"path": "/a.py", "kind": "update"}]}, "edit"),
        ("read", {"filePath": "/a.py", "limit": 5}, "read_part"),  # OpenCode
        ("edit", {"filePath": "/a.py"}, "edit"),
        ("glob", {"pattern": "**/*.ts"}, "list"),
        ("str_replace_editor", {"command": "view", "path": "/a.py"}, "read"),  # OpenHands, SWE-agent
        ("str_replace_editor", {"command": "create", "path": "/a.py"}, "write"),
        ("str_replace_editor", {"command": "str_replace", "path": "/a.py"}, "edit"),
        ("execute_bash", {"command": "make"}, "build"),
        ("finish", {}, "submit"),
        ("run_shell_command", {"command": "git log"}, "history"),  # Gemini
        ("replace", {"file_path": "/a.py"}, "edit"),
        ("python", {"code": "open('a', 'w').write('b')"}, "code"),  # Inspect
        ("run_commands", {"commands": ["ls src", "pytest -q"]}, "test"),  # Cline
        ("ui:readFile", {"path": "a.py"}, "read"),
        ("bash_command", {"keystrokes": "ls\n"}, "list"),  # Terminus
        ("get_order_details", {"order_id": "W1"}, "unknown"),
        ("", {}, "unknown"),
    ],
)
def test_a_call_is_counted_as(tool: str, arguments: dict[str, Any] | str, expected: Work) -> None:
    assert primary(asked(tool, arguments).facets) == expected


CODE_MODE = """\
const first = await tools.exec_command({cmd: "sed -n '1,5p' a.py && echo \\"x\\"", workdir: "/app"});
const [a, b] = await Promise.all([
  tools.exec_command({"cmd":'git status'}), tools.exec_command({ cmd: `pytest -q` })]);
await tools.apply_patch("*** Begin Patch\\n*** Update File: src/b.py\\n@@\\n-x\\n+y\\n*** End Patch");
await tools.write_stdin({session_id: 1, chars: ""});
"""


def test_a_script_of_code_mode_is_what_its_commands_are() -> None:
    found = asked("exec", CODE_MODE)
    assert {facet.kind for facet in found.facets} >= {"read_part", "git_state", "test", "edit", "poll"}
    assert [facet.paths for facet in found.facets if facet.kind == "edit"] == [("src/b.py",)]
    assert found.command == "sed -n '1,5p' a.py && echo \"x\"\ngit status\npytest -q"


def test_a_script_whose_command_is_put_together_is_unknown() -> None:
    assert primary(asked("exec", "await tools.exec_command({cmd: base + name})").facets) == "unknown"


@pytest.mark.parametrize("name", ["apply_edit", "mcp__files__replace"])
def test_a_tool_that_is_not_known_may_change_any_file_in_a_script_too(name: str) -> None:
    assert asked(name, {"line": 1}).facets[0].changes
    assert asked("exec", f"await tools.{name}({{line: 1}})").facets[0].changes
    assert not asked("exec", "await tools.web_search({query: 'x'})").facets[0].changes


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"offset": 10, "limit": 5}, (10, 14)),
        ({"limit": 5}, (1, 5)),
        ({"offset": "10"}, (10, END)),
        ({"start_line": 3, "end_line": 7}, (3, 7)),
        ({"view_range": [3, 7]}, (3, 7)),
        ({"view_range": [3, -1]}, (3, END)),
        ({}, None),
    ],
)
def test_the_lines_that_a_read_asks_for(arguments: dict[str, Any], expected: tuple[int, int] | None) -> None:
    (facet,) = asked("view", {"path": "a.py", **arguments}).facets
    assert facet.span == expected


def test_several_files_of_one_call_are_several_reads() -> None:
    files = [{"path": "a.py", "start_line": 1, "end_line": 2}, {"path": "b.py"}]
    assert [(each.paths, each.span) for each in asked("read_files", {"files": files}).facets] == [
        (("a.py",), (1, 2)),
        (("b.py",), None),
    ]


def test_a_tool_is_found_however_its_name_is_spelled() -> None:
    assert find_tool("readFile") == find_tool("read_file") == find_tool("ReadFile") != None  # noqa: E711


@given(st.sampled_from(["Bash", "Read", "exec", "apply_patch", "str_replace_editor", "read_files", "python"]), st.text())
def test_arguments_that_are_no_json_are_no_error(tool: str, arguments: str) -> None:
    assert asked(tool, arguments).facets


_VALUES = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(max_size=5), st.booleans()), lambda inner: st.lists(inner, max_size=3)
)
_NAMES = st.sampled_from(["command", "path", "files", "file_path", "view_range", "offset", "limit", "commands", "code"])


@given(st.sampled_from(["Bash", "Read", "str_replace_editor", "Edit", "Grep", "python"]), st.dictionaries(_NAMES, _VALUES))
def test_arguments_of_the_wrong_kind_are_no_error(tool: str, arguments: dict[str, Any]) -> None:
    assert asked(tool, arguments).facets
