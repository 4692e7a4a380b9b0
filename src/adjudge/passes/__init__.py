"""Passes: either judge over a selection of stored runs."""
