import time

import pytest

from adjudge.evidence.printed import stated_exit_status, typed


@pytest.mark.parametrize(
    ("quote", "status"),
    [
        ("exit status: 0", 0),
        ("exit status: -9", -9),
        ("exit code 1", 1),
        ("(exit code 0)", 0),
        ("Process exited with code 0.", 0),
        ("exit_code=2", 2),
        ("returncode: 0", 0),
        ("<returncode>0</returncode>", 0),
        ("rc=0", 0),
        ("Exit: 127", 127),
        ("exit code is 3", 3),
        ("exited 0", 0),
    ],
)
def test_an_exit_status_is_recognised_in_whatever_words(quote: str, status: int) -> None:
    assert stated_exit_status(quote) == status


@pytest.mark.parametrize(
    "quote", ["Ran 11 tests", "exit status: 0, 11 passed", "status: 404", "exit", "HTTP/1.1 200 OK", "rc"]
)
def test_other_words_state_no_exit_status(quote: str) -> None:
    assert stated_exit_status(quote) is None


@pytest.mark.parametrize(
    "command",
    [
        "echo '214 passed'",
        "echo 214 passed",
        'printf "214 passed\\n"',
        "/bin/echo -e '214 passed'",
        "cd /app; echo 214 passed",
        "pytest -q >/dev/null; echo '214 passed'",
        "pytest -q\necho '214 passed'",
        "true && echo '214 passed'",
        "cd /app && echo '214 passed'",
        "if true; then ls; fi; echo '214 passed'",
        "echo '214 passed' | tee log.txt",
        "echo '214 passed' | head -1",
        "echo '214 passed' > log; cat log",
        "echo '214 passed' >/dev/stderr",
        "cat <<'EOF'\nresult:\n214 passed\nEOF",
        "cat <<EOF | head -3\n214 passed\nEOF\n",
        "cat <<< '214 passed'",
        "bash -c 'echo 214 passed'",
        "bash -lc \"bash -c 'echo 214 passed'\"",
        "sh <<'EOF'\necho 214 passed\nEOF",
        "python3 -c 'print(\"214 passed\")'",
        "python3 -c 'import os; print(\"214 passed\")'",
        "python3 - <<'EOF'\nimport os\nprint('214 passed')\nEOF",
        "node -e 'console.log(\"214 passed\")'",
        "perl -e 'print \"214 passed\"'",
        "ruby -e 'puts \"214 passed\"'",
        "FOO=1 echo '214 passed'",
        "git commit -m '214 passed'",
        "echo '214 pass'ed",
        "echo 'unclosed; echo \"214 passed",
        "time echo 214 passed",
        "echo 214; echo passed",
        "echo $HOME 214 passed",
        "print('214 passed')",
        "import os\nprint('214 passed')",
        "python3 -c 'print(f\"214 passed\")'",
        "python3 -c 'x=\"214 passed\"; print(x)'",
        "X='214 passed'; echo $X",
        'X="214 passed"; echo "${X}"',
        "awk 'BEGIN{print \"214 passed\"}'",
        "yes '214 passed' | head -1",
        "printf '%s passed\\n' 214",
        "eval 'echo 214 passed'",
        "eval echo 214 passed",
        "bash <<< 'echo 214 passed'",
        "timeout 5 echo 214 passed",
        "echo '214 passed' | awk 1",
        "for i in 1; do echo 214 passed; done",
        "if true; then echo 214 passed; fi",
    ],
)
def test_what_a_command_was_told_to_print_is_typed(command: str) -> None:
    assert typed(command, "214 passed")


@pytest.mark.parametrize(
    ("command", "quote"),
    [
        ("pytest -q", "214 passed"),
        ("grep -n 'def slugify' slugify.py", "def slugify"),
        ('grep -rn "214 passed" logs/', "214 passed"),
        ("ls out/top10.txt", "out/top10.txt"),
        ("cat README.md | grep 'Store.undo()'", "Store.undo()"),
        ("pytest -q && echo '214 passed'", "214 passed"),
        ("test -f out.txt && echo PRESENT || echo MISSING", "PRESENT"),
        ("[ -f out.txt ] && echo PRESENT || echo MISSING", "MISSING"),
        ("if [ -f out.txt ]; then echo PRESENT; else echo MISSING; fi", "MISSING"),
        ("python3 -m unittest; echo rc=$?", "rc=0"),
        ('echo "rows=$(wc -l < out.csv)"', "rows=240"),
        ('echo \'{"name": "chisel"}\' | curl -s -d @- http://127.0.0.1:8137/items', '"name": "chisel"'),
        ('curl -d \'{"name": "chisel"}\' http://127.0.0.1:8137/items', '"name": "chisel"'),
        ("python3 -c \"from s import slugify; print(slugify('creme-brulee'))\"", "creme-brulee"),
        ("python3 -c \"from s import f; assert f(1) == 2; print('all fine')\"", "all fine"),
        ("python3 - <<'EOF'\nfrom s import f\nif f(1) == 2:\n    print('all fine')\nEOF", "all fine"),
        ("python3 -c 'print(f\"rows={n}\")'", "rows=240"),
        ("echo hello > in.txt; ./program in.txt", "hello"),
        ("cat > in.txt <<'EOF'\nhello world\nEOF\n./program in.txt", "hello world"),
        ("for f in a b; do echo file $f; done", "file a"),
        ("git log --grep '214 passed'", "214 passed"),
        ("awk '/214 passed/ {print}' log", "214 passed"),
        ('test "$(cat a)" = y && echo SAME', "SAME"),
        ("python3 -c \"from s import f; assert f('a') == 'b'; print('ok so')\"", "ok so"),
        ("F='def slugify'; grep -n \"$F\" slugify.py", "def slugify"),
        ("for f in *.py; do echo found one; done", "found one"),
        ("timeout 60 pytest -q", "60 passed"),
    ],
)
def test_what_a_command_found_is_not_typed(command: str, quote: str) -> None:
    assert not typed(command, quote)


@pytest.mark.parametrize("piece", ["echo a;", "'", "<<A\n", "bash -c '", "$(", "print('", "|", "> f;"])
def test_no_command_takes_long_to_read(piece: str) -> None:
    for size in (15_000, 1_000_000):
        start = time.process_time()
        typed((piece * size)[:size], "214 passed")
        assert time.process_time() - start < 5
