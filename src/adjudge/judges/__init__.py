"""The judges: each turns a run and a rubric into a judgment."""
