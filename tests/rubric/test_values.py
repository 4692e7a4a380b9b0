"""One content has one hash, however it came to be."""

from __future__ import annotations

import msgspec

from adjudge.rubric import Dimension, Rubric, Scale, content_hash

DIMENSION = Dimension("loop", Scale(0, 3), 0, "higher", "Repeated the same thing.")


def test_a_rubric_that_was_stored_has_the_hash_that_it_had() -> None:
    rubric = Rubric("ours", (), "", "ours.yaml", (DIMENSION,), "1")
    stored = msgspec.json.decode(msgspec.json.encode(rubric), type=Rubric)
    assert content_hash(stored) == content_hash(rubric)


def test_another_scale_or_another_version_is_another_content() -> None:
    wider = msgspec.structs.replace(DIMENSION, scale=Scale(0, 4))
    rubrics = [Rubric("", (), "", "", (each,), version) for each in (DIMENSION, wider) for version in ("1", "2")]
    assert len({content_hash(rubric) for rubric in rubrics}) == 4
