"""Tests of the machines."""
