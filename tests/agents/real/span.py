"""The task that real agents are given: a small repository with one bug, which fails two of its three tests."""

from __future__ import annotations

WRONG = "return int(hours) * 100 + int(rest)"
RIGHT = "return int(hours) * 60 + int(rest)"
TESTS = "python3 -m unittest 2>&1"

FILES = {
    "span.py": f'''"""Spans of time as people write them."""

import re


def minutes(span):
    """How many minutes a span such as 1h30m, 45m or 2h has."""
    match = re.fullmatch(r"(?:(\\d+)h)?(?:(\\d+)m)?", span)
    if match is None or not span:
        raise ValueError(f"no span of time: {{span!r}}")
    hours, rest = match.groups(default="0")
    {WRONG}
''',
    "serve.sh": """# Serve this folder on a port of 127.0.0.1, and go on as soon as the server answers.
setsid nohup python3 -m http.server "$1" --bind 127.0.0.1 >/dev/null 2>&1 </dev/null &
for attempt in 1 2 3 4 5 6 7 8 9 10; do
    python3 -c "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])))" "$1" 2>/dev/null && exit 0
    sleep 0.5
done
exit 1
""",
    "test_span.py": """import unittest

from span import minutes


class Spans(unittest.TestCase):
    def test_minutes_alone(self):
        self.assertEqual(minutes("45m"), 45)

    def test_hours_alone(self):
        self.assertEqual(minutes("2h"), 120)

    def test_hours_and_minutes(self):
        self.assertEqual(minutes("1h30m"), 90)
""",
}


def instructions(port: int) -> str:
    """What the agent is told."""
    return f"Two tests of this repository fail. Mend span.py, run the tests, and leave it served with `sh serve.sh {port}`."
