"""From an answer to items and further steps, by the kind of channel. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from headwater.discover.api.pages import is_url, page_state_from
from headwater.discover.api.placeholders import secrets_in
from headwater.discover.api.read import read_api
from headwater.discover.api.recipe import ApiRecipe, recipe_from
from headwater.discover.cadence.rests import ErrorClass
from headwater.discover.feeds.read import read_feed
from headwater.discover.items import Haul, Item, Reading, Unreadable
from headwater.discover.pages.listing import ListingRules, list_selectors, parsed, read_listing
from headwater.discover.pages.pagination import next_page
from headwater.discover.polls.answers import is_wanted, known_of, last_read
from headwater.discover.polls.hearing import Body, Trouble
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.turns import turn_of
from headwater.discover.polls.vacancies import has_vacancies, items_from, vacancies_listed, vacancies_on_page
from headwater.discover.polls.walk import Todo, Walk
from headwater.discover.searching.search import looked_at
from headwater.discover.sitemaps.read import read_sitemap
from headwater.extract.jobs.vacancy import RawVacancy
from headwater.net.charset import Kind as TextKind
from headwater.net.charset import charset_parameter, decode
from headwater.net.transport import Response
from headwater.sources.channels import ChannelKind
from headwater.sources.source import Kind
from headwater.urls.articles import patterns_from

DEEPEST_SITEMAP = 3
MOST_SITEMAPS = 50
MOST_PAGES = 10
LATELY = timedelta(hours=48)
LONGEST_GAP = timedelta(days=30)
# What was published while the last poll was under way must not fall between two.
OVERLAP = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Read:
    walk: Walk
    items: tuple[Item, ...] = ()
    kept: dict[str, Any] = field(default_factory=dict)
    vacancies: tuple[RawVacancy, ...] = ()
    takes_turns: bool = False  # another part of what it lists with every poll: it is always wanted in full
    memory: Mapping[str, Any] = field(default_factory=dict)  # of the answer, for when it is read again

    @property
    def haul(self) -> Haul:
        return Haul(self.items, self.vacancies)


def start_of(channel: Leased) -> Walk:
    return Walk((Todo(channel.url.url, channel.kind),))


def start_pages(channel: Leased) -> tuple[Item, ...]:
    """A crawl begins here; `updated_at` now makes pages that were fetched before be looked at again."""
    urls = channel.source.start_urls or (channel.url.url,)
    return tuple(Item(url, updated_at=channel.now) for url in urls)


def read_answer(channel: Leased, walk: Walk, heard: Body, now: datetime) -> Read | Trouble:
    if channel.kind is ChannelKind.SEARCH:
        return Read(looked_at(walk, heard.response, heard.sitemaps, now, channel.followed))
    read = _by_kind(channel, walk, heard, now)
    if isinstance(read, Trouble) or not has_vacancies(channel):
        return read
    if channel.kind is not ChannelKind.LISTING:
        return replace(read, vacancies=vacancies_listed(channel, read.items))
    response = heard.response
    html = decode(response.body, TextKind.HTML, charset_parameter(response.headers.get("Content-Type", ""))).text
    found = vacancies_on_page(channel, html, response.url.url)
    # Its vacancies are what it lists; other links that look like articles are not.
    return replace(read, vacancies=found, items=items_from(found))


def _by_kind(channel: Leased, walk: Walk, heard: Body, now: datetime) -> Read | Trouble:
    match walk.step.reads_as:
        case ChannelKind.SITEMAP:
            return _sitemap(channel, walk, heard.response, now)
        case ChannelKind.LISTING:
            return _listing(channel, walk, heard.response, now)
        case ChannelKind.API:
            return _api(channel, walk, heard.response, now)
        case _:
            return _feed(walk, heard.response, now)


def _feed(walk: Walk, response: Response, now: datetime) -> Read | Trouble:
    content_type = response.headers.get("Content-Type", "")
    reading = read_feed(response.body, content_type, response.url.url, now)
    if isinstance(reading, Unreadable):
        return _unreadable(reading)
    return Read(walk.noting(*reading.notes), reading.items, wishes_in(reading))


def wishes_in(reading: Reading) -> dict[str, Any]:
    return {
        "title": reading.title,
        "ttl": reading.ttl and reading.ttl.total_seconds(),
        "skip_hours": sorted(reading.skip_hours),
        "skip_days": sorted(reading.skip_days),
    }


def _sitemap(channel: Leased, walk: Walk, response: Response, now: datetime) -> Read | Trouble:
    reading = read_sitemap(response.body, response.url.url, now, reach_of(channel, walk, now), channel.source.scope)
    if isinstance(reading, Unreadable):
        return _unreadable(reading)
    depth = walk.step.depth + 1
    children = reading.more if depth < DEEPEST_SITEMAP else ()
    kept = {"listed": len(reading.items)}
    if not children:
        return Read(walk.noting(*reading.notes), reading.items, kept)
    room = max(0, MOST_SITEMAPS - len(walk.asked) - len(walk.todo))
    turn = turn_of(children, known_of(channel, walk), room, now)
    since = turn.since.isoformat() if turn.since else None
    walk = walk.ahead((Todo(url, ChannelKind.SITEMAP, depth, since=since) for url in turn.children), MOST_SITEMAPS)
    if turn.is_cut:
        # Nothing on the way here may be found unchanged: it would lead to the same part again.
        walk = walk.keeping(is_cut=True).noting(f"Of its {len(children):,} sitemaps {room} are asked at a time.")
    return Read(walk.noting(*reading.notes), reading.items, kept, takes_turns=turn.is_cut, memory=turn.memory)


def _listing(channel: Leased, walk: Walk, response: Response, now: datetime) -> Read | Trouble:
    step, site = walk.step, response.url.url
    tree = parsed(response.body)
    if tree is None:
        return Trouble(ErrorClass.UNREADABLE, "The page is too entangled to be read.")
    rules = rules_of(channel, step.depth, response.asked_as)
    found = read_listing(tree, site, rules, now)
    reading = found.reading
    further = next_page(tree, site, set(walk.asked), scope=rules.scope, today=now.date(), max_pages=most_pages(channel))
    more = [
        *([_next_page(channel, further, step.depth)] if further else []),
        *(Todo(url, ChannelKind.LISTING, step.depth + 1) for url in found.follow),
    ]
    walk = walk.ahead(more, most_pages(channel)).noting(*reading.notes)
    return Read(walk, tuple(replace(item, depth=step.depth) for item in reading.items), {"title": reading.title})


def _next_page(channel: Leased, url: str, depth: int) -> Todo:
    return Todo(url, ChannelKind.LISTING, depth, is_next_page=not is_wanted(channel, url))


def rules_of(channel: Leased, depth: int, product_token: str) -> ListingRules:
    source = channel.source
    return ListingRules(
        scope=source.scope,
        patterns=patterns_from(source.article_patterns),
        selectors=list_selectors(source.selectors),
        depth=depth,
        max_depth=source.max_depth,
        product_token=product_token,
    )


def most_answers(channel: Leased) -> int:
    """How many answers a run may ask for in all."""
    return MOST_SITEMAPS if channel.kind is ChannelKind.SITEMAP else most_pages(channel)


def most_pages(channel: Leased) -> int:
    """A run's own limit: the source's and its host's, whichever is smaller."""
    return min(channel.source.max_pages or MOST_PAGES, channel.most_pages or MOST_PAGES)


def _api(channel: Leased, walk: Walk, response: Response, now: datetime) -> Read | Trouble:
    recipe = recipe_from(channel.recipe, channel.url.url)
    state = page_state_from(walk.step.state or {})
    page = read_api(response.body, recipe, channel.url.url, now, state)
    if isinstance(page, Unreadable):
        return _unreadable(page)
    following = page.next and replace(page.next, cursor=without_secrets(page.next.cursor, recipe))
    more = [] if following is None else [Todo(channel.url.url, ChannelKind.API, state=asdict(following))]
    walk = walk.ahead(more, channel.most_pages).noting(*page.reading.notes)
    return Read(walk, page.reading.items)


def without_secrets(cursor: str, recipe: ApiRecipe) -> str:
    """A next URL repeats what it was asked with. What of it is secret is filled in anew, and never put away."""
    if not is_url(cursor):
        return cursor
    names = {name for name, value in recipe.query.items() if secrets_in(str(value))}
    names |= {recipe.auth.name or "api_key"} if recipe.auth.type == "query" else set()
    parts = urlsplit(cursor)
    kept = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in names]
    return urlunsplit(parts._replace(query=urlencode(kept)))


def reach_of(channel: Leased, walk: Walk, now: datetime) -> timedelta | None:
    """How far back a sitemap is believed to be news. A manual is wanted whole; after a long absence all since then.

    One that is found late, to fill a gap, is wanted back to where its source was first followed; so is a part of an
    index of which it is not known that it was ever read.
    """
    last = channel.past.last_ok_at if walk.is_first_step else last_read(channel, walk)
    if last is not None:
        return max(LATELY, now - last + OVERLAP)
    if channel.source.kind is Kind.DOCS:
        return None
    return max(LATELY, min(now - channel.followed_since, LONGEST_GAP))


def _unreadable(reading: Unreadable) -> Trouble:
    return Trouble(ErrorClass.UNREADABLE, reading.why)
