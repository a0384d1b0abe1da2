"""A step's items: those that are new or changed are submitted to the frontier and remembered by their channel.

All in the caller's transaction; sifting the new from the known is pure.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.discover.items import FoundItems, Item
from headwater.discover.polls.backfill import MOST_PAGES
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.run_state import ItemTally, OwnListing, RunState
from headwater.discover.polls.vacancies import keep_vacancies
from headwater.errors import UrlRejected, UsageError
from headwater.frontier.budget import beyond_budget
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import (
    DEEPEST,
    LOWEST,
    TOO_MANY_NEW_HOSTS,
    FoundUrl,
    SubmitAnswer,
    SubmitOutcome,
    Submitter,
    submit,
)
from headwater.net.redirects import LONGEST_CHAIN
from headwater.phrases import quantity
from headwater.politeness.takedown import takedowns_for
from headwater.sources.kinds import ChannelKind
from headwater.storable import storable
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.domains import Voice
from headwater.urls.traps import Trap

# The hosts of a part are locked while it is taken, and nothing of them is claimed then.
PART = 2_000
# Pages of one list that may be due at once. The others fall due one by one, as fast as their host may be asked.
DUE_AT_ONCE = 500
LONG_AGO = datetime.min.replace(tzinfo=UTC)
# So many items claiming at once that they changed since the last poll are a clock, not a publisher.
FEWEST_TO_DISTRUST = 10
MOST_CHANGED_AT_ONCE = 0.5
HALF = 8  # bytes of a signature
# Stands in the memory for what was listed, offered and refused: by a takedown, or as out of scope.
REFUSED = b""

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
class ListedItem:
    item: Item
    url: CanonicalUrl
    signature: bytes
    is_rewritten: bool = False  # under another headline than before


@dataclass(frozen=True, slots=True)
class Sifted:
    new: tuple[ListedItem, ...]
    changed: tuple[ListedItem, ...] = ()
    known: tuple[ListedItem, ...] = ()
    refused: tuple[ListedItem, ...] = ()  # before: what forbade them may be gone

    @property
    def fresh(self) -> tuple[ListedItem, ...]:
        """The items that the frontier is told of."""
        return (*self.new, *self.changed, *self.refused)


def distinct_items(items: Sequence[Item]) -> tuple[list[ListedItem], int]:
    """Each address once, and how many can never be fetched."""
    found: dict[bytes, ListedItem] = {}
    rejected = 0
    for item in items:
        try:
            url = canonicalise(item.url)
        except UrlRejected:
            rejected += 1
            continue
        found.setdefault(url.url_hash, ListedItem(item, url, signature_of(item)))
    return list(found.values()), rejected


def sift(found: Sequence[ListedItem], known: Mapping[bytes, bytes]) -> Sifted:
    """`known`: the signatures this channel's items had, by the hash of their address."""
    changed = [one for one in found if known.get(one.url.url_hash, one.signature) not in (one.signature, REFUSED)]
    return Sifted(
        new=tuple(one for one in found if one.url.url_hash not in known),
        changed=tuple(
            replace(one, is_rewritten=known[one.url.url_hash][:HALF] != one.signature[:HALF]) for one in changed
        ),
        known=tuple(one for one in found if known.get(one.url.url_hash) == one.signature),
        refused=tuple(one for one in found if known.get(one.url.url_hash) == REFUSED),
    )


def without(sifted: Sifted, urls: Collection[str]) -> Sifted:
    """Without the new and changed items at these addresses."""
    new, changed = (tuple(one for one in group if one.item.url not in urls) for group in (sifted.new, sifted.changed))
    return replace(sifted, new=new, changed=changed)


def signature_of(item: Item) -> bytes:
    """Half of it of the headline, half of the rest: a new headline is worth a visit, a new teaser is not."""
    updated = item.updated_at.isoformat() if item.updated_at else ""
    return _short(item.title) + _short(f"{item.summary}\x00{updated}")


def _short(text: str) -> bytes:
    return sha256(text.encode(errors="replace")).digest()[:HALF]


def found_from(
    one: ListedItem, parent: str, now: datetime, *, is_believed: bool = True, due_in: timedelta | None = None
) -> FoundUrl:
    """A date of change is believed; an item that only shows another headline changed by now."""
    changed_at = one.item.updated_at or (now if one.is_rewritten else None)
    changed_at = changed_at if is_believed else None
    return FoundUrl(one.item.url, parent, min(one.item.depth, DEEPEST), due_in, changed_at)


def in_parts(channel: Leased, found_items: FoundItems) -> Iterator[FoundItems]:
    """A very long list, the newest first: each part is a transaction of its own, its dates are judged as a whole.

    Only of channels that do not remember their items: the list of a feed is short.
    """
    items = found_items.items
    if len(items) <= DUE_AT_ONCE or channel.kind.traits.remembers_items or channel.lists_vacancies:
        yield found_items
        return
    changed = [item.updated_at for item in items]
    whole = replace(found_items, is_believed=is_believable(changed, len(items), channel.past.last_ok_at))
    items = tuple(sorted(items, key=_age))
    for start in range(0, len(items), PART):
        yield replace(whole, items=items[start : start + PART], before=start)


def _age(item: Item) -> timedelta:
    return -((item.updated_at or item.published_at or LONG_AGO) - LONG_AGO)


def due_in(place: int, delay: timedelta) -> timedelta | None:
    """Of the page at this place of a list. Its host has no turn for it before that in any case, and what is found there
    meanwhile, by whomever, does not stand behind it.
    """
    return (place - DUE_AT_ONCE + 1) * delay if place >= DUE_AT_ONCE else None


def is_believable(changed: Sequence[datetime | None], listed: int, since: datetime | None) -> bool:
    """Whether dates of change mean anything: where half of a long list changed since the last poll, they do not.

    `changed`: when those changed that are no longer as they were; None: not said.
    """
    if since is None or listed < FEWEST_TO_DISTRUST:
        return True
    late = sum(at is not None and at > since for at in changed)
    return late <= MOST_CHANGED_AT_ONCE * listed


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
    taken = await take_items(connection, channel, run_state, found_items, now, limits)
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


@dataclass(frozen=True, slots=True)
class ListedPart:
    """What items were told by, where their part of its list begins, and whether its dates are believed, if known."""

    told_by: ChannelKind
    before: int | None
    is_believed: bool | None


@dataclass(frozen=True, slots=True)
class Offered:
    """New and changed items before the frontier: its answers, and those that were not offered."""

    answers: list[SubmitAnswer]
    too_many: list[ListedItem]  # of other sites, for today
    beyond: int  # pages that the source has no room for
    is_believed: bool  # their dates of change

    @property
    def crowded(self) -> set[str]:
        return {answer.url for answer in self.answers if answer.reason == TOO_MANY_NEW_HOSTS}

    @property
    def left_out(self) -> set[str]:
        """Neither kept nor remembered: listed again at a later poll, they are offered again."""
        return {*(one.item.url for one in self.too_many), *self.crowded}

    @property
    def refused(self) -> set[str]:
        return self.left_out | {answer.url for answer in self.answers if answer.outcome is SubmitOutcome.REJECTED}


async def take_items(
    connection: Connection,
    channel: Leased,
    run_state: RunState,
    found_items: FoundItems,
    now: datetime,
    limits: IntakeLimits,
) -> RunState:
    """The run state with these items counted."""
    items = found_items.items
    if not items:
        return run_state
    found, _ = distinct_items(items)
    sifted = await _sift(connection, channel, found)
    led_to = await _led_to(connection, sifted.changed, {one.url.url_hash for one in found})
    before = None if channel.kind.traits.remembers_items else found_items.before
    place = ListedPart(run_state.step.reads_as, before, found_items.is_believed)
    offered = await _offer(connection, channel, place, sifted, led_to, now, limits)
    if channel.kind.traits.remembers_items:
        await _remember(connection, channel, without(sifted, offered.left_out), offered.refused, now)
        # What may not be told of the target of a redirect is not: what was said of it before stands.
        targets = Sifted((), tuple(one for one in led_to if one.item.url not in offered.refused))
        await _remember(connection, channel, targets, (), now)
        tally, dates = tally_of_memory(sifted, offered.refused, channel.own)
        run_state = keeping_listing(run_state, items, found, sifted, channel.own)
    else:
        not_offered = ItemTally(skipped=len(offered.too_many) + offered.beyond)
        tally, dates = tally_of_answers(offered.answers) + not_offered, []
    # A poll that answers "not modified" would never offer the rest.
    run_state = replace(run_state, is_cut=True) if offered.left_out else run_state
    unusable = ItemTally(found=len(items), skipped=len(items) - len(found))
    return run_state.counting(tally + unusable, dates).noting(*notes_on(offered, channel.source.max_pages, limits))


async def _sift(connection: Connection, channel: Leased, found: Sequence[ListedItem]) -> Sifted:
    """By the memory of the channel; without one all are new to it."""
    if not channel.kind.traits.remembers_items:
        return Sifted(tuple(found))
    rows = await connection.fetch(queries.known_items, channel.id, [one.url.url_hash for one in found])
    return sift(found, {row["url_hash"]: row["signature"] for row in rows})


async def _offer(
    connection: Connection,
    channel: Leased,
    place: ListedPart,
    sifted: Sifted,
    led_to: Sequence[ListedItem],
    now: datetime,
    limits: IntakeLimits,
) -> Offered:
    """To the frontier, as many as the source and the day have room for."""
    # What is new to a channel with a memory was written, not changed.
    changed = sifted.changed if channel.kind.traits.remembers_items else sifted.new
    listed = len(sifted.fresh) + len(sifted.known)
    is_believed, voice = place.is_believed, channel.voice
    if is_believed is None:
        dates = [now if one.is_rewritten else one.item.updated_at for one in changed]
        is_believed = is_believable(dates, listed, channel.past.last_ok_at)
    wanted, beyond = await _within_budget(connection, channel, (*sifted.fresh, *led_to))
    offered, too_many = await _within_the_day(connection, channel, wanted, now, limits.foreign_per_day)
    delay = channel.host_delay or limits.default_delay
    found = [
        found_from(
            one,
            channel.url.url,
            now,
            is_believed=is_believed and voice.covers(one.url.host),
            due_in=None if place.before is None else due_in(place.before + nth, delay),
        )
        for nth, one in enumerate(offered)
    ]
    answers = await _submit(connection, channel, place.told_by, found, limits)
    await _count_foreign(connection, channel, offered, answers, now)
    return Offered(answers, too_many, beyond, is_believed)


def notes_on(offered: Offered, max_pages: int | None, limits: IntakeLimits) -> Iterator[str]:
    """For the log of runs: items that were left out, and why."""
    yield from _why_left_out(len(offered.too_many), len(offered.crowded), limits)
    if not offered.is_believed:
        yield NOT_BELIEVED
    if offered.beyond:
        yield f"{quantity(offered.beyond, 'page')} left out: max_pages = {max_pages or MOST_PAGES} is reached"
    yield from traps_among(offered.answers)


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
    """The items that the source has room for, and how many it has none for."""
    most = channel.source.max_pages or (MOST_PAGES if channel.kind is ChannelKind.BACKFILL else None)
    if most is None or not channel.kind.traits.is_budgeted:
        return fresh, 0
    beyond = await beyond_budget(connection, channel.source_id, most, [one.item.url for one in fresh])
    return [one for one in fresh if one.item.url not in beyond], len(beyond)


async def _within_the_day(
    connection: Connection, channel: Leased, fresh: Sequence[ListedItem], now: datetime, most: int | None
) -> tuple[list[ListedItem], list[ListedItem]]:
    """The items that may be offered to the frontier, and those of other sites that are too many for today."""
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
    """Only URLs that are new to the frontier count: a link to a page that is known costs its host nothing."""
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
    """Items that their channel has not listed for long, in batches; how many there were."""
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
    """The first answer's items and how many of them were known: whether a feed overflowed is judged by them.

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
    """That it was listed is known, and nothing else of it is kept."""
    known = {"url_hash": one.url.url_hash, "bucket": one.url.bucket, "signature": REFUSED}
    return dict.fromkeys(ITEM_COLUMNS) | known
