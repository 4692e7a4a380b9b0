"""`python -m bench.make_golden [--check]`: carry out the stories again and write `bench/golden`, or tell what would change.

It needs bubblewrap, git and Python 3.11, whose messages are in the recordings.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from bench.golden_make.formats import atif, claude, codex, mini, opencode
from bench.golden_make.play import play
from bench.golden_make.steps import Harness, Recorded, Story, Twin
from bench.golden_make.stories import bytesize, cronline, jotter, lapse, pumpkit, sampler, shelf

HERE = Path(__file__).parent / "golden"
STORIES = tuple(module.STORY for module in (jotter, lapse, sampler, shelf, bytesize, cronline, pumpkit))

FORMATS: dict[Harness, tuple[Callable[[Recorded], str], str, str, str]] = {
    "mini": (mini.render, mini.NAME, mini.FILE, mini.BASE),
    "claude": (claude.Session.render, claude.Session.NAME, claude.Session.FILE, claude.Session.BASE),
    "claude-stream": (claude.Stream.render, claude.Stream.NAME, claude.Stream.FILE, claude.Stream.BASE),
    "codex": (codex.render, codex.NAME, codex.FILE, codex.BASE),
    "opencode": (opencode.render, opencode.NAME, opencode.FILE, opencode.BASE),
    "atif": (atif.render, atif.NAME, atif.FILE, atif.BASE),
}
"""For each harness: what writes its recording, the importer's name of the format, the file, and the real recording."""


def main(arguments: list[str]) -> int:
    """Write all runs, or compare them with those that are there; returns how many files differ."""
    if sys.version_info[:2] != (3, 11):
        raise SystemExit(f"make_golden: needs Python 3.11, this is {sys.version.split()[0]}")
    differing = 0
    for path, text in made():
        same = path.is_file() and path.read_text() == text
        differing += not same
        if arguments == ["--check"]:
            print(f"{'same   ' if same else 'DIFFERS'}  {path.relative_to(HERE)}")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return differing if arguments == ["--check"] else 0


def made() -> Iterator[tuple[Path, str]]:
    """Every file of every run, with what belongs into it."""
    for story in STORIES:
        for twin in story.twins:
            with tempfile.TemporaryDirectory() as folder:
                recorded, grade = play(story, twin, Path(folder))
            render, _, name, _ = FORMATS[story.harness]
            files = {
                name: render(recorded),
                "patch.diff": recorded.patch,
                "run.yaml": _shown(_run(story, name, grade)),
                "expected.yaml": _shown(_expected(story, twin)),
            }
            yield from ((HERE / twin.number / file, text) for file, text in files.items())


def _run(story: Story, record: str, grade: str | None) -> dict[str, Any]:
    outcome = {"exit_status": 0, **({"grade": grade} if grade else {})}
    hidden = {"fail_to_pass": list(story.hidden.ids), "absent_at_base": True} if story.hidden and story.hidden.ids else {}
    return {"task": story.task, "model": story.model, "outcome": outcome, "record": record, "patch": "patch.diff", **hidden}


def _kept(story: Story, base: str) -> str:
    """What of a recording is kept. None of ours is in ATIF, so that its steps had to be written by hand."""
    if story.harness == "atif":
        return f"the tools of our recording {base}, their arguments and results, in steps of ATIF written by hand"
    return f"our recording {base}, whose structure is kept"


def _expected(story: Story, twin: Twin) -> dict[str, Any]:
    _, name, _, base = FORMATS[story.harness]
    (other,) = (one.number for one in story.twins if one.number != twin.number)
    return {
        "topic": story.topic,
        "seeded": twin.seeded,
        "twin": other,
        "format": name,
        "turns": len(twin.turns),
        "made_from": f"{_kept(story, base)}; repository, task, model, ids, times and token counts are new, and all "
        f"commands were really run. Here {twin.changed}.",
        "dimensions": twin.expected,
    }


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


def _list(dumper: yaml.SafeDumper, values: list[Any]) -> yaml.SequenceNode:
    plain = all(isinstance(value, int | float) for value in values)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=plain)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)


def _shown(value: dict[str, Any]) -> str:
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
