"""An agent's program is found as people install it, and no more of the host is shown than it needs."""

from __future__ import annotations

import os
import shutil
import sys
import venv
from pathlib import Path

import pytest

from adjudge.agents import installed
from adjudge.agents.connections import Connection
from adjudge.agents.diagnosis import diagnose_agents
from adjudge.agents.installed import Installation, find_installation
from adjudge.agents.surroundings import is_system, why_not
from adjudge.errors import InputError

AGENT = Connection("my", "my-agent", about="npm install --global my-agent")


class Host:
    """A home with what people keep there, and programs in it or beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        for secret in (".ssh/id_ed25519", ".aws/credentials", ".local/share/opencode/auth.json", ".config/gh/hosts.yml"):
            self.file(f"home/{secret}", "secret", 0o600)

    def file(self, name: str, text: str, mode: int = 0o755) -> Path:
        """A file with this text."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def link(self, name: str, target: str | Path) -> Path:
        """A symbolic link."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)
        return path

    def find(self, *folders: str, connection: Connection = AGENT) -> Installation:
        """The installation with these folders in PATH."""
        search = os.pathsep.join([*(str(self.folder / folder) for folder in folders), "/usr/bin", "/bin"])
        return find_installation(connection, {"PATH": search, "HOME": str(self.home), "MY_API_KEY": "sk-secret"})

    def node(self, name: str) -> Path:
        """A stand-in for node: it passes over options and runs its script as a shell's."""
        self.file(f"{Path(name).parent.parent}/lib/node_modules/npm/package.json", "{}", 0o644)
        return self.file(name, '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec /bin/sh "$@"\n')


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path.resolve())


SCRIPT = "#!/usr/bin/env -S node --no-warnings\necho my-agent 1.2.3\n"


def test_a_package_of_a_project_needs_the_node_modules_around_it(host: Host) -> None:
    host.node("node/bin/node")
    host.file("home/project/.env", "TOKEN=secret")
    script = host.file("home/project/node_modules/@me/my-agent/bin/run.js", SCRIPT)
    host.link("home/project/node_modules/.bin/my-agent", "../@me/my-agent/bin/run.js")
    found = host.find("home/project/node_modules/.bin", "node/bin")
    assert found == Installation(
        program=str(script),
        version="1.2.3",
        expose=(f"{host.folder}/node", f"{host.home}/project/node_modules"),
        path=(f"{host.folder}/node/bin",),
    )


def test_a_global_package_below_a_version_manager_needs_its_node_and_no_other(host: Host) -> None:
    host.node("home/.nvm/versions/node/v22.1.0/bin/node")
    host.node("home/.nvm/versions/node/v20.0.0/bin/node")
    prefix = "home/.nvm/versions/node/v22.1.0"
    host.file(f"{prefix}/lib/node_modules/my-agent/run.js", SCRIPT)
    host.link(f"{prefix}/bin/my-agent", "../lib/node_modules/my-agent/run.js")
    found = host.find(f"{prefix}/bin")
    assert (found.version, found.expose) == ("1.2.3", (str(host.folder / prefix),))
    assert found.path == (str(host.folder / prefix / "bin"),)


def test_a_global_package_of_another_prefix_is_shown_alone(host: Host) -> None:
    host.node("node/bin/node")
    host.file("home/.npm-global/lib/node_modules/@me/my-agent/run.js", SCRIPT)
    host.file("home/.npm-global/lib/node_modules/other/index.js", "")
    host.link("home/.npm-global/bin/my-agent", "../lib/node_modules/@me/my-agent/run.js")
    found = host.find("home/.npm-global/bin", "node/bin")
    assert found.expose == (f"{host.folder}/node", f"{host.home}/.npm-global/lib/node_modules/@me/my-agent")


def test_an_interpreter_among_other_programs_is_shown_alone(host: Host) -> None:
    host.node("home/.local/bin/node")
    host.file("home/.local/lib/node_modules/my-agent/run.js", SCRIPT)
    host.link("home/.local/bin/my-agent", "../lib/node_modules/my-agent/run.js")
    found = host.find("home/.local/bin")
    assert found.expose == (f"{host.home}/.local/bin/node", f"{host.home}/.local/lib/node_modules/my-agent")


def test_an_interpreter_without_its_library_beside_it_is_shown_alone(host: Host) -> None:
    node = host.file("srv/bin/node", '#!/bin/sh\nshift\nexec /bin/sh "$@"\n')
    script = host.file("srv/bin/my-agent", SCRIPT)
    found = host.find("srv/bin")
    assert (found.version, found.expose) == ("1.2.3", (str(node), str(script)))


def test_a_program_that_is_one_file_is_shown_alone(host: Host) -> None:
    binary = host.folder / "home/.local/share/my/versions/2.0.1"
    binary.parent.mkdir(parents=True)
    shutil.copy("/bin/echo", binary)
    host.link("home/.local/bin/my-agent", binary)
    found = host.find("home/.local/bin", connection=Connection("my", "my-agent", version=("my 2.0.1",)))
    assert found == Installation(str(binary), "2.0.1", (str(binary),))


def test_a_program_of_the_system_needs_nothing(host: Host) -> None:
    found = host.find(connection=Connection("git", "git"))
    assert found.program.startswith("/usr/")
    assert (found.expose, found.path) == ((), ())
    assert found.version
    assert found.version.startswith("2.")


# --- Python


def environment_at(host: Host, name: str, base: str) -> Path:
    """A virtual environment whose Python is elsewhere, with a program in it."""
    folder = host.folder / name
    host.link(f"{name}/bin/python", f"{base}/bin/python3")
    host.file(f"{name}/pyvenv.cfg", f"home = {base}/bin\nversion_info = 3.12.1\n", 0o644)
    host.file(f"{name}/lib/python3.12/site-packages/my.py", "", 0o644)
    host.link(f"{name}/lib64", "lib")
    host.file(f"{name}/bin/my-agent", f"#!{folder}/bin/python\necho my-agent, version 3.1.\n")
    return folder


def test_a_virtual_environment_needs_its_parts_and_the_python_below(host: Host) -> None:
    real = host.node("home/.local/share/uv/python/cpython-3.12.1/bin/python3").parent.parent
    base = host.link("home/.local/share/uv/python/cpython-3.12", "cpython-3.12.1")
    folder = environment_at(host, "home/.local/share/uv/tools/my", str(base))
    host.file("home/.local/share/uv/tools/my/uv-receipt.toml", "")
    host.link("home/.local/bin/my-agent", folder / "bin/my-agent")
    found = host.find("home/.local/bin")
    parts = tuple(f"{folder}/{part}" for part in ("bin", "lib", "lib64", "pyvenv.cfg"))
    assert found == Installation(f"{folder}/bin/my-agent", "3.1", (str(base), str(real), *parts))


def test_a_project_with_an_environment_in_it_stays_hidden(host: Host) -> None:
    base = host.node("opt/python/bin/python3").parent.parent
    folder = environment_at(host, "home/project", str(base))
    host.file("home/project/.env", "TOKEN=secret")
    assert str(folder) not in host.find("home/project/bin").expose


def test_a_real_environment_runs_with_nothing_else(host: Host) -> None:
    venv.create(host.folder / "tool", symlinks=True)
    script = "import sys\nprint('my-agent', '.'.join(map(str, sys.version_info[:2])))\n"
    host.file("tool/bin/my-agent", f"#!{host.folder}/tool/bin/python\n{script}")
    found = host.find("tool/bin")
    assert found.version == f"{sys.version_info.major}.{sys.version_info.minor}"
    base = os.path.realpath(sys.base_prefix)
    assert is_system(Path(base, "bin")) or base in map(os.path.realpath, found.expose)


# --- what is never shown


@pytest.mark.parametrize(
    "place", ["home", "home/.ssh", "home/.aws/cli", "home/.local", "home/.local/share", "home/.config", "."]
)
def test_no_folder_that_holds_credentials_is_shown(host: Host, place: str) -> None:
    assert why_not((host.folder / place).resolve(), host.home)


def test_a_folder_is_refused_for_what_lies_in_it(host: Host) -> None:
    host.file("tools/.npmrc", "//registry/:_authToken=x")
    assert why_not(host.folder / "tools", host.home) == "it holds .npmrc"


def test_a_python_installed_into_the_home_itself_is_refused_with_advice(host: Host) -> None:
    host.node("home/bin/python3")
    environment_at(host, "home/tool", str(host.home))
    with pytest.raises(InputError, match="and the home folder lies within it; install it: npm install"):
        host.find("home/tool/bin")


# --- finding it


def test_what_is_not_installed_says_how_it_is(host: Host) -> None:
    with pytest.raises(
        InputError, match="agent my: there is no 'my-agent' in PATH; install it: npm install --global my-agent"
    ):
        host.find()


def test_a_version_managers_stand_in_is_passed_over(host: Host) -> None:
    host.file("home/.pyenv/shims/my-agent", "#!/bin/sh\nexec pyenv exec my-agent\n")
    with pytest.raises(InputError, match="stand-in"):
        host.find("home/.pyenv/shims")
    real = host.file("opt/my-agent", "#!/bin/sh\necho 7.0\n")
    assert host.find("home/.pyenv/shims", "opt") == Installation(str(real), "7.0", (str(real),))


def test_a_command_of_the_workspace_is_looked_for_there(host: Host) -> None:
    assert host.find(connection=Connection("command", "./agent.sh", version=())) == Installation("./agent.sh")


def test_an_absolute_path_must_be_a_program(host: Host) -> None:
    path = host.file("agent.txt", "no program", 0o644)
    with pytest.raises(InputError, match=r"agent\.txt must be a program"):
        host.find(connection=Connection("mine", str(path)))


# --- its version


def test_a_program_tells_its_version_without_keys_and_with_an_empty_home(host: Host) -> None:
    host.file("opt/my-agent", f'#!/bin/sh\nenv > {host.folder}/seen; ls -A "$HOME" >> {host.folder}/seen; echo 1.0\n')
    host.find("opt")
    seen = (host.folder / "seen").read_text()
    assert "sk-secret" not in seen
    assert str(host.home) not in seen


@pytest.mark.parametrize("script", ["echo no number", "exit 3", "head -c 1000000 /dev/zero"])
def test_a_program_that_tells_no_version_has_none(host: Host, script: str) -> None:
    host.file("opt/my-agent", f"#!/bin/sh\n{script}\n")
    assert host.find("opt").version is None


def test_a_program_that_hangs_is_ended_with_all_that_it_started(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "LONGEST", 0.5)
    host.file("opt/my-agent", "#!/bin/sh\nsleep 60 &\nsleep 60\n")
    assert host.find("opt").version is None


# --- doctor


async def test_a_person_without_an_agent_does_not_fail_doctor(host: Host) -> None:
    host.file("opt/codex", "#!/bin/sh\necho codex-cli 0.171.0\n")
    checks = await diagnose_agents({"PATH": f"{host.folder}/opt:/usr/bin:/bin", "HOME": str(host.home)})
    assert all(check.optional for check in checks)
    assert [check.name for check in checks if check.works] == ["agent codex"]
    told = {check.name: check.why for check in checks}
    assert told["agent codex"] == f"{host.folder}/opt/codex, version 0.171.0"
    assert told["agent mini-swe-agent"] == "not installed; uv tool install mini-swe-agent"
