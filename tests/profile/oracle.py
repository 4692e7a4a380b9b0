"""The names of a command's programs as tree-sitter's grammar of bash sees them."""

from __future__ import annotations

import re

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_bash.language()))

_DECLARING = ("declaration_command", "unset_command")


def names_by_grammar(command: str) -> list[str] | None:
    """The names of all simple commands, sorted; `None` if the grammar finds the text to be no valid command."""
    root = _PARSER.parse(command.encode()).root_node
    return None if root.has_error else sorted(_names(root))


def _names(root: Node) -> list[str]:
    found, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.type == "command":
            found.append(_name(node))
        elif node.type in _DECLARING or (node.type == "test_command" and _text(node.children[0]) == "["):
            found.append(_text(node.children[0]))
    return found


def _name(command: Node) -> str:
    """Its program; the grammar takes the reserved word `time` for one, and what is timed for its arguments."""
    name = command.child_by_field_name("name")
    assert name is not None
    if _text(name) != "time":
        return _bare(name)
    timed = [word for word in command.children_by_field_name("argument") if _text(word) != "-p"]
    return _bare(timed[0]) if timed else "time"


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _bare(node: Node) -> str:
    return re.sub(r"\\(.)", r"\1", re.sub(r"['\"]", "", _text(node)))
