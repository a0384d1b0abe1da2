"""The lines shown of a source and its channels."""

from typing import TYPE_CHECKING

from headwater.cli.output import show, show_many, show_table
from headwater.cli.sources.fields import fields_in_words
from headwater.cli.words import due, in_words, inert, length_of, quantity, relative, shorten
from headwater.shapes.sources import follows_links, scope_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from headwater.reports.discovery import DiscoveryOverview
    from headwater.reports.freshness import Delay, SourceFreshness
    from headwater.sources.source import Profile
    from headwater.sources.store import ChannelState, Happened


def event_row(one: "Happened", now: "datetime") -> tuple[str, ...]:
    return relative(one.at, now), inert(one.event.actor), shorten(in_words(one.event.message), 100)


def show_overview(
    overview: "DiscoveryOverview",
    now: "datetime",
    external_ids: tuple[str, ...] = (),
    limits: "Sequence[str]" = (),
    freshness: "SourceFreshness | None" = None,
) -> None:
    source, profile = overview.source, overview.source.profile
    reason = f": {in_words(overview.health.reason)}" if overview.health.reason else ""
    show(f"{inert(source.name)}  {profile.url}")
    show(f"  {overview.health.word}{reason}")
    tags = f", tags {', '.join(map(inert, profile.tags))}" if profile.tags else ""
    show(f"  {profile.kind}, priority {profile.priority}, mode {profile.ingestion_mode}{tags}  (id {source.id})")
    if external_ids:
        show(f"  called {', '.join(map(inert, external_ids))} elsewhere")
    show(f"  scope: {scope_of(overview)}")
    for label, told in fields_in_words(profile, follows_links=follows_links(overview)):
        show(f"  {label}: {inert(told)}")
    for limit in limits:
        show(f"  {limit}")
    if source.last_run_at:
        message = in_words(source.last_run_message or "")
        show(f"  last run {relative(source.last_run_at, now)}: {source.last_run_status}, {message}")
    for line in freshness_lines(freshness) if freshness else ():
        show(f"  {line}")
    for one in overview.channels:
        if one.kind == "backfill":
            show(f"  backfill: {inert(why_then(one)).removeprefix('waits: ')}")
    if profile.speaks_for:
        show(f"  speaks for {', '.join(profile.speaks_for)} beside its own pages")
    show_doubts(overview, now)
    show_channels(overview, now)


def freshness_lines(found: "SourceFreshness") -> "Iterator[str]":
    """Nothing of what nothing is known."""
    if found.discovery.count:
        items = quantity(found.discovery.count, "item")
        yield f"from publication to discovery p50/p95: {p50_and_p95(found.discovery)} ({items} of a week)"
    for one in found.sinks:
        yield f"from a change to sink {inert(one.sink)} p50/p95: {p50_and_p95(one.delay)}"
    if found.polls >= 1:
        rate = f", {found.polls_per_item:g} for each new item" if found.polls_per_item else ""
        yield f"polls of late: {found.polls:,.0f}, {found.vain_polls:,.0f} in vain{rate}"


def p50_and_p95(delay: "Delay") -> str:
    return f"{length_of(delay.p50)} / {length_of(delay.p95)}" if delay.p50 and delay.p95 else "none yet"


def show_doubts(overview: "DiscoveryOverview", now: "datetime") -> None:
    """What is not believed of its channels: the words of strangers, and answers of "not modified"."""
    source, profile = overview.source, overview.source.profile
    for one in overview.channels:
        if is_unheard(profile, one):
            show(f"  {inert(one.url)} lies elsewhere: its titles, dates and texts are not used for pages of this site.")
            show(f"    Trust it: headwater sources edit {source.id} speaks_for={domain_of(profile.url)}")
        if one.validators_distrusted_until and one.validators_distrusted_until > now:
            show(f"  {inert(one.url)} said that it was not modified although it had changed.")
            show(f"    It is asked without its validators until {one.validators_distrusted_until:%Y-%m-%d}.")


def push_lines(overview: "DiscoveryOverview") -> "Iterator[str]":
    from headwater.sources.push import push_in_words

    for one in overview.channels:
        if one.push and one.is_active:
            yield f"  push: {inert(one.url)}: {inert(push_in_words(one.push, one.push.looked_at))}"
            yield f"    hub {inert(one.push.hub)}"


def show_channels(overview: "DiscoveryOverview", now: "datetime") -> None:
    show_many(push_lines(overview))
    rows = [
        (
            str(one.kind),
            one.url,
            "taken down" if overview.is_taken_down(one) else next_poll_of(one, now),
            "see headwater takedown list" if overview.is_taken_down(one) else shorten(in_words(why_then(one)), 80),
            str(one.last_item_count),
            shorten(in_words(one.last_error or ""), 60),
        )
        for one in overview.channels
    ]
    if rows:
        columns = ("channel", "address", "next poll", "why then", "items", "last error")
        show_table(columns, rows, below=("address",))


def next_poll_of(channel: "ChannelState", now: "datetime") -> str:
    if not channel.is_active:
        return "off"
    return "running" if channel.is_running else due(channel.next_poll_at, now)


def domain_of(url: str) -> str:
    from headwater.urls.canonical import canonicalise
    from headwater.urls.domains import registrable_domain

    return registrable_domain(canonicalise(url).host)


def is_unheard(profile: "Profile", channel: "ChannelState") -> bool:
    """A channel on another domain that neither the site nor a person has named."""
    if not channel.is_enabled or channel.speaks_for_site or domain_of(channel.url) == domain_of(profile.url):
        return False
    return domain_of(profile.url) not in profile.speaks_for


def why_then(channel: "ChannelState") -> str:
    if channel.is_active:
        return channel.next_reason
    return channel.disabled_reason or "its source is not active"
