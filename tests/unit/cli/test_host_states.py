"""Every state that a list of hosts shows can be asked for by the same word."""

from typing import Any

import pytest

from headwater.cli.hosts import state_of
from headwater.reports.frontier import HostState

OPEN = {"closed_by": None, "in_flight": 0, "max_concurrency": 1, "is_open": True}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (OPEN, HostState.OPEN),
        (OPEN | {"is_open": False}, HostState.WAITING),
        (OPEN | {"in_flight": 1}, HostState.ASKED),
        (OPEN | {"closed_by": "retry_after"}, HostState.CLOSED),
    ],
)
def test_a_state_that_is_shown_is_one_that_is_known(row: dict[str, Any], expected: HostState) -> None:
    assert state_of(row).partition(":")[0] == expected
