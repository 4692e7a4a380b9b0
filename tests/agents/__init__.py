"""Tests of starting agents, against endpoints and agents that misbehave on purpose."""
