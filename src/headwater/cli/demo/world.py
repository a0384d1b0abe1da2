"""What the demo's world does on purpose, and whom we follow in it."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from headwater.cli.output import say
from headwater.clock import Clock
from headwater.discover.adding import Wanted, take_up
from headwater.discover.importing import carry_out, plan_import
from headwater.frontier.entry import Origin
from headwater.frontier.submit import Found, Submitter, submit
from headwater.simweb.mischief.framing import ResetAt
from headwater.simweb.mischief.redirects import Redirect, RedirectChain
from headwater.simweb.mischief.replies import Flapping, Status, Throttle
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.world import World
from headwater.sources.exchange.reading import read_sources
from headwater.sources.source import Kind, Profile
from headwater.sources.store import create_source

if TYPE_CHECKING:
    from headwater.services import Services
    from headwater.simweb.play import Playing

DAYS_AHEAD = 60
# So many publishers are followed by nothing but the address of their home page: their channels have to be found.
FOUND_BY_ADDRESS = 5
# Pages that are asked for because something happens there.
SCENES = (
    "http://slow.test/",
    "http://slow.test/again",
    "http://broken.test/",
    "http://broken.test/other",
    "http://private.test/",
    "http://private.test/members/",
    "http://private.test/members/list",
    "http://refresh.test/",
    "http://endless.test/",
    "http://moved.test/story",
    "http://inside.test/admin",
    "http://gone.test/old",
    "http://noname.example/",
)


def misbehave(playing: "Playing") -> None:
    """A few hosts that are not at their best."""
    web = playing.web
    first = playing.world.publishers[0].host
    web.script("slow.test", Throttle(seconds=3), "/", times=2)
    web.script("slow.test", Status(404), "/robots.txt")
    web.script("broken.test", Flapping((500, 500, 200)), "/")
    web.script("broken.test", Status(503), "/robots.txt", times=1)
    web.script("endless.test", RedirectChain(), "/")
    web.script("endless.test", Status(404), "/robots.txt")
    # Not to the home page, for which the search for a sitemap asks too: the server cannot tell the readers apart.
    web.script("moved.test", Redirect(f"http://{first}/latest", code=301), "/story")
    web.script("inside.test", Redirect("http://169.254.169.254/latest/meta-data"), "/admin")
    web.script("gone.test", Status(410), "/old")
    web.script("refresh.test", ResetAt(), "/", times=1)


def world_time(clock: Clock, began: float, pace: float) -> datetime:
    """The machine's monotonic clock is the same for all its processes: all of them live on the same day."""
    return WORLD_BEGINS + timedelta(seconds=(clock.monotonic() - began) * pace)


async def follow_everybody(services: "Services", world: World, now: datetime) -> None:
    """From an OPML list and from bare addresses, as people bring them; then pages where something happens."""
    began = services.clock.monotonic()
    database, delay = services.database, services.settings.politeness.delay
    await database.execute("select ensure_days('runs', $1, $2)", now.date(), DAYS_AHEAD)
    read = read_sources(world.opml().encode())
    careers = {publisher.home for publisher in world.publishers if publisher.kind == "jobs"}
    homes = list(dict.fromkeys(row.url for row in read.rows if row.url not in careers))
    bare = set(homes[-FOUND_BY_ADDRESS:])
    plan = await plan_import(database, [row for row in read.rows if row.url not in bare | careers])
    done = await carry_out(database, plan, delay, "demo")
    async with database.transaction() as connection:
        for home in sorted(bare):
            await take_up(connection, Wanted(Profile(home)), "demo", delay)
        for publisher in world.publishers:
            if publisher.kind == "jobs":
                profile = Profile(publisher.home, publisher.name, Kind.JOBS, org_type=publisher.org_type or None)
                await take_up(connection, Wanted(profile), "demo", delay)
        scenes = await create_source(connection, "Scenes", "http://scenes.test/", "docs")
        await submit(connection, Submitter(scenes, Origin.MANUAL), [Found(url) for url in SCENES])
    # The database made them due by its own clock, which is not the world's.
    await database.execute("update channels set next_poll_at = $1", now)
    took = services.clock.monotonic() - began
    say(
        f"Followed: {done.added} publishers with {done.added + done.feeds_added} feeds from an OPML list, "
        f"{len(bare)} by their address alone, {len(careers)} career sites, in {took:.1f} s"
    )
