"""Why a vacancy is over, by what stands beside it."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from headwater.reports.endings import EndedPage, why_expired

AT = datetime(2026, 6, 15, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
LIST = "https://a.example/jobs"


def row(**fields: Any) -> dict[str, Any]:
    ours = {
        "updated_at": AT,
        "deadline": None,
        "source_status": "active",
        "source_changed_at": AT - HOUR,
        "source_name": "Aid Org",
        "listed_at": AT - HOUR,
        "last_seen_at": AT - HOUR,
        "list_url": LIST,
    }
    return ours | fields


@pytest.mark.parametrize(
    ("fields", "pages", "reason", "why"),
    [
        ({}, [EndedPage("not_found", AT)], "page_gone", "its page is gone (HTTP 404)"),
        ({}, [EndedPage("gone", AT)], "page_gone", "its page is gone (HTTP 410)"),
        ({"deadline": date(2026, 6, 1)}, [], "deadline_passed", "its deadline, 2026-06-01, has passed"),
        ({"source_status": "deleted"}, [], "source_removed", "its source Aid Org was removed"),
        ({}, [EndedPage("redirect", AT, "https://b.example/")], "moved", "its address leads to https://b.example/ now"),
        ({}, [EndedPage("gone", AT + HOUR), EndedPage("gone", AT)], "page_gone", "its page is gone (HTTP 410)"),
        (
            {},
            [EndedPage("redirect", AT + HOUR, "https://b.example/")],
            "moved",
            "its address leads to https://b.example/ now",
        ),
        ({}, [], "not_listed", f"not listed any more by {LIST}, which named it last 2026-06-15 11:00"),
        ({"list_url": None}, [], "not_listed", "not listed any more since 2026-06-15 11:00"),
        ({"listed_at": None}, [], "not_listed", "not seen any more since 2026-06-15 11:00"),
    ],
)
def test_the_reason_is_told_in_a_word_and_in_a_sentence(
    fields: dict[str, Any], pages: list[EndedPage], reason: str, why: str
) -> None:
    ending = why_expired(row(**fields), pages)
    assert (ending.reason, ending.at, ending.why) == (reason, AT, why)


@pytest.mark.parametrize(
    ("fields", "pages"),
    [
        ({}, [EndedPage("gone", AT + HOUR)]),
        ({"source_status": "deleted", "source_changed_at": AT + HOUR}, []),
        ({"deadline": AT.date()}, []),
        ({}, [EndedPage("robots_blocked", AT)]),
    ],
)
def test_what_came_later_is_not_why(fields: dict[str, Any], pages: list[EndedPage]) -> None:
    assert why_expired(row(**fields), pages).reason == "not_listed"
