"""Taking shell commands apart: what bash would run, checked by hand and against tree-sitter's grammar."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.importers.sniff import read_runs
from adjudge.profile.shell import LONGEST, Redirection, SimpleCommand, split_command

from .oracle import names_by_grammar

FIXTURES = Path(__file__).parents[1] / "importers" / "fixtures"


def words(command: str) -> list[list[tuple[str, ...]]]:
    return [[simple.words for simple in pipeline] for pipeline in split_command(command)]


def names(command: str) -> list[str]:
    """The names of all simple commands, sorted, without assignments before them and quotes in them."""
    found = []
    for pipeline in split_command(command):
        for simple in pipeline:
            rest = list(simple.words)
            while rest and re.match(r"[A-Za-z_]\w*(\[[^\]]*\])?\+?=", rest[0]):
                rest.pop(0)
            found += [re.sub(r"['\"]", "", word) for word in rest[:1]]
    return sorted(found)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls -la", [[("ls", "-la")]]),
        ("a; b && c || d & e", [[("a",)], [("b",)], [("c",)], [("d",)], [("e",)]]),
        ("cat f | sort -u |& head", [[("cat", "f"), ("sort", "-u"), ("head",)]]),
        ("A=1 B='2 3' make x", [[("A=1", "B=2 3", "make", "x")]]),
        ('echo \'a b\'"c\\"d"e\\ f', [[("echo", 'a bc"de f')]]),
        ("echo $'a\\n' \"$x\" ${y:-z} # no words", [[("echo", "a\\n", "$x", "${y:-z}")]]),
        ("echo a\\\n  b", [[("echo", "a", "b")]]),
        ("echo $(git log -1 | cat)", [[("git", "log", "-1"), ("cat",)], [("echo", "$(git log -1 | cat)")]]),
        ('x="`ls \\`pwd\\``"', [[("pwd",)], [("ls", "`pwd`")], [("x=`ls \\`pwd\\``",)]]),
        ("diff <(sort a) <(sort b)", [[("sort", "a")], [("sort", "b")], [("diff", "<(sort a)", "<(sort b)")]]),
        ("if [ -f x ]; then cat x; else exit 1; fi", [[("[", "-f", "x", "]")], [("cat", "x")], [("exit", "1")]]),
        ("for f in *.py; do cat $f | head -3; done", [[("cat", "$f"), ("head", "-3")]]),
        ("for ((i=0; i<3; i++)); do ls; done", [[("ls",)]]),
        ("while read x; do echo $x; done < f", [[("read", "x")], [("echo", "$x")], [()]]),
        ("case $x in a|b) ls;; (*) pwd; esac", [[("ls",)], [("pwd",)]]),
        ("f() { ls; }; function g { pwd; }; f", [[("ls",)], [("pwd",)], [("f",)]]),
        ("a=(1 2 $(ls)); b", [[("ls",)], [("a=(1 2 $(ls))",)], [("b",)]]),
        ("[[ $x == y && -n `ls` ]] && cat z", [[("ls",)], [("cat", "z")]]),
        ("((x++)); echo $((1 + (2 * 3)))", [[("echo", "$((1 + (2 * 3)))")]]),
        ("! time -p ls", [[("ls",)]]),
        ("echo done; echo if", [[("echo", "done")], [("echo", "if")]]),
    ],
)
def test_a_command_is_split_as_bash_reads_it(command: str, expected: list[list[tuple[str, ...]]]) -> None:
    assert words(command) == expected


def test_redirections_stand_beside_the_words() -> None:
    ((simple,),) = split_command("python x.py >out.txt 2>&1 < in.txt &>> all")
    assert simple.words == ("python", "x.py")
    assert [(each.operator, each.target) for each in simple.redirections] == [
        (">", "out.txt"),
        ("2>&", "1"),
        ("<", "in.txt"),
        ("&>>", "all"),
    ]


def test_a_number_before_a_redirection_is_a_word_if_a_blank_is_between() -> None:
    ((simple,),) = split_command("echo 2 > x")
    assert simple == SimpleCommand(("echo", "2"), (Redirection(">", "x"),))


def test_here_documents_are_no_commands() -> None:
    first, second = split_command("cat > a.py <<'EOF' && python a.py\nprint(1) | x\nEOF\n")
    assert first[0].documents == ("print(1) | x\n",)
    assert second[0].words == ("python", "a.py")


def test_a_here_document_in_a_substitution_ends_there() -> None:
    inner, outer = split_command("x=$(python - <<-END\n\tprint(1)\n\tEND\n) ls")
    assert inner[0].documents == ("\tprint(1)\n",)
    assert outer[0].words[-1] == "ls"


def test_two_here_documents_of_one_line_follow_each_other() -> None:
    ((simple,), (after,)) = split_command("cat <<A <<B\n1\nA\n2\nB\nls")
    assert simple.documents == ("1\n", "2\n")
    assert after.words == ("ls",)


def test_the_place_in_a_pipeline_counts_compound_commands_too() -> None:
    *_, last = split_command("for f in a; do cat $f; done | wc -l")
    assert [(simple.words, simple.place) for simple in last] == [(("wc", "-l"), 1)]


_OPEN = ["echo 'a", 'echo "a $(ls', "cat <<EOF\nx", "(((", ")))", "case x in", "`", "$(", "[[ x", "<<E [[ x\n]] y\nE\n"]


@pytest.mark.parametrize("command", _OPEN)
def test_what_does_not_close_ends_with_the_text(command: str) -> None:
    split_command(command)


@given(st.text(alphabet="ab '\"\\$`(){}[]<>|&;\n#=!-12EOFdiocase", max_size=80))
@settings(max_examples=500)
def test_nothing_is_refused(text: str) -> None:
    for pipeline in split_command(text):
        assert all(simple.words or simple.redirections for simple in pipeline)


_TOKENS = [
    "<<E",
    "<<-E",
    "[[ ",
    " ]]",
    "case ",
    " in ",
    "esac",
    "\n",
    "(",
    ")",
    "|",
    ";;",
    "x ",
    "E",
    "&&",
    "f()",
    "$(",
    "`",
    '"',
    "'",
]


@given(st.lists(st.sampled_from([*_TOKENS, "for ", "function ", "((", "))", "${", "}", "2>", "a=(", " ", "#", "do ", "!"])))
@settings(max_examples=1000)
def test_no_order_of_tokens_is_refused(tokens: list[str]) -> None:
    split_command("".join(tokens))


@pytest.mark.parametrize("piece", ["$(", "`", "${a", '"$(', "((", "$((", "<(", "=(", "a'", "[[ ", "<<E\n", "\\", "x(", "}"])
def test_a_hostile_command_takes_no_longer_than_its_length(piece: str) -> None:
    started = time.process_time()
    split_command(piece * (LONGEST // len(piece)))
    assert time.process_time() - started < 3


def test_many_here_documents_take_no_longer_than_their_length() -> None:
    started = time.process_time()
    split_command("\n".join(f"cat <<E{number}\nx\nE{number}" for number in range(5_000)))
    split_command("cat " + " ".join(f"<<E{number}" for number in range(12_000)) + "\n" + "x\n" * 5_000)
    assert time.process_time() - started < 3


# --- against another parser


def recorded() -> Iterator[str]:
    """The commands of our own recordings."""
    for path in sorted(FIXTURES.rglob("*")):
        if path.suffix not in (".jsonl", ".json", ".stdout") or path.name.endswith(".meta.json"):
            continue
        for run in read_runs(path):
            for entry in run.record.walk():
                yield from commands_of(entry.arguments or "" if entry.kind == "call" else "")


def commands_of(arguments: str) -> list[str]:
    try:
        given = json.loads(arguments)
    except ValueError:
        return []
    values = [given.get(name) for name in ("command", "cmd")] if isinstance(given, dict) else []
    return [value for value in values if isinstance(value, str)]


def test_the_programs_of_recorded_commands_are_those_of_the_grammar() -> None:
    commands = set(recorded())
    assert len(commands) > 10
    assert [command for command in commands if names(command) != names_by_grammar(command)] == []


_NAMES = st.sampled_from(["ls", "git", "cat", "grep", "python3", "make"])
_ARGUMENTS = st.sampled_from(["-l", "a.txt", "'b c'", '"$x y"', "$HOME", "a\\ b", "${z}", "--k=v", "*.py", "{}", "3"])


def _simple(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    argument = st.one_of(_ARGUMENTS, inner.map("$({})".format), inner.map('"$({})"'.format))
    target = st.sampled_from(["", " > o", " 2>&1", " < i", " >> o 2> e"])
    return st.tuples(_NAMES, st.lists(argument, max_size=3), target).map(lambda all: " ".join([all[0], *all[1]]) + all[2])


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from([" | ", " && ", " || ", "; ", "\n"]), inner).map("".join),
        inner.map("( {} )".format),
        inner.map("for i in 1 2; do {}; done".format),
        st.tuples(inner, inner).map(lambda both: f"if {both[0]}; then {both[1]}; fi"),
        inner.map("cat <<'EOF'\n$(no) | 'code\nEOF\n{}".format),
    )


COMMANDS = st.recursive(_simple(st.just("pwd")), lambda inner: st.one_of(_simple(inner), _compound(inner)), max_leaves=6)


@given(COMMANDS)
@settings(max_examples=300, deadline=None)
def test_the_programs_of_made_commands_are_those_of_the_grammar(command: str) -> None:
    expected = names_by_grammar(command)
    assert expected is None or names(command) == expected
