"""Charts: what is drawn, and what is said beside it."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from headwater.serve.console.charts import ChartLine, ChartOfTime, bar_chart, line_chart

BEGIN = datetime(2026, 5, 4, tzinfo=UTC)


def chart(*values: float) -> ChartOfTime:
    lines = [ChartLine("delay", "c1", values)]
    return ChartOfTime("Delay", "the last 24 h by 15 m", BEGIN, timedelta(minutes=15), lines)


def path_in(drawn: str) -> str:
    [found] = re.findall(r'd="([^"]*)" class="line', drawn)
    return str(found)


def test_a_line_goes_through_all_values() -> None:
    assert path_in(line_chart(chart(0, 10, 5))) == "M0 100h0L300 0L600 50"


def test_where_nothing_was_measured_no_line_falls_to_nothing() -> None:
    drawn = line_chart(chart(0, 10, 5, 0, 10), has_gaps=True)
    assert path_in(drawn) == "M150 0h0L300 50M600 0h0"


def test_a_chart_of_nothing_says_so() -> None:
    assert "Nothing in the last 24 h." in line_chart(chart(0, 0))


@pytest.mark.parametrize(("most", "scale"), [(1, ["1", "", "0"]), (2, ["2", "1", "0"]), (7, ["8", "4", "0"])])
def test_a_scale_says_no_number_twice(most: int, scale: list[str]) -> None:
    [told] = re.findall(r'<div class="scale"[^>]*>(.*?)</div>', bar_chart(chart(most)))
    assert re.findall(r"<span>(.*?)</span>", told) == scale
