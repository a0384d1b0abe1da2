"""The one word for how a source, a host or a sink does."""

import pytest

from headwater.reports.frontier import health_of_host
from headwater.sources.health_word import HealthStatus, after_failures, worst_of

OK, UNKNOWN, WARNING = HealthStatus.OK, HealthStatus.UNKNOWN, HealthStatus.WARNING
STRUGGLING, SILENT = HealthStatus.STRUGGLING, HealthStatus.SILENT


def test_of_several_signs_the_worst_holds() -> None:
    assert worst_of(OK, None, SILENT) is SILENT
    assert worst_of(SILENT, WARNING) is WARNING
    assert worst_of(WARNING, STRUGGLING, OK) is STRUGGLING
    assert worst_of(STRUGGLING, HealthStatus.PAUSED) is HealthStatus.PAUSED


def test_what_nothing_is_known_of_is_not_well() -> None:
    assert worst_of(None, None) is UNKNOWN
    assert worst_of() is UNKNOWN
    assert worst_of(None, OK) is OK


@pytest.mark.parametrize(
    ("failures", "borne", "is_lasting", "word"),
    [
        (0, 3, False, OK),
        (1, 3, False, WARNING),
        (2, 3, False, WARNING),
        (3, 3, False, STRUGGLING),
        (99, None, False, WARNING),
        (1, 3, True, STRUGGLING),
    ],
)
def test_a_failure_that_is_tried_again_is_a_warning(
    failures: int, borne: int | None, is_lasting: bool, word: HealthStatus
) -> None:
    assert after_failures(failures, borne, is_lasting=is_lasting) is word


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({}, OK),
        ({"last_fetch_at": None, "last_status": None}, UNKNOWN),
        ({"last_fetch_at": None, "last_status": None, "is_doubted": True}, UNKNOWN),
        ({"is_doubted": True}, WARNING),
        ({"last_status": 404}, OK),
        ({"last_status": 503}, WARNING),
        ({"last_status": 429, "closed_by": "retry_after"}, WARNING),
        ({"last_status": 503, "closed_by": "breaker"}, STRUGGLING),
        ({"closed_by": "takedown"}, HealthStatus.BLOCKED),
        ({"closed_by": "paused"}, HealthStatus.PAUSED),
    ],
)
def test_a_host_has_the_same_words(more: dict[str, object], word: HealthStatus) -> None:
    row = {"closed_by": None, "last_status": 200, "last_fetch_at": "lately", "is_doubted": False}
    assert health_of_host(row | more) is word
