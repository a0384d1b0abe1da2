"""What strangers ask of us on the page for site owners: kept, bounded, and decided by a person."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from uuid import UUID

from headwater.chance import new_id
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import Busy, NotFound, UsageError
from headwater.politeness.takedown import parse_takedown
from headwater.storable import storable

queries = load_queries("headwater.politeness")

LONGEST_PLACE, LONGEST_CONTACT, LONGEST_REASON = 2_083, 320, 1_000
# Somebody who looks at them has to be able to.
MOST_OPEN, MOST_OF_ONE = 500, 5
OF_ONE_WITHIN = timedelta(days=1)
# Of those that were decided: they name people.
KEPT_FOR = timedelta(days=90)
CONTACT = re.compile(r"[^@\s]{1,64}@[^@\s]{1,255}")


@dataclass(frozen=True, slots=True)
class TakedownRequest:
    id: UUID
    place: str
    contact: str
    reason: str
    asked_at: datetime


async def ask_takedown(database: Database, place: str, contact: str, reason: str, address: str) -> str:
    """The name under which it would be taken down. Raises UsageError, and Busy where too many were asked for."""
    wanted = parse_takedown(place)
    # Cut off, it would be another place, and a larger one; and its name may be a letter longer than what was written.
    if len(wanted.name) > LONGEST_PLACE:
        raise UsageError(f"This place is longer than {LONGEST_PLACE:,} signs.", fix="Name the site, or a part of it.")
    if not CONTACT.fullmatch(contact):
        raise UsageError("This is no mail address.", fix="Give one at which you can be asked.")
    if len(reason) > LONGEST_REASON:
        raise UsageError(f"This is longer than {LONGEST_REASON:,} signs.", fix="Say it in short.")
    texts = storable([wanted.name, contact, reason])
    async with database.transaction() as connection:
        await connection.execute(queries.one_asks_at_a_time)
        kept = await connection.fetchval(
            *queries.add_takedown_request(
                id=new_id(),
                place=texts[0],
                contact=texts[1],
                reason=texts[2],
                asker=asker_of(address),
                within=OF_ONE_WITHIN,
                of_one=MOST_OF_ONE,
                in_all=MOST_OPEN,
            )
        )
    if kept is None:
        raise Busy("Too many requests wait to be looked at.", fix="Write to the contact named on this page.")
    return wanted.name


async def open_requests(database: Database, limit: int) -> list[TakedownRequest]:
    """Oldest first."""
    return [TakedownRequest(**dict(row)) for row in await database.fetch(queries.open_takedown_requests, limit)]


async def decide_request(connection: Connection, id_: UUID, actor: str, *, is_granted: bool) -> TakedownRequest:
    """Raises NotFound where it was decided already."""
    row = await connection.fetchrow(queries.decide_takedown_request, id_, actor, is_granted)
    if row is None:
        raise NotFound("There is no such open request.", fix="Somebody else may have decided it.")
    return TakedownRequest(**dict(row))


async def forget_requests(database: Database) -> None:
    await database.execute(queries.forget_takedown_requests, KEPT_FOR)


def asker_of(address: str) -> str:
    """Providers give a subscriber up to 2^16 networks of 2^64 addresses."""
    try:
        found = ip_address(address)
    except ValueError:
        return "unknown"
    return str(ip_network((found, 48), strict=False)) if isinstance(found, IPv6Address) else str(found)
