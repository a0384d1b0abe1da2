"""A host's pace: what a person, its robots.txt and our sources say, and what follows from it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.editions import KnownEditions, require_known
from headwater.errors import NotFound, UrlRejected, UsageError
from headwater.urls.canonical import CanonicalUrl, site_named
from headwater.urls.fingerprint import bucket_of

queries = load_queries("headwater.politeness")

LONGEST_DELAY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """The policy a person sets for a host; None leaves a value as it is."""

    max_concurrency: int | None = None
    min_request_interval_ms: int | None = None
    burst: int | None = None
    max_pages: int | None = None
    max_kb_per_page: int | None = None
    allow_js: bool | None = None

    def __post_init__(self) -> None:
        for name, least, most in _LIMITS:
            value = getattr(self, name)
            if value is not None and not least <= value <= most:
                raise UsageError(f"{name} = {value} is not possible.", fix=f"Give {least} to {most:,}.")


_LIMITS = (
    ("max_concurrency", 1, 1000),
    ("min_request_interval_ms", 0, 86_400_000),
    ("burst", 1, 1000),
    ("max_pages", 0, 2_000_000_000),
    ("max_kb_per_page", 1, 1_000_000),
)


@dataclass(frozen=True, slots=True)
class Pace:
    """The effective delay and who decided it."""

    delay: timedelta
    decided_by: str


def pace_of(row: Any) -> Pace:
    """The largest wins; a person's policy replaces the default, but never undercuts robots or a penalty."""
    said = [
        (row["penalty_ms"], "penalty after 429 or 503"),
        (row["crawl_delay_ms"] or 0, "Crawl-delay of robots.txt"),
        (row["source_delay_ms"] or 0, "rate limit of a source"),
        (row["address_delay_ms"], f"its address {row['address']}, which has {row['names_at_address']:,} names"),
    ]
    usual = (0, "politeness.enabled = false") if row["is_unpaced"] else (row["base_delay_ms"], "default")
    own = row["min_request_interval_ms"]
    policy = usual if own is None else (own, "host policy")
    milliseconds, decided_by = max((policy, *said), key=lambda one: one[0])
    return Pace(timedelta(milliseconds=milliseconds), decided_by)


def host_named(text: str) -> str:
    """A host as a person types it, in the one spelling we use; whatever its port."""
    return _address_named(text).host


def site_of(text: str) -> str:
    """The same with its port, unless that is the usual one."""
    return _address_named(text).site


def _address_named(text: str) -> CanonicalUrl:
    try:
        return site_named(text)
    except UrlRejected as error:
        raise UsageError(f"{text!r} is not a host: {error.what}") from error


async def set_policy(
    database: Database, host: str, policy: HostPolicy, default_delay: timedelta, known: KnownEditions = None
) -> None:
    """The values it names hold from the next request of every process on; values set before stay.

    Raises Outdated where what was set before is no edition that is `known`.
    """
    bucket = bucket_of(host)
    async with database.transaction() as connection:
        await _require_known(connection, host, known)
        await connection.execute(
            *queries.set_policy(
                bucket=bucket,
                host=host,
                max_concurrency=policy.max_concurrency,
                min_request_interval_ms=policy.min_request_interval_ms,
                burst=policy.burst,
                max_pages=policy.max_pages,
                max_kb_per_page=policy.max_kb_per_page,
                allow_js=policy.allow_js,
            )
        )
        await _apply(connection, host, default_delay)


async def clear_policy(database: Database, host: str, default_delay: timedelta, known: KnownEditions = None) -> None:
    """Back to the defaults."""
    async with database.transaction() as connection:
        await _require_known(connection, host, known)
        await connection.execute(queries.clear_policy, bucket_of(host), host)
        await _apply(connection, host, default_delay)


async def _require_known(connection: Connection, host: str, known: KnownEditions) -> None:
    if known is not None:
        row = await connection.fetchrow(queries.lock_policy, bucket_of(host), host)
        assert row is not None
        require_known(known, HostPolicy(**row), f"The policy of {host}")


async def set_crawl_delay(connection: Connection, host: str, delay: timedelta, default_delay: timedelta) -> None:
    """The delay that robots.txt asks for, honoured up to a day."""
    milliseconds = round(min(max(delay, timedelta()), LONGEST_DELAY).total_seconds() * 1000)
    await connection.execute(queries.set_crawl_delay, bucket_of(host), host, milliseconds)
    await _apply(connection, host, default_delay)


async def set_source_delay(connection: Connection, host: str, delay_ms: int | None, default_delay: timedelta) -> None:
    """The delay a source asks for its own host; None takes it back."""
    await connection.execute(queries.set_source_delay, bucket_of(host), host, delay_ms)
    await _apply(connection, host, default_delay)


async def follow_address(database: Database, default_delay: timedelta, host: str, *, is_inside: bool) -> None:
    """With politeness switched off: no default delay for a host in a network of our own, for as long as it is there."""
    async with database.transaction() as connection:
        change = queries.unpace_host if is_inside else queries.pace_host
        if await connection.fetchval(change, bucket_of(host), host):
            await _apply(connection, host, default_delay)


async def pace_everybody(database: Database, default_delay: timedelta) -> None:
    """With politeness switched on again: what was left out for some hosts holds for all."""
    for row in await database.fetch(queries.unpaced_hosts):
        await follow_address(database, default_delay, row["host"], is_inside=False)


async def close_host(
    connection: Connection | Database, host: str, reason: str, until: datetime | None, now: datetime | None = None
) -> None:
    """Close it for one reason until a time; None opens it again, as far as this reason goes."""
    await connection.execute(queries.close_host, bucket_of(host), host, reason, until, now)


async def read_host(database: Database, host: str) -> Any:
    row = await database.fetchrow(queries.read_host, bucket_of(host), host)
    if row is None:
        raise NotFound(
            f"There is no host called {host}: nothing of it was ever queued.",
            fix="`headwater hosts list` shows the hosts there are.",
        )
    return row


async def closures_of(database: Database, host: str) -> list[Any]:
    """Each reason for which it is closed now, with the time it ends."""
    return await database.fetch(queries.closures_of_host, bucket_of(host), host)


async def _apply(connection: Connection, host: str, default_delay: timedelta) -> None:
    milliseconds = round(default_delay.total_seconds() * 1000)
    await connection.execute(queries.apply_host_policy, bucket_of(host), host, milliseconds, None)


async def has_answered(database: Database, host: str) -> bool:
    """Whether it ever did, whatever it said."""
    return bool(await database.fetchval(queries.has_answered, bucket_of(host), host))
