"""What kind of work a shell command is: each rule with a case, and cases that must not be taken for another kind."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.profile.commands import command_facets
from adjudge.profile.work import END, Facet, Work, is_temporary, primary


def kind(command: str) -> Work:
    return primary(command_facets(command))


def kinds(command: str) -> set[Work]:
    return {facet.kind for facet in command_facets(command)}


def reads(command: str) -> list[tuple[Work, tuple[str, ...], tuple[int, int] | None]]:
    return [(facet.kind, facet.paths, facet.span) for facet in command_facets(command) if facet.kind[:4] == "read"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        # wrappers
        ("CI=1 env -u A B=2 sudo -u me nohup timeout -k 5 60s nice pytest -q", "test"),
        ("cd /app && uv run --with x pytest tests", "test"),
        ("poetry run python -m pytest", "test"),
        ("mise exec -- go test ./...", "test"),
        ("mise run lint", "lint"),
        ("npx -p x vitest@2.1.0 run", "test"),
        ("pnpm exec tsc --noEmit", "lint"),
        ("bundle exec rspec", "test"),
        ("docker exec -u 1000 box pytest", "test"),
        ("bash -lc 'cd x && pytest -q'", "test"),
        ("bash <<'EOF'\npytest\nEOF", "test"),
        ("find . -name '*.py' | xargs -n 1 grep -n x", "search"),
        ("command -v python", "environment"),
        # tests
        ("python -m unittest 2>&1 | tail -5", "test"),
        ("python tests/run_tests.py", "test"),
        ("./manage.py test", "run"),
        ("python manage.py test app", "test"),
        ("go test -run X ./pkg", "test"),
        ("cargo nextest run", "test"),
        ("npm run test:unit", "test"),
        ("npm t", "test"),
        ("bun run lint", "lint"),
        ("make test", "test"),
        ("make", "build"),
        ("./gradlew check", "test"),
        ("mvn package -DskipTests", "build"),
        ("node --test", "test"),
        # edits and writes
        ("sed -i 's/a/b/' x.py", "edit"),
        ("perl -pi -e 's/a/b/' x.py", "edit"),
        ("git apply x.patch", "edit"),
        ("git apply --check x.patch", "git_state"),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.py\n*** End Patch\nEOF", "edit"),
        ("python - <<'EOF'\nfrom pathlib import Path\nPath('a').write_text('b')\nEOF", "edit"),
        ("python -c 'print(open(\"a\").read())'", "run"),
        ("cat > a.py <<'EOF'\nprint(1)\nEOF", "write"),
        ("echo x | tee out.txt", "write"),
        ("ls > /dev/null 2>&1", "list"),
        ("gofmt -w a.go", "lint"),
        # git
        ("git diff > x.patch", "export"),
        ("git add -A && git diff --cached > patch.txt", "git_write"),
        ("git diff", "git_state"),
        ("git diff HEAD~3", "history"),
        ("git status --short", "git_state"),
        ("git log --oneline -5", "history"),
        ("git -C /app -c a=b show abc1234", "history"),
        ("git stash", "git_tree"),
        ("git checkout -- a.py", "git_tree"),
        ("git clone https://example.org/x", "git_write"),
        ("git grep -n x", "search"),
        # others
        ("pip install -e .", "install"),
        ("pip list", "packages"),
        ("curl -s https://example.org", "network"),
        ("curl -s http://localhost:8000/", "run"),
        ("gh pr view 3", "network"),
        ("gh --help", "environment"),
        ("docker build .", "container"),
        ("rm -rf build", "files"),
        ("find . -name x -delete", "files"),
        ("find . -name '*.py' -exec sed -i s/a/b/ {} +", "edit"),
        ("rg --files", "list"),
        ("ls | grep x", "list"),
        ("sleep 30", "poll"),
        ("sleep 5; curl -s localhost:80", "run"),
        ("cd /app", "glue"),
        ("python repro.py", "run"),
        ("python3.12 -m pytest", "test"),
        ("entire status", "unknown"),
        ("cd x && entire status; echo $?", "unknown"),
        ("$RUNNER x", "unknown"),
        # SWE-agent's window
        ("edit 1:5\nnew\nend_of_edit", "edit"),
        ("create a.py", "write"),
        ("open a.py 10", "read_part"),
        ("str_replace_editor view /a.py --view_range 1 5", "read_part"),
    ],
)
def test_a_command_is_counted_as(command: str, expected: Work) -> None:
    assert kind(command) == expected


def test_cloning_goes_to_the_network_as_well() -> None:
    assert "network" in kinds("git clone https://example.org/x")


def test_a_formatter_that_writes_is_no_mere_check() -> None:
    assert "format" in kinds("ruff check --fix .")
    assert "format" in kinds("black .")
    assert "format" not in kinds("black --check .")


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat a.py", [("read", ("a.py",), None)]),
        ("cat a.py b.py", [("read", ("a.py", "b.py"), None)]),
        ("nl -ba a.py | sed -n '10,20p'", [("read_part", ("a.py",), (10, 20))]),
        ("sed -n '10,+5p' a.py", [("read_part", ("a.py",), (10, 15))]),
        ("sed -n '10,$p' a.py", [("read_part", ("a.py",), (10, END))]),
        ("sed -n '1,5p;9p' a.py", [("read_part", ("a.py",), None)]),
        ("head -n 30 a.py", [("read_part", ("a.py",), (1, 30))]),
        ("head a.py", [("read_part", ("a.py",), (1, 10))]),
        ("tail -n +50 a.py | head -20", [("read_part", ("a.py",), (50, 69))]),
        ("tail -5 a.py", [("read_part", ("a.py",), None)]),
        ("cat a.py | head -5", [("read_part", ("a.py",), (1, 5))]),
        ("awk 'NR>=3 && NR<=9' a.py", [("read_part", ("a.py",), (3, 9))]),
        ("jq .a x.json", [("read_part", ("x.json",), None)]),
        ("cat a.py | grep x", []),
        ("head -50 a.py | grep x", []),
        ("cat a.py > b.py", []),
        ("ls | head -3", []),
    ],
)
def test_which_lines_are_read(command: str, expected: list[tuple[Work, tuple[str, ...], tuple[int, int] | None]]) -> None:
    assert reads(command) == expected


def test_a_test_is_the_same_whatever_its_wrappers_and_filters() -> None:
    plain = [facet.words for facet in command_facets("pytest -q tests") if facet.kind == "test"]
    wrapped = [facet.words for facet in command_facets("CI=1 timeout 60 pytest -q tests 2>&1 | tail -3") if facet.words]
    assert wrapped == plain == [("pytest", "-q", "tests")]


def test_files_of_a_windows_path_keep_their_backslashes() -> None:
    (facet,) = command_facets(r"cat C:\Users\me\a.txt")
    assert facet.paths == (r"C:\Users\me\a.txt",)


def test_an_unknown_program_is_named_and_not_guessed() -> None:
    assert [facet for facet in command_facets("frobnicate --all") if facet.kind == "unknown"] == [
        Facet("unknown", words=("frobnicate",))
    ]


def test_a_file_directly_in_tmp_is_temporary_and_one_deeper_may_be_the_work() -> None:
    assert is_temporary("/tmp/x.py")
    assert not is_temporary("/tmp/work/repo/x.py")
    assert kind("ls src > /tmp/files.txt") == "list"
    assert kind("ls src > files.txt") == "write"


def test_shells_inside_of_shells_end() -> None:
    command = "pytest"
    for _ in range(8):
        command = f"bash -c {shlex.quote(command)}"
    assert kind(command) == "unknown"


def test_a_few_shells_are_looked_into() -> None:
    assert kind(f"bash -c {shlex.quote('sh -c pytest')}") == "test"


_PIECES = [
    "bash",
    "-c",
    "git",
    "diff",
    ">",
    "x.patch",
    "|",
    "sed",
    "-n",
    "-i",
    "1,3p",
    "'",
    '"',
    "find",
    "-exec",
    "{",
    ";",
    "tail",
]


@given(st.lists(st.sampled_from(_PIECES)))
@settings(max_examples=300)
def test_any_words_get_a_kind(words: list[str]) -> None:
    assert command_facets(" ".join(words))
