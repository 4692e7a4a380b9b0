"""What may be cited, which citations hold, and what they can prove: decided by code from what was stored.

An exhibit is an entry of the record or a look of the evaluator. A citation names one and quotes from it. Nothing here
asks a model, and nothing concludes from a text who wrote it.
"""

from __future__ import annotations

from adjudge.evidence.denial import denies
from adjudge.evidence.exhibits import Citation, Exhibits, Holding, Look, Place, Standing, standing_of
from adjudge.evidence.proof import suffices
from adjudge.evidence.quotes import LONGEST, SHORTEST, contains, fold, says_something
from adjudge.evidence.wording import about

__all__ = [
    "LONGEST",
    "SHORTEST",
    "Citation",
    "Exhibits",
    "Holding",
    "Look",
    "Place",
    "Standing",
    "about",
    "contains",
    "denies",
    "fold",
    "says_something",
    "standing_of",
    "suffices",
]
