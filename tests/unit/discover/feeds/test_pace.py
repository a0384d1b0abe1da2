from collections.abc import Callable
from datetime import timedelta

import pytest

from headwater.discover.feeds.pace import LONGEST, days_to_skip, hours_to_skip, wait_said
from headwater.discover.items import Reading

Read = Callable[..., Reading]


@pytest.mark.parametrize("text", ["0", "-1", "", "soon", "1.5", "١", "9" * 400])
def test_nonsense_is_no_wish(text: str) -> None:
    assert wait_said(text) is None


def test_a_wish_is_kept_within_a_week() -> None:
    assert wait_said("60") == timedelta(hours=1)
    assert wait_said("1000000000") == LONGEST
    assert wait_said("", "yearly", "1") == LONGEST


def test_a_period_is_divided_by_its_frequency() -> None:
    assert wait_said("", " Daily ", "4") == timedelta(hours=6)
    assert wait_said("", "hourly") == timedelta(hours=1)


@pytest.mark.parametrize("frequency", ["0", "-1", "1000000000", "often"])
def test_a_frequency_beyond_belief_is_no_wish(frequency: str) -> None:
    assert wait_said("", "hourly", frequency) is None


def test_ttl_beats_the_period(rss: Read) -> None:
    period = "<sy:updatePeriod>hourly</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>"
    assert rss(period).ttl == timedelta(minutes=30)
    assert rss(f"<ttl>5</ttl>{period}").ttl == timedelta(minutes=5)
    assert rss(f"<ttl>0</ttl>{period}").ttl == timedelta(minutes=30)


def test_hours_and_days_are_numbers() -> None:
    assert hours_to_skip(["0", " 7 ", "24", "25", "-1", "x"]) == {0, 7}
    assert days_to_skip(["Monday", " sunday", "Someday"]) == {0, 6}


def test_to_skip_everything_is_to_skip_nothing() -> None:
    assert hours_to_skip(map(str, range(24))) == frozenset()
    assert days_to_skip(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]) == frozenset()


@pytest.mark.parametrize("href", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", ""])
def test_a_hub_is_a_link_that_can_be_asked(rss: Read, href: str) -> None:
    assert rss(f'<atom:link rel="hub" href="{href}"/>').hub == ""
    assert rss(f'<atom:link rel="hub" href="{href}"/><atom:link rel="self hub" href="/hub"/>').hub == (
        "https://site.example/hub"
    )
