"""Every line of the log is documented, and every documented one is written: name, levels and fields."""

import re
from pathlib import Path

from tests.architecture.log_calls import LogLine, lines_of_the_product

PAGE = Path(__file__).parents[2] / "docs" / "log-events.md"
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
FIELD = re.compile(r"`(\w+)`|(\*\w+\*)")


def rows() -> list[tuple[str, ...]]:
    return ROW.findall(PAGE.read_text("utf-8"))


def documented() -> dict[str, LogLine]:
    return {
        event: LogLine(set(levels.split(", ")), {name or group for name, group in FIELD.findall(fields)})
        for event, levels, _, fields, _ in rows()
    }


def test_the_table_of_events_is_what_the_code_writes() -> None:
    written = lines_of_the_product()
    assert len(written) > 60
    assert documented() == written


def test_every_event_stands_once_in_order_and_says_when_and_what_to_do() -> None:
    events = [event for event, *_ in rows()]
    assert events == sorted(set(events))
    assert all(when.endswith(".") and do for _, _, when, _, do in rows())
    assert len(rows()) == sum(line.startswith("| `") for line in PAGE.read_text("utf-8").splitlines())
