"""The links of a fetched page, one level deeper: links in scope become entries."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from uuid import UUID

from headwater.database.pool import Connection
from headwater.errors import UrlRejected
from headwater.frontier.budget import beyond_budget
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, SubmitAnswer, Submitter, submit
from headwater.sources.source import Profile
from headwater.urls.canonical import canonicalise
from headwater.urls.scope import placement_of
from headwater.urls.skip import why_skipped
from headwater.urls.traps import trap_in

WITHOUT_LIMIT = -1
MOST_PAGES = 100_000


async def submit_links(
    connection: Connection,
    source_id: UUID,
    profile: Profile,
    parent: FoundUrl,
    links: Iterable[str],
    today: date,
    submitter: Submitter | None = None,
) -> list[SubmitAnswer]:
    """The links of a fetched page, one level deeper: only what is in scope, and only what is new becomes an entry.

    Called in the transaction that settles the page; a page that is processed twice adds nothing.
    """
    urls = await within_budget(connection, source_id, profile, links_to_follow(links, profile, today))
    wanted = [FoundUrl(url, parent.url, parent.depth + 1) for url in urls if goes_deeper(profile, parent.depth)]
    submitter = replace(submitter or Submitter(source_id, EntryOrigin.SPIDER), scope=profile.scope)
    return await submit(connection, submitter, wanted)


async def within_budget(
    connection: Connection, source_id: UUID, profile: Profile, urls: Sequence[str]
) -> Sequence[str]:
    """Those for which the source still has room; what it knows already takes none."""
    beyond = await beyond_budget(connection, source_id, profile.max_pages or MOST_PAGES, urls)
    return [url for url in urls if url not in beyond]


def goes_deeper(profile: Profile, depth: int) -> bool:
    return profile.max_depth == WITHOUT_LIMIT or depth < profile.max_depth


def links_to_follow(links: Iterable[str], profile: Profile, today: date) -> list[str]:
    """Each address once, without what leads out of scope, in circles, or nowhere a reader would go."""
    scope = profile.scope
    kept: dict[bytes, str] = {}
    for link in links:
        try:
            url = canonicalise(link)
        except UrlRejected:
            continue
        placement = placement_of(url, scope)
        if placement.is_followed and why_skipped(url) is None and trap_in(url, today=today) is None:
            kept.setdefault(url.url_hash, link)
    return list(kept.values())
