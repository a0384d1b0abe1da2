"""A look at a site for a person who wants to follow it: the search of the background, without storing anything."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from headwater.database.pool import Database
from headwater.discover.polls.asking import sitemaps_of
from headwater.discover.polls.hearing import Body, Heard, hear
from headwater.discover.polls.walk import Finding, Todo, Walk
from headwater.discover.searching.search import chosen, looked_at
from headwater.fetch.fetcher import Wish
from headwater.fetch.following import Follower
from headwater.sources.channels import ChannelKind
from headwater.urls.canonical import CanonicalUrl, canonicalise


@dataclass(frozen=True, slots=True)
class Looked:
    """One address that was asked, what was heard, and everything found so far."""

    url: str
    heard: Heard
    findings: tuple[Finding, ...]


async def explore(follower: Follower, database: Database, site: CanonicalUrl, now: datetime) -> AsyncIterator[Looked]:
    """Step by step, so that somebody can watch."""
    walk = Walk((Todo(site.url, ChannelKind.SEARCH),))
    while walk.todo:
        step = walk.step
        heard = hear(await follower.fetch(Wish(canonicalise(step.url), str(step.reads_as))), is_conditional=False)
        if isinstance(heard, Body):
            place = heard.response.url
            sitemaps = await sitemaps_of(database, place) if walk.is_first_step else ()
            walk = looked_at(walk, heard.response, sitemaps, now)
        walk = walk.passed()
        yield Looked(step.url, heard, chosen(walk.findings))
