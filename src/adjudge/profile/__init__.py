"""The efficiency profile: what a run's calls were for and what they consumed, computed from the record without a model.

Its hints are figures with the turns that they count. They say where to look, and never what to think of it.
"""

from __future__ import annotations

from adjudge.profile.actions import Action, Read, actions_of
from adjudge.profile.hints import AfterLastEdit, Hint
from adjudge.profile.ledger import Ledger, Quantiles, Spend
from adjudge.profile.profile import Profile, profile
from adjudge.profile.telling import child_lines, figures, hint_lines, words

__all__ = [
    "Action",
    "AfterLastEdit",
    "Hint",
    "Ledger",
    "Profile",
    "Quantiles",
    "Read",
    "Spend",
    "actions_of",
    "child_lines",
    "figures",
    "hint_lines",
    "profile",
    "words",
]
