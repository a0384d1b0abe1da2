"""What the demo's world does on purpose, and what is asked of it."""

from itertools import islice
from typing import TYPE_CHECKING

from headwater.cli.output import say
from headwater.frontier.entry import Origin
from headwater.frontier.submit import Found, Outcome, Submitter, submit
from headwater.simweb.mischief.framing import ResetAt
from headwater.simweb.mischief.redirects import Redirect, RedirectChain
from headwater.simweb.mischief.replies import Flapping, Status, Throttle
from headwater.simweb.play import WORLD_BEGINS
from headwater.simweb.world import World
from headwater.sources.store import create_source

if TYPE_CHECKING:
    from uuid import UUID

    from headwater.services import Services
    from headwater.simweb.play import Playing

URLS_PER_PUBLISHER = 40
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
    web.script("moved.test", Redirect(f"http://{first}/", code=301), "/story")
    web.script("inside.test", Redirect("http://169.254.169.254/latest/meta-data"), "/admin")
    web.script("gone.test", Status(410), "/old")
    web.script("refresh.test", ResetAt(), "/", times=1)


def same_world(seed: int, publishers: int) -> World:
    """What the web's process plays, to know its addresses: equal seeds give equal worlds."""
    return World(seed, publishers, start=WORLD_BEGINS)


async def fill_frontier(services: "Services", world: World) -> None:
    began = services.clock.monotonic()
    queued = 0
    for publisher in world.publishers:
        items = islice(world.items(publisher, WORLD_BEGINS), URLS_PER_PUBLISHER)
        urls = [item.url for item in items]
        queued += await submit_for(services, publisher.name, f"http://{publisher.host}/", publisher.kind, urls)
    queued += await submit_for(services, "Scenes", "http://scenes.test/", "docs", list(SCENES))
    took = services.clock.monotonic() - began
    say(f"Frontier: {queued:,} URLs of {len(world.publishers)} publishers queued in {took:.1f} s\n")


async def submit_for(services: "Services", name: str, url: str, kind: str, urls: list[str]) -> int:
    async with services.database.transaction() as connection:
        source: UUID = await create_source(connection, name, url, kind)
        answers = await submit(connection, Submitter(source, Origin.FEED), [Found(one) for one in urls])
    return sum(answer.outcome is Outcome.QUEUED for answer in answers)
