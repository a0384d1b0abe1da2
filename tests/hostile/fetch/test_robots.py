"""Section F as far as it is a request: odd files, odd paces, failures of every kind, and what was taken down."""

import time
from datetime import timedelta
from itertools import pairwise

import pytest
from tests.hostile.fetch.stage import PLAIN, hash_of, staged, word_for
from tests.integration.fetch.conftest import SmallSite, robots

from headwater.fetch.outcomes import Answered, Disallowed, RobotsUnknown
from headwater.ingest.taking_down import take_down_everywhere
from headwater.politeness.takedown import parse_takedown
from headwater.simweb.message import Page
from headwater.simweb.mischief.content import OddRobots
from headwater.simweb.mischief.framing import Unasked
from headwater.simweb.mischief.redirects import Redirect
from headwater.simweb.mischief.replies import Status, Throttle
from headwater.simweb.questions import smallest_gap
from headwater.simweb.resolver import Answers

# Of a processor, not of a clock; a file read in quadratic time would take minutes.
MOST_WORK_S = 20
FORMS = {
    "huge": "robots_blocked",
    "bom": "robots_blocked",
    "broken_bom": "robots_blocked",
    "utf16": "robots_blocked",
    "nul": "robots_blocked",
    "cr_only": "robots_blocked",
    "long_line": "robots_blocked",
    "html": "fetched",
}


async def test_rules_are_read_from_odd_files(database_url: str) -> None:
    """F100."""
    hosts = {f"f{number}.test": form for number, form in enumerate(FORMS)}
    async with staged(database_url, {host: SmallSite({"/members/x": PLAIN}) for host in hosts}) as stage:
        for host, form in hosts.items():
            stage.path.sim.script(host, OddRobots(form), "/robots.txt")  # type: ignore[arg-type]
        await stage.submit(f"http://{host}/members/x" for host in hosts)
        verdicts = await stage.verdicts()
        words = {form: word_for(verdicts[hash_of(f"http://{host}/members/x")]) for host, form in hosts.items()}
        assert words == FORMS


# F101, F102 and what else a file may hold that a database, a clock or a matcher could choke on.
FILES = {
    "wildcards": "User-agent: *\nDisallow: /" + "*a" * 1000 + "b\n",
    "pace 0.1": "User-agent: *\nCrawl-delay: 0.1\n",
    "pace 1e9": "User-agent: *\nCrawl-delay: 1e9\n",
    "pace 1e400": "User-agent: *\nCrawl-delay: 1e400\n",
    "pace huge": f"User-agent: *\nCrawl-delay: {'9' * 400}\n",
    "pace nan": "User-agent: *\nCrawl-delay: nan\n",
    "pace inf": "User-agent: *\nCrawl-delay: inf\n",
    "pace -1": "User-agent: *\nCrawl-delay: -1\n",
    "pace x": "User-agent: *\nCrawl-delay: x\n",
    "pace ٣": "User-agent: *\nCrawl-delay: ٣\n",
    "sitemaps": "Sitemap: http://x/\0\nSitemap: \udcff\udcfe\nSitemap: file:///etc/passwd\n" + "Sitemap: /s\n" * 10_000,
    "agents": "User-agent: x\n" * 20_000 + "Disallow: /\n",
}


async def test_no_file_stops_its_site_or_costs_more_than_a_day(database_url: str) -> None:
    page = "/" + "a" * 2000
    hosts = {f"g{number}.test": name for number, name in enumerate(FILES)}
    sites = {host: SmallSite({page: PLAIN, "/robots.txt": file_of(FILES[name])}) for host, name in hosts.items()}
    async with staged(database_url, sites) as stage:
        await stage.submit(f"http://{host}{page}" for host in hosts)
        began = time.process_time()
        told = await stage.path.travel_all(len(hosts))
        took = time.process_time() - began
        assert {one.lease.host for one in told if one.verdict is not None} == hosts.keys()
        assert took < MOST_WORK_S
        rows = await stage.path.database.fetch("select host, delay_ms from hosts")
        delays = {hosts[row["host"]]: row["delay_ms"] for row in rows}
        assert delays["pace 0.1"] == 100
        assert delays["pace 1e9"] == delays["pace huge"] == timedelta(hours=24) / timedelta(milliseconds=1)
        assert {delays[name] for name in ("pace -1", "pace x", "pace nan", "sitemaps")} == {1}
        assert max(delays.values()) <= timedelta(hours=24) / timedelta(milliseconds=1)


def file_of(text: str) -> Page:
    return Page(text.encode("utf-8", "surrogateescape"), "text/plain")


async def test_five_redirects_of_robots_are_followed_across_hosts_and_a_sixth_is_none(database_url: str) -> None:
    """F99."""
    rules = robots("User-agent: *\nDisallow: /page\n")
    hosts = [f"hop{number}.test" for number in range(7)]
    sites = {host: SmallSite({"/page": PLAIN, "/robots.txt": rules}) for host in hosts}
    async with staged(database_url, sites) as stage:
        for host, following in pairwise(hosts):
            stage.path.sim.script(host, Redirect(f"http://{following}/robots.txt"), "/robots.txt")
        assert isinstance(await stage.path.fetch("http://hop1.test/page"), Disallowed)
        assert isinstance(await stage.path.fetch("http://hop0.test/page"), Answered)


async def test_origins_of_one_host_have_rules_of_their_own_and_one_pace(database_url: str) -> None:
    """F104."""
    site = SmallSite({"/page": PLAIN, "/robots.txt": robots("User-agent: *\nDisallow: /x\n")})
    async with staged(database_url, {"a.test": site}, {"politeness.delay": "60ms"}) as stage:
        for origin in ("http://a.test", f"http://a.test:{stage.ears.port}"):
            assert isinstance(await stage.path.fetch(f"{origin}/page"), Answered)
        assert stage.path.asked() == ["a.test/robots.txt", "a.test/page"] * 2
        assert (smallest_gap(stage.path.visits()) or 0) >= 0.055


@pytest.mark.parametrize("status", [429, 503])
async def test_a_time_to_stay_away_in_answer_to_robots_is_kept_even_with_a_copy_at_hand(
    database_url: str, status: int
) -> None:
    async with staged(database_url, {"a.test": SmallSite({"/page": PLAIN, "/robots.txt": robots("")})}) as stage:
        assert isinstance(await stage.path.fetch("http://a.test/page"), Answered)
        await stage.path.database.execute("update robots set expires_at = now() - interval '1 second'")
        stage.path.sim.script("a.test", Throttle(3600, code=status), "/robots.txt")
        await stage.submit(["http://a.test/other"])
        verdicts = await stage.verdicts()
        assert word_for(verdicts[hash_of("http://a.test/other")]) == "wait: robots_unreachable"
        closed = await stage.path.database.fetchval("select closed_until - now() from hosts where host = 'a.test'")
        assert timedelta(seconds=3500) < closed <= timedelta(seconds=3600)
        assert "a.test/other" not in stage.path.asked()


async def test_a_304_that_nobody_asked_for_neither_frees_nor_replaces_the_rules(database_url: str) -> None:
    site = SmallSite({"/page": PLAIN, "/robots.txt": robots("User-agent: *\nDisallow: /page\n")})
    async with staged(database_url, {"a.test": site}) as stage:
        stage.path.sim.script("a.test", Status(500), "/robots.txt", times=1)
        assert isinstance(await stage.path.fetch("http://a.test/page"), RobotsUnknown)
        await stage.path.database.execute("update robots set expires_at = now() - interval '1 second'")
        stage.path.sim.script("a.test", Unasked(304), "/robots.txt", times=1)
        assert isinstance(await stage.path.fetch("http://a.test/page"), RobotsUnknown)
        await stage.path.database.execute("update robots set expires_at = now() - interval '1 second'")
        assert isinstance(await stage.path.fetch("http://a.test/page"), Disallowed)


async def test_robots_on_a_forbidden_port_do_not_condemn_the_site_itself(database_url: str) -> None:
    async with staged(database_url, {"a.test": SmallSite({"/page": PLAIN})}) as stage:
        stage.path.sim.script("a.test", Redirect("http://a.test:22/robots.txt"), "/robots.txt")
        stage.path.resolver.script("a.test", Answers((("127.0.0.1",), ("93.184.216.34",))))
        assert isinstance(await stage.path.fetch("http://a.test/page"), RobotsUnknown)
        assert stage.strangers_dialled() == set()


# F108: what was taken down, and spellings of it that must not slip through; the last column is the word.
TAKEN_DOWN = ("http://www.gone.test/Private", "whole.test", "http://prefix.test/a/")
ASKED = [
    ("http://www.gone.test/Private", "takedown"),
    ("http://WWW.Gone.test/Private", "takedown"),
    ("https://www.gone.test/Private/", "takedown"),
    ("http://www.gone.test/%50rivate", "takedown"),
    ("http://www.gone.test/x/../Private?utm_source=y", "takedown"),
    ("http://www.gone.test:80/Private#part", "takedown"),
    ("http://whole.test/", "takedown"),
    ("http://sub.whole.test/x", "takedown"),
    ("http://whole.test./x", "takedown"),
    ("http://prefix.test/a/b", "takedown"),
    ("http://prefix.test/ab", "fetched"),
    ("http://notwhole.test/", "fetched"),
]


async def test_what_was_taken_down_is_asked_for_in_no_spelling_and_by_no_redirect(database_url: str) -> None:
    site = SmallSite({"/": PLAIN, "/ab": PLAIN})
    froms = {f"t{number}.test": row for number, row in enumerate(ASKED)}
    sites = {host: SmallSite({}) for host in froms} | {"prefix.test": site, "notwhole.test": site}
    async with staged(database_url, sites) as stage:
        for name in TAKEN_DOWN:
            await take_down_everywhere(stage.path.database, parse_takedown(name))
        for host, (target, _) in froms.items():
            stage.path.sim.script(host, Redirect(target), "/page")
        await stage.submit(f"http://{host}/page" for host in froms)
        refused = await stage.submit(url for url, word in ASKED)
        verdicts = await stage.verdicts()
        words = {url: refused.get(url) or word_for(verdicts.get(hash_of(url))) for url, _ in ASKED}
        assert words == dict(ASKED)
        assert all(word_for(verdicts[hash_of(f"http://{host}/page")]) == "moved" for host in froms)
        asked = {visit.host for visit in stage.path.visits()} - froms.keys()
        assert asked == {"prefix.test", "notwhole.test"}
