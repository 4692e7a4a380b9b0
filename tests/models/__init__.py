"""Tests of access to language models, against a server that misbehaves on purpose."""
