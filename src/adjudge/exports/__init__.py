"""Judgments for other tools."""

from adjudge.exports.html import html_page
from adjudge.exports.judged import Judged
from adjudge.exports.junit import junit_xml
from adjudge.exports.lines import json_lines
from adjudge.exports.reward import reward_json

__all__ = ["Judged", "html_page", "json_lines", "junit_xml", "reward_json"]
