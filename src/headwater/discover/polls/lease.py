"""A channel leased for one poll: everything its run needs to know, read once."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.discover.api.recipe import recipe_from
from headwater.discover.cadence.answers import ValidatorRecord
from headwater.discover.cadence.forecast import Price, price_from
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.cadence.rhythm import Rhythm, rhythm_from
from headwater.discover.items import Item
from headwater.discover.polls.naming import Naming
from headwater.discover.polls.run_state import RunState, Todo
from headwater.discover.publisher_hints import PublisherHints, publisher_hints_from
from headwater.discover.push.subscription import KnownHub, known_hub_from
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Profile, SourceKind
from headwater.sources.store import source_from
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.domains import Voice, registrable_domain

SCHEDULE = "schedule"
# Of what was spent on a channel.
HALF_LIFE = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Spending:
    """Polls and what they brought, the older the less, as of the last one. A poll that failed is one in vain."""

    polls: float = 0.0
    in_vain: float = 0.0
    new_items: float = 0.0

    def after_poll(self, new_items: int, last_polled_at: datetime | None, now: datetime) -> "Spending":
        left = 0.0 if last_polled_at is None else 0.5 ** (max(now - last_polled_at, timedelta()) / HALF_LIFE)
        return Spending(
            self.polls * left + 1, self.in_vain * left + (new_items == 0), self.new_items * left + new_items
        )


@dataclass(frozen=True, slots=True)
class ChannelPast:
    """The outcome of the polls before this one."""

    last_ok_at: datetime | None = None
    last_new_at: datetime | None = None
    newest_item_at: datetime | None = None
    last_item_count: int = 0
    no_change: int = 0
    moved: int = 0  # times in a row that a permanent redirect was not followed for good
    overflows: int = 0
    silent_since: datetime | None = None
    errors: int = 0
    error: ErrorClass | None = None
    class_errors: int = 0
    rhythm: Rhythm = Rhythm()  # noqa: RUF009 - a frozen value
    naming: Naming = Naming()  # noqa: RUF009 - a frozen value
    last_polled_at: datetime | None = None
    validator_record: ValidatorRecord = ValidatorRecord()  # noqa: RUF009 - a frozen value
    spending: Spending = Spending()


@dataclass(frozen=True, slots=True)
class Leased:
    id: UUID
    token: UUID
    source_id: UUID
    source: Profile
    followed_since: datetime  # the source
    failures: int  # of the source's runs, in a row
    kind: ChannelKind
    url: CanonicalUrl
    recipe: str | None
    trigger: str
    interval: timedelta | None
    etag: str | None
    last_modified: str | None
    progress: object
    publisher_hints: PublisherHints  # of its last body: a 304 does not say them again
    answers: Mapping[str, Any]  # validators of the further answers of its last run, by their addresses
    past: ChannelPast
    price: Price
    common: tuple[float, ...]  # the hours of the week as all channels use them; empty while unknown
    host_delay: timedelta
    most_pages: int | None  # by its host's policy
    now: datetime  # the database's time when it was leased
    leased_at: float  # the same moment by our own monotonic clock, at the latest
    speaks_for_site: bool = False
    answered: str = ""  # the address that answered at last, where one did
    since: datetime | None = None  # how far back it is read, where a person said so
    lost: int = 0  # leases in a row that ran out under a poll
    followed: frozenset[ChannelKind] = frozenset()  # what its source has already; known where it is a search
    hub: KnownHub | None = None  # that its answers named so far
    crowding: float = 1.0  # polls that its host's channels deserve, as a multiple of those it has room for
    places: tuple[str, ...] = ()  # `kind url` of its source's feeds and sitemaps; known where it is a backfill

    @property
    def asked(self) -> CanonicalUrl:
        """The place that is really asked: the recipe of an API may name another one than the source's."""
        return canonicalise(recipe_from(self.recipe, self.url.url).url) if self.kind is ChannelKind.API else self.url

    @property
    def is_by_hand(self) -> bool:
        """Whether a person asked for this poll, at a time that the schedule did not choose."""
        return self.trigger != SCHEDULE

    @property
    def lists_vacancies(self) -> bool:
        return self.source.kind is SourceKind.JOBS and self.kind.traits.names_vacancies

    @property
    def voice(self) -> Voice:
        """Whose pages its words count for.

        Unless a person or the site vouches for the channel, the place that answered speaks: a link of one site may lead
        to a feed of another, and a recipe in an imported list may put any words into an API's mouth.
        """
        named = frozenset(self.source.speaks_for)
        if self.speaks_for_site:
            return Voice(registrable_domain(self.asked.host), named, registrable_domain(self.source.address.host))
        if self.kind is ChannelKind.API:
            return Voice(named=named)
        told_at = canonicalise(self.answered) if self.answered else self.asked
        return Voice(registrable_domain(told_at.host), named)

    @property
    def own(self) -> Voice:
        """The publisher's own pages: those of the channel's domain, and of the site that a person follows."""
        voice = self.voice
        return Voice(voice.domain, voice.named | {registrable_domain(self.source.address.host)})


def leased_from(row: Any, leased_at: float) -> Leased:
    error = row["error_class"]
    source = source_from(row)
    cadence = memory_from(row["cadence"])
    common = cadence.get("common")
    return Leased(
        id=row["channel_id"],
        token=row["token"],
        source_id=source.id,
        source=source.profile,
        followed_since=source.created_at,
        failures=source.consecutive_failures,
        kind=ChannelKind(row["channel_kind"]),
        url=canonicalise(row["channel_url"]),
        recipe=row["recipe"] or source.profile.parser_hint,
        trigger=row["trigger"],
        interval=row["poll_interval"],
        etag=row["etag"],
        last_modified=row["last_modified"],
        progress=row["progress"],
        publisher_hints=publisher_hints_from(row["publisher_hints"]),
        answers={url: memory_from(known) for url, known in memory_from(row["answers"]).items()},
        past=ChannelPast(
            last_ok_at=row["last_ok_at"],
            last_new_at=row["last_new_at"],
            newest_item_at=row["newest_item_at"],
            last_item_count=row["last_item_count"],
            no_change=row["nochange_count"],
            moved=row["moved_count"],
            overflows=row["overflow_count"],
            silent_since=row["silent_since"],
            errors=row["consecutive_errors"],
            error=ErrorClass(error) if error else None,
            class_errors=row["class_errors"],
            rhythm=rhythm_from(row["rhythm"]),
            naming=Naming(row["named_at"], row["gone_before"], row["doubted_since"]),
            last_polled_at=row["last_polled_at"],
            validator_record=ValidatorRecord(
                last_status=row["last_status"],
                is_silent=row["silent_since"] is not None,
                newest_at=row["newest_item_at"] or row["last_new_at"],
                checked_at=row["validators_checked_at"],
                distrusted_until=row["validators_distrusted_until"],
            ),
            spending=Spending(row["polls_lately"], row["vain_polls_lately"], row["new_items_lately"]),
        ),
        price=price_from(cadence.get("price")),
        common=tuple(common) if isinstance(common, list) else (),
        host_delay=timedelta(milliseconds=row["delay_ms"] or 0),
        crowding=row["crowding"],
        most_pages=row["policy_pages"],
        now=row["now"],
        leased_at=leased_at,
        speaks_for_site=row["speaks_for_site"],
        lost=row["lost_count"],
        followed=frozenset(map(ChannelKind, row["followed"])),
        since=datetime.fromisoformat(row["recipe"]) if row["channel_kind"] == ChannelKind.BACKFILL else None,
        hub=None if row["push_hub"] is None else known_hub_from(row),
        places=tuple(row["places"]),
    )


def memory_from(stored: object) -> Mapping[str, Any]:
    """A value that is no object was not written by us: nothing is remembered."""
    return stored if isinstance(stored, Mapping) else {}


def start_of(channel: Leased) -> RunState:
    return RunState((Todo(channel.url.url, channel.kind),))


def start_pages(channel: Leased) -> tuple[Item, ...]:
    """A crawl begins here; `updated_at` now makes pages that were fetched before be looked at again."""
    urls = channel.source.start_urls or (channel.url.url,)
    return tuple(Item(url, updated_at=channel.now) for url in urls)
