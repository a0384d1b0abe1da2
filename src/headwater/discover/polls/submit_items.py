"""A step's items, submitted to the frontier and remembered by their channel, in the caller's transaction."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.discover.cadence.wording import quantity
from headwater.discover.items import FoundItems, Item
from headwater.discover.polls.backfill import MOST_PAGES
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.run_state import ItemTally, OwnListing, RunState
from headwater.discover.polls.sifting import (
    REFUSED,
    ListedItem,
    Sifted,
    distinct_items,
    found_from,
    is_believable,
    sift,
    without,
)
from headwater.discover.polls.vacancies import keep_vacancies
from headwater.errors import UsageError
from headwater.frontier.budget import beyond_budget
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import (
    LOWEST,
    TOO_MANY_NEW_HOSTS,
    FoundUrl,
    SubmitAnswer,
    SubmitOutcome,
    Submitter,
    submit,
)
from headwater.net.redirects import LONGEST_CHAIN
from headwater.politeness.takedown import takedowns_for
from headwater.sources.channels import ChannelKind
from headwater.storable import storable
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import Voice
from headwater.urls.traps import Trap

queries = load_queries("headwater.discover")

TAKEN_DOWN = "taken down: nothing of it is kept"
NOT_BELIEVED = "too many dates of change at once: not believed"
MOST_DATES_KEPT = 500
FORGOTTEN_AT_ONCE = 5_000
ITEM_COLUMNS = (
    *("url_hash", "bucket", "signature", "title", "author", "summary", "content", "language"),
    *("published_at", "updated_at", "fields"),
)


@dataclass(frozen=True, slots=True)
class IntakeLimits:
    """The delay of a new host, and how much a channel may bring that is not its own; None is no limit."""

    default_delay: timedelta
    foreign_per_day: int | None = None
    new_hosts_per_hour: int | None = None


class PollLost(Exception):
    """Another poller has this channel now, or its source is gone: nothing of this step may stand."""


async def take_found_items(
    connection: Connection,
    channel: Leased,
    run_state: RunState,
    found_items: FoundItems,
    now: datetime,
    limits: IntakeLimits,
) -> RunState:
    """The run state with all items counted; a job source by its vacancies: its own pages are only the way to more."""
    channel = replace(channel, answered=found_items.url)
    if (found_items.items or found_items.harvest.vacancies) and await is_taken_down(connection, channel, found_items):
        return run_state.noting(TAKEN_DOWN)
    taken = await take_items(connection, channel, run_state, found_items.items, now, limits)
    if channel.lists_vacancies:
        own_page = await _note_own_page(connection, channel, found_items)
        counted = replace(taken, tally=run_state.tally)
        told = await keep_vacancies(connection, channel, counted, found_items.harvest, own_page, now)
        return told.with_news(since=run_state, also=taken)
    return taken.with_news(since=run_state)


async def _note_own_page(connection: Connection, channel: Leased, found_items: FoundItems) -> str:
    """The page that answered, where it is a vacancy's own: its entry counts as fetched, since it was just read."""
    if channel.kind is not ChannelKind.LISTING or not found_items.url:
        return ""
    page = canonicalise(found_items.url)
    if not any(one.url.url_hash == page.url_hash for one in distinct_items(found_items.items)[0]):
        return ""
    key = (page.bucket, page.url_hash, channel.source_id)
    await connection.execute(queries.settle_page_read, *key)
    await connection.execute(
        queries.note_page_read, *key, found_items.validators.etag, found_items.validators.last_modified
    )
    return page.url


async def is_taken_down(connection: Connection, channel: Leased, found_items: FoundItems) -> bool:
    """By the addresses of the source, of the channel and of the answer: it may have been asked before the takedown."""
    answered = (canonicalise(found_items.url),) if found_items.url else ()
    places = (channel.url, channel.asked, channel.source.address, *answered)
    taken_down = await takedowns_for(connection, {url.host for url in places})
    return any(map(taken_down.covers, places))


async def take_items(
    connection: Connection,
    channel: Leased,
    run_state: RunState,
    items: Sequence[Item],
    now: datetime,
    limits: IntakeLimits,
) -> RunState:
    """The run state with these items counted."""
    if not items:
        return run_state
    found, rejected = distinct_items(items)
    if channel.kind.traits.remembers_items:
        rows = await connection.fetch(queries.known_items, channel.id, [one.url.url_hash for one in found])
        sifted = sift(found, {row["url_hash"]: row["signature"] for row in rows})
    else:
        sifted = Sifted(tuple(found))
    # What is new to a channel with a memory was written, not changed.
    changed = sifted.changed if channel.kind.traits.remembers_items else sifted.new
    voice = channel.voice
    is_believed = is_believable(changed, len(found), channel.past.last_ok_at)
    led_to = await _led_to(connection, sifted.changed, {one.url.url_hash for one in found})
    fresh = (*sifted.fresh, *led_to)
    wanted, beyond = await _within_budget(connection, channel, fresh)
    offered, too_many = await _within_the_day(connection, channel, wanted, now, limits.foreign_per_day)
    found_now = [
        found_from(one, channel.url.url, now, is_believed=is_believed and voice.covers(one.url.host)) for one in offered
    ]
    answers = await _submit(connection, channel, run_state.step.reads_as, found_now, limits)
    await _count_foreign(connection, channel, offered, answers, now)
    crowded = {answer.url for answer in answers if answer.reason == TOO_MANY_NEW_HOSTS}
    # Neither kept nor remembered: listed again at a later poll, it is offered again.
    left_out = {*(one.item.url for one in too_many), *crowded}
    if channel.kind.traits.remembers_items:
        refused = left_out | {answer.url for answer in answers if answer.outcome is SubmitOutcome.REJECTED}
        await _remember(connection, channel, without(sifted, left_out), refused, now)
        # What may not be told of the target of a redirect is not: what was said of it before stands.
        targets = Sifted((), tuple(one for one in led_to if one.item.url not in refused))
        await _remember(connection, channel, targets, (), now)
        tally, dates = tally_of_memory(sifted, refused, channel.own)
        run_state = keeping_listing(run_state, items, found, sifted, channel.own)
    else:
        tally, dates = tally_of_answers(answers) + ItemTally(skipped=len(too_many) + beyond), []
    if left_out:
        # A poll that answers "not modified" would never offer the rest.
        run_state = replace(run_state, is_cut=True).noting(*_why_left_out(len(too_many), len(crowded), limits))
    unusable = ItemTally(found=len(items), skipped=rejected + len(items) - rejected - len(found))
    most = channel.source.max_pages or MOST_PAGES
    full = f"{quantity(beyond, 'page')} left out: max_pages = {most} is reached" if beyond else ""
    notes = ("" if is_believed else NOT_BELIEVED, full, *traps_among(answers))
    return run_state.counting(tally + unusable, dates).noting(*notes)


def traps_among(answers: Sequence[SubmitAnswer]) -> Iterator[str]:
    """How many URLs were left out as traps, for the log of runs."""
    counts = Counter(answer.reason for answer in answers if answer.reason in set(Trap))
    yield from (f"{count} left out: {trap}" for trap, count in sorted(counts.items()))


async def _led_to(
    connection: Connection, changed: Sequence[ListedItem], listed_now: Collection[bytes]
) -> list[ListedItem]:
    """The pages to which those that changed were redirected: what a channel says of the one, it says of the other."""
    moved, following = list[ListedItem](), {one.url.url_hash: one for one in changed}
    seen = {*listed_now, *following}
    for _ in range(LONGEST_CHAIN):
        places = [one.url.bucket for one in following.values()], list(following)
        rows = await connection.fetch(queries.redirects_of, *places) if following else []
        led = [(following[row["url_hash"]], canonicalise(row["moved_to"])) for row in rows]
        further = {
            url.url_hash: replace(one, url=url, item=replace(one.item, url=url.url))
            for one, url in led
            if url.url_hash not in seen
        }
        seen |= set(further)
        following = further
        moved += further.values()
    return moved


async def _within_budget(
    connection: Connection, channel: Leased, fresh: Sequence[ListedItem]
) -> tuple[Sequence[ListedItem], int]:
    """What the source has room for, and how many it has none for."""
    most = channel.source.max_pages or (MOST_PAGES if channel.kind is ChannelKind.BACKFILL else None)
    if most is None or not channel.kind.traits.is_budgeted:
        return fresh, 0
    beyond = await beyond_budget(connection, channel.source_id, most, [one.item.url for one in fresh])
    return [one for one in fresh if one.item.url not in beyond], len(beyond)


async def _within_the_day(
    connection: Connection, channel: Leased, fresh: Sequence[ListedItem], now: datetime, most: int | None
) -> tuple[list[ListedItem], list[ListedItem]]:
    """What may be offered to the frontier, and the URLs of other sites that are too many for today."""
    own = channel.own
    foreign = [one for one in fresh if not own.covers(one.url.host)]
    if most is None or not foreign:
        return list(fresh), []
    taken: int = await connection.fetchval(queries.foreign_taken, channel.id, now.date())
    too_many = foreign[max(most - taken, 0) :]
    hashes = {one.url.url_hash for one in too_many}
    return [one for one in fresh if one.url.url_hash not in hashes], too_many


async def _count_foreign(
    connection: Connection,
    channel: Leased,
    offered: Sequence[ListedItem],
    answers: Sequence[SubmitAnswer],
    now: datetime,
) -> None:
    """Only what is new to the frontier counts: a link to a page that is known costs its host nothing."""
    own, pairs = channel.own, zip(offered, answers, strict=True)
    queued = sum(answer.outcome is SubmitOutcome.QUEUED and not own.covers(one.url.host) for one, answer in pairs)
    if queued:
        await connection.execute(queries.count_foreign, channel.id, now.date(), queued)


def _why_left_out(foreign: int, crowded: int, limits: IntakeLimits) -> list[str]:
    notes = []
    if foreign:
        more = f"more than {limits.foreign_per_day:,} a day. Allow more: poll.foreign_urls_per_day"
        notes.append(f"{quantity(foreign, 'link')} to other sites left out: {more}")
    if crowded:
        more = f"more than {limits.new_hosts_per_hour:,} new hosts an hour. Allow more: poll.new_hosts_per_hour"
        notes.append(f"{quantity(crowded, 'link')} left out: {more}")
    return notes


async def forget_items(database: Database, days: int) -> int:
    """What its channel has not listed for long, in batches; how many there were."""
    count = 0
    while forgotten := int((await database.execute(queries.forget_items, days, FORGOTTEN_AT_ONCE)).split()[-1]):
        count += forgotten
    return count


def tally_of_memory(sifted: Sifted, refused: Collection[str], own: Voice) -> tuple[ItemTally, list[datetime | None]]:
    """New are items never taken from this channel before, also where others know them; and when each was published.

    A channel that lists pages of its own learns its rhythm from these alone.
    """
    new, changed, at_last = (
        [one for one in group if one.item.url not in refused] for group in (sifted.new, sifted.changed, sifted.refused)
    )
    inserted = len(new) + len(at_last)
    skipped = len(sifted.known) + len(sifted.fresh) - inserted - len(changed)
    # What was refused for a while came long ago: nothing is learned from it.
    has_own = any(own.covers(one.url.host) for one in (*sifted.fresh, *sifted.known))
    telling = [one for one in new if own.covers(one.url.host)] if has_own else new
    return ItemTally(inserted=inserted, updated=len(changed), skipped=skipped), [
        one.item.published_at for one in telling
    ]


def tally_of_answers(answers: Sequence[SubmitAnswer]) -> ItemTally:
    outcomes = [answer.outcome for answer in answers]
    inserted = outcomes.count(SubmitOutcome.QUEUED) + outcomes.count(SubmitOutcome.TAKEN_OVER)
    updated = outcomes.count(SubmitOutcome.REVISIT)
    return ItemTally(inserted=inserted, updated=updated, skipped=len(answers) - inserted - updated)


def keeping_listing(
    run_state: RunState, items: Sequence[Item], found: Sequence[ListedItem], sifted: Sifted, own: Voice
) -> RunState:
    """What the first answer listed beside what was known: whether a feed overflowed is judged by it.

    Pages of other sites say nothing of that: a channel that lists thousands of them would be polled ever sooner.
    """
    if not run_state.is_first_step:
        return run_state
    of_own = [one for one in found if own.covers(one.url.host)]
    seen = (*sifted.known, *sifted.changed, *sifted.refused)
    if of_own and len(of_own) < len(found):
        known = sum(own.covers(one.url.host) for one in seen)
        listing = OwnListing(len(of_own), known, _dates([one.item for one in of_own]))
    elif found and not of_own:
        listing = None
    else:
        listing = OwnListing(len(items), len(seen), _dates(items))
    return replace(run_state, first=replace(run_state.first, items=len(items), own=listing))


def _dates(items: Sequence[Item]) -> tuple[datetime | None, ...]:
    return tuple(item.published_at for item in items[:MOST_DATES_KEPT])


async def _submit(
    connection: Connection, channel: Leased, told_by: ChannelKind, found: Sequence[FoundUrl], limits: IntakeLimits
) -> list[SubmitAnswer]:
    if not found:
        return []
    if channel.kind is ChannelKind.BACKFILL:
        # Whatever is news comes first.
        found = [replace(one, priority=LOWEST) for one in found]
    scope = channel.source.scope if channel.kind.traits.links_in_scope else channel.source.paths
    submitter = Submitter(
        channel.source_id,
        EntryOrigin(channel.kind.traits.origin or told_by.traits.origin),
        channel.id,
        scope,
        voice=channel.voice,
        home=channel.source.address,
        most_new_hosts=limits.new_hosts_per_hour,
    )
    try:
        return await submit(connection, submitter, found, default_delay=limits.default_delay)
    except UsageError as error:
        # Blocked or deleted since the poll began.
        raise PollLost(error.what) from error


async def _remember(
    connection: Connection, channel: Leased, sifted: Sifted, refused: Collection[str], now: datetime
) -> None:
    still_refused = [one for one in sifted.refused if one.item.url in refused]
    at_last = [one for one in sifted.refused if one.item.url not in refused]
    rows = [
        _row_of_refused(one) if one.item.url in refused else _row(one)
        for one in (*sifted.new, *sifted.changed, *at_last)
    ]
    if rows:
        columns = {name: [row[name] for row in rows] for name in ITEM_COLUMNS}
        await connection.execute(*queries.remember_items(channel_id=channel.id, now=now, **columns))
        await connection.execute(queries.note_domains, channel.id, list(channel.voice.domains), now)
    if seen := (*sifted.known, *still_refused):
        hashes = [one.url.url_hash for one in seen]
        await connection.execute(queries.see_items_again, channel.id, now, hashes)


def _row(one: ListedItem) -> dict[str, Any]:
    item = one.item
    return {
        "url_hash": one.url.url_hash,
        "bucket": one.url.bucket,
        "signature": one.signature,
        "title": storable(item.title) or None,
        "author": storable(item.author) or None,
        "summary": storable(item.summary) or None,
        "content": storable(item.content) or None,
        "language": storable(item.language) or None,
        "published_at": item.published_at,
        "updated_at": item.updated_at,
        "fields": dict(item.fields) or None,
    }


def _row_of_refused(one: ListedItem) -> dict[str, Any]:
    """That it was listed is known, and nothing of what it says is kept."""
    known = {"url_hash": one.url.url_hash, "bucket": one.url.bucket, "signature": REFUSED}
    return dict.fromkeys(ITEM_COLUMNS) | known
