"""The examples of the reference do what they say."""

from __future__ import annotations

import re
from pathlib import Path

from adjudge.evidence import Citation, Exhibits
from adjudge.judgment import Answer, Judge, Judgment, gate, score
from adjudge.rubric import Criterion, Rubric, rubric_hash
from adjudge.store.store import Store
from adjudge.testing import calls, make_record, make_run, user

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def examples(name: str) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", (REFERENCE / name).read_text(encoding="utf-8"), re.S))


def test_the_examples_of_the_store(tmp_path: Path) -> None:
    exec(compile(examples("store.md"), "store.md", "exec"), {"folder": tmp_path / "store"})


def test_the_examples_of_the_exports(store: Store) -> None:
    run = make_run(make_record(user("Test it."), calls("bash", "pytest", result="3 passed", exit_status=0)))
    criteria = (Criterion("c1", "`pytest` exits with 0"),)
    rubric = Rubric("tests", criteria, rubric_hash(criteria), "tests.yaml")
    answer = Answer("c1", True, "Three tests passed.", (Citation("e3", "3 passed"),))
    verdicts, _ = gate(rubric, [answer], Exhibits(run.record))
    judge = Judge("evaluator", "m", "p", {}, "0")
    judgment = Judgment("j-1", run.id, "tests", rubric.hash, judge, "judged", "2026-01-01", 1.0, verdicts, score(verdicts))
    store.add_run(run)
    store.add_judgment(judgment, rubric)
    names = {"store": store, "name": "j-1", "run": run.id, "rubric": rubric.hash}
    exec(compile(examples("exports.md"), "exports.md", "exec"), names)
