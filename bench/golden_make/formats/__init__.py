"""Recordings in the shape of real ones: each module pours a run that was carried out into one harness's format."""
