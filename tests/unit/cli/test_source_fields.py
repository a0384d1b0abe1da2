"""Every field that can be set of a source is told, and none that is not set."""

from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

import pytest

from headwater.cli.sources.fields import fields_in_words
from headwater.sources.source import Policy, Profile, scope_in_words

PLAIN = Profile("https://a.example/")
IN_THE_HEAD = {"url", "name", "kind", "priority", "tags", "ingestion_mode", "speaks_for"}
SET: dict[str, Any] = {
    "org_type": "ngo",
    "timezone": "Europe/Paris",
    "country": "FR",
    "policy": Policy.FIXED,
    "poll_every": timedelta(hours=1),
    "crawl_frequency_days": 2.0,
    "time_window": "22:00-05:00",
    "max_depth": 5,
    "max_pages": 7,
    "allowed_domains": ("b.example",),
    "include_paths": ("/a/",),
    "exclude_paths": ("/b/",),
    "allow_external": True,
    "skips_tdmrep": True,
    "start_urls": ("https://a.example/start",),
    "article_patterns": ("/news/",),
    "selectors": {"article": {"title": "h1", "exclude": ["nav", "aside"]}},
    "parser_hint": "li.job",
    "rate_limit_ms": 500,
    "revisit_every": (timedelta(days=2),),
}


def told(profile: Profile, *, follows_links: bool) -> str:
    lines = [f"{label}: {value}" for label, value in fields_in_words(profile, follows_links=follows_links)]
    return "\n".join([*lines, scope_in_words(profile, follows_links=follows_links)])


def test_what_is_as_usual_is_left_out() -> None:
    assert list(fields_in_words(PLAIN, follows_links=False)) == []


@pytest.mark.parametrize("follows_links", [True, False])
@pytest.mark.parametrize("name", sorted({one.name for one in fields(Profile)} - IN_THE_HEAD))
def test_a_field_that_is_set_is_told(name: str, *, follows_links: bool) -> None:
    changed = told(replace(PLAIN, **{name: SET[name]}), follows_links=follows_links)
    assert changed != told(PLAIN, follows_links=follows_links)
    assert "_" not in changed


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ({"timezone": "Asia/Tokyo"}, "polled only from 22:00-05:00 Asia/Tokyo"),
        ({"country": "FR"}, "polled only from 22:00-05:00 Europe/Paris"),
        ({"country": "US"}, "22:00-05:00, ignored until its time zone is set"),
        ({}, "22:00-05:00, ignored until its time zone is set"),
    ],
)
def test_a_time_window_is_told_in_the_zone_that_polls_go_by(place: dict[str, str], words: str) -> None:
    assert f"window: {words}" in told(replace(PLAIN, time_window="22:00-05:00", **place), follows_links=False)  # type: ignore[arg-type]
