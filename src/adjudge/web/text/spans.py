"""Short texts of rubrics and judges: what stands between backticks is set as code, and nothing else is interpreted."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from adjudge.untrusted import shown

_CODE = re.compile(r"`([^`\n]{1,400})`")


def with_code(untrusted: str) -> Markup:
    """The text, with what stands between backticks as code."""
    text = shown(untrusted)
    html, at = Markup(), 0
    for match in _CODE.finditer(text):
        html += escape(text[at : match.start()]) + Markup("<code>{}</code>").format(match[1])
        at = match.end()
    return html + escape(text[at:])
