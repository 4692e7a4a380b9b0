"""Which files of a workspace can make later commands lie."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from adjudge.machines.hooks import MOST, hooks_in, named
from adjudge.wiring import DEMO


def found(folder: Path) -> list[tuple[str, str]]:
    return [(hook.path, hook.kind) for hook in hooks_in(folder).hooks]


def acts_on(folder: Path, path: str) -> tuple[str, ...]:
    return next(hook.acts_on for hook in hooks_in(folder).hooks if hook.path == path)


def make(folder: Path, name: str, text: str = "", executable: bool = False) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755 if executable else 0o644)


# --- Python


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("conftest.py", "conftest"),
        ("tests/deep/conftest.py", "conftest"),
        ("sitecustomize.py", "start"),
        ("lib/usercustomize.py", "start"),
        ("sitecustomize/__init__.py", "start"),
        ("venv/lib/python3.11/site-packages/x.pth", "start"),
        ("json.py", "module"),
        ("random.pyc", "module"),
        ("scripts/subprocess.py", "module"),
        ("decimal.cpython-311-x86_64-linux-gnu.so", "module"),
        ("unittest/__init__.py", "module"),
        ("pytest.py", "module"),
        ("_pytest/__init__.py", "module"),
    ],
)
def test_what_python_and_pytest_load_by_themselves_is_found(tmp_path: Path, name: str, kind: str) -> None:
    make(tmp_path, name)
    assert found(tmp_path) == [(name, kind)]


def test_a_module_inside_of_a_package_shadows_nothing(tmp_path: Path) -> None:
    make(tmp_path, "shop/__init__.py")
    make(tmp_path, "shop/calendar.py")
    make(tmp_path, "shop/json/__init__.py")
    make(tmp_path, "venv/lib/python3.11/site-packages/typing.py")
    make(tmp_path, "tests/test.py")
    make(tmp_path, "os.py")  # loaded before any folder of the workspace is looked at
    assert found(tmp_path) == []


def test_the_root_is_looked_at_as_no_package(tmp_path: Path) -> None:
    make(tmp_path, "__init__.py")
    make(tmp_path, "random.py")
    assert found(tmp_path) == [("random.py", "module")]


def test_a_plugin_of_what_seems_to_be_installed_is_found_with_its_name(tmp_path: Path) -> None:
    make(tmp_path, "nice.egg-info/entry_points.txt", "[console_scripts]\nx = y:z\n\n[pytest11]\nnice = nice_plugin\n")
    make(tmp_path, "other.egg-info/entry_points.txt", "[console_scripts]\nx = y:z\n")
    assert found(tmp_path) == [("nice.egg-info/entry_points.txt", "conftest")]
    assert acts_on(tmp_path, "nice.egg-info/entry_points.txt") == ("pytest -p nice",)


@pytest.mark.parametrize(
    ("name", "text", "counts"),
    [
        ("pytest.ini", "[pytest]\naddopts = -p evil\n", True),
        ("pytest.ini", "[pytest]\nmarkers = slow\n", False),
        ("pyproject.toml", '[tool.pytest.ini_options]\n\naddopts = "-p evil"\n', True),
        ("pyproject.toml", '[tool.other]\naddopts = "-p evil"\n', False),
        ("setup.cfg", "[tool:pytest]\npython_files = check_*.py\n", True),
        ("setup.cfg", "[metadata]\nname = x\n", False),
        ("tox.ini", "[pytest]\naddopts = --deselect tests/test_it.py\n", True),
        ("jest.config.js", "", True),
        ("vitest.setup.ts", "", True),
        (".mocharc.yml", "", True),
        (".npmrc", "script-shell = ./sh\n", True),
        (".npmrc", "registry = https://example.org\n", False),
        ("package.json", '{"jest": {"setupFiles": ["./x.js"]}}', True),
    ],
)
def test_settings_of_test_runners_are_found_if_they_change_a_run(
    tmp_path: Path, name: str, text: str, counts: bool
) -> None:
    make(tmp_path, name, text)
    assert found(tmp_path) == ([(name, "settings")] if counts else [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Makefile", "test:\n\ttrue\n"),
        ("justfile", ""),
        ("noxfile.py", ""),
        ("package.json", '{"scripts": {"test": "true"}}'),
        ("tox.ini", "[testenv]\ncommands = true\n"),
        ("pyproject.toml", "[tool.poe.tasks]\ntest = 'true'\n"),
    ],
)
def test_what_decides_what_a_task_does_is_a_script(tmp_path: Path, name: str, text: str) -> None:
    make(tmp_path, name, text)
    assert found(tmp_path) == [(name, "script")]
    assert named(hooks_in(tmp_path)) == "", "ordinary, and told to the model by no name"


def test_the_files_of_installed_javascript_are_none(tmp_path: Path) -> None:
    make(tmp_path, "node_modules/left-pad/package.json", '{"scripts": {"test": "true"}}')
    make(tmp_path, "node_modules/left-pad/jest.config.js")
    assert found(tmp_path) == []


# --- programs


@pytest.mark.parametrize("name", ["pytest", "bin/git", ".local/bin/ls", "node_modules/.bin/node", "venv/bin/python3.12"])
def test_programs_that_pose_as_a_tool_are_found(tmp_path: Path, name: str) -> None:
    make(tmp_path, name, "#!/bin/sh\necho all tests passed\n", executable=True)
    assert found(tmp_path) == [(name, "program")]


@pytest.mark.parametrize(
    ("target", "counts"),
    [("../run.sh", True), ("/workspace/run.sh", True), ("/usr/bin/python3", False), ("../gone", False)],
)
def test_a_link_counts_if_it_may_lead_to_a_program_of_the_workspace(tmp_path: Path, target: str, counts: bool) -> None:
    make(tmp_path, "run.sh", executable=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").symlink_to(target)
    assert found(tmp_path) == ([("bin/python3", "program")] if counts else [])


def test_a_linked_conftest_is_found(tmp_path: Path) -> None:
    make(tmp_path, ".hidden/x.py")
    (tmp_path / "conftest.py").symlink_to(".hidden/x.py")
    assert found(tmp_path) == [("conftest.py", "conftest")]


@pytest.mark.parametrize("target", [".hidden", "../work/.hidden", "/workspace/.hidden"])
def test_a_hook_in_a_linked_folder_is_found_by_both_its_paths(tmp_path: Path, target: str) -> None:
    make(tmp_path / "work", ".hidden/unit/conftest.py")
    (tmp_path / "work/tests").symlink_to(target)
    (tmp_path / "work/away").symlink_to("/usr/lib")
    expected = (
        [".hidden/unit/conftest.py"] if target.startswith("..") else [".hidden/unit/conftest.py", "tests/unit/conftest.py"]
    )
    assert [path for path, _ in found(tmp_path / "work")] == expected, "no link leaves the workspace and comes back"


def test_links_that_lead_to_each_other_are_gone_through_once(tmp_path: Path) -> None:
    make(tmp_path, "conftest.py")
    (tmp_path / "a").symlink_to(".")
    (tmp_path / "b").symlink_to("a")
    assert [path for path, _ in found(tmp_path)] == ["a/conftest.py", "b/conftest.py", "conftest.py"]


def test_ordinary_files_are_none(tmp_path: Path) -> None:
    make(tmp_path, "src/cat.py")
    make(tmp_path, "docs/make")
    make(tmp_path, "run.sh", executable=True)
    make(tmp_path, "update", executable=True)
    make(tmp_path, ".git/hooks/pre-commit.sample", executable=True)
    make(tmp_path, "config", "[core]\nhooksPath = x\n")
    make(tmp_path, ".gitattributes", "* text=auto\n*.sh eol=lf\n")
    (tmp_path / "link.pth").symlink_to("/etc/passwd")
    assert found(tmp_path) == []


# --- git


def test_a_fresh_git_repository_has_none_and_a_hook_is_one(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert found(tmp_path) == []
    make(tmp_path, ".git/hooks/pre-commit", "#!/bin/sh\n", executable=True)
    make(tmp_path, ".git/hooks/post-commit", "#!/bin/sh\n")
    assert found(tmp_path) == [(".git/hooks/pre-commit", "git")], "git runs only executable ones"
    assert "git -c core.hookspath commit" in acts_on(tmp_path, ".git/hooks/pre-commit")


@pytest.mark.parametrize(
    ("setting", "value", "acts"),
    [
        ("core.fsmonitor", "./evil", "git -c core.fsmonitor status"),
        ("core.hooksPath", "./evil", "git -c core.hookspath commit"),
        ("core.worktree", "/tmp/other", "git -c core.worktree"),
        ("alias.st", "!evil", "git -c alias.st st"),
        ("diff.external", "./evil", "git -c diff.external diff"),
        ("diff.py.textconv", "./evil", "git -c diff.py.textconv diff"),
        ("filter.x.clean", "./evil", "git -c filter.x.clean status"),
        ("status.showUntrackedFiles", "no", "git -c status.showuntrackedfiles status"),
        ("include.path", "../evil", "git -c include.path"),
    ],
)
def test_a_git_setting_that_bends_a_command_is_found(tmp_path: Path, setting: str, value: str, acts: str) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "config", setting, value], check=True)
    assert found(tmp_path) == [(".git/config", "git")]
    assert acts in acts_on(tmp_path, ".git/config")


def test_ordinary_git_settings_are_none(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for setting, value in {"user.name": "me", "core.fsmonitor": "false", "remote.origin.url": "x"}.items():
        subprocess.run(["git", "-C", tmp_path, "config", setting, value], check=True)
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".gitattributes", "*.py -diff\n"),
        ("src/.gitattributes", "*.py diff=x\n"),
        (".git/info/attributes", "*.bin binary\n"),
        (".git/info/exclude", "# mine\nevil.py\n"),
        (".git", "gitdir: elsewhere\n"),
        (".husky/pre-commit", "#!/bin/sh\n"),
        ("bare/config", "[core]\nrepositoryformatversion = 0\nhooksPath = x\n"),
    ],
)
def test_what_hides_from_git_or_moves_it_is_found(tmp_path: Path, name: str, text: str) -> None:
    make(tmp_path, name, text, executable=True)
    assert found(tmp_path) == [(name, "git")]


# --- bounds


def test_of_many_the_first_twenty_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    for number in range(25):
        make(tmp_path, f"d{number:02}/conftest.py")
    names = named(hooks_in(tmp_path)).split(", ")
    assert len(names) == 21
    assert names[0] == "d00/conftest.py"
    assert names[-1] == "and 5 more"


def test_many_deep_ones_do_not_push_out_one_at_the_root(tmp_path: Path) -> None:
    for number in range(MOST + 5):
        make(tmp_path, f"a{number:03}/conftest.py")
    make(tmp_path, "zz/conftest.py")
    make(tmp_path, "conftest.py")
    told = hooks_in(tmp_path)
    assert len(told.hooks) == MOST
    assert (told.left_out, told.complete) == (7, False)
    assert "conftest.py" in {hook.path for hook in told.hooks}


def test_many_settings_of_git_do_not_push_out_one(tmp_path: Path) -> None:
    aliases = "".join(f"\ta{number} = log\n" for number in range(300))
    make(tmp_path, ".git/config", f"[alias]\n{aliases}[core]\n\thooksPath = x\n")
    assert acts_on(tmp_path, ".git/config") == ("git",), "all of git"


def test_settings_that_are_made_to_be_slow_to_read_are_not(tmp_path: Path) -> None:
    make(tmp_path, "pyproject.toml", "[tool.pytest\n" * 5_000)
    make(tmp_path, "setup.cfg", "\n" * 65_000 + "addopts")
    make(tmp_path, ".git/config", "[" * 65_000)
    make(tmp_path, ".gitattributes", " diff" * 13_000 + "!" * 500)
    make(tmp_path, ".npmrc", " " * 65_000)
    started = time.monotonic()
    found(tmp_path)
    assert time.monotonic() - started < 2


def test_the_workspace_of_the_demonstration_has_none() -> None:
    """Its recorded exchange says `hooks: none`."""
    assert named(hooks_in(DEMO / "workspace")) == ""
