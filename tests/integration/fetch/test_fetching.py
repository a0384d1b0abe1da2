"""One URL asked politely: every check, every hop, every way it can go wrong."""

import asyncio
from datetime import timedelta

import pytest
from tests.integration.fetch.conftest import QUICK, Path, SmallSite, opened_path, robots

from headwater.fetch.outcomes import Answered, BadRedirect, Disallowed, Failed, LedAway, RobotsUnknown, TakenDown
from headwater.frontier.verdicts import Dead, Fetched, HostSaysWait, Moved, RetryLater, Unchanged
from headwater.ingest.taking_down import take_down_everywhere
from headwater.net.problems import Problem
from headwater.politeness.hosts import HostPolicy, set_policy
from headwater.politeness.takedown import parse_takedown
from headwater.simweb.message import Page
from headwater.simweb.mischief.framing import HalfBody, ResetAt
from headwater.simweb.mischief.redirects import Redirect, RedirectChain
from headwater.simweb.mischief.replies import Status, Throttle
from headwater.simweb.questions import smallest_gaps
from headwater.simweb.resolver import Answers, NoSuchName

RESTING = "select round(extract(epoch from until - clock_timestamp()) / 5)::integer * 5 from host_closures"


async def test_robots_is_asked_first_and_once(path: Path) -> None:
    assert isinstance(await path.fetch("http://a.test/one"), Answered)
    assert isinstance(await path.fetch("http://a.test/two"), Answered)
    assert path.asked() == ["a.test/robots.txt", "a.test/one", "a.test/two"]


async def test_every_request_says_who_we_are_and_carries_no_cookie(path: Path) -> None:
    await path.fetch("http://a.test/one")
    for visit in path.visits():
        assert visit.user_agent.startswith("Headwater/")
        assert visit.sender == "test@headwater.test"
        assert not visit.has_cookie


async def test_requests_to_one_host_keep_its_delay_as_the_server_sees_it(path: Path) -> None:
    for page in ("one", "two", "three", "one"):
        await path.fetch(f"http://a.test/{page}")
    assert smallest_gaps(path.visits())["a.test"] >= 0.045


async def test_a_disallowed_path_is_not_requested_and_the_line_is_named(
    path: Path, sites: dict[str, SmallSite]
) -> None:
    sites["a.test"].pages["/robots.txt"] = robots("User-agent: *\nDisallow: /one\n")
    outcome = await path.fetch("http://a.test/one")
    assert isinstance(outcome, Disallowed)
    assert outcome.decision.line_number == 2
    assert path.asked() == ["a.test/robots.txt"]


async def test_being_redirected_into_a_disallowed_path_is_still_a_visit(
    path: Path, sites: dict[str, SmallSite]
) -> None:
    sites["a.test"].pages["/robots.txt"] = robots("User-agent: *\nDisallow: /two\n")
    path.sim.script("a.test", Redirect("/two"), "/one")
    assert isinstance(await path.fetch("http://a.test/one"), Disallowed)
    assert "a.test/two" not in path.asked()


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_unreachable_robots_means_wait(path: Path, status: int) -> None:
    path.sim.script("a.test", Status(status), "/robots.txt")
    assert isinstance(await path.fetch("http://a.test/one"), RobotsUnknown)
    assert "a.test/one" not in path.asked()


@pytest.mark.parametrize("status", [401, 403, 404, 410])
async def test_absent_robots_means_everything_is_allowed(path: Path, status: int) -> None:
    path.sim.script("a.test", Status(status), "/robots.txt")
    assert isinstance(await path.fetch("http://a.test/one"), Answered)


async def test_an_old_copy_of_robots_holds_while_the_host_fails(path: Path, sites: dict[str, SmallSite]) -> None:
    sites["a.test"].pages["/robots.txt"] = robots("User-agent: *\nDisallow: /two\n")
    await path.fetch("http://a.test/one")
    await path.database.execute("update robots set expires_at = now() - interval '1 second'")
    path.sim.script("a.test", Status(500), "/robots.txt")
    assert isinstance(await path.fetch("http://a.test/one"), Answered)
    assert isinstance(await path.fetch("http://a.test/two"), Disallowed)


async def test_robots_is_asked_again_conditionally(path: Path, sites: dict[str, SmallSite]) -> None:
    sites["a.test"].pages["/robots.txt"] = robots("User-agent: *\nDisallow: /two\n")
    await path.fetch("http://a.test/one")
    await path.database.execute("update robots set expires_at = now() - interval '1 second'")
    await path.fetch("http://a.test/one")
    again = [visit for visit in path.visits() if visit.target == "/robots.txt"]
    assert [visit.status for visit in again] == [200, 304]


async def test_robots_may_redirect_to_another_host(path: Path, sites: dict[str, SmallSite]) -> None:
    sites["b.test"].pages["/robots.txt"] = robots("User-agent: *\nDisallow: /one\n")
    path.sim.script("a.test", Redirect("http://b.test/robots.txt"), "/robots.txt")
    assert isinstance(await path.fetch("http://a.test/one"), Disallowed)


async def test_a_crawl_delay_holds_from_the_next_request_on(path: Path, sites: dict[str, SmallSite]) -> None:
    sites["a.test"].pages["/robots.txt"] = robots("User-agent: *\nCrawl-delay: 0.3\n")
    await path.fetch("http://a.test/one")
    await path.fetch("http://a.test/two")
    starts = [visit.arrived for visit in path.visits()]
    assert starts[2] - starts[1] >= 0.295


async def test_what_was_taken_down_is_not_requested(path: Path) -> None:
    await take_down_everywhere(path.database, parse_takedown("http://a.test/one"))
    assert isinstance(await path.fetch("http://a.test/one"), TakenDown)
    path.sim.script("a.test", Redirect("/one"), "/two")
    assert isinstance(await path.fetch("http://a.test/two"), TakenDown)
    assert "a.test/one" not in path.asked()


async def test_a_redirect_on_the_host_is_followed_in_slots_of_its_own(path: Path) -> None:
    path.sim.script("a.test", Redirect("/two"), "/one")
    outcome = await path.fetch("http://a.test/one")
    assert isinstance(outcome, Answered)
    assert (outcome.response.url.path, outcome.hops) == ("/two", 1)
    assert smallest_gaps(path.visits())["a.test"] >= 0.045


async def test_a_redirect_to_another_host_is_handed_back(path: Path) -> None:
    path.sim.script("a.test", Redirect("http://b.test/one", code=301), "/one")
    outcome = await path.fetch("http://a.test/one")
    assert isinstance(outcome, LedAway)
    assert outcome.to.host == "b.test"
    assert outcome.permanent.target == outcome.to
    assert not any(asked.startswith("b.test") for asked in path.asked())


async def test_an_endless_chain_ends_after_five_hops(path: Path) -> None:
    path.sim.script("a.test", RedirectChain(), "/one")
    outcome = await path.fetch("http://a.test/one")
    assert isinstance(outcome, BadRedirect)
    assert outcome.reason == "too_many_redirects"
    assert len(path.asked()) == 7  # robots.txt, the page and five hops


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1/", "http://10.0.0.1/x", "http://[::1]/", "http://169.254.169.254/latest", "file:///x"]
)
async def test_a_redirect_to_a_forbidden_place_sends_nothing_there(path: Path, target: str) -> None:
    path.sim.script("a.test", Redirect(target), "/one")
    outcome = await path.fetch("http://a.test/one")
    assert isinstance(outcome, LedAway | BadRedirect)
    if isinstance(outcome, LedAway):
        beyond = await path.fetch(outcome.to.url)
        assert isinstance(beyond, RobotsUnknown | Failed)


@pytest.mark.parametrize("turns", [("10.0.0.1",), ("127.0.0.1", "192.168.1.1")])
async def test_a_name_that_leads_inside_is_blocked(path: Path, turns: tuple[str, ...]) -> None:
    path.resolver.script("a.test", Answers((turns,)))
    await path.fetch("http://a.test/one")
    assert path.asked() == []


async def test_an_unknown_name_means_wait_since_its_robots_cannot_be_had(path: Path) -> None:
    path.resolver.script("a.test", NoSuchName())
    assert isinstance(await path.fetch("http://a.test/one"), RobotsUnknown)
    assert path.asked() == []


async def test_a_reset_is_tried_again_on_the_spot_in_slots(path: Path) -> None:
    path.sim.script("a.test", ResetAt(), "/one", times=1)
    outcome = await path.fetch("http://a.test/one")
    assert isinstance(outcome, Answered)
    assert path.asked().count("a.test/one") == 2


async def test_a_body_cut_short_is_never_taken_for_whole(path: Path) -> None:
    path.sim.script("a.test", HalfBody(), "/one")
    await path.queue("http://a.test/one")
    told = (await path.travel_all())[0]
    assert isinstance(told.verdict, RetryLater)
    assert told.verdict.reason == Problem.TRUNCATED


async def test_a_journey_settles_and_is_conditional_next_time(path: Path) -> None:
    await path.queue("http://a.test/one")
    assert isinstance((await path.travel_all())[0].verdict, Fetched)
    await path.database.execute("update url_frontier set status = 'pending', next_fetch_at = now()")
    await path.reopen()
    assert isinstance((await path.travel_all())[0].verdict, Unchanged)
    assert [visit.status for visit in path.visits()][-1] == 304


async def test_a_journey_to_another_host_ends_here_and_queues_the_target(path: Path) -> None:
    path.sim.script("a.test", Redirect("http://b.test/one", code=302), "/one")
    await path.queue("http://a.test/one")
    assert isinstance((await path.travel_all())[0].verdict, Moved)
    rows = await path.database.fetch("select host, status, reason, hops from url_frontier order by host")
    assert [tuple(row) for row in rows] == [("a.test", "dead", "redirect", 0), ("b.test", "pending", None, 1)]


async def travel_everything(path: Path) -> list[tuple[str, str | None]]:
    while await path.database.fetchval("select count(*) from url_frontier where status = 'pending'"):
        await path.reopen()
        await path.travel_all(10)
    rows = await path.database.fetch("select url, reason from url_frontier order by url")
    return [(row["url"], row["reason"]) for row in rows]


async def test_the_page_that_a_redirect_leads_to_is_asked_once(path: Path) -> None:
    path.sim.script("a.test", Redirect("/two"), "/one")
    path.sim.script("a.test", Redirect("/two"), "/three")
    await path.queue("http://a.test/one", "http://a.test/three")
    assert await travel_everything(path) == [
        ("http://a.test/one", "redirect"),
        ("http://a.test/three", "redirect"),
        ("http://a.test/two", None),
    ]
    assert sorted(path.asked()) == ["a.test/one", "a.test/robots.txt", "a.test/three", "a.test/two"]


async def test_a_chain_of_redirects_is_asked_once_and_ends_after_five_hops(path: Path) -> None:
    path.sim.script("a.test", RedirectChain(), "/one")
    await path.queue("http://a.test/one")
    rows = await travel_everything(path)
    assert sorted(str(reason) for _, reason in rows) == [*["redirect"] * 5, "too_many_redirects"]
    assert len(path.asked()) == len(set(path.asked())) == 7


async def test_redirects_in_a_circle_are_asked_once_each_and_end(path: Path) -> None:
    path.sim.script("a.test", Redirect("/two"), "/one")
    path.sim.script("a.test", Redirect("http://b.test/three"), "/two")
    path.sim.script("b.test", Redirect("http://a.test/one"), "/three")
    await path.queue("http://a.test/one")
    rows = await travel_everything(path)
    assert [reason for _, reason in rows] == ["redirect"] * 3
    await path.queue("http://a.test/one")
    await travel_everything(path)
    pages = [one for one in path.asked() if "robots" not in one]
    assert sorted(pages) == ["a.test/one", "a.test/two", "b.test/three"]


async def test_a_page_under_another_spelling_is_fetched_in_one_journey(path: Path, sites: dict[str, SmallSite]) -> None:
    sites["a.test"].pages["/one/"] = sites["a.test"].pages["/one"]
    path.sim.script("a.test", Redirect("http://a.test/one/"), "/one$")
    await path.queue("http://a.test/one")
    [told] = await path.travel_all()
    assert isinstance(told.verdict, Fetched)
    assert await path.database.fetchval("select count(*) from url_frontier") == 1


async def test_a_page_that_was_had_before_and_now_leads_to_nothing_is_gone(path: Path) -> None:
    path.sim.script("a.test", Redirect("/lost"), "/one")
    await path.queue("http://a.test/one")
    await path.database.execute("update url_frontier set fetch_count = 1, retry_count = 1, reason = 'not_found'")
    [told] = await path.travel_all()
    assert isinstance(told.verdict, Dead)
    assert told.verdict.reason == "not_found"


async def test_a_429_closes_the_host_for_as_long_as_it_asks(path: Path) -> None:
    path.sim.script("a.test", Throttle(seconds=120), "/one")
    await path.queue("http://a.test/one")
    verdict = (await path.travel_all())[0].verdict
    assert isinstance(verdict, HostSaysWait)
    assert verdict.wait == timedelta(seconds=120)
    closed = await path.database.fetchval("select extract(epoch from closed_until - now())::float8 from hosts")
    assert 60 < closed <= 120
    assert await path.database.fetchval("select retry_count from url_frontier") == 0


@pytest.mark.parametrize(("status", "reason"), [(404, "not_found"), (410, "gone"), (451, "legal")])
async def test_what_is_gone_is_dead(path: Path, status: int, reason: str) -> None:
    path.sim.script("a.test", Status(status), "/one")
    await path.queue("http://a.test/one")
    verdict = (await path.travel_all())[0].verdict
    assert isinstance(verdict, Dead)
    assert verdict.reason == reason


async def test_a_host_that_cannot_be_reached_rests_longer_each_time_and_one_probe_reopens_it(
    database_url: str, sites: dict[str, SmallSite]
) -> None:
    # Tries in place take seconds, and the breaker counts journeys.
    async with opened_path(database_url, sites, {"fetch.retries_in_place": "0"}) as path:
        await path.fetch("http://a.test/")
        await path.queue(*(f"http://a.test/{n}" for n in range(9)))
        path.sim.script("a.test", ResetAt())
        rests = []
        for _ in range(7):
            await path.reopen()
            await path.travel_all()
            rests.append(await path.database.fetchval(RESTING))
        assert rests == [None, None, None, None, 30, 60, 120]
        path.sim.reset()
        await path.reopen()
        await path.travel_all()
        assert await path.database.fetchval("select bad_in_a_row from hosts where host = 'a.test'") == 0


async def test_changed_rules_reach_the_entries_that_wait(path: Path, sites: dict[str, SmallSite]) -> None:
    sites["a.test"].pages["/robots.txt"] = robots("User-agent: *\nDisallow: /three\n")
    await path.queue("http://a.test/one", "http://a.test/two", "http://a.test/closed")
    await path.travel_all()
    sites["a.test"].pages["/robots.txt"] = robots("User-agent: *\nDisallow: /closed\n")
    await path.database.execute("update robots set expires_at = now() - interval '1 second'")
    await path.fetch("http://a.test/")
    async with asyncio.timeout(300):
        while not await path.database.fetchval("select count(*) from url_frontier where reason = 'robots_blocked'"):
            await path.services.clock.sleep(0.01)
    dead = await path.database.fetch("select url, last_error from url_frontier where status = 'dead'")
    assert [row["url"] for row in dead] == ["http://a.test/closed"]


async def test_a_page_over_the_hosts_limit_is_too_large_and_one_at_the_limit_is_not(
    path: Path, sites: dict[str, SmallSite]
) -> None:
    sites["a.test"].pages |= {"/over": Page(b"x" * 2049), "/fits": Page(b"x" * 2048)}
    await set_policy(path.database, "a.test", HostPolicy(max_kb_per_page=2, min_request_interval_ms=50), QUICK)
    await path.queue("http://a.test/over", "http://a.test/fits")
    first = await path.travel_all()
    await path.reopen()
    verdicts = {told.lease.url: told.verdict for told in first + await path.travel_all()}
    assert isinstance(verdicts["http://a.test/over"], Dead)
    assert isinstance(verdicts["http://a.test/fits"], Fetched)
