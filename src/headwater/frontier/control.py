"""Changes of many waiting entries at once: pause and resume, rules that changed, a person's retry.

Each works in batches of its own transactions, finds its entries by key and never scans the table; a fetch that is under
way is left alone and meets the same rule when it settles or before its next request.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from shlex import quote
from typing import Any
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import Busy, NotFound, Refused, UsageError
from headwater.frontier.entry import DeadReason, EntryStatus
from headwater.frontier.reads import EntryRow, Filter, list_entries
from headwater.politeness.takedown import takedowns_for
from headwater.storable import one_line
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.fingerprint import bucket_of

queries = load_queries("headwater.frontier")

BATCH = 1_000
WAITING = (EntryStatus.PENDING, EntryStatus.FAILED)
AT_REST = (EntryStatus.PENDING, EntryStatus.FAILED, EntryStatus.DEAD, EntryStatus.FETCHED)
# Of the reason that a person gives.
LONGEST_WHY = 500
NARROWER = "Give a host, a source, a reason or a prefix as well."
RETRYABLE = (EntryStatus.FAILED, EntryStatus.DEAD, EntryStatus.FETCHED)
# Closed until a person opens it.
FOR_EVER = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class EntryKey:
    bucket: int
    url_hash: bytes


async def change(
    connection: Connection | Database,
    keys: Sequence[EntryKey],
    *,
    before: Sequence[EntryStatus],
    status: EntryStatus | None = None,
    reason: str | None = None,
    held: str | None = None,
    now: datetime | None = None,
) -> int:
    """How many of them were in one of the statuses `before` and were changed."""
    changed: int = await connection.fetchval(
        *queries.change_entries(
            buckets=[key.bucket for key in keys],
            url_hashes=[key.url_hash for key in keys],
            before=list(before),
            status=status,
            reason=reason,
            held=held,
            error=None,
            now=now,
        )
    )
    return changed


async def set_aside(database: Database, source_id: UUID) -> int:
    """Hold the waiting entries of a source, or hand them to an active source that found them too.

    What a removed source has read goes to such a source as well, and is read again for it.
    """
    count = 0
    async for rows in _pages_of_source(database, source_id):
        own = [row for row in rows if row["source_id"] == source_id]
        waiting = [row for row in own if row["status"] in WAITING and row["held"] is None]
        left = [row for row in own if row["is_left"]]
        if waiting or left:
            await _hand_over_or_hold(database, source_id, [*waiting, *left])
        count += len(waiting)
    return count


async def _hand_over_or_hold(database: Database, source_id: UUID, rows: list[Any]) -> None:
    async with database.transaction() as connection:
        buckets, hashes = [row["bucket"] for row in rows], [row["url_hash"] for row in rows]
        hosts = [row["host"] for row in rows]
        await connection.execute(queries.lock_hosts, buckets, hosts)
        await connection.execute(queries.hand_over_entries, source_id, buckets, hashes)
        left = await connection.fetch(queries.still_owned, source_id, buckets, hashes)
        remaining = [EntryKey(row["bucket"], row["url_hash"]) for row in left]
        await change(connection, remaining, before=WAITING, held="paused")
        await connection.execute(queries.refresh_hosts, buckets, hosts, None)


async def let_go(database: Database, source_id: UUID) -> int:
    """Everything held for the source waits in line again."""
    count = 0
    while rows := await database.fetch(queries.held_entries_of_source, source_id, BATCH):
        changed = await change(database, [EntryKey(row["bucket"], row["url_hash"]) for row in rows], before=WAITING)
        count += changed
        if not changed:
            break
    return count


async def end_where(
    database: Database,
    host: str,
    is_refused: Callable[[CanonicalUrl], bool],
    reason: DeadReason,
    before: Sequence[EntryStatus] = WAITING,
) -> int:
    """End the host's entries that a rule refuses, URL by URL: robots that changed, a URL prefix taken down."""
    count, after = 0, b""
    while rows := await database.fetch(queries.entries_of_host, bucket_of(host), host, after, list(before), BATCH):
        after = rows[-1]["url_hash"]
        keys = list(await _chosen(rows, is_refused))
        count += await change(database, keys, before=before, status=EntryStatus.DEAD, reason=reason) if keys else 0
    return count


async def revive_where(database: Database, host: str, is_allowed: Callable[[CanonicalUrl], bool]) -> int:
    """Entries that robots.txt once forbade and now allows wait in line again."""
    count, after = 0, b""
    while rows := await database.fetch(queries.robots_blocked_of_host, bucket_of(host), host, after, BATCH):
        after = rows[-1]["url_hash"]
        urls = await _chosen(rows, is_allowed)
        async with database.transaction() as connection:
            taken_down = await takedowns_for(connection, [host])
            keys = [key for key, url in urls.items() if not taken_down.covers(url)]
            count += (
                await change(connection, keys, before=(EntryStatus.DEAD,), status=EntryStatus.PENDING) if keys else 0
            )
    return count


async def _chosen(rows: Sequence[Any], is_chosen: Callable[[CanonicalUrl], bool]) -> dict[EntryKey, CanonicalUrl]:
    """A site may write rules that take a tenth of a second to ask: after each URL the others get their turn."""
    chosen = {}
    for row in rows:
        url = canonicalise(row["url"])
        if is_chosen(url):
            chosen[EntryKey(row["bucket"], row["url_hash"])] = url
        await asyncio.sleep(0)
    return chosen


async def retry_now(database: Database, url: CanonicalUrl) -> None:
    """A person asks for it: dead, failed or fetched, it waits in line again. Politeness holds all the same."""
    async with database.transaction() as connection:
        if await _queue_again(connection, url):
            return
    await _refuse_change(database, url)


async def raise_now(database: Database, url: CanonicalUrl) -> None:
    """As `retry_now`, and in front of all others of its host."""
    async with database.transaction() as connection:
        if await _queue_again(connection, url):
            await connection.execute(queries.put_first, url.bucket, url.url_hash)
            await connection.execute(queries.refresh_hosts, [url.bucket], [url.host], None)
            return
    await _refuse_change(database, url)


async def _queue_again(connection: Connection, url: CanonicalUrl) -> bool:
    """False where it is unknown, or being fetched."""
    if (await takedowns_for(connection, [url.host])).covers(url):
        raise Refused(f"{url.url} is taken down.", fix="`headwater takedown list` shows by what, and since when.")
    await _require_followed(connection, url)
    return bool(await change(connection, [_key_of(url)], before=AT_REST, status=EntryStatus.PENDING))


async def kill(database: Database, url: CanonicalUrl, who: str, why: str) -> None:
    """Fetched never again: no channel, rule or retry of many revives it. What was kept of it stays."""
    if not await _kill_all(database, [_key_of(url)], AT_REST, killing_in_words(who, why)):
        await _refuse_change(database, url)


async def _kill_all(database: Database, keys: Sequence[EntryKey], before: Sequence[EntryStatus], told: str) -> int:
    changed: int = await database.fetchval(
        *queries.change_entries(
            buckets=[key.bucket for key in keys],
            url_hashes=[key.url_hash for key in keys],
            before=list(before),
            status=EntryStatus.DEAD,
            reason=DeadReason.KILLED,
            held=None,
            error=told,
            now=None,
        )
    )
    return changed


def killing_in_words(who: str, why: str) -> str:
    """Raises UsageError."""
    told = one_line(why)
    if len(told) > LONGEST_WHY:
        raise UsageError("This reason is too long.", fix=f"Up to {LONGEST_WHY} characters.")
    return f"by {who}: {told}" if told else f"by {who}"


def _key_of(url: CanonicalUrl) -> EntryKey:
    return EntryKey(url.bucket, url.url_hash)


async def retry_where(
    database: Database, wanted: Filter, on_progress: Callable[[int], None] = lambda _retried: None
) -> int:
    """All that match wait in line again, but for what is taken down or belongs to a source that is not followed.

    Those that a person killed do so only where they are asked for by that reason.
    """
    if wanted.status not in RETRYABLE:
        raise _wants_status("retried", RETRYABLE)
    if wanted == Filter(status=EntryStatus.FETCHED):
        raise UsageError("This would fetch everything again.", fix="Give a host, a source or a prefix as well.")
    status, killed = wanted.status, DeadReason.KILLED

    async def retry(entries: Sequence[EntryRow]) -> int:
        meant = [one for one in entries if one.reason != killed or wanted.reason == killed]
        return await _retry_batch(database, status, meant)

    return await _each_batch(database, wanted, retry, on_progress)


async def kill_where(
    database: Database,
    wanted: Filter,
    who: str,
    why: str,
    on_progress: Callable[[int], None] = lambda _killed: None,
) -> int:
    """All that match are never fetched again; what is being fetched meanwhile is left alone."""
    if wanted.status not in AT_REST:
        raise _wants_status("killed", AT_REST)
    if wanted == Filter(status=wanted.status):
        raise UsageError("This would end the whole queue.", fix=NARROWER)
    status, told = wanted.status, killing_in_words(who, why)

    async def kill_batch(entries: Sequence[EntryRow]) -> int:
        keys = [EntryKey(one.id.bytes[0], one.url_hash) for one in entries if one.reason != DeadReason.KILLED]
        return await _kill_all(database, keys, (status,), told) if keys else 0

    return await _each_batch(database, wanted, kill_batch, on_progress)


async def remove_where(
    database: Database, wanted: Filter, on_progress: Callable[[int], None] = lambda _removed: None
) -> int:
    """All that match are forgotten; what is being fetched meanwhile is left alone."""
    if wanted.status not in AT_REST:
        raise _wants_status("forgotten", AT_REST)
    if wanted == Filter(status=wanted.status):
        raise UsageError(
            "This would forget the whole queue.", fix="Give a host, a source, a reason or a prefix as well."
        )
    status = wanted.status

    async def remove_batch(entries: Sequence[EntryRow]) -> int:
        return await _delete(database, [(one.id.bytes[0], one.url_hash, one.host) for one in entries], (status,))

    return await _each_batch(database, wanted, remove_batch, on_progress)


def _wants_status(verb: str, statuses: Sequence[EntryStatus]) -> UsageError:
    return UsageError(f"Many URLs are {verb} by their status.", fix=f"Give one of: {', '.join(statuses)}.")


async def _each_batch(
    database: Database,
    wanted: Filter,
    act: Callable[[Sequence[EntryRow]], Awaitable[int]],
    on_progress: Callable[[int], None],
) -> int:
    """By keys and in batches: a page that looked at many rows and found none goes on with the next."""
    count, cursor = 0, None
    while True:
        page = await list_entries(database, wanted, limit=BATCH, cursor=cursor)
        count += await act(page.entries) if page.entries else 0
        on_progress(count)
        if (cursor := page.cursor) is None:
            return count


async def _retry_batch(database: Database, status: EntryStatus, entries: Sequence[EntryRow]) -> int:
    columns = [one.id.bytes[0] for one in entries], [one.url_hash for one in entries]
    async with database.transaction() as connection:
        rows = await connection.fetch(queries.owned_by_followed, *columns)
        taken_down = await takedowns_for(connection, {row["host"] for row in rows})
        keys = [
            EntryKey(row["bucket"], row["url_hash"])
            for row in rows
            if not (taken_down and taken_down.covers(canonicalise(row["url"])))
        ]
        return await change(connection, keys, before=(status,), status=EntryStatus.PENDING) if keys else 0


async def _require_followed(connection: Connection, url: CanonicalUrl) -> None:
    """Raises Refused where the next claim would only set it aside again."""
    row = await connection.fetchrow(queries.find_entry, url.bucket, url.url_hash, None)
    if row is None or row["source_status"] == "active":
        return
    if row["source_status"] == "deleted":
        what = f"{url.url} belongs to {row['source_name']}, which was removed: nothing of it is fetched."
        raise Refused(what, fix=f"Queue it by hand: headwater frontier add {quote(url.url)}")
    what = f"{url.url} belongs to {row['source_name']}, which is {row['source_status']}: nothing of it is fetched."
    raise Refused(what, fix=f"Resume it: headwater sources resume {row['source_id']}")


async def remove(database: Database, url: CanonicalUrl) -> None:
    """Forget an entry and who found it; a later discovery makes it new again."""
    if not await _delete(database, [(url.bucket, url.url_hash, url.host)], AT_REST):
        await _refuse_change(database, url)


async def _delete(database: Database, places: Sequence[tuple[int, bytes, str]], before: Sequence[EntryStatus]) -> int:
    """How many were in one of the statuses `before`."""
    buckets, hashes, hosts = map(list, zip(*places, strict=True))
    async with database.transaction() as connection:
        await connection.execute(queries.lock_hosts, buckets, hosts)
        count: int = await connection.fetchval(queries.delete_entries, buckets, hashes, list(before))
        await connection.execute(queries.refresh_hosts, buckets, hosts, None)
        return count


async def _refuse_change(database: Database, url: CanonicalUrl) -> None:
    if await database.fetchrow(queries.find_entry, url.bucket, url.url_hash, None) is None:
        raise NotFound(f"{url.url} is not in the frontier.", fix=f"Add it: headwater frontier add {quote(url.url)}")
    raise Busy(f"{url.url} is being fetched right now.", fix="Try again in a minute.")


async def _pages_of_source(database: Database, source_id: UUID) -> AsyncIterator[list[Any]]:
    bucket, url_hash = -1, b""
    while rows := await database.fetch(queries.entries_of_source, source_id, bucket, url_hash, BATCH):
        bucket, url_hash = rows[-1]["bucket"], rows[-1]["url_hash"]
        yield rows
