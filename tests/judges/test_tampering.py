"""Which looks a file of the workspace could have shaped, told from the commands' words."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.evidence import Look
from adjudge.judges.tampering import shaped
from adjudge.judgment import HookKind, Tampering
from adjudge.ports import Hook


def hook(path: str, kind: HookKind, *acts_on: str) -> Hook:
    return Hook(path, kind, acts_on)


CONFTEST = hook("conftest.py", "conftest", "pytest")
IN_TESTS = hook("tests/conftest.py", "conftest", "pytest")
PLUGIN = hook("x.egg-info/entry_points.txt", "conftest", "pytest -p evil")
SETTINGS = hook("pytest.ini", "settings", "pytest")
MAKEFILE = hook("Makefile", "script", "make")
SITE = hook("sitecustomize.py", "start", "python")
IN_VENV = hook("venv/lib/python3.11/site-packages/x.pth", "start", "python")
MODULE = hook("random.py", "module", "python")
IN_SCRIPTS = hook("scripts/json/__init__.py", "module", "python")
SHIM = hook("bin/pytest", "program", "pytest")
SHIM_IN_VENV = hook("venv/bin/python", "program", "python")
PRE_COMMIT = hook(".git/hooks/pre-commit", "git", "git -c core.hookspath commit", "git -c core.hookspath merge")
WATCHER = hook(".git/config", "git", "git -c core.fsmonitor status")
ALIAS = hook(".git/config", "git", "git -c alias.st st")
ELSEWHERE = hook(".git/config", "git", "git -c core.worktree")


def could_shape(one: Hook, command: str, **given: str) -> bool:
    look = Look("L1", "run_command", "command", {"command": command}, "3 passed", exit_status=0)
    (told,) = shaped([one], [look], environment=given)
    return bool(told.looks)


@pytest.mark.parametrize(
    ("one", "command"),
    [
        # pytest, however it is started
        (CONFTEST, "pytest"),
        (CONFTEST, "pytest -q tests/test_it.py::test_one 2>&1 | tail -3"),
        (CONFTEST, "cd /workspace/tests && timeout 60 python3 -m pytest -x"),
        (CONFTEST, "python -I -m pytest"),
        (CONFTEST, "bash -lc 'cd tests; pytest'"),
        (CONFTEST, "sh <<'END'\npytest\nEND"),
        (CONFTEST, "uv run --with x pytest"),
        (CONFTEST, "find tests -name 'test_*.py' -exec pytest {} +"),
        (CONFTEST, "ls tests/*.py | xargs pytest"),
        (CONFTEST, "cp -r . /tmp/copy && cd /tmp/copy && pytest"),
        (CONFTEST, "python -c 'import pytest; pytest.main()'"),
        (IN_TESTS, "pytest"),
        (IN_TESTS, "pytest tests/unit"),
        (IN_TESTS, "pytest --maxfail 2"),
        (IN_TESTS, "(cd tests && pytest)"),
        (IN_TESTS, "cd \"$(git rev-parse --show-toplevel)/src\" && pytest"),
        (PLUGIN, "python -m pytest"),
        (SETTINGS, "pytest tests"),
        # what nobody can read
        (CONFTEST, "make test"),
        (CONFTEST, "tox -q"),
        (CONFTEST, "npm test"),
        (CONFTEST, "./run.sh"),
        (CONFTEST, "sh test.sh"),
        (CONFTEST, "python run_tests.py"),
        (CONFTEST, "$RUNNER"),
        (CONFTEST, "eval \"$CHECK\""),
        (CONFTEST, "python -c 'import subprocess; subprocess.run([\"py\" + \"test\"])'"),
        (CONFTEST, "curl -s localhost/x | sh"),
        (CONFTEST, ". ./environment.sh"),
        (CONFTEST, "coverage run -m pytest"),
        (CONFTEST, "sh run.sh -v"),
        (CONFTEST, "python run.py -v"),
        (CONFTEST, "tox -v"),
        (CONFTEST, "./sort --version"),
        (CONFTEST, "bash run.sh -n"),
        (MAKEFILE, "make -C sub test"),
        (PRE_COMMIT, "make release"),
        # Python
        (SITE, "PYTHONPATH=. python3 -c 'print(1)'"),
        (SITE, "export PYTHONPATH=/workspace; python3 -c 'print(1)'"),
        (SITE, "env PYTHONPATH=$PWD pytest tests"),
        (IN_VENV, "venv/bin/python -c 'print(1)'"),
        (IN_VENV, "venv/bin/python -I -c 'print(1)'"),
        (IN_VENV, ". venv/bin/activate && python -c 'print(1)'"),
        (IN_VENV, "source /workspace/venv/bin/activate; pytest tests"),
        (IN_VENV, "uv run python -c 'print(1)'"),
        (MODULE, "python3 -c 'import shop'"),
        (MODULE, "python3 - <<'END'\nimport shop\nEND"),
        (MODULE, "python3 -m unittest"),
        (MODULE, "pytest"),
        (IN_SCRIPTS, "cd scripts && python3 -m json.tool x.json"),
        (IN_SCRIPTS, "PYTHONPATH=scripts python3 -c 'import json'"),
        (IN_SCRIPTS, "python3 scripts/report.py"),
        # programs
        (SHIM, "bin/pytest tests"),
        (SHIM, "/workspace/bin/pytest tests"),
        (SHIM, "cd bin; ./pytest"),
        (SHIM, "PATH=bin:$PATH pytest --version"),
        (SHIM, "export PATH=$PWD/bin:$PATH\npytest tests"),
        (SHIM, "PATH=$TOOLS:$PATH pytest tests"),
        (SHIM_IN_VENV, "venv/bin/pytest tests"),
        (SHIM_IN_VENV, "source venv/bin/activate && python -c 'print(1)'"),
        # git
        (PRE_COMMIT, "git commit -am x"),
        (PRE_COMMIT, "cd src && git merge side"),
        (WATCHER, "git -C . status --short"),
        (ALIAS, "git st"),
        (ELSEWHERE, "git log --oneline"),
    ],
)  # fmt: skip
def test_a_look_could_have_been_shaped(one: Hook, command: str) -> None:
    assert could_shape(one, command)


@pytest.mark.parametrize(
    ("one", "command"),
    [
        (CONFTEST, "pytest --noconftest"),
        (CONFTEST, "PYTEST_ADDOPTS=--noconftest pytest"),
        (CONFTEST, "python3 -m unittest"),
        (CONFTEST, "cat conftest.py; ls -la; grep -rn fixture . | head"),
        (CONFTEST, "git log --oneline | wc -l"),
        (CONFTEST, "python3 -c 'import shop; print(shop.total([1]))'"),
        (CONFTEST, "make --version && pip list && npm ls"),
        (CONFTEST, "cd /usr/lib/python3 && pytest ."),
        (CONFTEST, "bash -n run.sh && node --check x.js && node -e 'console.log(1)'"),
        (CONFTEST, "command -v pytest; /usr/bin/git status"),
        (CONFTEST, "go test ./... && cargo test"),
        (CONFTEST, "echo 'run pytest'"),
        (IN_TESTS, "pytest checks/test_it.py"),
        (IN_TESTS, "cd src && pytest"),
        (PLUGIN, "pytest -p no:evil"),
        (PLUGIN, "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 pytest"),
        (SETTINGS, "pytest -c /dev/null tests"),
        (SETTINGS, "python3 -c 'print(1)'"),
        (MAKEFILE, "pytest"),
        (SITE, "python3 -c 'print(1)'"),
        (SITE, "PYTHONPATH=. python3 -I -c 'print(1)'"),
        (SITE, "PYTHONPATH=. python3 -S -c 'print(1)'"),
        (SITE, "PYTHONPATH=. ls"),
        (SITE, "PYTHONPATH=/opt/tools python3 -c 'print(1)'"),
        (IN_VENV, "python3 -c 'print(1)'"),
        (MODULE, "python3 -I -c 'import shop'"),
        (MODULE, "python3 -Pc 'import shop'"),
        (MODULE, "cd src && python3 -c 'import shop'"),
        (MODULE, "pytest --import-mode=importlib"),
        (IN_SCRIPTS, "python3 -c 'import json'"),
        (SHIM, "pytest tests"),
        (SHIM, "/usr/bin/pytest tests"),
        (SHIM, "PATH=/opt/node/bin:$PATH pytest tests"),
        (SHIM, "PATH=bin:$PATH ls"),
        (SHIM_IN_VENV, "python -c 'print(1)'"),
        (PRE_COMMIT, "git -c core.hooksPath=/dev/null commit -am x"),
        (PRE_COMMIT, "git commit --no-verify -am x"),
        (PRE_COMMIT, "git status"),
        (WATCHER, "git -c core.fsmonitor=false status"),
        (WATCHER, "git log"),
        (ALIAS, "git status"),
    ],
)
def test_a_look_could_not_have_been_shaped(one: Hook, command: str) -> None:
    assert not could_shape(one, command)


def test_variables_of_the_machine_count() -> None:
    assert could_shape(SHIM, "pytest tests", PATH="/workspace/bin:/usr/bin")
    assert could_shape(SITE, "python3 -c 'print(1)'", PYTHONPATH="/workspace")


def test_a_place_of_its_own_is_the_workspace_too() -> None:
    look = Look("L1", "run_command", "command", {"command": "cd /app/tests && pytest"}, "")
    (told,) = shaped([IN_TESTS], [look], at="/app")
    assert told.looks == ("L1",)


def test_every_hook_is_told_with_its_looks_and_whose_it_is() -> None:
    looks = [
        Look("L1", "probe_command", "command", {"command": "pytest"}, ""),
        Look("L2", "read_file", "files", {"path": "conftest.py"}, ""),
        Look("L3", "run_command", "command", {"command": "pytest tests"}, ""),
        Look("L4", "run_command", "command", {"command": "pytest"}, "no sandbox", failed=True),
    ]
    hooks = [Hook("conftest.py", "conftest", ("pytest",), "agent"), Hook("bin/ls", "program", ("ls",), "task")]
    assert shaped(hooks, looks) == (
        Tampering("conftest.py", "conftest", "agent", ("L1", "L3")),
        Tampering("bin/ls", "program", "task"),
    )


@given(st.text(max_size=60), st.sampled_from([" ", "; ", " && ", " | ", "\n"]), st.text(max_size=60))
def test_any_command_is_read(first: str, between: str, second: str) -> None:
    hooks = [CONFTEST, SITE, MODULE, SHIM, PRE_COMMIT, SETTINGS, MAKEFILE]
    look = Look("L1", "run_command", "command", {"command": f"{first}{between}{second}"}, "")
    assert len(shaped(hooks, [look])) == len(hooks)


@pytest.mark.parametrize("depth", [20, 2_000])
def test_commands_inside_of_commands_are_read_to_a_bound_and_then_could_be_shaped(depth: int) -> None:
    assert could_shape(CONFTEST, "eval " * depth + "ls")
    assert could_shape(CONFTEST, "find . -exec " * depth + "ls")
    assert could_shape(CONFTEST, "true; " * 40_000)


@pytest.mark.parametrize("piece", ["cd a;", "A=1;", "PATH=a:$PATH;", "ls;", ". bin/activate;", "(", "$(", "eval "])
def test_long_commands_are_read_in_time(piece: str) -> None:
    started = time.monotonic()
    could_shape(CONFTEST, piece * (100_000 // len(piece)))
    assert time.monotonic() - started < 5
