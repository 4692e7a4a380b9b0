"""From settings and names to objects: the only place that chooses implementations."""

from adjudge.wiring.checks import diagnose, verify
from adjudge.wiring.inputs import DEMO, find_any_rubric, find_dimensions, find_rubric, find_run, find_runs, read_runs
from adjudge.wiring.judging import judge
from adjudge.wiring.models import require_model, require_model_for
from adjudge.wiring.readings import DryRun, dry_run, read
from adjudge.wiring.stores import open_kept_store, open_store

__all__ = [
    "DEMO",
    "DryRun",
    "diagnose",
    "dry_run",
    "find_any_rubric",
    "find_dimensions",
    "find_rubric",
    "find_run",
    "find_runs",
    "judge",
    "open_kept_store",
    "open_store",
    "read",
    "read_runs",
    "require_model",
    "require_model_for",
    "verify",
]
