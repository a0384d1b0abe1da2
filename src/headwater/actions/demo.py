"""The publishers of a simulated world, followed as people would bring them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from headwater.discover.adding import WantedSource, take_up
from headwater.discover.importing import carry_out, plan_import
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.services import Services
from headwater.simweb.world import World
from headwater.sources.exchange.reading import read_sources
from headwater.sources.source import Profile, SourceKind
from headwater.sources.store import create_source

DAYS_AHEAD = 60
ACTOR = "demo"
# So many publishers are followed by nothing but the address of their home page: their channels have to be found.
FOUND_BY_ADDRESS = 5


@dataclass(frozen=True, slots=True)
class Followed:
    publishers: int
    feeds: int
    by_address: int
    careers: int


async def follow_world(services: Services, world: World, now: datetime, scenes: Sequence[str]) -> Followed:
    """From an OPML list and from bare addresses; `scenes` are pages that are asked for beside them."""
    database, delay = services.database, services.settings.politeness.delay
    await database.execute("select ensure_days('runs', $1, $2)", now.date(), DAYS_AHEAD)
    read = read_sources(world.opml().encode())
    careers = {publisher.home for publisher in world.publishers if publisher.kind == "jobs"}
    homes = list(dict.fromkeys(row.url for row in read.rows if row.url not in careers))
    bare = set(homes[-FOUND_BY_ADDRESS:])
    plan = await plan_import(database, [row for row in read.rows if row.url not in bare | careers])
    done = await carry_out(database, plan, delay, ACTOR)
    async with database.transaction() as connection:
        for home in sorted(bare):
            await take_up(connection, WantedSource(Profile(home)), ACTOR, delay)
        for publisher in world.publishers:
            if publisher.kind == "jobs":
                profile = Profile(publisher.home, publisher.name, SourceKind.JOBS, org_type=publisher.org_type or None)
                await take_up(connection, WantedSource(profile), ACTOR, delay)
        owner = await create_source(connection, "Scenes", "http://scenes.test/", "docs")
        await submit(connection, Submitter(owner, EntryOrigin.MANUAL), [FoundUrl(url) for url in scenes])
    # The database made them due by its own clock, which is not the world's.
    await database.execute("update channels set next_poll_at = $1", now)
    return Followed(done.added, done.added + done.feeds_added, len(bare), len(careers))
