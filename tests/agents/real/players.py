"""The six real agents, and the script by which each of them mends the task with tools of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from tests.agents.scripted_endpoint import Step
from tests.agents.wires.values import Wire

from .span import RIGHT, TESTS, WRONG

Call = tuple[str, dict[str, Any] | str]

DONE = "An hour has 60 minutes, not 100: all three tests pass, and the folder is served."


class Player(msgspec.Struct, frozen=True):
    """A real agent.

    `name` is its connection, `program` what is started. `provider` and `model` are the name of its model, `format` is that
    of its record. `shell`, `read` and `edit` give a call of its own tools: a command, the file span.py in a workspace, and
    the edit that mends it there. One that `submits` ends with a command in place of a message. `cost` is what its record
    states for the whole script, by a price list of its own: 2,700 tokens for 5 $, 9,000 cached for 0.50 $ and 195 of output
    for 30 $ a million are 0.02385 $.
    """

    name: str
    program: str
    wire: Wire
    provider: str
    model: str
    format: str
    shell: Callable[[str], Call]
    read: Callable[[str], Call]
    edit: Callable[[str], Call]
    submits: bool = False
    cost: float = 0.0

    def steps(self, workspace: str = "/workspace", port: int = 8123) -> tuple[Step, ...]:
        """Run the tests, read, edit, run the tests, start a server, and tell."""
        end = Step(DONE, calls=(self.shell(SUBMIT),)) if self.submits else Step(DONE)
        return (
            Step("I run the tests first.", "Which of them fail?", (self.shell(TESTS),)),
            Step("I read the module.", calls=(self.read(workspace),)),
            Step("The factor is wrong.", calls=(self.edit(workspace),)),
            Step("The tests again.", calls=(self.shell(TESTS),)),
            Step("Now the server.", calls=(self.shell(f"sh serve.sh {port}"),)),
            end,
        )


SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
PATCH = f"*** Begin Patch\n*** Update File: span.py\n@@\n-    {WRONG}\n+    {RIGHT}\n*** End Patch\n"


def _edit(tool: str, path: str, old: str, new: str, **more: str) -> Callable[[str], Call]:
    """An editing tool that replaces a text; tools of this kind differ in the names of their parameters."""
    return lambda workspace: (tool, {path: f"{workspace}/span.py", old: WRONG, new: RIGHT, **more})


def _read(tool: str, path: str) -> Callable[[str], Call]:
    return lambda workspace: (tool, {path: f"{workspace}/span.py"})


def _shell(tool: str, parameter: str = "command", **more: Any) -> Callable[[str], Call]:
    return lambda command: (tool, {parameter: command, **more})


# To most models of OpenAI, OpenCode offers a tool that takes patches in place of one that edits; to this one it does not.
OPENCODE = Player(
    "opencode",
    "opencode",
    "chat",
    "openai",
    "gpt-4.1",
    "opencode",
    _shell("bash", description="Run a command"),
    _read("read", "filePath"),
    _edit("edit", "filePath", "oldString", "newString"),
)
CODEX = Player(
    "codex",
    "codex",
    "responses",
    "openai",
    "gpt-5.5",
    "codex-rollout",
    _shell("exec_command", "cmd"),
    lambda workspace: ("exec_command", {"cmd": "cat span.py"}),
    lambda workspace: ("apply_patch", PATCH),
)
CLAUDE = Player(
    "claude-code",
    "claude",
    "anthropic",
    "anthropic",
    "claude-sonnet-4-5",
    "claude-code",
    _shell("Bash", description="Run a command"),
    _read("Read", "file_path"),
    _edit("Edit", "file_path", "old_string", "new_string"),
)
GEMINI = Player(
    "gemini-cli",
    "gemini",
    "gemini",
    "google",
    "gemini-2.5-pro",
    "gemini-cli",
    _shell("run_shell_command", description="Run a command"),
    _read("read_file", "file_path"),
    _edit("replace", "file_path", "old_string", "new_string", instruction="An hour has 60 minutes."),
)
QWEN = Player(
    "qwen-code",
    "qwen",
    "chat",
    "openai",
    "gpt-5.5",
    "qwen-code",
    _shell("run_shell_command", is_background=False, description="Run a command"),
    _read("read_file", "file_path"),
    _edit("edit", "file_path", "old_string", "new_string"),
)
MINI = Player(
    "mini-swe-agent",
    "mini",
    "chat",
    "openai",
    "gpt-5.5",
    "mini-swe-agent",
    _shell("bash"),
    lambda workspace: ("bash", {"command": "cat span.py"}),
    lambda workspace: ("bash", {"command": f"sed -i 's/{WRONG.replace('*', '[*]')}/{RIGHT}/' span.py"}),
    submits=True,
    cost=0.02385,
)
PLAYERS = (OPENCODE, CODEX, CLAUDE, GEMINI, QWEN, MINI)
