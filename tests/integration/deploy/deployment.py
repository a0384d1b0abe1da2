"""What the files in deploy/ run: commands, and the variables they run with."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
DOCKERFILE = DEPLOY / "Dockerfile"
COMPOSE = [DEPLOY / "compose.yaml", DEPLOY / "compose.fleet.yaml"]
CLOUD_INIT = DEPLOY / "cloud-init" / "fetcher.yaml"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
ROLES = ("poll", "fetch", "deliver", "maintain", "web")


@dataclass(frozen=True, slots=True)
class Started:
    """A command of ours without the program's name."""

    where: str
    words: tuple[str, ...]


def instructions(name: str) -> list[str]:
    """What follows that word in the Dockerfile, with lines that go on joined."""
    text = DOCKERFILE.read_text("utf-8").replace("\\\n", " ")
    return [line.partition(" ")[2] for line in text.splitlines() if line.startswith(f"{name} ")]


def compose_files() -> dict[str, dict[str, Any]]:
    """With the one that cloud-init writes."""
    read = {file.name: yaml.safe_load(file.read_text("utf-8")) for file in COMPOSE}
    return {**read, CLOUD_INIT.name: yaml.safe_load(written_files()["/etc/headwater/compose.yaml"])}


def written_files() -> dict[str, str]:
    document = yaml.safe_load(CLOUD_INIT.read_text("utf-8"))
    return {one["path"]: one["content"] for one in document["write_files"]}


def services() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for file, document in compose_files().items():
        for name, service in document["services"].items():
            yield f"{file} {name}", service


def ours() -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((name, service) for name, service in services() if "HEADWATER_IMAGE" in service["image"])


def unit_lines(unit: Path, name: str) -> list[str]:
    lines = unit.read_text("utf-8").splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith(f"{name}=")]


def every_command() -> Iterator[Started]:
    (usual,) = map(json.loads, instructions("CMD"))
    yield Started("Dockerfile", tuple(usual))
    health = instructions("HEALTHCHECK")[0].partition("CMD ")[2]
    yield Started("Dockerfile health", tuple(json.loads(health)[1:]))
    for name, service in ours():
        yield Started(name, tuple(service.get("command", usual)))
    for unit in UNITS:
        (line,) = unit_lines(unit, "ExecStart")
        for role in ROLES if "@" in unit.name else ("",):
            yield Started(f"{unit.name} {role}".strip(), tuple(shlex.split(line.replace("%i", role))[1:]))


def every_variable() -> Iterator[str]:
    """Names of settings that any of the files give."""
    for line in instructions("ENV"):
        yield from (word.partition("=")[0] for word in line.split())
    for _, service in ours():
        yield from service["environment"]
    for unit in UNITS:
        for line in unit_lines(unit, "Environment"):
            yield from (word.partition("=")[0] for word in line.split())
