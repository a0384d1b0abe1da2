"""Filters as people type them."""

import pytest

from headwater.cli.filters import filter_from
from headwater.frontier.reads import EntryPage, cursor_at


@pytest.mark.parametrize(
    ("prefix", "host"),
    [
        ("https://a.example/", "a.example"),
        ("http://a.example:8080/news/", "a.example"),
        # May go on with more of the name.
        ("https://a.exam", None),
        ("https://", None),
        (None, None),
    ],
)
def test_a_prefix_that_names_its_host_is_looked_for_there_alone(prefix: str | None, host: str | None) -> None:
    wanted = filter_from(None, None, None, None, prefix)
    assert (wanted.url_prefix, wanted.host) == (prefix, host)


def test_a_short_page_says_how_far_it_looked() -> None:
    assert EntryPage([], cursor_at(63, bytes(32))).share_looked_at == 0.25
    assert EntryPage([], None).share_looked_at == 1.0
