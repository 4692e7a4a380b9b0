"""The one view of text that adjudge did not write: what is judged, and what models answer.

Model, terminal and browser get text only through here: what is invisible is shown, what would be taken for a control
token is broken, what looks like a credential is masked. The text itself stays as it was; quotes are checked against both.
All of it is a function of the text alone, so that a stored verdict can be checked again anywhere.
"""

from __future__ import annotations

from adjudge.untrusted.ordinary import ordinary_each
from adjudge.untrusted.secrets import count_secrets
from adjudge.untrusted.steering import FLOOD, Sign, steering
from adjudge.untrusted.view import first_line, one_line, shown

__all__ = ["FLOOD", "Sign", "count_secrets", "first_line", "one_line", "ordinary_each", "shown", "steering"]
