"""Sources by the text that a person types: an id, an address, a host, a name, or an id of another system.

Ids of other systems are kept when a list is imported; they are shown and exported, too.
"""

import re
from collections.abc import Iterable, Sequence
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound, UrlRejected, UsageError
from headwater.sources.source import Source
from headwater.sources.store import source_from
from headwater.storable import one_line
from headwater.urls.canonical import canonicalise, site_named
from headwater.urls.fingerprint import bucket_of

queries = load_queries("headwater.sources")

_HOST_AND_PORT = re.compile(r"[^/\s]+:\d+")
_DIGITS = re.compile(r"[0-9a-f]{1,32}")
SHORTEST_BEGINNING = 4
SHOWN_CHOICES = 5


async def find_source(database: Database, text: str) -> Source:
    """Raises NotFound where no source is called so, and UsageError where several are."""
    wanted = one_line(text)
    host, site = _place_in(wanted)
    first, last = ids_beginning_with(wanted)
    call = queries.find_sources(
        wanted=wanted,
        url_hash=_hash_of(wanted),
        beginning=_beginning(wanted),
        bucket=bucket_of(host),
        host=host,
        site=site,
        first_id=first,
        last_id=last,
    )
    rows = await database.fetch(*call)
    if not rows:
        raise NotFound(f"No source is called {text!r}.", fix="`headwater sources list` shows those there are.")
    best = [row for row in rows if row["rank"] == rows[0]["rank"]]
    if len(best) > 1:
        told = "; ".join(f"{row['name']} ({row['url']}, id {str(row['id'])[:8]})" for row in best[:SHOWN_CHOICES])
        more = "; …" if len(best) > SHOWN_CHOICES else ""
        raise UsageError(f"{text!r} may mean several sources: {told}{more}.", fix="Name it by its address or its id.")
    return source_from(best[0])


def _place_in(text: str) -> tuple[str, str | None]:
    """The host that a text may be, and the site where it names a port."""
    if not _HOST_AND_PORT.fullmatch(text):
        return text.lower(), None
    try:
        place = site_named(text)
    except UrlRejected:
        return text.lower(), None
    return place.host, place.site


def _beginning(text: str) -> str | None:
    """As a pattern; too short a text would mean nearly anything."""
    if len(text) < SHORTEST_BEGINNING:
        return None
    literal = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"{literal}%"


def ids_beginning_with(text: str) -> tuple[UUID, UUID] | tuple[None, None]:
    """The first and the last id that begin so; none where no id does."""
    digits = text.lower().replace("-", "")
    if len(text) < SHORTEST_BEGINNING or not _DIGITS.fullmatch(digits):
        return None, None
    first, last = UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
    return (first, last) if str(first).startswith(text.lower()) else (None, None)


def _hash_of(text: str) -> bytes | None:
    try:
        return canonicalise(text if "://" in text else f"https://{text}/").url_hash
    except UrlRejected:
        return None


async def note_external_ids(connection: Connection, pairs: Iterable[tuple[UUID, str]]) -> set[UUID]:
    """The sources that had not had one of theirs before."""
    source_ids, external_ids = [], []
    for source_id, external_id in pairs:
        source_ids.append(source_id)
        external_ids.append(external_id)
    rows = await connection.fetch(queries.note_external_ids, source_ids, external_ids) if source_ids else []
    return {row["source_id"] for row in rows}


async def external_ids_of(database: Database | Connection, source_ids: Sequence[UUID]) -> dict[UUID, tuple[str, ...]]:
    """Of those that have any."""
    rows = await database.fetch(queries.external_ids_of, list(source_ids))
    return {row["source_id"]: tuple(row["external_ids"]) for row in rows}
