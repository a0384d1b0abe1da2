"""Habits that a file promises: hooks before a commit, the matrix of versions, a changelog that a release can go by."""

import os
import re
import tomllib
from pathlib import Path

import yaml

import headwater

ROOT = Path(__file__).parents[2]
HEADING = re.compile(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", re.MULTILINE)


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def checks_of_make() -> list[str]:
    """Words of each linter that `make check` runs, without its files."""
    recipe = re.search(r"^check: .*?\n((?:\t.*\n)+)", read("Makefile"), re.MULTILINE)
    assert recipe
    return [line.removesuffix(" .") for line in re.findall(r"\$\(BIN\)/(.+)", recipe[1])]


def test_hooks_before_a_commit_are_local_and_those_of_make_check() -> None:
    repositories = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    hooks = [hook for one in repositories for hook in one["hooks"]]
    assert {one["repo"] for one in repositories} == {"local"}
    assert {hook["language"] for hook in hooks} == {"system"}
    entries = [hook["entry"].removeprefix(".venv/bin/").replace(" --force-exclude", "") for hook in hooks]
    assert entries == checks_of_make()


def test_every_version_of_python_that_is_promised_has_a_target() -> None:
    promised = [
        word.rpartition(" ")[2]
        for word in tomllib.loads(read("pyproject.toml"))["project"]["classifiers"]
        if word.startswith("Programming Language :: Python :: 3.")
    ]
    targets = re.findall(r"^test-py(\d)(\d+):", read("Makefile"), re.MULTILINE)
    # The oldest is what `make test` runs on, as CI does.
    assert [f"{major}.{minor}" for major, minor in targets] == promised[1:]


def test_the_changelog_has_the_version_and_a_date_for_each_but_what_comes() -> None:
    (first, undated), *released = HEADING.findall(read("CHANGELOG.md"))
    assert (first, undated) == ("Unreleased", "")
    assert released[0][0] == headwater.__version__
    dates = [date for _, date in released]
    assert all(dates)
    assert dates == sorted(dates, reverse=True)


def test_scripts_can_be_executed() -> None:
    assert not [name for name in ("run", "release", "find-python") if not os.access(ROOT / ".ci" / name, os.X_OK)]
