"""Lines of the log."""

from dataclasses import asdict
from typing import Any

from headwater.reports.log_lines import LogLine


def line_as_dict(one: LogLine) -> dict[str, Any]:
    return {**asdict(one), "told": one.told}
