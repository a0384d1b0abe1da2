"""Files for containers, services and machines: read by the programs that will read them, and true to what we are."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.deploy.deployment import (
    CLOUD_INIT,
    COMPOSE,
    DEPLOY,
    DOCKERFILE,
    ROLES,
    ROOT,
    UNITS,
    Started,
    every_command,
    every_variable,
    instructions,
    ours,
    services,
    unit_lines,
    written_files,
)

from headwater.cli.app import app
from headwater.settings import every_setting

LOGS = {"driver": "json-file", "options": {"max-size": "50m", "max-file": "3"}}
# Of systemd-analyze: 10 is a service that may do everything.
MOST_EXPOSED = 2.0
PIN = re.compile(r"^([a-z0-9-]+)==(\S+)", re.MULTILINE)


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def tool(name: str) -> Path:
    return Path(sys.executable).with_name(name)


def test_the_dockerfile_pleases_its_linter(tmp_path: Path) -> None:
    checked = run(tool("hadolint"), DOCKERFILE)
    assert (checked.returncode, checked.stdout) == (0, "")
    careless = tmp_path / "Dockerfile"
    careless.write_text("FROM python\nRUN cd /tmp\n")
    assert run(tool("hadolint"), careless).returncode == 1


@pytest.mark.long
def test_compose_files_keep_to_the_published_schema(tmp_path: Path) -> None:
    inner = tmp_path / "compose.yaml"
    inner.write_text(written_files()["/etc/headwater/compose.yaml"])
    check = (tool("check-jsonschema"), "--builtin-schema", "vendor.compose-spec")
    checked = run(*check, *COMPOSE, inner)
    assert checked.returncode == 0, checked.stdout
    inner.write_text("services: {a: {image: b, restarts: always}}")
    assert run(*check, inner).returncode == 1


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd")
@pytest.mark.long
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_are_what_systemd_takes_and_let_little_through(tmp_path: Path, unit: Path) -> None:
    text = unit.read_text("utf-8").replace("/opt/headwater/bin/headwater", shutil.which("true") or "")
    place = tmp_path / unit.name.replace("@", "@fetch")
    place.write_text(text)
    verified = run("systemd-analyze", "verify", place)
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, "")
    judged = run("systemd-analyze", "security", "--offline=true", "--no-pager", place)
    level = re.search(r"exposure level for \S+: ([\d.]+)", judged.stdout)
    assert level
    assert float(level[1]) <= MOST_EXPOSED
    place.write_text(text.replace("Type=notify", "Type=notifies"))
    assert "notifies" in run("systemd-analyze", "verify", place).stderr


@pytest.mark.skipif(shutil.which("cloud-init") is None, reason="no cloud-init")
@pytest.mark.long
def test_the_small_machine_is_described_by_cloud_inits_schema(tmp_path: Path) -> None:
    checked = run("cloud-init", "schema", "--config-file", CLOUD_INIT)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(CLOUD_INIT.read_text("utf-8").replace("runcmd:", "runcmd: 7\nbootcmd:"))
    assert run("cloud-init", "schema", "--config-file", wrong).returncode


def test_what_cloud_init_writes_are_files_and_no_secret_is_open_to_others() -> None:
    files = written_files()
    assert {"/etc/headwater/compose.yaml", "/etc/headwater/environment", "/etc/headwater/database_url"} <= set(files)
    text = CLOUD_INIT.read_text("utf-8")
    assert text.startswith("#cloud-config\n")
    assert re.search(r'database_url\n.*\n    permissions: "0400"', text)


@pytest.mark.parametrize("name", [name for name, _ in services()])
def test_logs_of_every_service_are_bounded_and_it_comes_back(name: str) -> None:
    service = dict(services())[name]
    assert service["logging"] == LOGS
    assert service["restart"] == ("no" if name.endswith("migrate") else "unless-stopped")


@pytest.mark.parametrize("name", [name for name, _ in ours()])
def test_our_containers_can_write_only_where_they_must(name: str) -> None:
    service = dict(ours())[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "mem_limit" in service or name.endswith("migrate")
    places = [place.split(":")[0] for place in service["tmpfs"]]
    places += [place.split(":")[1] for place in service.get("volumes", ())]
    assert sorted(places) == ["/tmp", "/var/lib/headwater"]


def test_every_role_runs_in_the_fleet_once() -> None:
    fleet = {name.split()[1]: service for name, service in ours() if name.startswith("compose.fleet.yaml")}
    assert {name: service["command"] for name, service in fleet.items()} == {
        "migrate": ["db", "migrate"],
        **{role: ["run", role] for role in ROLES},
    }


def test_nothing_is_published_to_everybody() -> None:
    published = [port for _, service in services() for port in service.get("ports", ())]
    assert published
    assert all(port.startswith(("127.0.0.1:", "${HEADWATER_PRIVATE_ADDRESS:-127.0.0.1}:")) for port in published)


def test_the_image_runs_as_nobody_in_particular_at_the_usual_port() -> None:
    assert instructions("USER") == ["10001:10001"]
    assert instructions("EXPOSE") == ["8080"]
    assert instructions("VOLUME") == ["/var/lib/headwater"]
    (health,) = instructions("HEALTHCHECK")
    assert health.endswith('CMD ["headwater", "healthcheck"]')
    assert json.loads(instructions("ENTRYPOINT")[0]) == ["headwater"]


@pytest.mark.parametrize("started", [*every_command()], ids=lambda one: one.where)
def test_every_command_is_one_of_ours(started: Started) -> None:
    command, _, unknown = app.parse_args([*started.words], exit_on_error=False, print_error=False)
    assert callable(command)
    assert set(unknown) <= {"launch"}


def test_every_variable_is_a_setting() -> None:
    known = {f"HEADWATER_{one.path.upper().replace('.', '__')}" for one in every_setting()}
    given = {name.removesuffix("_FILE") for name in every_variable() if name.startswith("HEADWATER_")}
    assert given
    assert given - known == set()


def test_units_wait_for_the_word_that_we_say() -> None:
    for unit in UNITS:
        assert unit_lines(unit, "Type") == ["notify"]
        assert unit_lines(unit, "NotifyAccess") == ["main"]
        assert unit_lines(unit, "WatchdogSec") == ["2min"]


@pytest.mark.parametrize("name", ["run.lock", "build.lock"])
def test_what_the_image_installs_is_pinned_as_everything_is(name: str) -> None:
    everything = set(PIN.findall((ROOT / "requirements.lock").read_text("utf-8")))
    pinned = PIN.findall((DEPLOY / name).read_text("utf-8"))
    assert pinned
    assert set(pinned) - everything == set()


def test_the_image_is_built_from_what_is_not_left_out() -> None:
    left_in = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    copied = {word for line in instructions("COPY") if not line.startswith("--from") for word in line.split()[:-1]}
    assert copied == left_in
    assert not [name for name in copied if not (ROOT / name).exists()]
    assert not os.access(DOCKERFILE, os.X_OK)
