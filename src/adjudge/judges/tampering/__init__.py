"""Which looks the files of a workspace could have shaped, told from the words of the commands that were run."""

from __future__ import annotations

from adjudge.judges.tampering.shaped import shaped, tampering_on

__all__ = ["shaped", "tampering_on"]
