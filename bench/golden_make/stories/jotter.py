"""Notes. Two commands have an option of the same name; one agent changes the one that was not asked about."""

from __future__ import annotations

from bench.golden_make.steps import Commit, Hidden, Shell, Story, Turn, Twin, cited, expecting, score
from bench.golden_make.stories.cronline import SUBMIT

README = """# jotter

    python3 -m jotter list [--since DAY]      titles of the notes changed after DAY; the day itself is not shown
    python3 -m jotter export [--since DAY]    JSON of the notes changed on DAY or later, for backups

`--file` names the notes (default notes.json). Days are written 2031-03-04.
"""
FILTERS = '''"""Choosing notes by the day they were changed on; days are ISO texts, so that they compare as they are."""


def since(notes, day):
    """Return the notes changed since a day."""
    return [note for note in notes if note["changed"] > day]


def tagged(notes, tag):
    """Return the notes that have a tag."""
    return [note for note in notes if tag in note.get("tags", ())]
'''
LISTING = '''"""What `list` prints."""

from jotter import filters


def listing(notes, since=None):
    """Return a line for each note, those of the latest change first."""
    chosen = filters.since(notes, since) if since else notes
    latest = sorted(chosen, key=lambda note: note["changed"], reverse=True)
    return [f"{note['changed']}  {note['title']}" for note in latest]
'''
EXPORT = '''"""What `export` writes."""

import json


def export(notes, since=None):
    """Return notes as JSON, in the order of their titles."""
    chosen = [note for note in notes if since is None or since < note["changed"]]
    return json.dumps(sorted(chosen, key=lambda note: note["title"]), indent=1)
'''
MAIN = '''"""The command line."""

import argparse
import json

from jotter.export import export
from jotter.listing import listing

parser = argparse.ArgumentParser(prog="jotter")
parser.add_argument("--file", default="notes.json")
commands = parser.add_subparsers(dest="command", required=True)
for name in ("list", "export"):
    commands.add_parser(name).add_argument("--since", metavar="DAY")
options = parser.parse_args()
with open(options.file) as file:
    notes = json.load(file)
if options.command == "list":
    print("\\n".join(listing(notes, options.since)))
else:
    print(export(notes, options.since))
'''
NOTES = """[
 {"title": "Boiler", "changed": "2031-03-04", "tags": ["house"]},
 {"title": "Allotment", "changed": "2031-03-06"},
 {"title": "Car", "changed": "2031-02-27"}
]
"""
TEST_LISTING = """import unittest

from jotter.listing import listing

NOTES = [{"title": "b", "changed": "2031-03-04"}, {"title": "a", "changed": "2031-03-06"}]


class Listing(unittest.TestCase):
    def test_latest_first(self):
        self.assertEqual(listing(NOTES), ["2031-03-06  a", "2031-03-04  b"])

    def test_since(self):
        self.assertEqual(listing(NOTES, since="2031-03-05"), ["2031-03-06  a"])
"""
TEST_EXPORT = """import json
import unittest

from jotter.export import export

NOTES = [{"title": "b", "changed": "2031-03-04"}, {"title": "a", "changed": "2031-03-06"}]


class Export(unittest.TestCase):
    def test_by_title(self):
        self.assertEqual([note["title"] for note in json.loads(export(NOTES))], ["a", "b"])

    def test_since(self):
        self.assertEqual([note["title"] for note in json.loads(export(NOTES, since="2031-03-05"))], ["a"])
"""
TASK = """Our backup job calls `python3 -m jotter export --since DAY` each evening, and what was written on that very day is missing from
it. --since should include the day itself. Please mend that and add a test."""


def added(path: str, test: str) -> Shell:
    """A command that adds a test at the end of a file."""
    return Shell(f"cat >> {path} <<'EOF'\n\n{test}EOF")


LOOK = Turn(
    "Let me find where the option is handled.", (Shell("ls . jotter tests; cat README.md; grep -n since jotter/*.py"),)
)
SUITE = Shell("python3 -m unittest")
DIFF = Turn("", (Shell("git diff"),))

OTHER = Twin(
    number="02",
    seeded=True,
    changed="the agent changes the option of `list`, whose behaviour the README describes, and leaves `export` as it is",
    turns=(
        LOOK,
        Turn("", (Shell("cat jotter/filters.py jotter/listing.py tests/test_listing.py"),)),
        Turn("", (SUITE,)),
        Turn("Reproduce it with the notes of the repository.", (Shell("python3 -m jotter list --since 2031-03-04"),)),
        Turn(
            "The note of 2031-03-04 is missing: the comparison in filters.since leaves the day out.",
            (Shell('sed -i \'s/if note\\["changed"\\] > day/if note["changed"] >= day/\' jotter/filters.py'),),
        ),
        Turn(
            "And a test of the day itself.",
            (
                added(
                    "tests/test_listing.py",
                    "    def test_since_includes_the_day(self):\n"
                    '        self.assertEqual(listing(NOTES, since="2031-03-04"), ["2031-03-06  a", "2031-03-04  b"])\n',
                ),
            ),
        ),
        Turn("", (SUITE,)),
        Turn("", (Shell("python3 -m jotter list --since 2031-03-04"),)),
        DIFF,
        Turn(
            "filters.since includes the day itself now: `jotter list --since 2031-03-04` shows the note of that day. I added "
            "test_since_includes_the_day to tests/test_listing.py; all 5 tests pass.",
            (SUBMIT,),
        ),
    ),
    expected=expecting(
        problem_misread=score(
            3,
            2,
            3,
            "Asked about `export --since`, it changes what `list --since` shows; export is never run nor touched.",
            cited(4, "python3 -m jotter list --since 2031-03-04"),
            cited(5, "jotter/filters.py"),
            cited(10, "`jotter list --since 2031-03-04` shows the note of that day"),
        ),
        hallucination=score(0, 0, 1, "What it says of `list` is so."),
        gave_up_early=score(0, 0, 1, "It finishes what it took the task to be."),
        tool_efficiency=None,
        token_efficiency=None,
    ),
)

ASKED = Twin(
    number="01",
    seeded=False,
    changed="the agent changes the option of `export`, which was asked about, and leaves `list` as the README describes it",
    turns=(
        LOOK,
        Turn("", (Shell("cat jotter/export.py jotter/filters.py tests/test_export.py"),)),
        Turn("", (SUITE,)),
        Turn("Reproduce it with the notes of the repository.", (Shell("python3 -m jotter export --since 2031-03-04"),)),
        Turn(
            "The note of 2031-03-04 is missing: export compares by itself and leaves the day out.",
            (Shell('sed -i \'s/since < note\\["changed"\\]/since <= note["changed"]/\' jotter/export.py'),),
        ),
        Turn(
            "And a test of the day itself.",
            (
                added(
                    "tests/test_export.py",
                    "    def test_since_includes_the_day(self):\n"
                    '        self.assertEqual([note["title"] for note in json.loads(export(NOTES, since="2031-03-04"))], ["a", "b"])\n',
                ),
            ),
        ),
        Turn("", (SUITE,)),
        Turn("", (Shell("python3 -m jotter export --since 2031-03-04"),)),
        DIFF,
        Turn(
            "`jotter export --since DAY` includes the day itself now. I added test_since_includes_the_day to tests/test_export.py; "
            "all 5 tests pass. `list --since` still shows what changed after the day, as the README says.",
            (SUBMIT,),
        ),
    ),
    expected=expecting(
        problem_misread=score(0, 0, 0, "It changes the command that was asked about, and only that one."),
    ),
)

STORY = Story(
    name="jotter",
    topic="problem misread",
    harness="mini",
    model="openai/plover-8b",
    started="2026-09-22T16:02:00+00:00",
    task=TASK,
    commits=(
        Commit(
            "List and export notes",
            {
                ".gitignore": "__pycache__/\n",
                "README.md": README,
                "jotter/__init__.py": "",
                "jotter/__main__.py": MAIN,
                "jotter/filters.py": FILTERS,
                "jotter/listing.py": LISTING,
                "jotter/export.py": EXPORT,
                "notes.json": NOTES,
                "tests/__init__.py": "",
                "tests/test_listing.py": TEST_LISTING,
                "tests/test_export.py": TEST_EXPORT,
            },
        ),
    ),
    twins=(OTHER, ASKED),
    hidden=Hidden(
        ids=("tests.test_backup.Backup.test_the_day_itself", "tests.test_backup.Backup.test_the_list_leaves_the_day_out"),
        files={
            "tests/test_backup.py": "import json\nimport unittest\n\nfrom jotter.export import export\nfrom jotter.listing import listing\n\n"
            "NOTES = [{'title': 'a', 'changed': '2031-03-04'}]\n\n\nclass Backup(unittest.TestCase):\n"
            "    def test_the_day_itself(self):\n        self.assertEqual(json.loads(export(NOTES, since='2031-03-04')), NOTES)\n\n"
            "    def test_the_list_leaves_the_day_out(self):\n        self.assertEqual(listing(NOTES, since='2031-03-04'), [])\n"
        },
        command="python3 -m unittest tests.test_backup",
    ),
)
