"""The links of a fetched page, one level deeper (R103): what is in scope and new becomes an entry."""

from collections.abc import Iterable
from datetime import date
from uuid import UUID

from headwater.database.pool import Connection
from headwater.database.queries import load_queries
from headwater.errors import UrlRejected
from headwater.frontier.entry import Origin
from headwater.frontier.submit import Answer, Found, Submitter, submit
from headwater.sources.source import Profile
from headwater.urls.canonical import canonicalise
from headwater.urls.scope import placement_of
from headwater.urls.skip import why_skipped
from headwater.urls.traps import trap_in

queries = load_queries("headwater.ingest")

WITHOUT_LIMIT = -1
MOST_PAGES = 100_000


async def submit_links(
    connection: Connection, source_id: UUID, profile: Profile, parent: Found, links: Iterable[str], today: date
) -> list[Answer]:
    """The links of a fetched page, one level deeper: only what is in scope, and only what is new becomes an entry.

    Called in the transaction that settles the page; a page that is processed twice adds nothing.
    """
    if not goes_deeper(profile, parent.depth) or await _is_full(connection, source_id, profile):
        return []
    wanted = [Found(url, parent.url, parent.depth + 1) for url in followed(links, profile, today)]
    return await submit(connection, Submitter(source_id, Origin.SPIDER, scope=profile.scope), wanted)


def goes_deeper(profile: Profile, depth: int) -> bool:
    return profile.max_depth == WITHOUT_LIMIT or depth < profile.max_depth


def followed(links: Iterable[str], profile: Profile, today: date) -> list[str]:
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


async def _is_full(connection: Connection, source_id: UUID, profile: Profile) -> bool:
    entries: int = await connection.fetchval(queries.count_entries_of_source, source_id)
    return entries >= (profile.max_pages or MOST_PAGES)
