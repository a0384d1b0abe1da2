"""From an answer to items and further steps, by the kind of channel. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from headwater.discover.api.pages import is_url, page_state_from
from headwater.discover.api.read import read_api
from headwater.discover.api.recipe import ApiRecipe, recipe_from
from headwater.discover.api.secrets import secrets_in
from headwater.discover.feeds.read import read_feed
from headwater.discover.items import HubLinks, Item, Reading, Unreadable
from headwater.discover.pages.listing import (
    ListingRules,
    hub_links_of,
    link_to,
    list_selectors,
    parse_page,
    read_listing,
)
from headwater.discover.pages.pagination import beside_list, next_page
from headwater.discover.polls.backfill import page_before, since_then
from headwater.discover.polls.plugins import reading_by_plugin
from headwater.discover.polls.run_state import OVERLAP, RunState, Todo, is_wanted, last_read, remembered_of, wants_all
from headwater.discover.polls.task import ReadAnswer, Reply, Subject, Task, reader_of
from headwater.discover.publisher_hints import NO_WAIT, PublisherHints
from headwater.discover.searching.search import judge_answer
from headwater.discover.sitemaps.read import read_sitemap
from headwater.extraction.jobs.normalise import harvest_of
from headwater.extraction.jobs.pages import has_reached_limit, vacancies_in
from headwater.extraction.jobs.records import vacancy_listed
from headwater.extraction.jobs.vacancy import FoundBy, RawVacancy
from headwater.extraction.selectors import fields_of_items
from headwater.net.charset import CharsetKind as TextKind
from headwater.net.charset import charset_parameter, decode
from headwater.plugins import PluginFailure
from headwater.sources.kinds import ChannelKind
from headwater.urls.articles import patterns_from
from headwater.urls.scope import Scope

DEEPEST_SITEMAP = 3
LATELY = timedelta(hours=48)
LONGEST_GAP = timedelta(days=30)


def read_answer(task: Task) -> ReadAnswer | Unreadable:
    channel, reply, now = task.subject, task.reply, task.now
    given = reading_by_plugin(channel.kind, reply, now)
    read = _read_as_given(given, task) if isinstance(given, Reading) else _read_by_kind(task, given)
    if isinstance(read, Unreadable) or not channel.lists_vacancies:
        return read
    if channel.kind is not ChannelKind.LISTING or isinstance(given, Reading):
        found_by = FoundBy.API if channel.kind is ChannelKind.API else FoundBy.FEED
        listed = (vacancy_listed(item, found_by) for item in read.items)
        return replace(read, harvest=harvest_of(listed, channel.employer, now))
    html = decode(reply.body, TextKind.HTML, charset_parameter(reply.content_type)).text
    found = vacancies_in(html, reply.url, channel.vacancy_selector, fields_of_items(channel.selectors))
    is_partial = read.is_partial or has_reached_limit(found)
    # Its vacancies are what it lists; other links that look like articles are not.
    items = items_from(found, read.run_state, reply.url)
    return replace(
        read,
        harvest=harvest_of(found, channel.employer, now),
        items=items,
        run_state=read.run_state.without(_beside(read.run_state, items)),
        is_partial=is_partial,
    )


def _read_as_given(given: Reading, task: Task) -> ReadAnswer:
    """It leads to no further answers: a plug-in only reads. So a list that may have pages is not known whole."""
    run_state, is_partial = task.run_state, given.is_partial or task.subject.kind.traits.has_pages
    items = tuple(replace(item, depth=run_state.step.depth) for item in given.items)
    return ReadAnswer(run_state.having_read(given), items, is_partial=is_partial)


def _read_by_kind(task: Task, failure: PluginFailure | None) -> ReadAnswer | Unreadable:
    """By our own rules. A search weighs what it finds; all others read a step as what it is."""
    channel, run_state = task.subject, task.run_state
    reader = reader_of(channel.kind if channel.kind is ChannelKind.SEARCH else run_state.step.reads_as)
    read = reader(channel, run_state, task.reply, task.now)
    if failure is None:
        return read
    if isinstance(read, Unreadable):
        return Unreadable(f"{read.why} {failure.sentence}")
    return read.noting(failure.sentence)


def items_from(found: Sequence[RawVacancy], run_state: RunState, page: str) -> tuple[Item, ...]:
    """Their own pages, where they have one: neither the list nor a further page of it, whatever its link says.

    A page beside the list may be that of a vacancy itself.
    """
    lists = {key_of(one.url) for one in run_state.todo if one.continues}
    if not (run_state.step.depth and len(found) == 1):
        lists.add(key_of(page))
    return tuple(Item(one.url, one.title) for one in found if one.url and key_of(one.url) not in lists)


def _beside(run_state: RunState, items: Sequence[Item]) -> list[str]:
    """Planned steps that are items: these are fetched by the queue, and once is enough."""
    listed = {key_of(item.url) for item in items}
    return [one.url for one in run_state.todo[1:] if key_of(one.url) in listed]


def key_of(url: str) -> str:
    place = link_to(url, url)
    return place.key if place else url


def read_search_answer(channel: Subject, run_state: RunState, reply: Reply, now: datetime) -> ReadAnswer:
    return ReadAnswer(judge_answer(run_state, reply, now, channel.followed))


def read_feed_answer(channel: Subject, run_state: RunState, reply: Reply, now: datetime) -> ReadAnswer | Unreadable:
    reading = read_feed(reply.body, reply.content_type, reply.url, now)
    if isinstance(reading, Unreadable):
        return reading
    if channel.kind is ChannelKind.BACKFILL:
        return _past_of(reading, channel, run_state, reply.url, channel.since or now)
    hints = PublisherHints(ttl=reading.ttl or NO_WAIT, skip_hours=reading.skip_hours, skip_days=reading.skip_days)
    run_state = run_state.having_read(reading)
    links = HubLinks(reading.hub, reading.topic, reading.cloud)
    return ReadAnswer(run_state, reading.items, reading.title, hints, is_partial=reading.is_partial, links=links)


def _past_of(reading: Reading, channel: Subject, run_state: RunState, url: str, since: datetime) -> ReadAnswer:
    older = page_before(reading, run_state.step, url, since)
    run_state = run_state.ahead([older] if older else (), channel.most_answers)
    return ReadAnswer(run_state.having_read(reading), since_then(reading.items, since))


def read_sitemap_answer(channel: Subject, run_state: RunState, reply: Reply, now: datetime) -> ReadAnswer | Unreadable:
    reading = read_sitemap(reply.body, reply.url, now, reach_of(channel, run_state, now), channel.scope)
    if isinstance(reading, Unreadable):
        return reading
    depth = run_state.step.depth + 1
    children = reading.more if depth < DEEPEST_SITEMAP else ()
    listed = len(reading.items)
    if not children:
        return ReadAnswer(run_state.having_read(reading), reading.items, listed=listed)
    room = max(0, channel.most_answers - len(run_state.asked) - len(run_state.todo))
    turn = turn_of(children, remembered_of(channel, run_state), room, now)
    since = turn.since.isoformat() if turn.since else None
    more = (Todo(url, ChannelKind.SITEMAP, depth, since=since) for url in turn.children)
    run_state = run_state.ahead(more, channel.most_answers)
    if turn.is_cut:
        # Nothing on the way here may be found unchanged: it would lead to the same part again.
        told = f"Of its {len(children):,} sitemaps {room} are asked at a time."
        run_state = replace(run_state, is_cut=True).noting(told)
    run_state = run_state.having_read(reading)
    return ReadAnswer(run_state, reading.items, listed=listed, takes_turns=turn.is_cut, memory=turn.memory)


def read_listing_answer(channel: Subject, run_state: RunState, reply: Reply, now: datetime) -> ReadAnswer | Unreadable:
    step, site, most = run_state.step, reply.url, channel.most_answers
    tree = parse_page(reply.body)
    if tree is None:
        return Unreadable("The page is too entangled to be read.")
    rules = rules_of(channel, step.depth, reply.asked_as)
    found = read_listing(tree, site, rules, now)
    reading = found.reading
    # Paths are about what is listed, not about the pages of the list. One more than may be asked for: to know of it.
    hosts = Scope(rules.scope.hosts, rules.scope.domains)
    further = next_page(tree, site, set(run_state.asked), scope=hosts, today=now.date(), max_pages=most + 1)
    more = [
        *([_next_page(channel, further, step)] if further else []),
        *(Todo(url, ChannelKind.LISTING, step.depth + 1) for url in beside_list(found.follow, tree, site)),
    ]
    run_state = run_state.ahead(more, most).having_read(reading)
    known = {*run_state.asked, *(todo.url for todo in run_state.todo)}
    is_partial = any(one.url not in known and (one.url == further or one.url in channel.answers) for one in more)
    run_state = run_state.without(_beside(run_state, reading.items))
    items = tuple(replace(item, depth=step.depth) for item in reading.items)
    links = hub_links_of(tree, site) if not step.continues else HubLinks()
    return ReadAnswer(run_state, items, reading.title, is_partial=is_partial, links=links)


def _next_page(channel: Subject, url: str, page: Todo) -> Todo:
    return Todo(url, page.reads_as, page.depth, continues=page.url, is_wanted=is_wanted(channel, url))


def rules_of(channel: Subject, depth: int, product_token: str) -> ListingRules:
    return ListingRules(
        scope=channel.scope,
        patterns=patterns_from(channel.article_patterns),
        selectors=list_selectors(channel.selectors),
        depth=depth,
        max_depth=channel.max_depth,
        product_token=product_token,
    )


def read_api_answer(channel: Subject, run_state: RunState, reply: Reply, now: datetime) -> ReadAnswer | Unreadable:
    recipe = recipe_from(channel.recipe, channel.url)
    state = page_state_from(run_state.step.state or {})
    page = read_api(reply.body, recipe, channel.url, now, state)
    if isinstance(page, Unreadable):
        return page
    following = page.next and replace(page.next, cursor=without_secrets(page.next.cursor, recipe))
    more = [] if following is None else [Todo(channel.url, ChannelKind.API, state=asdict(following))]
    run_state = run_state.ahead(more, channel.most_api_pages).having_read(page.reading)
    is_cut = bool(more) and not run_state.todo[1:]
    is_news_only = recipe.since is not None and recipe.since.enabled
    return ReadAnswer(run_state, page.reading.items, is_partial=page.reading.is_partial or is_cut or is_news_only)


def without_secrets(cursor: str, recipe: ApiRecipe) -> str:
    """A next URL repeats what it was asked with. What of it is secret is filled in anew, and never put away."""
    if not is_url(cursor):
        return cursor
    names = {name for name, value in recipe.query.items() if secrets_in(str(value))}
    names |= {recipe.auth.name or "api_key"} if recipe.auth.type == "query" else set()
    parts = urlsplit(cursor)
    kept = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if pair[0] not in names]
    return urlunsplit(parts._replace(query=urlencode(kept)))


def reach_of(channel: Subject, run_state: RunState, now: datetime) -> timedelta | None:
    """How far back a sitemap is believed to be news. A manual is wanted whole; after a long absence all since then.

    One that is found late, to fill a gap, is wanted back to where its source was first followed; so is a part of an
    index of which it is not known that it was ever read, and all of it after an edit of what is taken.
    """
    if channel.since is not None:
        return now - channel.since
    last = channel.last_ok_at if run_state.is_first_step else last_read(channel, run_state)
    if last is not None and not wants_all(channel):
        return max(LATELY, now - last + OVERLAP)
    if channel.is_wanted_whole:
        return None
    return max(LATELY, min(now - (channel.followed_since or now), LONGEST_GAP))


@dataclass(frozen=True, slots=True)
class Turn:
    """`since`: all of them were asked for since then, as far as is known. `memory` is for the next turn."""

    children: tuple[str, ...]  # in the order of this turn, also those for which there is no room
    is_cut: bool
    since: datetime | None
    memory: Mapping[str, Any]


def turn_of(children: Sequence[str], known: Mapping[str, Any], room: int, now: datetime) -> Turn:
    """Begins where the last turn ended. Where all have room, the next one begins with another all the same:
    what an inner index leads to may leave no room for the others.
    """
    first = known.get("turn", 0) % len(children)
    asked = min(len(children), room)
    began = known.get("round_began_at", now.isoformat())
    covered = known.get("covered", 0) + asked
    is_through = covered >= len(children)
    step = asked if asked < len(children) else 1
    memory = {
        "turn": (first + step) % len(children),
        "covered": 0 if is_through else covered,
        "round_began_at": now.isoformat() if is_through else began,
        "through_since": began if is_through else known.get("through_since"),
    }
    since = known.get("through_since")
    return Turn(
        (*children[first:], *children[:first]),
        asked < len(children),
        datetime.fromisoformat(since) if since else None,
        memory,
    )
