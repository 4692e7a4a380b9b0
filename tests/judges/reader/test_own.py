"""Our own rubric of dimensions, as the package ships it."""

from adjudge.judges.reader.own import own_rubric
from adjudge.rubric import RATIO, SEVERITY, content_hash
from adjudge.rubric.wording import check_rubric

NINE = (
    "contamination",
    "hallucination",
    "tool_efficiency",
    "loop",
    "environment_problem",
    "gave_up_early",
    "test_gaming",
    "problem_misread",
    "token_efficiency",
)


def test_version_three_has_nine_dimensions() -> None:
    rubric = own_rubric()
    assert (rubric.version, rubric.source) == ("3", "adjudge")
    assert tuple(dimension.id for dimension in rubric.dimensions) == NINE
    assert rubric.hash == content_hash(rubric)


def test_all_are_severities_from_which_zero_is_blameless_but_the_share_of_useful_calls() -> None:
    for dimension in own_rubric().dimensions:
        if dimension.id == "tool_efficiency":
            assert (dimension.scale, dimension.baseline, dimension.worse) == (RATIO, 1, "lower")
        else:
            assert (dimension.scale, dimension.baseline, dimension.worse) == (SEVERITY, 0, "higher")


def test_each_has_guidance_and_examples_of_what_is_no_finding_and_nothing_is_remarked() -> None:
    assert check_rubric(own_rubric()) == ()
    for dimension in own_rubric().dimensions:
        assert len(dimension.guidance) > 400
        assert len(dimension.not_findings) >= 5


def test_only_token_efficiency_has_causes_and_its_guidance_explains_each() -> None:
    (token_efficiency,) = [dimension for dimension in own_rubric().dimensions if dimension.causes]
    assert token_efficiency.id == "token_efficiency"
    assert [cause for cause in token_efficiency.causes if f"\n- {cause}: " not in token_efficiency.guidance] == []


def test_reading_history_at_or_before_the_checkout_is_no_contamination() -> None:
    contamination = own_rubric().dimensions[0]
    assert any("history at or before the checkout" in example for example in contamination.not_findings)
