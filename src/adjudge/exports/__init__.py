"""Judgments for other tools."""
