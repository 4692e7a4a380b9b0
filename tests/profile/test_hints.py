"""Each hint on a small record that is counted by hand, and on its honest counterpart that must not be counted."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from adjudge.profile import Hint, Profile, profile
from adjudge.record import Entry, Record, Turn, Usage
from adjudge.testing import Piece, calls, make_record, says, user

Pieces = tuple[Piece, ...]
BIG = "x" * 20_001
HUGE = "x" * 50_001
CODE = "\n".join(f"value_{number} = {number}" for number in range(100))


def hint(name: str, *pieces: Pieces) -> Hint:
    return of(profile(make_record(user("Do it."), *pieces)), name)


def of(found: Profile, name: str) -> Hint:
    (hint,) = [hint for hint in found.hints if hint.name == name]
    return hint


def value(name: str, *pieces: Pieces) -> float | None:
    return hint(name, *pieces).value


def bash(command: str, result: str | None = "", status: int | None = 0) -> Pieces:
    return calls("bash", command, result, status)


def read(path: str, result: str | None = CODE, **span: int) -> Pieces:
    return calls("Read", {"file_path": path, **span}, result)


def edit(path: str, result: str = "updated") -> Pieces:
    return calls("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}, result)


def unknown(tool: str) -> Pieces:
    return calls(tool, {"target": "a.py", "line": 1, "text": "b"}, "done")


def numbered(first: int, last: int) -> str:
    return "\n".join(f"{number:6}\tvalue = {number}" for number in range(first, last + 1))


def scratch(text: str) -> Pieces:
    return bash(f"cat > /tmp/test_x.py <<E\n{text}\nE")


# --- outputs


def test_large_outputs_are_counted_and_three_are_flagged() -> None:
    found = hint("large_outputs", bash("make", BIG), bash("ls", "x" * 20_000), bash("tox", BIG), bash("nox", BIG))
    assert (found.value, found.flagged, found.turns) == (3, True, (1, 3, 4))


def test_two_large_outputs_are_not_flagged_and_a_huge_one_is() -> None:
    assert not hint("large_outputs", bash("make", BIG), bash("tox", BIG)).flagged
    assert hint("large_outputs", bash("make", HUGE)).flagged


def test_a_whole_file_that_is_large_is_an_unbounded_read() -> None:
    found = hint("unbounded_reads", read("src/big.py", BIG), bash("cat src/big.py", BIG))
    assert (found.value, found.flagged, found.about) == (2, True, ("src/big.py",))


@pytest.mark.parametrize(
    "honest",
    [
        read("src/small.py", "x" * 20_000),
        read("src/big.py", BIG, offset=1, limit=2000),
        bash("sed -n '1,900p' src/big.py", BIG),
        bash("cat src/big.py | grep x", BIG),
        read("AGENTS.md", BIG),
        bash("make", BIG),
    ],
)
def test_a_read_with_bounds_of_rules_or_of_little_is_none(honest: Pieces) -> None:
    assert value("unbounded_reads", honest) == 0


# --- repeated reads


def test_three_repeated_reads_are_flagged() -> None:
    found = hint("repeated_reads", *[read("a.py")] * 4)
    assert (found.value, found.flagged, found.turns, found.about) == (3, True, (2, 3, 4), ("a.py",))


def test_two_repeated_reads_are_counted_and_not_flagged() -> None:
    found = hint("repeated_reads", *[read("a.py")] * 3)
    assert (found.value, found.flagged) == (2, False)


def test_lines_of_a_file_that_was_shown_whole_are_repeated() -> None:
    assert value("repeated_reads", read("a.py"), bash("sed -n '10,60p' a.py", CODE[:700])) == 1
    assert value("repeated_reads", bash("head -n 80 a.py", CODE), bash("sed -n '10,60p' a.py", CODE[:700])) == 1


@pytest.mark.parametrize(
    "honest",
    [
        [read("a.py"), edit("a.py"), read("a.py")],
        [read("a.py"), bash("sed -i s/a/b/ src/a.py"), read("a.py")],
        [read("a.py"), bash("git checkout main"), read("a.py")],
        [read("a.py"), unknown("apply_edit"), read("a.py")],
        [read("a.py"), unknown("mcp__files__replace"), read("a.py")],
        [read("a.py"), bash("python -c 'import os; os.rename(1, 2)'"), read("a.py")],
        [read("a.py", limit=50), read("a.py", offset=40, limit=50)],
        [read("a.py", numbered(1, 60)), read("a.py", numbered(61, 120), offset=61)],  # the harness had shown a part
        [read("a.py", CODE + "\n[40 more lines in file]"), read("a.py", CODE, offset=80)],
        [bash("sed -n '1,80p' a.py", CODE), bash("nl -ba a.py | sed -n '1,60p'", numbered(1, 60))],  # numbers are new
        [read("run.log"), read("run.log"), read("run.log")],
        [read("a.py"), read("a.py", CODE + "more")],  # something had changed it
        [read("a.py", "x = 1"), read("a.py", "x = 1")],
        [read("a.py", None), read("a.py", None)],
        [bash("cat *.py", CODE), bash("cat *.py", CODE)],
        [read("a.py"), read("b/a.py")],
        [read("a.py"), bash("grep value_1 a.py", CODE)],
    ],
)
def test_reads_that_show_something_new_are_not_repeated(honest: list[Pieces]) -> None:
    assert not value("repeated_reads", *honest)


def test_an_edit_of_another_file_or_one_that_was_refused_changes_nothing() -> None:
    assert value("repeated_reads", read("a.py"), edit("b.py"), read("a.py")) == 1
    refused = with_error(make_record(user("x"), read("a.py"), edit("a.py"), read("a.py")), "e5")
    assert of(profile(refused), "repeated_reads").value == 1


def test_what_was_read_before_a_summary_may_be_read_again() -> None:
    summary = (Piece("message", "harness", "The story so far", origin="summary"),)
    assert value("repeated_reads", read("a.py"), summary, read("a.py")) == 0


# --- tests


def test_the_same_tests_without_a_change_between_are_flagged_whatever_the_filters() -> None:
    found = hint("test_reruns", bash("pytest -q 2>&1 | tail -3", "ok"), bash("ls", "a"), bash("pytest -q", "1 passed"))
    assert (found.value, found.flagged, found.turns) == (1, True, (3,))


@pytest.mark.parametrize(
    "honest",
    [
        [bash("pytest -q", "failed", 1), edit("a.py"), bash("pytest -q", "passed")],
        [bash("pytest -q", "failed", 1), bash("pip install x", "ok"), bash("pytest -q", "passed")],
        [bash("pytest tests/a.py", "ok"), bash("pytest", "ok")],
        [bash("cd a && make test", "ok"), bash("cd b && make test", "ok")],
        [bash("pytest -q", None), bash("pytest -q", "passed")],
        [scratch("1"), bash("python /tmp/test_x.py", "1"), scratch("2"), bash("python /tmp/test_x.py", "2")],
        [bash("pytest -q", "failed", 1), unknown("apply_edit"), bash("pytest -q", "passed")],
        [bash("pytest -q", "failed", 1), unknown("mcp__files__replace"), bash("pytest -q", "passed")],
    ],
)
def test_tests_after_a_change_or_of_another_target_are_no_rerun(honest: list[Pieces]) -> None:
    assert value("test_reruns", *honest) == 0


def test_tests_in_another_working_directory_are_others() -> None:
    arguments: list[dict[str, Any]] = [{"cmd": "make test", "workdir": "/a"}, {"cmd": "make test", "workdir": "/b"}]
    assert value("test_reruns", *(calls("exec_command", each, "ok", 0) for each in arguments)) == 0


def test_a_script_of_the_runs_own_is_a_scratch_script_and_the_projects_tests_are_tests() -> None:
    write = calls("Write", {"file_path": "/app/test_bug.py", "content": "1"}, "created")
    found = profile(make_record(user("x"), write, bash("python test_bug.py", "1"), bash("python tests/test_all.py", "1")))
    assert dict(found.kinds) == {"write": 1, "scratch": 1, "test": 1}


# --- duplicates


def test_two_calls_that_brought_the_same_again_are_flagged() -> None:
    found = hint("duplicate_calls", bash("ls", "a"), bash("pwd", "b"), bash("ls", "a"), bash("pwd", "b"))
    assert (found.value, found.flagged, found.turns, found.about) == (2, True, (3, 4), ("ls", "pwd"))


@pytest.mark.parametrize(
    "honest",
    [
        [bash("git status", "clean"), bash("git status", "1 file")],
        [bash("ls", "a"), edit("a.py"), bash("ls", "a")],
        [calls("BashOutput", {"bash_id": "1"}, "(no output)")] * 3,
        [calls("write_stdin", {"session_id": 1, "chars": ""}, "running")] * 3,
        [bash("sleep 30", "woke")] * 3,
        [bash("true", "")] * 3,
        [bash("ls", None)] * 3,
        [calls("Grep", {}, "nothing")] * 2,
        [edit("a.py")] * 2,
        [bash("ls", "a"), unknown("apply_edit"), bash("ls", "a")],
        [unknown("apply_edit")] * 3,
    ],
)
def test_polls_changes_and_other_results_are_no_duplicates(honest: list[Pieces]) -> None:
    assert not value("duplicate_calls", *honest)


def test_a_tool_that_is_not_known_may_have_changed_files_even_where_it_failed() -> None:
    record = make_record(user("x"), bash("ls", "a"), unknown("apply_edit"), bash("ls", "a"))
    assert of(profile(with_error(record, "e5")), "duplicate_calls").value == 0


def test_a_tool_that_is_not_known_is_no_edit() -> None:
    found = profile(make_record(user("x"), unknown("apply_edit"), bash("pytest -q", "ok")))
    assert found.after_last_edit is None
    assert (dict(found.kinds), found.unknown) == ({"unknown": 1, "test": 1}, (("apply_edit", 1),))


@pytest.mark.parametrize("program", ["frobnicate --all", "python tool.py", "./run.sh"])
def test_a_program_that_is_not_known_or_only_runs_is_not_taken_to_change_files(program: str) -> None:
    assert value("test_reruns", bash("pytest -q", "ok"), bash(program, "done"), bash("pytest -q", "ok")) == 1


# --- loops


def test_one_call_three_times_in_a_row_is_a_loop_whatever_it_brings() -> None:
    found = hint("loops", *(bash("make x", str(number), 2) for number in range(3)))
    assert (found.value, found.flagged, found.turns) == (1, True, (1, 2, 3))


def test_two_and_three_calls_in_turn_three_times_are_loops() -> None:
    two = [bash("make x"), bash("make y")] * 3
    three = [bash("make a"), bash("make b"), bash("make c")] * 3
    found = hint("loops", *two, bash("ls"), *three)
    assert (found.value, found.turns) == (2, (1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16))


@pytest.mark.parametrize(
    "honest",
    [
        [bash("make x")] * 2,
        [bash("make x"), bash("make y")] * 2,
        [bash("pytest"), edit("a.py"), bash("pytest"), edit("b.py"), bash("pytest")],
        [bash(f"sed -n '{number},{number + 9}p' a.py") for number in range(1, 40, 10)],
        [calls("wait", {"seconds": 5}, "running")] * 9,
        [calls("tool", {}, "x")] * 4,
    ],
)
def test_polls_two_rounds_and_calls_that_differ_are_no_loop(honest: list[Pieces]) -> None:
    assert value("loops", *honest) == 0


# --- failures


def test_four_failures_in_a_row_are_flagged_and_three_are_not() -> None:
    fails = [bash(f"make {number}", "no", 2) for number in range(4)]
    found = hint("error_runs", *fails, bash("ls", "a"), *fails[:3])
    assert (found.value, found.flagged, found.turns) == (1, True, (1, 2, 3, 4))
    failed = hint("failed_calls", *fails, bash("ls", "a"), *fails[:3])
    assert (failed.value, failed.flagged, failed.threshold) == (7, False, None)


def test_a_search_that_finds_nothing_has_not_failed() -> None:
    assert value("failed_calls", *(bash(f"grep -rn x{number} src", "", 1) for number in range(4))) == 0
    assert value("failed_calls", bash("grep -rn x nowhere", "no such file", 2)) == 1


def test_where_no_ending_is_told_nothing_is_said_of_failures() -> None:
    found = [hint(name, bash("make", "Error 2", None)) for name in ("failed_calls", "error_runs")]
    assert [each.value for each in found] == [None, None]


# --- after the last edit


def test_what_follows_the_last_edit_is_a_figure_and_never_a_flag() -> None:
    later = [bash("pytest", "ok"), read("a.py"), bash("git log", "x"), *(bash(f"curl x{n}", "y") for n in range(20))]
    record = make_record(user("Fix it."), read("a.py"), edit("a.py"), *later)
    found = profile(record)
    after = found.after_last_edit
    assert after is not None
    assert (after.turn, after.calls, after.tests, after.reads, after.others) == (2, 23, 1, 1, 21)
    assert after.share_of_calls == 23 / 25
    assert after.share_of_tokens is None
    assert not of(found, "after_last_edit").flagged


def test_what_the_user_asked_for_later_does_not_count() -> None:
    record = make_record(user("Fix."), edit("a.py"), bash("pytest", "ok"), user("Commit."), bash("git push", "ok"))
    after = profile(record).after_last_edit
    assert after is not None
    assert (after.calls, after.share_of_calls) == (1, 0.5)


def test_a_file_for_scratch_is_no_edit() -> None:
    assert profile(make_record(user("x"), bash("ls > /tmp/x.txt"), bash("git diff > a.patch"))).after_last_edit is None


def test_the_share_of_tokens_after_the_last_edit() -> None:
    record = with_usage(make_record(user("x"), edit("a.py"), bash("pytest", "ok")), [(300, 10), (80, 10)])
    after = profile(record).after_last_edit
    assert after is not None
    assert after.share_of_tokens == 90 / 400


# --- tokens


def test_large_prompts_and_a_small_cached_share_are_flagged() -> None:
    record = with_usage(make_record(*(bash(f"make {n}") for n in range(10))), [(100_001, 1)] * 10, cached=50_000)
    found = profile(record)
    assert of(found, "large_prompts").flagged
    assert of(found, "cached_share").flagged
    assert not of(profile(with_usage(record, [(100_000, 1)] * 10, cached=50_000)), "large_prompts").flagged
    assert not of(profile(with_usage(record, [(100_000, 1)] * 10, cached=50_000)), "cached_share").flagged


def test_a_few_prompts_say_nothing_of_the_cache() -> None:
    record = with_usage(make_record(*(bash(f"make {n}") for n in range(9))), [(1000, 1)] * 9, cached=0)
    assert not of(profile(record), "cached_share").flagged


# --- what the recording does not tell


def test_without_results_nothing_is_said_of_them() -> None:
    found = profile(make_record(user("x"), bash("ls", None), read("a.py", None)))
    names = ("large_outputs", "unbounded_reads", "repeated_reads", "test_reruns", "duplicate_calls", "failed_calls")
    assert {of(found, name).value for name in names} == {None}


def test_a_record_without_calls_has_a_profile() -> None:
    found = profile(make_record(user("Hello."), says("Hello.")))
    assert found.calls == 0
    assert not any(each.flagged for each in found.hints)


def test_copied_history_is_left_out() -> None:
    record = make_record(user("x"), *[bash("make x", "no")] * 4)
    copied = tuple(msgspec.structs.replace(entry, origin="copied") for entry in record.entries[:5])
    assert profile(msgspec.structs.replace(record, entries=(*copied, *record.entries[5:]))).calls == 2


def test_sub_agents_have_profiles_of_their_own_at_any_depth() -> None:
    inner = make_record(bash("ls", "a"), prefix="s1.s1.")
    child = make_record(*[bash("make x", "no")] * 3, children=[inner], prefix="s1.")
    found = profile(make_record(user("x"), bash("pwd", "a"), children=[child, make_record()]))
    assert found.calls == 1
    assert [(each.name, each.calls) for each in found.children] == [("s1", 3), ("s1.s1", 1), ("s2", 0)]
    assert of(found.children[0], "loops").flagged
    assert not of(found, "loops").flagged


# --- making records


def with_usage(record: Record, used: list[tuple[int, int]], cached: int | None = None) -> Record:
    turns = tuple(
        Turn(turn.number, turn.first, usage=Usage(prompt=prompt, output=output, cached=cached))
        for turn, (prompt, output) in zip(record.turns, used, strict=True)
    )
    return msgspec.structs.replace(record, turns=turns)


def with_error(record: Record, entry: str) -> Record:
    def changed(each: Entry) -> Entry:
        return msgspec.structs.replace(each, is_error=True) if each.id == entry else each

    return msgspec.structs.replace(record, entries=tuple(map(changed, record.entries)))
