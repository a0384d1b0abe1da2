"""robots.txt read again in time: rules that changed reach what waits before anybody asks for it."""

from dataclasses import dataclass

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.fetch.fetcher import Preflight
from headwater.fetch.slot_reservations import SlotReservations
from headwater.politeness.slots import NotBefore
from headwater.urls.canonical import canonicalise
from headwater.urls.origin import Origin

queries = load_queries("headwater.fetch")

ORIGINS_A_ROUND = 20


@dataclass(frozen=True, slots=True)
class RobotsRounds:
    database: Database
    reservations: SlotReservations
    preflight: Preflight

    async def go(self) -> int:
        """How many origins were looked at. Each takes its turn at its host like any other request."""
        rows = await self.database.fetch(queries.expired_robots, ORIGINS_A_ROUND)
        for row in rows:
            origin = Origin(row["scheme"], row["host"], row["port"])
            async with self.reservations.reserve_slot(origin.host, "robots") as held_slot:
                if not isinstance(held_slot, NotBefore):
                    await self.preflight.look(canonicalise(f"{origin}/"), held_slot)
        return len(rows)
