"""Access to language models."""
