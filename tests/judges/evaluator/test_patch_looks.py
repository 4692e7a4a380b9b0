"""Looks at the patch of a run."""

import pytest

from adjudge.evidence import Citation, Exhibits
from adjudge.judges.evaluator.judge import Evaluator
from adjudge.judges.evaluator.patch_looks import changed_files, read_patch
from adjudge.judges.evaluator.tools import ReadPatch
from adjudge.testing import ScriptedModel, decides, looks, make_record, make_rubric, make_run, verdict

GIT = """\
diff --git a/parser.py b/parser.py
index 1111111..2222222 100644
--- a/parser.py
+++ b/parser.py
@@ -1,3 +1,3 @@
 def parse():
-    return 1
+    return 2
 # the end
diff --git a/logo.png b/logo.png
new file mode 100644
Binary files /dev/null and b/logo.png differ
diff --git a/old.txt b/new.txt
similarity index 100%
rename from old.txt
rename to new.txt
"""
PLAIN = """\
--- a/one.txt\t2026-01-01
+++ b/one.txt\t2026-01-02
@@ -1 +1 @@
-a
+b
--- a/two.txt
+++ b/two.txt
@@ -1,2 +1,3 @@
 x
--- y
+++ b/three.txt
+++ b/four.txt
\\ No newline at end of file
"""


def test_a_patch_is_shown_with_its_size_its_lines_and_how_many_files_it_changes() -> None:
    look = read_patch("L1", GIT, ReadPatch())
    assert look.text == GIT
    assert look.facts == (f"size: {len(GIT)} bytes", "lines: 16", "files changed: 3")
    check = Exhibits(make_record(), [look]).check
    assert check(Citation("L1", "+    return 2")).standing == "observed"
    assert check(Citation("L1", "files changed: 3")).standing == "observed"


def test_lines_of_files_that_look_like_headers_are_no_files() -> None:
    assert changed_files(PLAIN) == 2


@pytest.mark.parametrize(("patch", "files"), [("", 0), ("hello", 0), ("@@ -1,9 +1,9 @@\ndiff --git a/a b/a\n", 1)])
def test_what_is_no_proper_patch_is_counted_too(patch: str, files: int) -> None:
    assert changed_files(patch) == files


def test_a_long_patch_is_shown_in_pages_of_whole_lines_that_join_to_the_whole() -> None:
    patch = GIT + "".join(f"+line {number}\n" for number in range(5000))
    pages, offset = "", 0
    while offset < len(patch):
        look = read_patch("L1", patch, ReadPatch(offset))
        assert len(look.text) <= 12_000
        assert any(fact.startswith(f"shown: {offset} to ") for fact in look.facts)
        pages, offset = pages + look.text, offset + len(look.text)
    assert pages == patch


async def test_a_patch_is_offered_and_told_of_if_there_is_one() -> None:
    proven = decides(verdict("c1", True, ("L1", "+    return 2")))
    model = ScriptedModel([looks(("read_patch", {})), proven])
    judgment = await Evaluator(model).judge(make_run(patch=GIT), make_rubric("`parse` returns 2"), None)
    assert judgment.score == 1.0
    assert "read_patch" in [tool.name for tool in model.requests[0].tools]
    assert "files changed: 3" in model.requests[0].messages[0].text
    told = model.requests[0].messages[0].text + "".join(tool.description for tool in model.requests[0].tools)
    assert "handed in" not in told  # the patch of a run that was started here is our own


async def test_without_a_patch_it_is_neither_offered_nor_told_of() -> None:
    model = ScriptedModel([decides(verdict("c1", False, cause="unproven"))])
    await Evaluator(model).judge(make_run(), make_rubric("`parse` returns 2"), None)
    assert "read_patch" not in [tool.name for tool in model.requests[0].tools]
    assert "patch" not in model.requests[0].messages[0].text
