"""Which verdicts rest on nothing but looks that a file could have shaped."""

from __future__ import annotations

import pytest

from adjudge.evidence import Citation, Holding
from adjudge.judgment import Tampering, Verdict, doubt

CONFTEST = Tampering("conftest.py", "conftest", "agent", ("L1", "L3"))
SHIM = Tampering("bin/pytest", "program", None, ("L1",))
GIVEN = Tampering("Makefile", "script", "task", ("L1", "L2", "L3"))


def verdict(*sources: str, faulty: str = "") -> Verdict:
    held = [Holding(Citation(source, "3 passed"), "observed", None, source, "command") for source in sources]
    faults = [Holding(Citation(faulty, "3 passed"), None, "not there")] if faulty else []
    return Verdict("c1", True, "It passed.", (*held, *faults))


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        (("L1",), "rests on L1, which conftest.py (the agent's) and bin/pytest could have shaped"),
        (("L3",), "rests on L3, which conftest.py (the agent's) could have shaped"),
        (("L3", "L1", "L3"), "rests on L3, L1, which conftest.py (the agent's) and bin/pytest could have shaped"),
        (("L1", "L2"), None),
        (("e4",), None),
        ((), None),
    ],
)
def test_a_verdict_is_in_doubt_if_all_that_it_rests_on_could_be_shaped(sources: tuple[str, ...], words: str | None) -> None:
    assert doubt(verdict(*sources), (SHIM, CONFTEST, GIVEN)) == words


def test_a_citation_that_does_not_hold_is_nothing_to_rest_on() -> None:
    assert doubt(verdict("L1", faulty="L2"), (CONFTEST,)) is not None


def test_what_the_task_gave_raises_no_doubt() -> None:
    assert doubt(verdict("L1"), (GIVEN,)) is None


def test_of_many_files_three_are_named() -> None:
    many = [Tampering(f"d{n}/conftest.py", "conftest", None, ("L1",)) for n in range(5)]
    words = "rests on L1, which d0/conftest.py, d1/conftest.py, d2/conftest.py and 2 more could have shaped"
    assert doubt(verdict("L1"), many) == words


def test_a_path_is_shown_as_untrusted_text() -> None:
    planted = Tampering("a\x1b[31m\n/conftest.py", "conftest", None, ("L1",))
    words = doubt(verdict("L1"), (planted,))
    assert words is not None
    assert words.isprintable()
