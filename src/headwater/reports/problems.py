"""All that is wrong, for people: sources and channels by the rules of their health, hosts, the queue, this machine."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from headwater.clock import Clock
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import UrlRejected, UsageError
from headwater.politeness.takedown import domains_above, taken_down_in_words
from headwater.politeness.takedown import queries as takedown_queries
from headwater.reports.crowds import crowded_hosts, problems_of_crowds
from headwater.reports.doctor import Check, check_clock, check_disk, check_identity, check_schema, check_secrets
from headwater.reports.operations import LATE, operations_now, problems_in
from headwater.settings import Settings
from headwater.sources.causes import BORNE
from headwater.sources.health import (
    FEWEST_PAGES,
    LASTING,
    STOPPED_BY_ITSELF,
    Decay,
    FailedCrawlStart,
    HealthFacts,
    HealthProblem,
    Overflows,
    Severity,
    host_in,
    problems_of_source,
    worst_first,
)
from headwater.sources.kinds import NEWS
from headwater.sources.source import Source
from headwater.sources.store import ChannelState, channels_of, source_from
from headwater.urls.canonical import CanonicalUrl, canonicalise

queries = load_queries("headwater.reports")

# More than anybody reads; each costs a millisecond.
MOST_SOURCES = 1_000
# So many where only their number is told.
HINTED_SOURCES = 200
MOST_HOSTS = 1_000
SOURCES_AT_ONCE = 500
DECAYED = "extraction_decayed"
OWNERS = "site owners"
# What a row that no code of ours wrote makes of the code that reads it.
UNREADABLE = (UsageError, KeyError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Problems:
    """`now` is when we looked; `last_run` when a poll ended last. `is_cut`: there are more than were judged."""

    now: datetime
    last_run: datetime | None
    found: tuple[HealthProblem, ...]
    is_cut: bool = False


async def find_problems(
    database: Database, settings: Settings, data: Path, clock: Clock, most_sources: int = MOST_SOURCES
) -> Problems:
    """Everything, the worst first; of so many sources at most."""
    ids = await sources_to_look_at(database, most_sources)
    waiting = await database.fetchrow(queries.work_that_waits, LATE)
    assert waiting is not None
    hosts = await database.fetch(queries.troubled_hosts, None, MOST_HOSTS)
    asked = await database.fetchrow(takedown_queries.count_takedown_requests)
    found = [
        *of_requests(asked),
        *of_checks([check_disk(data), await check_schema(database), await check_clock(database, clock)]),
        *of_checks([check_secrets(settings.poll.secrets_file), check_identity(settings)]),
        *problems_in(await operations_now(database, waiting)),
        *of_queue(waiting),
        *of_hosts(hosts),
        *problems_of_crowds(await crowded_hosts(database)),
        *await _of_sources(database, ids),
    ]
    is_cut = len(ids) == most_sources or len(hosts) == MOST_HOSTS
    return Problems(waiting["now"], waiting["last_run"], tuple(sorted(found, key=worst_first)), is_cut)


async def sources_to_look_at(database: Database, most: int, *, is_for_struggling: bool = False) -> list[UUID]:
    """All that have a problem are among them, unless there are more; or all that struggle."""
    borne = BORNE if is_for_struggling else None
    rows = await database.fetch(
        queries.sources_to_look_at, FEWEST_PAGES, most, STOPPED_BY_ITSELF, NEWS, sorted(LASTING), borne
    )
    return [row[0] for row in rows]


async def find_problems_of(database: Database, source: Source) -> Problems:
    """Of one source, its channels and their hosts."""
    waiting = await database.fetchrow(queries.work_that_waits, LATE)
    assert waiting is not None
    channels = (await channels_of(database, [source.id]))[source.id]
    facts = await facts_of(database, [source], {source.id: channels})
    places = {host_in(one.url).partition(":")[0] for one in channels if one.is_enabled}
    hosts = await database.fetch(queries.troubled_hosts, sorted({source.profile.address.host, *places}), MOST_HOSTS)
    crowds = problems_of_crowds(await crowded_hosts(database, sorted(places)))
    found = [*problems_of_source(source, channels, facts[source.id]), *of_hosts(hosts), *crowds]
    return Problems(waiting["now"], source.last_run_at, tuple(sorted(found, key=worst_first)))


async def _of_sources(database: Database, ids: Sequence[UUID]) -> list[HealthProblem]:
    found: list[HealthProblem] = []
    for start in range(0, len(ids), SOURCES_AT_ONCE):
        rows = await database.fetch(queries.read_sources, ids[start : start + SOURCES_AT_ONCE])
        sources = []
        for row in rows:
            try:
                sources.append(source_from(row))
            except UNREADABLE as error:
                found.append(of_unreadable(row, error))
        channels = await channels_of(database, [one.id for one in sources])
        facts = await facts_of(database, sources, channels)
        found += [p for one in sources for p in problems_of_source(one, channels[one.id], facts[one.id])]
    return found


async def facts_of(
    database: Database, sources: Sequence[Source], channels: Mapping[UUID, Sequence[ChannelState]]
) -> dict[UUID, HealthFacts]:
    """The facts by which the health of sources is judged, for many at once."""
    rows = await database.fetch(queries.facts_of_sources, [one.id for one in sources], FEWEST_PAGES)
    by_source = {row["source_id"]: row for row in rows}
    taken = await taken_down_addresses(database, _addresses(sources, channels))
    return {one.id: _facts(by_source[one.id], taken) for one in sources}


def _addresses(sources: Iterable[Source], channels: Mapping[UUID, Sequence[ChannelState]]) -> set[str]:
    own = {one.profile.url for one in sources}
    return own | {channel.url for group in channels.values() for channel in group if channel.is_enabled}


async def taken_down_addresses(database: Database, addresses: Iterable[str]) -> dict[str, str]:
    """Those that a takedown covers, each with it in words."""
    places = {address: place for address in addresses if (place := _place(address))}
    domains = sorted({domain for place in places.values() for domain in domains_above(place.host)})
    rows = await database.fetch(takedown_queries.takedowns_of_domains, domains) if domains else []
    told = {address: taken_down_in_words(rows, place) for address, place in places.items()} if rows else {}
    return {address: words for address, words in told.items() if words}


async def domains_taken_down(database: Database, hosts: Iterable[str]) -> set[str]:
    """Of these hosts and the domains they lie in, those of which a takedown speaks."""
    if not await database.fetch(takedown_queries.list_takedowns, "", 1):
        return set()
    domains = sorted({domain for host in hosts for domain in domains_above(host)})
    return {row["domain"] for row in await database.fetch(takedown_queries.takedowns_of_domains, domains)}


def _place(address: str) -> CanonicalUrl | None:
    try:
        return canonicalise(address)
    except UrlRejected:
        return None


def _facts(row: Any, taken: Mapping[str, str]) -> HealthFacts:
    start = (
        FailedCrawlStart(row["start_error"], row["start_since"], row["start_is_final"]) if row["start_since"] else None
    )
    return HealthFacts(
        entries=row["entries"],
        has_kept=row["has_kept"],
        why_ended=row["why_ended"] or "",
        start=start,
        decay=Decay(row["alarm_message"], row["alarm_at"]) if row["alarm"] == DECAYED else None,
        overflows={
            UUID(one["channel_id"]): Overflows(
                one["times"],
                one["missed"],
                datetime.fromisoformat(one["since"]),
                timedelta(seconds=one["covers"] or 0),
                timedelta(seconds=one["shortest"] or 0),
            )
            for one in row["overflows"]
        },
        takedowns=taken,
    )


def of_unreadable(row: Any, error: Exception) -> HealthProblem:
    what = f"Its row cannot be read: {error}"
    fix = "Correct it in the database: headwater db shell"
    return HealthProblem("unreadable", Severity.ERROR, what, fix, row["updated_at"], row["name"], row["id"])


def of_checks(checks: Iterable[Check]) -> Iterator[HealthProblem]:
    for check in checks:
        if check.level != "ok":
            grade = Severity.ERROR if check.level == "failure" else Severity.WARNING
            yield HealthProblem("installation", grade, f"{check.says}.", check.fix, about="this machine")


def of_requests(row: Any) -> Iterator[HealthProblem]:
    """Of site owners, who wait for an answer."""
    if row["waiting"]:
        asks = "1 site owner asks" if row["waiting"] == 1 else f"{row['waiting']:,} site owners ask"
        fix = "See what, and decide it: headwater takedown requests"
        yield HealthProblem("takedown_asked", Severity.WARNING, f"{asks} to be left alone.", fix, row["since"], OWNERS)


def of_queue(row: Any) -> Iterator[HealthProblem]:
    """Pages that ended a worker."""
    about = "the queue"
    if row["suspects"]:
        waiting = "1 URL waits" if row["suspects"] == 1 else f"{row['suspects']:,} URLs wait"
        what = f"{waiting} to be tried alone: a worker died while it had them."
        fix = "They are tried by themselves. Look at the log of that time for the cause."
        yield HealthProblem("suspects", Severity.WARNING, what, fix, None, about)
    if row["poisoned"]:
        pages = "1 page" if row["poisoned"] == 1 else f"{row['poisoned']:,} pages"
        what = f"{pages} ended the processes that read them, in the last 7 days."
        fix = "See which: headwater frontier list --status dead --reason poison"
        yield HealthProblem("poison", Severity.WARNING, what, fix, row["poisoned_since"], about)


def of_hosts(rows: Iterable[Any]) -> Iterator[HealthProblem]:
    for row in rows:
        host = row["host"]
        until = f"{row['until']:%Y-%m-%d %H:%M} UTC" if row["until"] else ""
        see = f"See it: headwater hosts show {host}"
        match row["reason"]:
            case "breaker":
                what = f"Could not be reached {row['bad_in_a_row']:,} times in a row; it rests until {until}."
                yield HealthProblem("breaker", Severity.WARNING, what, see, row["rests_since"], host)
            case "robots_unreachable":
                what = f"Its robots.txt cannot be had ({row['failure'] or 'no answer'}): its URLs wait until {until}."
                fix = f"It is asked for again by itself. Look: headwater hosts robots {host}"
                yield HealthProblem("robots_unreachable", Severity.WARNING, what, fix, row["failing_since"], host)
            case "retry_after":
                what = f"Asks us to stay away until {until}."
                fix = f"Ask it less often: headwater hosts policy set {host} --min-request-interval-ms 10000"
                yield HealthProblem("refused", Severity.WARNING, what, fix, None, host)
            case _:
                what = (
                    f"Refuses us: HTTP {row['last_status']}, {row['failed']:,} of {row['requests']:,} requests failed."
                )
                yield HealthProblem("refused", Severity.WARNING, what, f"Write to its owner. {see}", None, host)
