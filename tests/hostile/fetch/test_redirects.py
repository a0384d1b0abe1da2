"""Section C: a redirect is a suggestion. Its body is not read, its target is checked, and no secret goes along."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import repeat

import pytest
from tests.hostile.fetch.stage import PLAIN, hash_of, staged, word_for
from tests.integration.fetch.conftest import SmallSite, robots

from headwater.fetch.outcomes import Answered, LedAway
from headwater.frontier.verdicts import Moved, Verdict
from headwater.ingest.taking_down import take_down_everywhere
from headwater.politeness.takedown import parse_takedown
from headwater.simweb.message import Page, Request
from headwater.simweb.mischief.bombs import zeros
from headwater.simweb.mischief.redirects import Redirect, RedirectChain, RedirectLoop
from headwater.simweb.mischief.stage import Mischief, Scene, Send, Steps, pieces
from headwater.simweb.questions import smallest_gap

SECRETS = {"Authorization": "Bearer secret", "X-Api-Key": "secret", "Cookie": "session=secret"}

# Where a.test/page points, and what becomes of it, or of the last page on its way.
LOCATIONS: list[tuple[str, Mischief, str]] = [
    ("53 self-loop", RedirectLoop(1), "self_loop"),
    ("53 two pages in a circle", RedirectLoop(2), "moved"),
    ("53 endless chain", RedirectChain(), "too_many_redirects"),
    ("53 five hops", RedirectChain(5), "fetched"),
    ("53 six hops", RedirectChain(6), "too_many_redirects"),
    ("58 no Location", Redirect(location="absent"), "no_location"),
    ("58 empty Location", Redirect(location="empty"), "no_location"),
    ("58 two Locations", Redirect("/b", location="two"), "several_locations"),
    ("58 huge Location", Redirect(location="huge"), "failed: header_limit"),
    ("58 long Location", Redirect("/" + "x" * 10_000), "too_long"),
    ("58 Latin-1", Redirect("/caf\udce9"), "fetched"),
    ("58 relative", Redirect("../b"), "fetched"),
    ("58 userinfo", Redirect("http://user:secret@b.test/"), "userinfo"),
    ("59 307", Redirect("/b", 307), "fetched"),
    ("59 308", Redirect("/b", 308), "fetched"),
    ("60 disallowed", Redirect("/members/x"), "robots_blocked"),
    ("60 taken down", Redirect("/removed/x"), "moved"),
    ("60 taken down elsewhere", Redirect("http://removed.test/x"), "moved"),
]


def end_of(url: str, verdicts: Mapping[bytes, Verdict | None]) -> Verdict | None:
    """Of the page, or of the last one to which redirects led."""
    passed: set[bytes] = set()
    while (here := hash_of(url)) not in passed and isinstance(verdict := verdicts[here], Moved):
        passed.add(here)
        if hash_of(verdict.to) not in verdicts:
            break
        url = verdict.to
    return verdicts[hash_of(url)]


@pytest.mark.long
async def test_every_location_has_a_verdict_and_every_request_is_a_get(database_url: str) -> None:
    hosts = {f"c{number}.test": row for number, row in enumerate(LOCATIONS)}
    rules = robots("User-agent: *\nDisallow: /members/\n")
    pages = {"/page": PLAIN, "/b": PLAIN, "/caf%C3%A9": PLAIN, "/robots.txt": rules}
    async with staged(database_url, {host: SmallSite(pages) for host in hosts}) as stage:
        for host, (_, mischief, _) in hosts.items():
            stage.path.sim.script(host, mischief, "/page")
            await take_down_everywhere(stage.path.database, parse_takedown(f"http://{host}/removed"))
        await take_down_everywhere(stage.path.database, parse_takedown("removed.test"))
        await stage.submit(f"http://{host}/page" for host in hosts)
        verdicts = await stage.verdicts()
        words = {host: word_for(end_of(f"http://{host}/page", verdicts)) for host in hosts}
        assert [(row[0], words[host]) for host, row in hosts.items() if words[host] != row[2]] == []
        visits = stage.path.visits()
        assert {visit.method for visit in visits} == {"GET"}
        assert not [visit for visit in visits if visit.path.startswith(("/members", "/removed"))]
        assert not [visit for visit in visits if visit.host == "removed.test"]


@dataclass(frozen=True)
class Baggage(Mischief):
    """A redirect whose body is not worth reading; `sent` counts what had to be handed over all the same."""

    location: str
    headers: tuple[tuple[str, str], ...]
    body: Iterator[bytes]
    sent: list[int] = field(default_factory=list)

    def play(self, scene: Scene) -> Steps:
        framing = ("Transfer-Encoding", "chunked")
        yield Send(scene.head(302, (("Location", self.location), framing, *self.headers)))
        for chunk in self.body:
            self.sent.append(len(chunk))
            yield Send(b"%x\r\n%b\r\n" % (len(chunk), chunk))


async def test_the_body_of_a_redirect_is_not_read(database_url: str) -> None:
    """C57: what the kernel took before we hung up is all that an endless one gets rid of."""
    endless = Baggage("/b", (), repeat(b"x" * 65_536))
    bomb = Baggage("/b", (("Content-Encoding", "gzip"),), pieces(zeros("gzip", 1024), 4096))
    sites = {host: SmallSite({"/b": PLAIN}) for host in ("endless.test", "bomb.test")}
    # Whoever reads on would read a lot.
    async with staged(database_url, sites, {"fetch.max_body_bytes": "200000000"}) as stage:
        for host, baggage in (("endless.test", endless), ("bomb.test", bomb)):
            stage.path.sim.script(host, baggage, "/page")
            outcome = await stage.path.fetch(f"http://{host}/page")
            assert isinstance(outcome, Answered)
            assert outcome.response.body == PLAIN.body
        await stage.path.sim.visits.until(lambda visits: all(visit.ended is not None for visit in visits))
        assert sum(endless.sent) < 16_000_000
        assert [visit.path for visit in stage.path.visits() if visit.is_aborted].count("/page") >= 1


class Attentive:
    """Answers every path, and remembers what secrets came with it."""

    def __init__(self) -> None:
        self.heard: dict[str, set[str]] = {}

    def page(self, request: Request, now: datetime) -> Page | None:
        came = {name for name in SECRETS if name.lower() in request.headers}
        self.heard[f"{request.headers['host']}{request.path}"] = came
        return None if request.path == "/robots.txt" else PLAIN


async def test_secrets_go_to_the_origin_they_are_for_and_nowhere_else(database_url: str) -> None:
    """C56: neither to another port, nor to another host, nor back again after a detour."""
    site = Attentive()
    hosts = ("a.test", "b.test")
    async with staged(database_url, dict.fromkeys(hosts, site)) as stage:  # type: ignore[arg-type]
        port = stage.ears.port
        stage.path.sim.script("a.test", Redirect("/kept"), "/same$")
        stage.path.sim.script("a.test", Redirect(f"http://a.test:{port}/other-port"), "/port$")
        stage.path.sim.script("a.test", Redirect("http://b.test/other-host"), "/host$")
        stage.path.sim.script("a.test", Redirect("/back"), "/other-port$")
        stage.path.sim.script("a.test", Redirect("http://a.test/returned"), "/back$")
        for start in ("/same", "/port"):
            assert isinstance(await stage.path.fetch(f"http://a.test{start}", kind="api", headers=SECRETS), Answered)
        left = await stage.path.fetch("http://a.test/host", kind="api", headers=SECRETS)
        assert isinstance(left, LedAway)
        assert isinstance(await stage.path.fetch(left.to.url), Answered)
        with_secrets = {place for place, came in site.heard.items() if came}
        assert with_secrets == {"a.test/same", "a.test/port", "a.test/host", "a.test/kept"}
        assert {f"a.test:{port}/other-port", f"a.test:{port}/back", "a.test/returned"} <= site.heard.keys()
        assert "b.test/other-host" in site.heard


@pytest.mark.long
async def test_a_target_on_another_host_waits_for_that_hosts_slot(database_url: str) -> None:
    """C61: ten sites that all point at one do not meet there."""
    hosts = [f"from{number}.test" for number in range(10)]
    sites = {host: SmallSite({}) for host in hosts}
    goal = SmallSite({f"/{host}": PLAIN for host in hosts})
    async with staged(database_url, sites | {"goal.test": goal}, {"politeness.delay": "60ms"}) as stage:
        for host in hosts:
            stage.path.sim.script(host, Redirect(f"http://goal.test/{host}"), "/page")
        await stage.submit(f"http://{host}/page" for host in hosts)
        await stage.work_through(20)
        visits = stage.path.sim.visits.of("goal.test")
        assert len(visits) == 11  # robots.txt once
        assert (smallest_gap(visits) or 0) >= 0.055


async def test_a_chain_that_has_to_pause_keeps_count_of_its_hops(database_url: str) -> None:
    """C53: every pause is a chance to forget."""
    slow = robots("User-agent: *\nCrawl-delay: 30\n")
    async with staged(database_url, {"a.test": SmallSite({"/robots.txt": slow})}) as stage:
        stage.path.sim.script("a.test", Redirect("/next"), "/page")
        await stage.submit(["http://a.test/page"])
        # Only the redirects of a page that was had before are followed in its own journey.
        await stage.path.database.execute("update url_frontier set fetch_count = 1")
        for _ in range(2):
            await stage.path.travel_all()
            await stage.path.database.execute("update url_frontier set next_fetch_at = now()")
            await stage.path.reopen()
        row = await stage.path.database.fetchrow("select resume_url, hops from url_frontier")
        assert row is not None
        assert tuple(row) == ("http://a.test/next", 1)
