"""The settings of a source, in words: its scope, and each field that is not as usual."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from headwater.cli.words import length_of, seconds_of

if TYPE_CHECKING:
    from headwater.sources.source import Profile

POLICIES = {
    "adaptive": "by its own rhythm",
    "tiers": "in tiers: rarer the longer nothing comes",
    "frequency": "by its number of days",
    "fixed": "always at the same interval",
}


# Told by the head of a source, or by its scope.
ELSEWHERE = frozenset(
    {
        *("url", "name", "kind", "priority", "tags", "ingestion_mode", "speaks_for"),
        *("allowed_domains", "include_paths", "exclude_paths", "allow_external", "max_pages"),
    }
)
# Told in words of their own, in this order; every other field is told by its name.
PHRASED: "Mapping[str, tuple[str, Callable[[Any, Profile], Any]]]" = {
    "org_type": ("organisation", lambda value, _: value),
    "country": ("country", lambda value, _: value),
    "timezone": ("time zone", lambda value, _: value),
    "policy": ("polled", lambda value, _: value and POLICIES[value]),
    "poll_every": ("interval", lambda value, _: value and length_of(value)),
    "crawl_frequency_days": ("frequency", lambda value, _: value and every_days(value)),
    "time_window": ("window", lambda value, one: value and window_in_words(value, one)),
    "rate_limit_ms": ("rate limit", lambda value, _: value and f"one request every {seconds_of(value)}"),
    "revisit_every": ("pages are visited again", lambda value, _: visited_again(value)),
    "start_urls": ("starts at", lambda value, _: ", ".join(value)),
    "article_patterns": ("articles are paths like", lambda value, _: ", ".join(value)),
    "max_depth": ("depth of links", lambda value, _: value),
    "parser_hint": ("hint for reading", lambda value, _: value),
    "selectors": ("", lambda *_: ""),
}


def fields_in_words(profile: "Profile", *, follows_links: bool) -> Iterator[tuple[str, str]]:
    """Labels and values of the fields that are not as usual. The depth of links is told by the scope where they are
    followed."""
    usual = type(profile)(profile.url)
    left_out = {*ELSEWHERE, *(("max_depth",) if follows_links else ())}
    others = [one.name for one in fields(profile) if one.name not in PHRASED]
    for name in (*PHRASED, *others):
        value = getattr(profile, name)
        if name in left_out or value == getattr(usual, name):
            continue
        label, in_words = PHRASED.get(name, (name.replace("_", " "), lambda value, _: in_plain_words(value)))
        if told := in_words(value, profile):
            yield label, str(told)
    yield from ((f"selector of {name}", value) for name, value in selectors_in(profile.selectors))


def in_plain_words(value: Any) -> str:
    match value:
        case timedelta():
            return length_of(value)
        case tuple():
            return ", ".join(map(str, value))
        case bool():
            return "yes" if value else "no"
    return str(value)


def every_days(days: float) -> str:
    return "every day" if days == 1 else f"every {days:g} days"


def selectors_in(selectors: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Each with its name, and the names it stands below."""
    for name, value in selectors.items():
        label = f"{above} {name}".strip().replace("_", " ")
        if isinstance(value, Mapping):
            yield from selectors_in(value, label)
        elif value not in (None, "", [], ()):
            yield label, ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def visited_again(times: Sequence[timedelta]) -> str:
    """`after 1d, then every 7d`."""
    *first, last = [length_of(wait) for wait in times] or [""]
    return ", then ".join([*(f"after {wait}" for wait in first), f"every {last}"]) if last else ""


def window_in_words(window: str, profile: "Profile") -> str:
    """In the zone that polls go by: the source's own, else that of its country where it has only one."""
    from headwater.discover.polls.ending import zone_of_country

    zone = profile.timezone or zone_of_country(profile.country)
    return f"polled only from {window} {zone}" if zone else f"{window}, ignored until its time zone is set"
