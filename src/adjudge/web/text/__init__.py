"""Untrusted text as markup: the one place where it is escaped, marked, folded and told apart as a diff."""

from adjudge.web.text.block import Block, block_of, diff_block
from adjudge.web.text.marks import Mark
from adjudge.web.text.spans import with_code
from adjudge.web.text.words import clock, counted, money, size, tokens, when

__all__ = ["Block", "Mark", "block_of", "clock", "counted", "diff_block", "money", "size", "tokens", "when", "with_code"]
