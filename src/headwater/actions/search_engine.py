"""Searches moved to another engine, and back: PostgreSQL's search columns switched off and on."""

from headwater.actions.delivery import verify_sink
from headwater.clock import SystemClock
from headwater.deliver.answering import engine_for
from headwater.deliver.engine_standing import EngineStanding, hindrances_of, standing_of_engine
from headwater.deliver.search_sink import search_sink
from headwater.deliver.store import sink_named
from headwater.deliver.verifying import Verification
from headwater.errors import Busy, Refused
from headwater.search.column import ColumnState, search_column
from headwater.search.switching import SwitchProgress, switch_to
from headwater.services import Services


async def engine_standing(services: Services) -> EngineStanding:
    return await standing_of_engine(engine_for(services.database, services.settings, services.random, services.log))


async def give_searches_away(services: Services, told: SwitchProgress) -> Verification | None:
    """To the sink, if it holds the whole archive. None: the columns were switched off, or being so, before."""
    database = services.database
    chosen = await search_sink(database, services.settings.search.sink)
    found = None
    if (await search_column(database)).state in (ColumnState.KEPT, ColumnState.FILLING):
        found = await _require_whole(services, chosen.name, told)
    await switch_to(database, SystemClock(), ColumnState.AWAY, told)
    return found


async def take_searches_back(services: Services, told: SwitchProgress) -> None:
    await switch_to(services.database, SystemClock(), ColumnState.KEPT, told)


async def _require_whole(services: Services, name: str, told: SwitchProgress) -> Verification:
    for hindrance in hindrances_of(await sink_named(services.database, name)):
        raise Busy(f"PostgreSQL goes on answering searches. {hindrance.what}.", fix=hindrance.fix)
    told("comparing the sink with the archive", 0)
    found = await verify_sink(services, name, mends=False)
    if found.is_red:
        different = ", ".join(f"{count:,} {kind}" for kind, count in sorted(found.differences.items()))
        raise Refused(
            f"PostgreSQL goes on answering searches: the sink '{name}' does not hold what the archive has "
            f"({different or f'{found.parked:,} parked'}).",
            fix=f"Mend it, then type the same again: headwater sinks verify {name} --mend",
        )
    return found
