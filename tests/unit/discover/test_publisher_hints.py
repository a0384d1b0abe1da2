"""A publisher's wishes about polling: from the head of an answer, and from a channel's row."""

from datetime import UTC, datetime, timedelta

import pytest

from headwater.discover.publisher_hints import PublisherHints, publisher_hints_from

AT = datetime(2026, 3, 2, tzinfo=UTC)
SAID = PublisherHints(ttl=timedelta(hours=1), skip_hours=frozenset({3, 4}), skip_days=frozenset({6}))


def test_what_a_feed_says_is_kept_with_its_channel_and_nothing_else() -> None:
    assert publisher_hints_from(SAID.with_head([(b"Cache-Control", b"max-age=60")], AT).to_dict()) == SAID
    assert PublisherHints().to_dict() == {}


def test_a_head_says_how_long_its_answer_is_fresh() -> None:
    head = [(b"CACHE-control", b"max-age=600"), (b"Age", b"100")]
    assert SAID.with_head(head, AT).max_age == timedelta(minutes=10)
    assert SAID.with_head(head, AT).fresh_for == timedelta(seconds=500)


@pytest.mark.parametrize(
    "stored",
    [
        *(None, 7, "nonsense", [], {"ttl": "soon"}, {"ttl": -5}, {"ttl": 1e300}, {"ttl": None}, {"ttl": {}}),
        *({"skip_hours": 5}, {"skip_hours": [24, "a", {}, None]}, {"skip_days": "0123456"}, {"skip_days": [9]}),
    ],
)
def test_what_was_not_written_by_us_asks_for_nothing(stored: object) -> None:
    assert publisher_hints_from(stored) == PublisherHints()
