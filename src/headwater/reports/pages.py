"""The story of a page, for people: what became of it, why there is no document of it, and what happens next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from shlex import quote
from typing import Any

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.deliver.records import RecordKey
from headwater.deliver.tracing import way_in_words as delivery_way_in_words
from headwater.deliver.tracing import way_of_record
from headwater.errors import NotFound
from headwater.fetch.fetcher import PAGE
from headwater.fetch.robots import robots_of_host
from headwater.fetch.tdmrep import KIND as TDM_KIND
from headwater.fetch.tdmrep import PATH as TDM_PATH
from headwater.frontier.entry import DeadReason, EntryStatus
from headwater.frontier.explain import EntryExplanation, EntryPast, explain, why_taken_down
from headwater.frontier.pause import RESUME
from headwater.phrases import spelt_out
from headwater.politeness.robots import Decision, parse_robots
from headwater.record_kind import RecordKind
from headwater.reports.problems import UNREADABLE
from headwater.reports.vacancies import VacancyRow, vacancy_called
from headwater.sources.source import Source, SourceKind
from headwater.sources.store import source_from
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.fingerprint import bucket_of
from headwater.urls.origin import Origin
from headwater.urls.scope import Placement, folder_of, placement_of, without_www
from headwater.urls.skip import Skip, why_skipped
from headwater.urls.traps import Trap, trap_in

queries = load_queries("headwater.reports")

UNKNOWN = "unknown"
# Addresses of a chain of redirects that are looked at.
LONGEST_WAY = 10
WHILE_TAKEN_DOWN = "nothing while the takedown stands. See and lift it: headwater takedown list"
WHILE_ALL_IS_PAUSED = f"nothing until everything is resumed: {RESUME}"

# By the word that the log of requests or the archive keeps.
WHY_NO_DOCUMENT = {
    "vacancy": "its vacancies were kept instead: headwater jobs search",
    "no_vacancy": "it belongs to a job source and no vacancy was found in it",
    "listing": "it is a list of other pages: those are read, the list itself is not kept",
    "noindex": "it asks not to be kept (noindex)",
    "search_refused": "its publisher does not want it found by a search (search=n)",
    "too_short": "its text is too short for an article",
    "empty": "it has neither a title nor text",
    "challenge": "it showed a challenge in place of its content",
}
WHY_DELETED = {
    "noindex": "it asks not to be kept any more (noindex)",
    "search_refused": "its publisher does not want it found by a search any more (search=n)",
    "takedown": "it was taken down",
    "not_found": "its page is gone (HTTP 404)",
    "gone": "its page is gone (HTTP 410)",
    "legal": "its page is withheld for legal reasons (HTTP 451)",
    "too_old": "it had not changed for as long as documents are kept (keep.document_days)",
}
# Of a page that ended before any text of it was looked at.
WHY_NEVER_READ = {
    DeadReason.NOT_FOUND: "its page is not there (HTTP 404)",
    DeadReason.GONE: "its page is gone (HTTP 410)",
    DeadReason.ROBOTS_BLOCKED: "robots.txt forbids it, so that its page is not asked for",
    DeadReason.FORBIDDEN: "its server refuses it to us",
    DeadReason.PAYMENT_REQUIRED: "its server wants to be paid for it",
    DeadReason.LEGAL: "its page is withheld for legal reasons (HTTP 451)",
    DeadReason.UNSUPPORTED_CONTENT_TYPE: "what was answered is no page",
    DeadReason.BINARY_URL: "its address is that of a file, which is not asked for",
    DeadReason.TOO_LARGE: "its page is larger than what is read",
    DeadReason.MAX_RETRIES: "every try to fetch it failed",
    DeadReason.UNREACHABLE: "its host could not be reached",
    DeadReason.BLOCKED_ADDRESS: "its host's address may not be visited, so that its page is not asked for",
    DeadReason.TRAP: "it looks like a trap for spiders, and its page is not asked for",
    DeadReason.POISON: "the workers that tried to read it died",
    DeadReason.KILLED: "a person killed it",
}
# What is asked for beside a page, by the kind of the request.
ASKED_BESIDES = {TDM_KIND: TDM_PATH, "robots": "/robots.txt"}
TRAPS = {
    Trap.HAS_EFFECTS: "it looks as if it did something when it is fetched, such as logging out, deleting or buying",
    Trap.SESSION_ID: "it carries a session id, so that its page has endless addresses",
    Trap.ENDLESS_CALENDAR: "it looks like a page of an endless calendar",
}
SKIPPED = "links to shops, app stores and stores of files are not followed"
WRITTEN_TWICE = "links to sources, code listings and indexes of documentation are not followed: its pages say the same"
OUTSIDE = {
    Placement.OTHER_HOST: "it lies on another host than the source's pages",
    Placement.PATH_EXCLUDED: "its path is excluded (exclude_paths)",
    Placement.PATH_NOT_INCLUDED: "its path is not among those that are included (include_paths)",
}


@dataclass(frozen=True, slots=True)
class Redirected:
    """Where the redirects of a page led, from the page on: what became of the last address, or a way in a circle."""

    way: tuple[str, ...]
    is_circle: bool = False
    status: str | None = None
    reason: str | None = None
    has_document: bool = False

    @property
    def target(self) -> str:
        return self.way[-1]


@dataclass(frozen=True, slots=True)
class KeptRecords:
    """The document and vacancy of an address. `why_not`: the word that its last reading left in the log."""

    has_document: bool = False
    deleted_reason: str | None = None
    is_deleted: bool = False
    original: str | None = None
    like_another: str | None = None
    vacancy: VacancyRow | None = None
    why_not: str | None = None
    redirected: Redirected | None = None


@dataclass(frozen=True, slots=True)
class FollowingSource:
    """A source with its address or a channel at a page's site."""

    source: Source
    channels: frozenset[str]
    sitemap_read_at: datetime | None


@dataclass(frozen=True, slots=True)
class PageStory:
    """`document`, `vacancy` and `next` are sentences; `next_at` the earliest moment, where one is planned. `vacancy` is
    empty where none ever stood there."""

    url: str
    status: str
    why: str
    document: str
    next: str
    next_at: datetime | None = None
    source: str = ""
    priority: int | None = None
    ahead_on_host: int = 0
    found_by: str = ""
    history: Sequence[EntryPast] = field(default_factory=list)
    vacancy: str = ""
    delivery: Sequence[str] = ()  # its way into the log and into each sink, as sentences
    priority_why: str = ""
    found_at: datetime | None = None

    @property
    def is_known(self) -> bool:
        return self.status != UNKNOWN


async def story_of(database: Database, url: CanonicalUrl, agent: str | None = None) -> PageStory:
    """With `agent`, a page that was never queued is also held against the rules that its robots.txt has for it."""
    try:
        found = await explain(database, url)
    except NotFound:
        story = await _story_of_unknown(database, url)
        refused = await _forbidding(database, url, agent) if agent else None
        return forbidden(story, refused) if refused else story
    kept = replace(await _kept(database, url, found.history), redirected=await _redirected(database, found))
    way = await database.fetchrow(queries.way_it_was_found, url.bucket, url.url_hash)
    return PageStory(
        found.url,
        str(found.status),
        found.why,
        document_in_words(found, kept),
        what_next(found, kept.redirected),
        found.next_at,
        found.source,
        found.priority,
        found.ahead_on_host,
        way_in_words(way) if way else "",
        found.history,
        await _vacancy_in_words(database, kept),
        await _delivery_in_words(database, url, kept),
        found.priority_why,
        found.found_at,
    )


async def _delivery_in_words(database: Database, url: CanonicalUrl, kept: KeptRecords) -> list[str]:
    """Of the document, and of the vacancy that stands there."""
    told = []
    if kept.has_document:
        key = RecordKey(RecordKind.DOCUMENT, url.bucket, url.url_hash)
        told += delivery_way_in_words(await way_of_record(database, key))
    if kept.vacancy:
        hash_ = kept.vacancy.about["canonical_hash"]
        key = RecordKey(RecordKind.JOB, hash_[0], hash_)
        told += [f"vacancy: {one}" for one in delivery_way_in_words(await way_of_record(database, key))]
    return told


async def _redirected(database: Database, found: EntryExplanation) -> Redirected | None:
    """Each address of the way is an entry of its own; one that turns up again is never reached."""
    if found.reason != DeadReason.REDIRECT or not found.moved_to:
        return None
    way, row = [found.url], None
    onward: str | None = found.moved_to
    seen = {canonicalise(found.url).url_hash}
    while onward and len(way) < LONGEST_WAY:
        url = canonicalise(onward)
        way.append(url.url)
        if url.url_hash in seen:
            return Redirected(tuple(way), is_circle=True)
        seen.add(url.url_hash)
        row = await database.fetchrow(queries.page_in_short, url.bucket, url.url_hash)
        assert row is not None
        onward = row["moved_to"] if row["reason"] == DeadReason.REDIRECT else None
    assert row is not None
    return Redirected(tuple(way), status=row["status"], reason=row["reason"], has_document=row["has_document"])


def way_in_words(row: Mapping[str, Any]) -> str:
    """How a page was found first. Pure."""
    match row["kind"], row["parent_url"]:
        case "backfill", _:
            return f"by the backfill of its source, in a {row['origin']}"
        case str() as kind, _:
            return f"by the {kind} {row['url']}"
        case _, str() as page:
            return f"on {page}"
        case _:
            return "by hand" if row["origin"] == "manual" else f"by a {row['origin']}"


async def _kept(database: Database, url: CanonicalUrl, history: Sequence[EntryPast]) -> KeptRecords:
    row = await database.fetchrow(queries.kept_of_page, url.bucket, url.url_hash)
    assert row is not None
    read = next((one.reason for one in history if one.verdict == "fetched"), None)
    return KeptRecords(
        row["has_document"],
        row["deleted_reason"],
        row["deleted_at"] is not None,
        row["original"],
        row["like_another"],
        await vacancy_called(database, url.url),
        read,
    )


async def _vacancy_in_words(database: Database, kept: KeptRecords) -> str:
    """Which vacancy stood at an address, and which stands where its redirects led."""
    here = vacancy_in_words(kept.vacancy) if kept.vacancy else ""
    led_to = kept.redirected.target if kept.redirected and not kept.redirected.is_circle else None
    there = await vacancy_called(database, led_to) if led_to else None
    return "; ".join(filter(None, (here, f"at {led_to}: {vacancy_in_words(there)}" if there else "")))


def vacancy_in_words(vacancy: VacancyRow) -> str:
    """Its title and its state now. Pure."""
    about, ending = vacancy.about, vacancy.ending
    by = f" ({about['org_name']})" if about["org_name"] else ""
    state = f"{about['status']} since {ending.at:%Y-%m-%d %H:%M}, {ending.why}" if ending else "open"
    return f"{about['title']}{by}, {state}"


def document_in_words(found: EntryExplanation, kept: KeptRecords) -> str:
    """The document of a page, or why there is none. Pure."""
    if kept.has_document and not kept.is_deleted:
        if kept.original:
            return f"a document that says the same as {kept.original}: search shows that one"
        near = f", nearly the same as {kept.like_another}" if kept.like_another else ""
        return f"kept{near}: headwater docs show {quote(found.url)}"
    if kept.is_deleted:
        reason = kept.deleted_reason or ""
        return f"none any more, because {WHY_DELETED.get(reason, reason or 'it was deleted')}"
    if kept.vacancy and not kept.vacancy.ending:
        return f"none: it is a vacancy: headwater jobs show {quote(found.url)}"
    return f"none{_why_none(found, kept)}"


def _why_none(found: EntryExplanation, kept: KeptRecords) -> str:
    if found.is_taken_down:
        return ": nothing of it may be kept"
    if kept.redirected:
        return f": {_where_it_led(kept.redirected)}"
    match found.status:
        case EntryStatus.FETCHED:
            told = WHY_NO_DOCUMENT.get(kept.why_not or "")
            unknown = f"what its last reading gave is no longer in the log; read it again: {_again(found)}"
            return f": {told or unknown}"
        case EntryStatus.DEAD if kept.vacancy:
            return f": it was a vacancy: headwater jobs show {quote(found.url)}"
        case EntryStatus.DEAD:
            return f": {_why_ended(found)}"
        case _:
            return _why_not_yet(found.history)


def _where_it_led(redirected: Redirected) -> str:
    if redirected.is_circle:
        return f"it redirects in a circle, and no page is there: {' → '.join(redirected.way)}"
    target = redirected.target
    if redirected.has_document:
        return f"it redirected to {target}, which has a document: headwater docs show {quote(target)}"
    match redirected.status:
        case None:
            became = "was not wanted, or is known no more"
        case EntryStatus.FETCHED:
            became = "was fetched and gave none"
        case EntryStatus.DEAD:
            became = f"ended: {redirected.reason}"
        case _:
            became = "waits to be fetched"
    return f"it redirected to {target}, which {became}"


def _why_ended(found: EntryExplanation) -> str:
    """Of what was read, in the words for it; else as the entry says."""
    if found.reason == DeadReason.TOO_MANY_REDIRECTS:
        return "the redirects that led to it go on for too long, and are not followed further"
    if found.reason == DeadReason.EXTRACT_FAILED:
        word = next((word for word in WHY_NO_DOCUMENT if f"({word}:" in found.why), "")
        if word:
            return WHY_NO_DOCUMENT[word]
    told = WHY_NEVER_READ.get(DeadReason(found.reason)) if found.reason in set(DeadReason) else None
    return told or ("its page gave none" if found.history else "its page ended before anything could be read of it")


def _why_not_yet(history: Sequence[EntryPast]) -> str:
    if any(one.verdict == "fetched" for one in history):
        return ""
    tried = next((one for one in history if one.kind == PAGE and one.verdict == "retry_later"), None)
    if tried is None:
        return " yet: it was not fetched"
    answer = f"HTTP {tried.status}, " if tried.status else ""
    return f" yet: its last try failed ({answer}{spelt_out(tried.reason or 'without a reason')})"


def asked_besides(one: EntryPast) -> str:
    """The path of a request that was not for the page itself; empty for one that was."""
    return ASKED_BESIDES.get(one.kind, "" if one.kind == PAGE else spelt_out(one.kind))


def _again(found: EntryExplanation) -> str:
    return f"headwater frontier retry {quote(found.url)}"


def what_next(found: EntryExplanation, redirected: Redirected | None = None) -> str:
    """The next thing that will happen to it, or what a person can do. Pure."""
    if found.is_taken_down:
        return WHILE_TAKEN_DOWN
    if found.is_paused_with_all:
        return WHILE_ALL_IS_PAUSED
    again = _again(found)
    match found.status:
        case EntryStatus.FETCHING:
            return "its answer is judged and stored; if its worker dies, another one takes it after the lease"
        case EntryStatus.DEAD:
            return _after_death(found, again, redirected)
        case _ if found.is_left:
            by_hand = f"headwater frontier add {quote(found.url)}"
            return f"nothing until a source that is followed lists it: its own was removed. Fetch it now: {by_hand}"
        case EntryStatus.FETCHED if found.next_at is None:
            return f"nothing until a feed or sitemap says that it changed. Fetch it now: {again}"
        case EntryStatus.FETCHED:
            return f"visited again at {found.next_at:%Y-%m-%d %H:%M:%S %Z}"
        case _ if found.is_held:
            return f"nothing until its source is resumed: headwater sources resume {found.source!r}"
        case _ if found.next_at is not None:
            return f"fetched, not before {found.next_at:%Y-%m-%d %H:%M:%S %Z}"
        case _:
            return "fetched by the next free worker"


def _after_death(found: EntryExplanation, again: str, redirected: Redirected | None) -> str:
    match found.reason:
        case DeadReason.REDIRECT if redirected and redirected.is_circle:
            return f"nothing: each address of the circle was asked, and none is asked again. Try it again: {again}"
        case DeadReason.REDIRECT if found.moved_to:
            return f"its target is a page of its own: headwater explain {found.moved_to}"
        case DeadReason.ROBOTS_BLOCKED:
            return "it comes back by itself once robots.txt allows it"
        case DeadReason.KILLED:
            return f"nothing: a person killed it. Revive it: {again}"
        case DeadReason.TAKEDOWN:
            return f"its takedown is lifted; it comes back when it is listed again, or by: {again}"
        case _:
            return f"nothing by itself. Try it again: {again}"


async def _story_of_unknown(database: Database, url: CanonicalUrl) -> PageStory:
    if taken := await why_taken_down(database, url):
        why = f"not queued: it is {taken}"
        return PageStory(url.url, UNKNOWN, why, "none: nothing of it may be kept", WHILE_TAKEN_DOWN)
    if reads := await database.fetchrow(queries.channel_that_reads, url.bucket, url.host, url.url):
        why, next_step = why_polled(reads)
        return PageStory(url.url, UNKNOWN, f"not queued: {why}", "none: polls look there for others", next_step)
    hosts, sites = spellings_of(url.host), spellings_of(url.site)
    rows = await database.fetch(queries.followers_of_host, hosts, [bucket_of(host) for host in hosts], sites)
    listed = await database.fetchrow(queries.listed_at, url.bucket, url.url_hash)
    now = await database.fetchval(queries.server_time)
    followers = [one for row in rows if (one := _follower(row))]
    why, next_step = why_not_queued(url, followers, now.date(), was_refused=bool(listed and listed["is_refused"]))
    kept = await _kept(database, url, ())
    told = vacancy_in_words(kept.vacancy) if kept.vacancy else ""
    document = f"none: it is a vacancy: headwater jobs show {quote(url.url)}" if told else "none: it was never fetched"
    delivery = await _delivery_in_words(database, url, kept)
    return PageStory(url.url, UNKNOWN, f"not queued: {why}", document, next_step, vacancy=told, delivery=delivery)


async def _forbidding(database: Database, url: CanonicalUrl, agent: str) -> Decision | None:
    """The line of the stored robots.txt that keeps us from a page; a file that is not known yet forbids nothing."""
    for row in await robots_of_host(database, url.host):
        if Origin(row["scheme"], row["host"], row["port"]) == url.origin and row["body"]:
            decision = parse_robots(row["body"], agent).decide(url.target)
            return None if decision.allowed else decision
    return None


def forbidden(story: PageStory, by: Decision) -> PageStory:
    """Queued by hand, it would end at once: that is said before anything else. Pure."""
    why = f"robots.txt forbids it, by line {by.line_number}: {by.rule_text}; {story.why}"
    see = f"headwater hosts robots {quote(canonicalise(story.url).host)} --check {quote(story.url)}"
    return replace(story, why=why, next=f"nothing while robots.txt forbids it. See the rule: {see}")


def why_polled(reads: Mapping[str, Any]) -> tuple[str, str]:
    """Of an address that a channel's polls ask for themselves, and where to see that. Pure."""
    trouble = f"; {reads['trouble']}" if reads["trouble"] else ""
    why = f"polls of {reads['name']} read it, for the {reads['kind']} {reads['url']}{trouble}"
    return why, f"it is asked for with the next poll. See them: headwater crawl logs {reads['id']}"


def spellings_of(name: str) -> list[str]:
    """A host or a site as it is, without and with `www.`"""
    return sorted({name, without_www(name), f"www.{without_www(name)}"})


def _follower(row: Any) -> FollowingSource | None:
    try:
        return FollowingSource(source_from(row), frozenset(row["channel_kinds"]), row["sitemap_read_at"])
    except UNREADABLE:
        return None


def why_not_queued(
    url: CanonicalUrl, followers: Sequence[FollowingSource], today: date, *, was_refused: bool = False
) -> tuple[str, str]:
    """Why no channel and no page led to it, as far as it can be known, and what to do. Pure."""
    add = f"headwater frontier add {quote(url.url)}"
    by_hand, or_else = f"Queue it by hand: {add}", f"Queue it by hand with `{add}`, or"
    if trap := trap_in(url, today=today):
        return TRAPS.get(trap, f"it looks like a trap for spiders ({trap})") + ": such links are not followed", by_hand
    if not followers:
        return f"no source follows {url.site}", f"{or_else} follow its site: headwater sources add {url.origin}/"
    if skip := why_skipped(url):
        return WRITTEN_TWICE if skip is Skip.WRITTEN_TWICE else SKIPPED, by_hand
    followers = sorted(followers, key=lambda one: -_nearness(url, one.source))
    outside = {one.source.name: placement_of(url, one.source.profile.scope) for one in followers}
    if not any(place.is_followed for place in outside.values()):
        name, place = next(iter(outside.items()))
        return f"for {name}, {OUTSIDE[place]}", f"{or_else} change its scope: headwater sources edit {quote(name)}"
    if was_refused:
        return "a channel lists it, and it was refused: out of scope, or beyond the limits of a poll", by_hand
    inside = [one for one in followers if outside[one.source.name].is_followed]
    nearest = [one for one in inside if _nearness(url, one.source) == _nearness(url, inside[0].source)]
    return _not_listed(nearest), by_hand


def _nearness(url: CanonicalUrl, source: Source) -> int:
    """How much of its way a source's own place says; nothing where the page lies elsewhere."""
    profile = source.profile
    home = (folder_of(profile.address),) if profile.address.site == url.site else ()
    return max((len(place) for place in (*home, *profile.include_paths) if url.path.startswith(place)), default=0)


def _not_listed(followers: Sequence[FollowingSource]) -> str:
    first = followers[0]
    stopped = [one for one in followers if one.source.status != "active"]
    if len(stopped) == len(followers):
        return f"its source {first.source.name} is {first.source.status}"
    sitemap = next((one for one in followers if one.sitemap_read_at), None)
    if sitemap is None:
        others = f" and {len(followers) - 1} more" if len(followers) > 1 else ""
        return f"no channel of {first.source.name}{others} has listed it so far"
    reach = (
        "is read whole"
        if sitemap.source.profile.kind is SourceKind.DOCS
        else "is read for what changed in the last days"
    )
    return (
        f"no channel of {sitemap.source.name} has listed it as new; its sitemap {reach}, so that a page that did not"
        " change since is too old for it"
    )


def story_as_dict(story: PageStory) -> Mapping[str, Any]:
    """For programs."""
    fields = {name: getattr(story, name) for name in PageStory.__dataclass_fields__ if name != "history"}
    return {**fields, "history": [{name: getattr(one, name) for name in EntryPast.__slots__} for one in story.history]}
