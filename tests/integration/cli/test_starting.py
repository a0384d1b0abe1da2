"""A command loads only the libraries it uses: what it loads is most of the time that a short one takes."""

import os
import re
import subprocess
import sys

import pytest

LOADED = re.compile(r"^import time:.*\| +([\w.]+)$", re.MULTILINE)
PAGES = {"lxml", "trafilatura", "aiohttp", "selectolax", "headwater.extraction"}
OF_ROLES = {"prometheus_client", "structlog"}


def modules_of(*words: str, database: str = "postgresql://nobody@127.0.0.1:1/nothing") -> set[str]:
    """Modules and packages that a command loads in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *words],
        env={**os.environ, "HEADWATER_DATABASE__URL": database},
        capture_output=True,
        text=True,
        check=False,
    )
    names = LOADED.findall(done.stderr)
    assert "headwater" in names, done.stderr
    return {".".join(name.split(".")[:depth]) for name in names for depth in (1, 2)}


def test_a_program_that_imports_the_package_loads_nothing_else() -> None:
    others = {"pydantic", "asyncpg", "cyclopts", "asyncio", *PAGES, *OF_ROLES}
    assert modules_of("-c", "import headwater").isdisjoint(others)


def test_the_version_is_told_without_settings_and_database() -> None:
    assert modules_of("-m", "headwater", "--version").isdisjoint({"pydantic", "asyncpg", *PAGES, *OF_ROLES})


@pytest.mark.heavy_rows
@pytest.mark.parametrize("command", ["status", "problems", "sources list", "hosts list", "frontier list", "docs list"])
def test_a_question_to_the_database_loads_no_reader_of_pages_and_no_logs(command: str, database_url: str) -> None:
    loaded = modules_of("-m", "headwater", *command.split(), database=database_url)
    assert "asyncpg" in loaded
    assert loaded & (PAGES | OF_ROLES) == set()
