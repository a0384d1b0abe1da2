"""The page on hostile input names a test for every row, and each of them exists."""

import re
from pathlib import Path

from tests.fault_rows import NOT_HERE, SHOWN_BY

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "hostile-input.md"
# 144 to 155 are in docs/reliability.md.
ROWS = range(1, 144)


def lines() -> list[list[str]]:
    """The cells of each line of the tables: rows, input, what happens, shown by."""
    found = [line for line in PAGE.read_text("utf-8").splitlines() if re.match(r"\| \d", line)]
    return [line.strip().strip("|").split(" | ") for line in found]


def numbers_in(cell: str) -> list[int]:
    return [int(number) for number in cell.split(",")]


def named_in(cell: str) -> list[str]:
    return SHOWN_BY.findall(cell)


def test_every_row_stands_there_once() -> None:
    told = [number for row, *_ in lines() for number in numbers_in(row)]
    assert sorted(told) == list(ROWS)


def test_every_line_says_what_comes_what_happens_and_what_shows_it() -> None:
    for cells in lines():
        assert len(cells) == 4, cells
        assert all(cell.strip() for cell in cells), cells
        assert named_in(cells[3]) or cells[3].strip().startswith(NOT_HERE), cells


def test_what_shows_it_are_tests_that_exist() -> None:
    for *_, shown_by in lines():
        # Nothing but names of tests: a misspelt one would be passed over.
        assert SHOWN_BY.sub("", shown_by).strip(" ,") == "" or shown_by.strip().startswith(NOT_HERE), shown_by
        for test in named_in(shown_by):
            file, _, name = test.partition("::")
            written = (ROOT / file).read_text("utf-8") if (ROOT / file).exists() else ""
            assert re.search(rf"^(?:async )?def {name}\(", written, re.MULTILINE), test
