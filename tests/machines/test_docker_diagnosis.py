"""What `adjudge doctor` says of container engines: a real one, none, and the versions that advisories name."""

from __future__ import annotations

import pytest
from tests.machines.docker_engine import IN_ONE_WORKER

from adjudge.machines.docker_diagnosis import check_runtime, check_settings, diagnose_docker
from adjudge.machines.docker_engine import find_engine
from adjudge.machines.docker_promises import NO_QUOTA, NOT_APART, parts_of, runtime_of


# The ranges stand in the advisories GHSA-9493-h29p-rfm2, GHSA-qw9x-cqr3-wc7r and GHSA-cgrx-mc8f-2prm.
@pytest.mark.parametrize(
    ("version", "works"),
    [
        *[(version, False) for version in ("1.0.0-rc92", "1.1.5", "1.1.12", "1.2.7", "1.3.0", "1.3.2", "1.4.0-rc.2")],
        *[(version, True) for version in ("1.2.8", "1.2.9", "1.3.3", "1.4.0-rc.3", "1.4.0", "1.5.0", "2.0.0", "unknown")],
    ],
)
def test_a_runtime_with_known_ways_out_is_named(version: str, works: bool) -> None:
    check = check_runtime(("runc", version))
    assert check.works is works
    assert ("CVE-2025-31133" in check.why, "1.2.8" in check.help) == (not works, not works)


def test_another_runtime_is_only_told() -> None:
    assert check_runtime(("crun", "1.0")).works
    assert check_runtime(None).works


DOCKER = {
    "Version": "20.10.24+dfsg1",
    "Components": [
        {"Name": "Engine", "Version": "20.10.24+dfsg1"},
        {"Name": "containerd", "Version": "1.6.20~ds1"},
        {"Name": "runc", "Version": "1.1.5+ds1"},
    ],
}
PODMAN = {
    "Version": "4.3.1",
    "Components": [
        {"Name": "Podman Engine", "Version": "4.3.1"},
        {"Name": "Conmon", "Version": "conmon version 2.1.6, commit: unknown"},
        {"Name": "OCI Runtime (crun)", "Version": "crun version 1.8.1\ncommit: f8a096be"},
    ],
}


def test_the_engine_and_its_runtime_are_told_apart() -> None:
    docker, podman = parts_of(DOCKER), parts_of(PODMAN)
    assert (next(iter(docker.items())), runtime_of(docker)) == (("Docker", "20.10.24+dfsg1"), ("runc", "1.1.5"))
    assert (next(iter(podman.items())), runtime_of(podman)) == (("Podman", "4.3.1"), ("crun", "1.8.1"))
    assert runtime_of(parts_of({})) is None


def test_settings_say_who_root_is_and_whether_calls_are_filtered() -> None:
    safe = {"SecurityOptions": ["name=seccomp,profile=default", "name=rootless", "name=apparmor"], "Driver": "overlay2"}
    users, calls, disk = check_settings(safe)
    assert (users.why, calls.why, calls.works) == (
        "root inside is, outside, nobody special",
        "filtered by seccomp, apparmor",
        True,
    )
    assert (disk.why, disk.works) == (f"overlay2: {NO_QUOTA}", True)
    users, calls, _ = check_settings({"SecurityOptions": ["name=seccomp,profile=unconfined"]})
    assert "root as well" in users.why
    assert not calls.works


async def test_a_computer_without_an_engine_lacks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOCKER_HOST", raising=False)
    if find_engine() is not None:
        pytest.skip("this computer has an engine")
    (check,) = await diagnose_docker()
    assert check.works
    assert "no engine here" in check.why


async def test_an_engine_that_was_asked_for_and_is_not_there_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///no/such/docker.sock")
    (check,) = await diagnose_docker()
    assert not check.works
    assert "/no/such/docker.sock" in check.why


@IN_ONE_WORKER
async def test_a_real_engine_is_described(docker: str) -> None:
    checks = {check.name: check for check in await diagnose_docker()}
    assert checks["Docker"].works
    assert docker in checks["Docker"].why
    assert NOT_APART in checks["Docker"].why
    assert NO_QUOTA in checks["container disk"].why
    assert {"container runtime", "container users", "container system calls"} < set(checks)


@pytest.mark.parametrize(
    ("environment", "found"),
    [({"DOCKER_HOST": "tcp://10.0.0.1:2375"}, "tcp://10.0.0.1:2375"), ({"DOCKER_HOST": "unix:///x"}, "unix:///x")],
)
def test_docker_host_is_honoured(environment: dict[str, str], found: str) -> None:
    assert find_engine(environment) == found
