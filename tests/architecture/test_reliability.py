"""What the page on reliability says is shown, is shown."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
SHOWN_BY = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def rows() -> list[str]:
    """Of its table, without the head."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    return lines[1:]


def test_every_row_names_its_fault_and_a_test_or_says_why_there_is_none() -> None:
    assert rows()
    for row in rows():
        number, fault, how, holds, shown = (cell.strip() for cell in row.strip("|").split("|"))
        assert re.fullmatch(r"F?\d+(, F?\d+)*", number), row
        assert all((fault, how, holds)), row
        assert SHOWN_BY.findall(shown) or shown.startswith("not here: "), row


def test_every_test_the_page_names_exists() -> None:
    named = SHOWN_BY.findall(PAGE.read_text("utf-8"))
    missing = [f"{file}::{test}" for file, test in named if not has_test(ROOT / file, test)]
    assert not missing


def has_test(file: Path, test: str) -> bool:
    return file.exists() and re.search(rf"^(?:async )?def {test}\(", file.read_text("utf-8"), re.MULTILINE) is not None
