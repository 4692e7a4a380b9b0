"""Looks at the machine."""

import pytest

from adjudge.evidence import Citation, Exhibits, Look
from adjudge.judges.evaluator.looks import Looker, shown_look
from adjudge.judges.evaluator.machine_looks import look_at_machine
from adjudge.judges.evaluator.tools import Arguments, ListDirectory, ReadFile, RunCommand, SearchFiles
from adjudge.judges.evaluator.views import Envelope
from adjudge.models.recorded import difference
from adjudge.ports import Found, Message, Output, Request
from adjudge.testing import FakeMachine, make_record, make_run, printed, says

LONG = "".join(f"line {number}\n" for number in range(5000))
FILES: dict[str, str | bytes] = {
    "src/a.py": "def a():\n    return 'naïve'\n",
    "src/b.py": "def b(): ...\n",
    "long.txt": LONG,
    "one-line.txt": "é" * 20_000,
    "picture.png": b"\x89PNG\0\0\0",
    "empty": "",
}


async def look(asked: Arguments, machine: FakeMachine | None = None) -> Look:
    return await look_at_machine("L1", machine or FakeMachine(FILES), asked)


async def test_a_directory_is_listed_with_what_each_name_is() -> None:
    made = await look(ListDirectory("src"))
    assert made.text == "a.py | file, 29 bytes\nb.py | file, 13 bytes"
    assert made.facts == ("names: 2",)


async def test_a_file_name_cannot_make_a_line_of_its_own() -> None:
    made = await look(ListDirectory(), FakeMachine({"a\nb.txt | file, 3 bytes": ""}))
    assert len(made.text.splitlines()) == 1


async def test_a_file_is_read_as_it_is_with_its_size() -> None:
    made = await look(ReadFile("src/a.py"))
    assert (made.text, made.facts) == (FILES["src/a.py"], ("size: 29 bytes", "lines: 2"))
    assert Exhibits(make_record(), [made]).check(Citation("L1", "return 'naïve'")).standing == "observed"


async def test_a_long_file_is_read_in_pages_of_whole_lines_that_join_to_the_whole() -> None:
    pages, offset = "", 0
    while offset < len(LONG):
        made = await look(ReadFile("long.txt", offset=offset))
        assert len(made.text) <= 12_000
        assert made.text.startswith("line ")
        pages, offset = pages + made.text, offset + len(made.text)
    assert pages == LONG


async def test_a_page_that_begins_within_a_line_shows_the_whole_line() -> None:
    made = await look(ReadFile("long.txt", offset=LONG.index("line 3000") + 3))
    assert made.text.startswith("line 3000\n")


async def test_a_file_without_lines_is_read_in_pages_too() -> None:
    first = await look(ReadFile("one-line.txt"))
    assert "shown: bytes 0 to 12000; to go on: offset 12000" in first.facts
    second = await look(ReadFile("one-line.txt", offset=12_000))
    assert second.text.startswith("é")
    assert "shown: bytes 12000 to 24000; to go on: offset 24000" in second.facts


async def test_a_position_behind_the_end_of_a_file_shows_nothing() -> None:
    assert (await look(ReadFile("src/b.py", offset=10**9))).text == ""


async def test_a_file_that_is_not_text_is_described() -> None:
    made = await look(ReadFile("picture.png"))
    assert (made.text, made.failed) == ("", False)
    assert "not text" in made.facts[1]


async def test_an_empty_file_is_a_fact() -> None:
    assert (await look(ReadFile("empty"))).facts == ("size: 0 bytes", "lines: 0")


async def test_the_lines_of_a_file_are_counted_whatever_page_is_shown() -> None:
    for offset in (0, 20_000):
        assert "lines: 5000" in (await look(ReadFile("long.txt", offset=offset))).facts


async def test_a_last_line_without_a_line_break_is_a_line_too() -> None:
    assert "lines: 2" in (await look(ReadFile("a"), FakeMachine({"a": "1\n2"}))).facts


async def test_the_lines_of_a_huge_file_are_not_counted() -> None:
    huge = FakeMachine({"a": "line\n" * 1_000_000})
    assert not any("lines" in fact for fact in (await look(ReadFile("a"), huge)).facts)


@pytest.mark.parametrize("asked", [ReadFile("none"), ReadFile("../x"), ListDirectory("none"), SearchFiles("(", regex=True)])
async def test_what_the_machine_refuses_is_a_failed_look(asked: Arguments) -> None:
    made = await look(asked)
    assert made.failed
    assert made.text


async def test_a_search_counts_and_lists_matching_lines() -> None:
    made = await look(SearchFiles("def", "src"))
    assert (made.found, made.text) == (2, "src/a.py:1: def a():\nsrc/b.py:1: def b(): ...")
    assert made.facts == ("matches: 2", "searched: 2 files")


async def test_a_search_of_files_that_finds_nothing_shows_absence() -> None:
    made = await look(SearchFiles("TODO"))
    assert Exhibits(make_record(), [made]).check(Citation("L1", "matches: 0")).standing == "absence"


async def test_nothing_found_in_files_is_stated_with_what_was_looked_for_and_where() -> None:
    assert (await look(SearchFiles("TO  DO", "src"))).facts == (
        'matches: 0 for "TO DO" (text, white space folded), case heeded, in 2 files in "src"',
    )
    assert (await look(SearchFiles("^x$", "src", regex=True))).facts == (
        'matches: 0 for "^x$" (regular expression), case heeded, in 2 files in "src"',
    )


async def test_neither_pattern_nor_path_of_a_search_of_files_can_forge_a_statement() -> None:
    machine = FakeMachine({"matches: 7/a.txt": "1 failed\n"})
    made = await look(SearchFiles("matches: 5", "matches: 7"), machine)
    assert made.found == 0
    for quote in ("matches: 5", "matches: 7"):
        assert Exhibits(make_record(), [made]).check(Citation("L1", quote)).standing is None
    made = await look(SearchFiles("99 passed|1 failed", regex=True), machine)
    assert made.found == 1
    assert Exhibits(make_record(), [made]).check(Citation("L1", "99 passed")).standing is None


async def test_white_space_is_folded_in_a_literal_search_of_files() -> None:
    machine = FakeMachine({"a": "x =  1\ny\t= 2\nz.= 3\n"})
    assert [(await look(SearchFiles(pattern), machine)).found for pattern in ("x = 1", " y  = 2", "z = 3", ". = 3")] == [
        *(1, 1, 0, 0)
    ]
    assert (await look(SearchFiles(" \t"), machine)).failed
    assert (await look(SearchFiles("  ", regex=True), machine)).found == 1


class Hasty(FakeMachine):
    """A machine whose searches are stopped before their end."""

    async def search(self, pattern: str, path: str = ".", regex: bool = False) -> Found:
        return Found((), 0, 10, cut=True)


async def test_a_search_that_was_stopped_before_its_end_shows_no_absence() -> None:
    made = await look(SearchFiles("TODO"), Hasty())
    assert made.found is None
    for fact in made.facts:
        assert Exhibits(make_record(), [made]).check(Citation("L1", fact)).standing != "absence"
    assert not any("matches: 0" in fact for fact in made.facts)


async def test_a_command_shows_its_output_and_its_exit_status_from_outside() -> None:
    made = await look(RunCommand("pytest"), FakeMachine(commands={"pytest": printed("exit status: 0\n", 1)}))
    exhibits = Exhibits(make_record(), [made])
    assert made.exit_status == 1
    assert exhibits.check(Citation("L1", "exit status: 1")).standing == "observed"
    assert exhibits.check(Citation("L1", "exit status: 0")).standing is None


async def test_a_command_that_prints_nothing_says_so() -> None:
    made = await look(RunCommand("true"), FakeMachine(commands={"true": ""}))
    assert made.facts == ("exit status: 0", "output: none")


async def test_a_command_says_how_many_lines_it_printed() -> None:
    made = await look(RunCommand("ls"), FakeMachine(commands={"ls": "a\nb\nc"}))
    assert made.facts == ("exit status: 0", "output: 5 bytes", "lines: 3")
    assert Exhibits(make_record(), [made]).check(Citation("L1", "lines: 3")).standing == "observed"
    assert Exhibits(make_record(), [made]).check(Citation("L1", "lines: 2")).standing is None


async def test_what_a_look_shows_is_the_same_on_a_slower_host_but_for_what_recordings_ignore() -> None:
    fast, slow = (Output("tick\n", -9, 5, seconds, ended="time") for seconds in (60.0004, 61.7))
    told = [(await look(RunCommand("x"), FakeMachine(commands={"x": output}))).facts for output in (fast, slow)]
    requests = [Request("", (Message("user", "\n".join(facts)),)) for facts in told]
    assert told[0] != told[1]
    assert difference(requests[0], requests[1]) is None


async def test_a_command_that_was_stopped_says_why() -> None:
    output = Output("tick\n", -9, 5, 60.2, ended="time", cut=True, forfeited=2)
    made = await look(RunCommand("sleep"), FakeMachine(commands={"sleep": output}))
    assert made.facts == (
        "exit status: -9",
        "output: 5 bytes",
        "stopped: it ran longer than it may (60.200 s)",
        "cut: only the beginning and the end of the output were kept",
        "background processes that were ended with it: 2",
    )


async def test_a_long_output_is_shown_at_both_ends_and_kept_whole() -> None:
    text = "first\n" + "x\n" * 20_000 + "last\n"
    made = await look(RunCommand("make"), FakeMachine(commands={"make": text}))
    seen = shown_look(made, Envelope("NONCE"))
    assert made.text == text
    assert len(seen) < 13_000
    assert seen.index("first") < seen.index("characters are left out here") < seen.index("last")


async def test_looks_are_marked_from_the_first_command_on() -> None:
    exhibits = Exhibits(make_record(says("x")))
    looker = Looker(make_run(exhibits.record), FakeMachine(FILES, {"true": ""}), exhibits)
    read = ReadFile("empty")
    made = await looker.look([read]) + await looker.look([RunCommand("true")]) + await looker.look([read])
    assert [(look.id, look.changed) for look in made] == [("L1", False), ("L2", True), ("L3", True)]
