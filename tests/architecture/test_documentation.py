"""What the documents say exists, and what exists is documented."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from headwater.cli.app import app
from headwater.cli.reference import every_command
from headwater.cli.reference import pages as written_pages
from headwater.settings import every_setting

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
RECORDS = sorted(ROOT.glob("docs/decisions/*.md"))
PARTS_OF_A_RECORD = ["Context", "Choice", "Cost", "How we would know we were wrong"]

LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
COMMAND = re.compile(r"\bheadwater((?: [a-z][a-z-]*){1,2})")
TARGET = re.compile(r"\bmake ([a-z][a-z0-9-]*)")
PLACE = re.compile(r"`((?:src|tests|docs|benchmarks)/[\w./-]+)`")

pages = cache(written_pages)


@pytest.mark.parametrize("name", ["settings.md", "commands.md", "states.md", "metrics.md"])
def test_generated_pages_are_what_the_code_says(name: str) -> None:
    written = (ROOT / "docs" / name).read_text("utf-8")
    assert written == pages()[name], "run: make docs"


def test_every_setting_has_a_row_and_a_meaning() -> None:
    page = pages()["settings.md"]
    silent = [one.path for one in every_setting() if f"| `{one.path}` |" not in page or not one.field.description]
    assert not silent


def test_every_command_has_a_section_and_every_option_a_meaning() -> None:
    page = pages()["commands.md"]
    assert all(f"\n## {name}\n" in page for name, _ in every_command(app, "headwater"))
    options = [line for line in page.splitlines() if line.startswith("* `")]
    assert not [line for line in options if re.fullmatch(r"\* `[^`]+`:?\s*(\*\[.*\]\*|\*\*\[.*\]\*\*)?", line)]


def test_every_relative_link_leads_to_a_file() -> None:
    links = [
        (document, link.partition("#")[0]) for document in DOCUMENTS for link in LINK.findall(without_code(document))
    ]
    relative = [(document, target) for document, target in links if target and "://" not in target]
    assert not [(shown(document), target) for document, target in relative if not leads_somewhere(document, target)]


def test_every_command_a_document_names_exists() -> None:
    known = [name for name, _ in every_command(app, "headwater")]
    assert not [(place, name) for place, name in named(COMMAND, "headwater") if not is_command(name, known)]


def test_every_make_target_a_document_names_exists() -> None:
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert not [(place, name) for place, name in named(TARGET) if name not in targets]


def test_every_file_a_document_names_exists() -> None:
    places = [(shown(one), place) for one in DOCUMENTS for place in PLACE.findall(one.read_text("utf-8"))]
    assert not [(document, place) for document, place in places if not (ROOT / place).exists()]


def test_the_map_of_the_folders_names_them_all_and_the_rule_of_imports_is_the_one_that_is_checked() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    folders = {f"{path.parent.name}/" for path in (ROOT / "src" / "headwater").glob("*/__init__.py")}
    assert folders == set(re.findall(r"^  (\w+/) ", page, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    (shown,) = re.findall(r"```\n(cli → .*?)\n```", page, re.DOTALL)
    assert " → ".join(layers).replace("headwater.", "") == " ".join(shown.split())


def test_a_decision_record_is_short_and_has_its_parts() -> None:
    texts = {record.stem: record.read_text("utf-8") for record in RECORDS}
    parts = {name: re.findall(r"^## (.+)$", text, re.MULTILINE) for name, text in texts.items()}
    assert {name: found for name, found in parts.items() if found != PARTS_OF_A_RECORD} == {}
    assert [name for name, text in texts.items() if len(text.splitlines()) > 40] == []


def test_decision_records_are_numbered_without_gaps() -> None:
    assert [record.name[:4] for record in RECORDS] == [f"{number:04}" for number in range(1, len(RECORDS) + 1)]


def without_code(document: Path) -> str:
    return CODE.sub("", document.read_text("utf-8"))


def leads_somewhere(document: Path, target: str) -> bool:
    return (document.parent / target).exists()


def named(what: re.Pattern[str], before: str = "") -> Iterator[tuple[str, str]]:
    """Each document with a name that stands in its code."""
    for document in DOCUMENTS:
        for code in CODE.findall(document.read_text("utf-8")):
            yield from ((shown(document), before + found) for found in what.findall(code))


def shown(document: Path) -> str:
    return str(document.relative_to(ROOT))


def is_command(name: str, known: list[str]) -> bool:
    """A command, a group of commands, or a command with a word for it to work on."""
    return any(one == name or one.startswith(f"{name} ") or name.startswith(f"{one} ") for one in known)
