"""Section D: whatever a server says, it is a verdict; nothing raises, memory stays small, and other hosts go on."""

from pathlib import Path as File

import pytest
from tests.hostile.fetch.answers import FINE, ROWS, TIMEOUT, HeadTwice, Row
from tests.hostile.fetch.stage import PLAIN, Stage, hash_of, staged, word_for
from tests.integration.fetch.conftest import SmallSite, robots

from headwater.fetch.outcomes import Answered
from headwater.simweb.mischief.bombs import Bomb, Coding, zeros
from headwater.simweb.mischief.framing import HeaderFlood

GOOD = [f"good{number}.test" for number in range(20)]
FLAGS = {"fetch.concurrency": "40", "fetch.max_body_bytes": "1000000"}
# Answers that do not end by themselves, and those that do: only the first are to meet a deadline.
ENDLESS = [row for row in ROWS if row.as_page == TIMEOUT]
ENDING = [row for row in ROWS if row.as_page != TIMEOUT]
NO_DEADLINE = {"fetch.total_timeout": "600s"}
# Time for an honest page among forty on a busy machine. With more, the slowest of the hostile ones might be done.
DEADLINE = {"fetch.total_timeout": "20s"}
MOST_GROWTH_KILOBYTES = 32 * 1024


def hosts_of(rows: list[Row]) -> dict[str, Row]:
    return {f"d{number}.test": row for number, row in enumerate(rows)}


async def worked_through(stage: Stage, hosts: dict[str, Row], scripted_path: str) -> dict[str, str]:
    """What became of /page of every host, after the real worker has been at all of them at once."""
    for host, row in hosts.items():
        stage.path.sim.script(host, row.mischief, scripted_path)
    urls = [f"http://{host}/page" for host in (*hosts, *GOOD)]
    assert await stage.submit(urls) == {}
    told = await stage.work_through(len(urls))
    return {one.lease.host: word_for(one.verdict) for one in told}


@pytest.mark.long
@pytest.mark.parametrize("rows", [ENDING, ENDLESS], ids=["ending", "endless"])
@pytest.mark.parametrize("scripted", ["/page", "/robots.txt"])
async def test_every_hostile_answer_is_a_verdict_and_other_hosts_go_on(
    database_url: str, scripted: str, rows: list[Row]
) -> None:
    hosts = hosts_of(rows)
    deadline = NO_DEADLINE if rows is ENDING else DEADLINE
    rules = robots("User-agent: *\nDisallow: /members/\n")
    sites = {host: SmallSite({"/page": PLAIN, "/robots.txt": rules}) for host in (*hosts, *GOOD)}
    async with staged(database_url, sites, FLAGS | deadline) as stage:
        words = await worked_through(stage, hosts, scripted)
        expected = {host: row.as_page if scripted == "/page" else row.as_robots for host, row in hosts.items()}
        wrong = [(hosts[host].id, word, words.get(host)) for host, word in expected.items() if words.get(host) != word]
        assert wrong == []
        assert {words.get(host) for host in GOOD} == {FINE}
        assert stage.ears.heard == (0, 0)
        assert stage.strangers_dialled() == set()
        assert not any(visit.has_cookie for visit in stage.path.visits())
        assert await stage.path.database.fetchval("select count(*) from slots") == 0


def peak_kilobytes() -> int:
    return int(File("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])


@pytest.mark.skipif(not File("/proc/self/clear_refs").exists(), reason="peak memory is read from /proc")
async def test_a_bomb_in_any_coding_costs_little_memory(database_url: str) -> None:
    """D64: half a gigabyte each, read under the cap of ten megabytes that a fetch has by default."""
    codings: tuple[Coding, ...] = ("gzip", "deflate", "br", "zstd", "gzip, gzip")
    hosts = {f"bomb{number}.test": coding for number, coding in enumerate(codings)}
    async with staged(database_url, {host: SmallSite({}) for host in hosts}) as stage:
        for host, coding in hosts.items():
            zeros(coding, 512)
            stage.path.sim.script(host, Bomb(coding, 512), "/page")
        await stage.submit(f"http://{host}/page" for host in hosts)
        File("/proc/self/clear_refs").write_text("5")
        before = peak_kilobytes()
        verdicts = await stage.verdicts()
        assert {word_for(verdicts[hash_of(f"http://{host}/page")]) for host in hosts} == {"too_large"}
        assert peak_kilobytes() - before < MOST_GROWTH_KILOBYTES


async def test_no_cookie_comes_back_whatever_was_set(database_url: str) -> None:
    async with staged(database_url, {"a.test": SmallSite({"/one": PLAIN, "/two": PLAIN})}) as stage:
        stage.path.sim.script("a.test", HeaderFlood("cookies", 50))
        for page in ("one", "two"):
            assert isinstance(await stage.path.fetch(f"http://a.test/{page}"), Answered)
        assert len(stage.path.visits()) == 3
        assert not any(visit.has_cookie for visit in stage.path.visits())


async def test_an_answer_planted_behind_another_is_never_read_as_the_next(database_url: str) -> None:
    """D69: a kept connection that said too much would answer the next request with what its server chose before."""
    async with staged(database_url, {"a.test": SmallSite({"/one": PLAIN, "/two": PLAIN})}) as stage:
        stage.path.sim.script("a.test", HeadTwice(), "/one")
        for page in ("one", "two", "one", "two"):
            outcome = await stage.path.fetch(f"http://a.test/{page}")
            assert isinstance(outcome, Answered)
            assert outcome.response.body in (PLAIN.body, b"")
            assert b"planted" not in outcome.response.body
