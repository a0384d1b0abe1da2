"""Looking for a site's channels: at addresses that its page names, that robots.txt names, and at usual ones. Pure.

A candidate counts only if it can be read; a feed without items only where there is no other.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from headwater.discover.items import Item, Reading, Unreadable
from headwater.discover.pages.candidates import Candidate, candidates_in, sitemaps_named
from headwater.discover.pages.listing import ListingRules, read_listing
from headwater.discover.polls.plugins import reading_by_plugin
from headwater.discover.polls.run_state import Finding, RunState, Todo
from headwater.discover.polls.task import Reply, Subject, reader_of
from headwater.plugins import PluginFailure
from headwater.sources.kinds import ChannelKind
from headwater.urls.canonical import canonicalise
from headwater.urls.scope import Scope

MOST_CANDIDATES = 12
FEWEST_ARTICLES = 5  # fewer links that look like articles are no listing


def judge_answer(
    run_state: RunState, reply: Reply, now: datetime, followed: frozenset[ChannelKind] = frozenset()
) -> RunState:
    """The run state with the worth of this answer, and the addresses to ask next, without those followed already."""
    kind = ChannelKind.FEED if run_state.is_first_step else run_state.step.reads_as
    given = reading_by_plugin(kind, reply, now) if kind not in followed else None
    if isinstance(given, PluginFailure):
        run_state = run_state.noting(given.sentence)
    # Without items it may be any page of the host.
    if isinstance(given, Reading) and given.items:
        listed = Finding(kind, reply.url, run_state.step.title, len(given.items), _newest(given.items), given.damage)
        return _without_needless(_with(run_state, listed))
    if not run_state.is_first_step:
        found = finding_in(run_state.step, reply, now)
        return _without_needless(_with(run_state, found) if found else run_state)
    if ChannelKind.FEED not in followed:
        for kind in (kind for kind in ChannelKind if kind.traits.usual_places):
            if found := finding_in(Todo(reply.url, kind), reply, now):
                return _with(run_state, found)
        if listing := listing_at(reply, now):
            run_state = _with(run_state, listing)
    named = sitemaps_named(reply.sitemaps, reply.url)
    return _with_candidates(run_state, candidates_in(reply.body, reply.url), named, followed)


def try_usual_addresses(
    run_state: RunState, site: str, sitemaps: tuple[str, ...], followed: frozenset[ChannelKind] = frozenset()
) -> RunState:
    """The run state where there is no page to go by: addresses of robots.txt and usual ones may still answer."""
    return _with_candidates(run_state, candidates_in(b"", site), sitemaps_named(sitemaps, site), followed)


def todos_from(offered: list[Candidate]) -> list[Todo]:
    """Sitemaps of robots.txt first among sitemaps; feeds before everything."""
    feeds_first = sorted(offered, key=lambda one: (one.evidence == "guess", one.kind is not ChannelKind.FEED))
    return [Todo(one.url, one.kind, title=one.title) for one in feeds_first]


def finding_in(todo: Todo, reply: Reply, now: datetime) -> Finding | None:
    """By the reader of its kind, whatever the age of its items."""
    subject = Subject(kind=todo.reads_as, url=reply.url, most_answers=2, is_wanted_whole=True)
    read = reader_of(todo.reads_as)(subject, RunState((todo,)), reply, now)
    if isinstance(read, Unreadable):
        return None
    damage, leads_on = read.run_state.damage, len(read.run_state.todo) > 1
    # An index has only its parts. Of a feed without entries one may come; of what broke off before any nobody knows.
    if not read.items and (damage if todo.reads_as is ChannelKind.FEED else not leads_on):
        return None
    title = read.title or todo.title
    return Finding(todo.reads_as, reply.url, title, len(read.items), _newest(read.items), damage)


def listing_at(reply: Reply, now: datetime) -> Finding | None:
    scope = Scope(hosts=frozenset({canonicalise(reply.url).site}))
    reading = read_listing(reply.body, reply.url, ListingRules(scope=scope, product_token=reply.asked_as), now).reading
    if len(reading.items) < FEWEST_ARTICLES:
        return None
    return Finding(ChannelKind.LISTING, reply.url, reading.title, len(reading.items), _newest(reading.items))


def choose_findings(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings worth polling: a feed beats looking through pages, and one with items those without."""
    if not any(one.kind is ChannelKind.FEED and one.items for one in findings):
        return findings
    return tuple(one for one in findings if one.kind is not ChannelKind.LISTING and not one.is_empty)


def _with_candidates(
    run_state: RunState, offered: tuple[Candidate, ...], named: tuple[Candidate, ...], followed: frozenset[ChannelKind]
) -> RunState:
    wanted = [one for one in todos_from([*named, *offered]) if one.reads_as not in followed]
    return run_state.ahead(wanted, MOST_CANDIDATES + 1)


def _with(run_state: RunState, found: Finding) -> RunState:
    known = {(one.kind, canonicalise(one.url).url_hash) for one in run_state.findings}
    if (found.kind, canonicalise(found.url).url_hash) in known:
        return run_state
    return replace(run_state, findings=(*run_state.findings, found))


def _without_needless(run_state: RunState) -> RunState:
    """One feed and one sitemap are enough: further guesses only cost the site requests."""
    had = {one.kind for one in run_state.findings if not one.is_empty}
    present, *others = run_state.todo
    return replace(run_state, todo=(present, *(one for one in others if one.reads_as not in had)))


def _newest(items: Sequence[Item]) -> datetime | None:
    dates = [item.published_at or item.updated_at for item in items]
    return max((date for date in dates if date is not None), default=None)
