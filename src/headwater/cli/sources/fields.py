"""What a person has set of a source, in words: its scope, and each field that is not as usual."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headwater.cli.words import length_of, seconds_of

if TYPE_CHECKING:
    from headwater.reports.discovery import Overview
    from headwater.sources.source import Profile

POLICIES = {
    "adaptive": "by its own rhythm",
    "tiers": "in tiers: rarer the longer nothing comes",
    "frequency": "by its number of days",
    "fixed": "always at the same interval",
}


def fields_in_words(profile: "Profile", *, follows_links: bool) -> Iterator[tuple[str, str]]:
    """Labels and values. The head of a source tells its address, name, kind, priority, tags and mode; its scope tells
    domains, paths, pages, and the depth of links where they are followed."""
    from headwater.sources.source import DEFAULT_DEPTH

    lists = (("starts at", profile.start_urls), ("articles are paths like", profile.article_patterns))
    told = (
        ("organisation", profile.org_type),
        ("country", profile.country),
        ("time zone", profile.timezone),
        ("polled", profile.policy and POLICIES[profile.policy]),
        ("interval", profile.poll_every and length_of(profile.poll_every)),
        ("frequency", profile.crawl_frequency_days and every_days(profile.crawl_frequency_days)),
        ("window", profile.time_window and f"polled only from {profile.time_window} {profile.timezone or 'UTC'}"),
        ("rate limit", profile.rate_limit_ms and f"one request every {seconds_of(profile.rate_limit_ms)}"),
        ("pages are visited again", profile.revisit_every and f"after {length_of(profile.revisit_every)}"),
        *((label, ", ".join(values)) for label, values in lists),
        ("depth of links", "" if follows_links or profile.max_depth == DEFAULT_DEPTH else profile.max_depth),
        ("hint for reading", profile.parser_hint),
    )
    yield from ((label, str(value)) for label, value in told if value)
    yield from ((f"selector of {name}", value) for name, value in selectors_in(profile.selectors))


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


def scope_of(one: "Overview") -> str:
    """Which pages are wanted; a feed may link to any other site."""
    from headwater.sources.source import scope_in_words

    told = scope_in_words(one.source.profile, follows_links=follows_links(one))
    return f"{told}; its feeds may name pages of other sites" if kinds_of(one) & {"feed", "api"} else told


def follows_links(one: "Overview") -> bool:
    return bool(kinds_of(one) & {"crawl", "listing"})


def kinds_of(one: "Overview") -> set[str]:
    return {str(channel.kind) for channel in one.channels if channel.is_enabled}
