"""The misbehaviour of the demo's world, and the pages that are asked for because of it."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from headwater.cli.output import say
from headwater.simweb.mischief.framing import ResetAt
from headwater.simweb.mischief.redirects import Redirect, RedirectChain
from headwater.simweb.mischief.replies import Flapping, Status, Throttle

if TYPE_CHECKING:
    from headwater.services import Services
    from headwater.simweb.play import Playing
    from headwater.simweb.world import World

# A demo that runs on is in the present from then on, and nothing of it further back.
LONGEST_ARRIVAL_SECONDS = 120
MOST_PAST = timedelta(days=50)
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


def world_begins(now: datetime, seconds: float, pace: float) -> datetime:
    """Long enough ago that its time, which runs faster than ours, reaches the present when we have run for a while.

    From there on it is the present: what is told of it on pages is as long ago as it is. Pure.
    """
    past = min(min(seconds, LONGEST_ARRIVAL_SECONDS) * max(pace - 1, 0), MOST_PAST.total_seconds())
    return now - timedelta(seconds=past)


async def follow_everybody(services: "Services", world: "World", now: datetime) -> None:
    from headwater.actions.demo import follow_world

    began = services.clock.monotonic()
    done = await follow_world(services, world, now, SCENES)
    took = services.clock.monotonic() - began
    say(
        f"Followed: {done.publishers} publishers with {done.feeds} feeds from an OPML list, "
        f"{done.by_address} by their address alone, {done.careers} career sites, in {took:.1f} s"
    )
