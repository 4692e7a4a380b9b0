"""Benchmarks: each module prints what it measured beside its goal. Nothing here is asserted."""
