"""Rubrics: all, one, one that is being written; and the same as JSON."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import Response, get, post
from litestar.params import JSONBody
from markupsafe import Markup

from adjudge.rubric.writing import rubric_text
from adjudge.untrusted import shown
from adjudge.web.addresses import address
from adjudge.web.queries.rubrics import (
    LONGEST,
    RubricCheck,
    RubricFacts,
    RubricList,
    checked,
    keep,
    rubric_facts,
    rubrics_in,
)
from adjudge.web.rendering import page
from adjudge.web.routes.asked import Name
from adjudge.web.site import Here
from adjudge.web.views.rubrics import NEW, hash_before, rubric_page, rubrics_page
from adjudge.wiring.inputs import known_rubric


class RubricText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rubric as it is written, in YAML, TOML or JSON."""

    text: Annotated[str, msgspec.Meta(max_length=LONGEST)]


class Kept(msgspec.Struct, frozen=True):
    """A rubric that is kept, and its page."""

    hash: str
    href: str


@get("/rubrics", include_in_schema=False, sync_to_thread=True)
def show_rubrics(site: Here) -> Response[bytes]:
    """All rubrics."""
    return page("rubrics.html", here="Rubrics", page=rubrics_page(rubrics_in(site.store)))


@get("/rubrics/new", include_in_schema=False, sync_to_thread=False)
def show_new() -> Response[bytes]:
    """A rubric that is begun."""
    return _editing("New rubric", address("rubrics"), "Rubrics", NEW)


@get("/rubrics/{hash:str}", include_in_schema=False, sync_to_thread=True)
def show_rubric(site: Here, hash: Name) -> Response[bytes]:
    """One rubric."""
    facts = rubric_facts(site.store, hash)
    earlier = hash_before(facts)
    before = site.store.rubric(earlier) if earlier else None
    return page("rubric.html", here="Rubrics", page=rubric_page(facts, before))


@get("/rubrics/{hash:str}/edit", include_in_schema=False, sync_to_thread=True)
def show_editing(site: Here, hash: Name) -> Response[bytes]:
    """A rubric that a next version is made of."""
    rubric = known_rubric(hash, site.store)
    return _editing(f"Edit {rubric.name}", address("rubrics", hash), rubric.name, rubric_text(rubric))


def _editing(heading: str, back: Markup, name: str, text: str) -> Response[bytes]:
    return page(
        "rubric_edit.html",
        here="Rubrics",
        heading=heading,
        back=back,
        name=name,
        text=text,
        longest=LONGEST,
        changed=shown(text) != text,
    )


@get("/rubrics", sync_to_thread=True)
def api_rubrics(site: Here) -> RubricList:
    """The rubrics of the store, the latest first, and those of adjudge that are not among them."""
    return rubrics_in(site.store)


@get("/rubrics/{hash:str}/facts", sync_to_thread=True)
def api_rubric_facts(site: Here, hash: Name) -> RubricFacts:
    """A rubric with the versions of its name and the latest judgments that used it."""
    return rubric_facts(site.store, hash)


@post("/rubrics/check", status_code=200, sync_to_thread=True)
def api_check(site: Here, data: JSONBody[RubricText]) -> RubricCheck:
    """What a text says as a rubric, what is wrong with it, and what could be put better. Nothing is kept."""
    return checked(site.store, data.text)


@post("/rubrics", status_code=200, sync_to_thread=True)
def api_keep(site: Here, data: JSONBody[RubricText]) -> Kept:
    """Keep a rubric. What is kept is never changed: other content is another rubric, by its hash."""
    rubric = keep(site.store, data.text)
    return Kept(rubric.hash, str(address("rubrics", rubric.hash)))


PAGES = (show_rubrics, show_new, show_rubric, show_editing)
API = (api_rubrics, api_rubric_facts, api_check, api_keep)
