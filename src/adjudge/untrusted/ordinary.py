"""Whether a text is ordinary, as most are: one pass for all that the view would change and all signs of steering.

Each pattern of `view`, `secrets` and `steering` is here too, loosened so that one automaton can run them all: a text in
which it finds nothing needs none of them. The automaton is that of Rust's `regex`, which pydantic-core compiles for the
patterns of texts: linear in the text, and here twenty times as fast as the patterns one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from adjudge.untrusted.secrets import LOOSENED as CREDENTIALS
from adjudge.untrusted.steering import LOOSENED as SIGNS
from adjudge.untrusted.view import LOOSENED as CHANGED
from adjudge.untrusted.view import stacks_marks


def ordinary_each(texts: Sequence[str]) -> list[bool]:
    """Whether each text is known to be ordinary: `shown` leaves it as it is, and `steering` finds no sign but a flood.

    Now and then one that is ordinary is not known to be. For many small texts this is hardly slower than for one.
    """
    if len(texts) > 1 and _is_ordinary("\n".join(texts)):
        return [True] * len(texts)
    return [_is_ordinary(text) for text in texts]


def _is_ordinary(text: str) -> bool:
    if text.isascii():
        return not _finds_any()(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return not (_finds_any()(text) or stacks_marks(text))


@cache
def _finds_any() -> Callable[[str], bool]:
    """Whether any pattern finds something in a text, which must have no lone surrogates."""
    from pydantic_core import SchemaValidator, core_schema  # noqa: PLC0415 - it takes longer than most commands

    anything = "|".join(f"(?:{pattern})" for pattern in (*CHANGED, *CREDENTIALS, *SIGNS))
    return SchemaValidator(core_schema.str_schema(pattern=anything, regex_engine="rust-regex")).isinstance_python
