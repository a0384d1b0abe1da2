"""One vacancy for people: what it says, who tells it, and who else names it."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import NotFound, UrlRejected
from headwater.reports.endings import Ending, ending_of
from headwater.urls.canonical import canonicalise
from headwater.urls.rules import DEFAULT_RULES

queries = load_queries("headwater.reports")

HASH_DIGITS = 64
# Not columns of a vacancy that anybody asks for: where it is kept, how it is searched, and what tells why it ended.
UNSHOWN = frozenset({"bucket", "search_tsv", "source_status", "source_changed_at", "list_url"})


@dataclass(frozen=True, slots=True)
class VacancyRow:
    """`about` has the columns of `jobs`; `sightings` are by sources that have no say in it. Without an ending: open."""

    about: dict[str, Any]
    sightings: Sequence[dict[str, Any]]
    ending: Ending | None = None


async def find_vacancy(database: Database, text: str) -> VacancyRow:
    """By the URL where one applies, its id or its canonical hash."""
    found = await vacancy_called(database, text.strip())
    if found is None:
        raise NotFound(f"There is no vacancy {text!r}.", fix="Find it: headwater jobs search WORDS")
    return found


async def vacancy_called(database: Database, text: str) -> VacancyRow | None:
    wanted = await _hash_meant(database, text)
    row = wanted and await database.fetchrow(queries.find_vacancy, wanted[0], wanted)
    if not row:
        return None
    assert wanted is not None
    seen = await database.fetch(queries.sightings_of_vacancy, wanted[0], wanted)
    about = {name: value for name, value in row.items() if name not in UNSHOWN}
    return VacancyRow(about, [dict(one) for one in seen], await ending_of(database, row))


async def _hash_meant(database: Database, text: str) -> bytes | None:
    if len(text) == HASH_DIGITS:
        try:
            return bytes.fromhex(text)
        except ValueError:
            return None
    try:
        given = UUID(text)
    except ValueError:
        pass
    else:
        found: bytes | None = await database.fetchval(queries.vacancy_with_id, given.bytes[0], given)
        return found
    try:
        # As the identity of a vacancy has it.
        return sha256(canonicalise(text, rules=DEFAULT_RULES).key.encode()).digest()
    except UrlRejected:
        return None
