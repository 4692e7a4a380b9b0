"""The reader: one pass over a trajectory, a score for each dimension, no accusation without a turn."""
