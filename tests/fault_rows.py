"""The fault matrix: which test shows which row of `docs/reliability.md`, and what a run of them said.

The page is the one list. Every test that its table names is marked `fault`; `make faults` runs them, prints the seeds
they drew, and writes their outcomes into the page, row by row. A row that was not run keeps what it said before.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
NUMBERS = [f"F{number}" for number in range(1, 51)]
SHOWN_BY = re.compile(r"`(tests/[\w/]+\.py::test_\w+)`")
NOT_HERE = "not here: "
BEGIN, END = "<!-- results of `make faults` -->\n", "<!-- end of results -->\n"
RESULTS_HEAD = "| row | fault | outcome | runs | seconds | on | version |\n|---|---|---|---|---|---|---|\n"
SEED = re.compile(r"^seed \d+$", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """One line of the table: the numbers of the matrix, and the tests that show what it says."""

    numbers: tuple[str, ...]
    fault: str
    how: str
    holds: str
    shown_by: str

    @property
    def tests(self) -> list[str]:
        return SHOWN_BY.findall(self.shown_by)

    @property
    def name(self) -> str:
        return f"| {', '.join(self.numbers)} | {self.fault} |"


@dataclass
class Outcome:
    """What the runs of one test said, its parameters taken together."""

    failed: int = 0
    held: int = 0
    skipped: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def note(self, report: pytest.TestReport) -> None:
        self.seconds += report.duration
        self.failed += report.failed
        self.held += report.passed and report.when == "call"
        if report.skipped:
            self.skipped.append(str(report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr))


def rows_of(text: str) -> list[Row]:
    """Of the table of faults, without its head; results stand elsewhere."""
    table = text.partition(BEGIN)[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")][1:]
    return [row_of(line) for line in lines]


def row_of(line: str) -> Row:
    numbers, fault, how, holds, shown_by = (cell.strip() for cell in line.strip().strip("|").split(" | "))
    return Row(tuple(numbers.split(", ")), fault, how, holds, shown_by)


def mark_fault_rows(items: Iterable[pytest.Item]) -> None:
    named = {test for row in rows_of(PAGE.read_text("utf-8")) for test in row.tests}
    for item in items:
        if item.nodeid.partition("[")[0] in named:
            item.add_marker("fault")


def leave_others_out(items: list[pytest.Item], numbers: str) -> None:
    """Of the marked tests, those of the rows that were asked for; all of them where none was named."""
    wanted = set(numbers.split()) or set(NUMBERS)
    rows = [row for row in rows_of(PAGE.read_text("utf-8")) if not wanted.isdisjoint(row.numbers)]
    named = {test for row in rows for test in row.tests}
    items[:] = [item for item in items if item.nodeid.partition("[")[0] in named]


def outcomes_of(reports: Iterable[pytest.TestReport]) -> dict[str, Outcome]:
    found: dict[str, Outcome] = defaultdict(Outcome)
    for report in reports:
        found[report.nodeid.partition("[")[0]].note(report)
    return found


def seeds_of(reports: Iterable[pytest.TestReport]) -> list[str]:
    drawn = [(report.nodeid, seed) for report in reports for seed in SEED.findall(report.capstdout)]
    return sorted({f"{test}: {seed}" for test, seed in drawn})


def result_of(row: Row, outcomes: Mapping[str, Outcome], on: str, version: str) -> str | None:
    """The line of a row; None where not all of its tests were run."""
    if not row.tests or any(test not in outcomes for test in row.tests):
        return None
    mine = [outcomes[test] for test in row.tests]
    runs, seconds = sum(one.held + one.failed for one in mine), sum(one.seconds for one in mine)
    return f"{row.name} {said_of(mine)} | {runs} | {seconds:.1f} | {on} | {version} |"


def said_of(mine: Sequence[Outcome]) -> str:
    skipped = [why.removeprefix("Skipped: ") for one in mine for why in one.skipped]
    if any(one.failed for one in mine):
        return "failed"
    if not any(one.held for one in mine):
        return f"not run: {skipped[0]}" if skipped else "not run"
    return f"held; {len(skipped)} not run: {skipped[0]}" if skipped else "held"


def with_results(text: str, outcomes: Mapping[str, Outcome], on: str, version: str) -> str:
    """The page with a line for each row, in the order of its table."""
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    lines = []
    for row in rows_of(text):
        last = next((line for line in old.splitlines() if line.startswith(f"{row.name} ")), None)
        lines.append(result_of(row, outcomes, on, version) or last)
    kept = "".join(f"{line}\n" for line in lines if line)
    return f"{before}{BEGIN}{RESULTS_HEAD}{kept}{END}{after}"


def write_results(reports: Sequence[pytest.TestReport], on: str, version: str) -> None:
    PAGE.write_text(with_results(PAGE.read_text("utf-8"), outcomes_of(reports), on, version), "utf-8")
