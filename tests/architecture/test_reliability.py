"""What the page on reliability says is shown, is shown."""

import re
from pathlib import Path

import pytest
from tests.fault_rows import BEGIN, END, NOT_HERE, PAGE, RESULTS_HEAD, SEED, Outcome, Row, rows_of, with_results

ROOT = Path(__file__).parents[2]
TABLE = "| row | fault | how | holds | shown by |\n|---|---|---|---|---|\n"
ONE = "| F1 | a kill | SIGKILL | all | `tests/a.py::test_one`, `tests/a.py::test_two` |\n"
OTHER = "| F2, F3 | two | both | all | `tests/a.py::test_two` |\n"


def rows() -> list[Row]:
    return rows_of(PAGE.read_text("utf-8"))


def test_every_row_names_its_fault_and_a_test_or_says_why_there_is_none() -> None:
    assert rows()
    for row in rows():
        assert all(re.fullmatch(r"F?\d+", number) for number in row.numbers), row
        assert all((row.fault, row.how, row.holds)), row
        assert row.tests or row.shown_by.startswith(NOT_HERE), row


def test_every_test_the_page_names_exists() -> None:
    missing = [test for row in rows() for test in row.tests if not exists(test)]
    assert not missing


def exists(test: str) -> bool:
    file, _, name = test.partition("::")
    path = ROOT / file
    return path.exists() and re.search(rf"^(?:async )?def {name}\(", path.read_text("utf-8"), re.MULTILINE) is not None


def test_no_two_lines_of_the_table_have_one_name() -> None:
    names = [row.name for row in rows()]
    assert sorted(set(names)) == sorted(names)


@pytest.fixture
def page() -> str:
    return f"{TABLE}{ONE}{OTHER}\n{BEGIN}{END}after\n"


def test_results_are_written_for_rows_all_of_whose_tests_were_run(page: str) -> None:
    told = with_results(page, {"tests/a.py::test_two": Outcome(held=2, seconds=1.26)}, "2026-01-02", "9.9")
    said = "| F2, F3 | two | held | 2 | 1.3 | 2026-01-02 | 9.9 |\n"
    assert told == page.replace(BEGIN, f"{BEGIN}{RESULTS_HEAD}{said}")


def test_what_was_not_run_keeps_what_it_said_and_a_failure_of_one_is_one_of_its_row(page: str) -> None:
    first = with_results(page, {"tests/a.py::test_two": Outcome(held=1)}, "2026-01-02", "9.9")
    both = {"tests/a.py::test_one": Outcome(failed=1), "tests/a.py::test_two": Outcome(held=1)}
    assert "| F1 | a kill | failed | 2 | 0.0 | 2026-01-03 |" in with_results(first, both, "2026-01-03", "9.9")
    alone = with_results(first, {"tests/a.py::test_one": Outcome(held=1)}, "2026-01-03", "9.9")
    assert alone == first


def test_what_was_skipped_says_why(page: str) -> None:
    skipped = {"tests/a.py::test_two": Outcome(skipped=["Skipped: needs root"])}
    assert "| F2, F3 | two | not run: needs root | 0 |" in with_results(page, skipped, "2026-01-02", "9.9")


def test_a_seed_is_found_in_what_a_test_printed() -> None:
    assert SEED.findall("seed 77\nother words\nno seed 7") == ["seed 77"]
