"""Checking a stored judgment again, by code alone: would the gate let each verdict and each score through today?

That finds a quote, a turn, a look, an entry, a verdict or a score that was changed after the judgment, unless all that
depends on it was changed to fit. It cannot find that, and it cannot say who wrote the judgment.
"""

from __future__ import annotations

from adjudge.verifying.checking import verify
from adjudge.verifying.values import Finding, Verification

__all__ = ["Finding", "Verification", "verify"]
