"""Where runs, judgments and what they saw are kept."""

from adjudge.store.checking import verify_stored
from adjudge.store.rows import JudgmentRow, RunRow
from adjudge.store.store import Store, open_store

__all__ = ["JudgmentRow", "RunRow", "Store", "open_store", "verify_stored"]
