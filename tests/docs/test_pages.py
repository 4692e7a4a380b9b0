"""Links lead somewhere, decisions are short, and no page speaks of the place where it was written."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from .pages import DOCS, ROOT, code, name_of, pages, rows, sections

DECISIONS = sorted((DOCS / "decisions").glob("[0-9]*.md"))


def links(page: Path) -> list[str]:
    """The targets of a page's links, those to other hosts and pictures left out."""
    text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text("utf-8"), flags=re.S)
    return [target for target in re.findall(r"(?<!!)\[[^]]*\]\(([^)\s]+)\)", text) if "://" not in target]


def anchors(page: Path) -> set[str]:
    """The names under which a page's headings can be linked."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_each_link_leads_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve() if path else page
        assert place.exists(), f"{target}: there is no {path}"
        assert not anchor or anchor in anchors(place), f"{target}: {path or 'the page'} has no such heading"


@pytest.mark.parametrize("page", DECISIONS, ids=name_of)
def test_a_decision_has_at_most_thirty_lines(page: Path) -> None:
    assert len(page.read_text("utf-8").splitlines()) <= 30


@pytest.mark.parametrize("page", DECISIONS, ids=name_of)
def test_a_decision_says_what_and_why_and_what_else(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text.startswith(f"# {int(page.name[:4])}. ")
    assert [heading for heading in ("## What", "## Why", "## What else") if heading not in text] == []


def test_decisions_are_numbered_without_a_gap_and_all_listed() -> None:
    assert [int(page.name[:4]) for page in DECISIONS] == list(range(1, len(DECISIONS) + 1))
    listed = re.findall(r"\]\((\d{4}-[^)]+)\)", (DOCS / "decisions/README.md").read_text("utf-8"))
    assert listed == [page.name for page in DECISIONS]


def test_each_dependency_is_told_with_its_locked_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *chain.from_iterable(project["optional-dependencies"].values())]
    locked = {each["name"]: each.get("version") for each in tomllib.loads((ROOT / "uv.lock").read_text("utf-8"))["package"]}
    names = [re.split(r"[\[>=<~]", each)[0] for each in wanted]
    told = {code(row[0])[0]: row[1] for row in rows(sections(DOCS / "decisions/0022-dependencies.md")["What"])}
    assert told == {name: locked[name] for name in names}


def test_every_page_can_be_reached_from_the_contents() -> None:
    reached, waiting = set(), [DOCS / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        targets = [(page.parent / link.partition("#")[0]).resolve() for link in links(page) if not link.startswith("#")]
        waiting += [target for target in targets if target.suffix == ".md" and target not in reached and target.exists()]
    assert set(DOCS.rglob("*.md")) - reached == set()


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_no_page_names_a_path_of_the_computer_it_was_written_on(page: Path) -> None:
    text = page.read_text("utf-8").replace("/home/you/work", "")
    assert str(ROOT) not in text
    assert re.findall(r"(?<![\w.~])/(?:home|root|work|tmp)/\S+", text) == []
