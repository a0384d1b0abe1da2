"""Rows 144 to 155 of the hostile inputs: what one publisher may not do to another, and none to all of them."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from tests.hostile.street import DELAY, LONGEST_WAIT_S, Employer, Paper, Story, Street, address_of, paper, street, told
from tests.told import TOLD

from headwater.database.pool import Database
from headwater.discover.importing import carry_out, plan_import
from headwater.simweb.message import Page, Site
from headwater.simweb.namespace import available, inside
from headwater.simweb.neighbours import Plan, canary
from headwater.simweb.neighbours.plan import Pages, always
from headwater.simweb.neighbours.pretence import ACTING, POSTS, TENANT, TENANTS_BESIDE, honest_lines
from headwater.simweb.neighbours.weight import ENTANGLED
from headwater.sources.exchange.reading import ListFormat, read_sources

pytestmark = pytest.mark.long

HOMES = "http://homes.test"


def sites(*publishers: Paper | Employer) -> Mapping[str, Site]:
    return {one.host: one for one in publishers}


async def test_without_the_neighbour_the_street_is_as_its_publishers_made_it(
    database: Database, database_url: str
) -> None:
    victim, employer = paper(), Employer()
    async with street(database, database_url, sites(victim, employer), Plan()) as here:
        async with here.working():
            await here.follow(victim.followed, employer.followed)
            await here.settle()
            await here.poll_again()
        assert set(await here.documents()) == set(victim.urls)
        assert set(await here.jobs_of(employer.followed.url)) == set(employer.urls)


# Row 144: what a channel says of a page counts only where it may speak for it.


@pytest.mark.parametrize("is_first", [True, False], ids=["told before", "told after"])
async def test_a_feed_says_nothing_about_anothers_articles(
    database: Database, database_url: str, is_first: bool
) -> None:
    victim = paper()
    async with street(database, database_url, sites(victim), Plan(("stolen_words",), victim.urls)) as here:
        async with here.working():
            order = [here.neighbours.followed[0], victim.followed]
            for one in order if is_first else reversed(order):
                await here.follow(one)
                await here.settle()
            # What did not change is not read again.
            for path, story in list(victim.stories.items()):
                victim.stories[path] = Story(story.title, (*story.lines, "One more sentence was added in the evening."))
            await here.fetch_again(*victim.urls)
        assert await here.forgeries() == []
        found = await here.documents(*victim.urls)
        assert {url: row["title"] for url, row in found.items()} == {
            victim.url(path): story.title for path, story in victim.stories.items()
        }
        assert {(row["author"], row["published_at"]) for row in found.values()} == {("", None)}
        assert {row["source_url"] for row in found.values()} == {"http://paper.test/"}


# Row 145: also where the page itself says nothing.


async def test_refused_pages_become_no_documents_of_foreign_words(database: Database, database_url: str) -> None:
    victim = paper()
    victim.stories["/refused"] = Story("Refused", told("refusal"), status=403)
    victim.stories["/private"] = Story("Private", told("privacy"))
    victim.forbidden = ("/private",)
    async with street(database, database_url, sites(victim), Plan(("stolen_words",), victim.urls)) as here:
        async with here.working():
            await here.follow(*here.neighbours.followed)
            await here.settle()
        assert await here.forgeries() == []
        refused = await here.documents(victim.url("/refused"), victim.url("/private"))
        assert refused == {}


# Row 146: the word of those who may speak for the place where one applies counts; others are sightings.


@pytest.mark.parametrize("is_first", [True, False], ids=["claimed before", "claimed after"])
async def test_a_claimed_vacancy_stays_its_employers(database: Database, database_url: str, is_first: bool) -> None:
    employer = Employer()
    plan = Plan(("stolen_vacancies",), vacancies=employer.urls)
    async with street(database, database_url, sites(employer), plan) as here:
        async with here.working():
            await (here.follow_hostile() if is_first else here.follow(employer.followed))
            await here.settle()
            await (here.follow(employer.followed) if is_first else here.follow_hostile())
            await here.settle()
            await here.poll_again()
        kept = await here.jobs_of(employer.followed.url)
        assert {url: row["title"] for url, row in kept.items()} == {
            url: f"Water engineer {n}" for n, url in enumerate(employer.urls)
        }
        assert {row["org_name"] for row in kept.values()} == {"Clear Water Aid"}
        assert await here.forgeries() == []
        if not is_first:
            hostile = [here.sources[one.url] for one in here.neighbours.followed]
            seen = await database.fetchval("select count(*) from job_sightings where source_id = any($1)", hostile)
            assert seen == len(employer.urls) * len(hostile)


# Rows 147 and 148: a page decides over itself alone.


async def canonical_street_is_true(here: Street) -> None:
    for host, home in (("homes.test", "/~alice"), (TENANT, "")):
        for n in range(POSTS):
            url = f"http://{host}{home}/post-{n}"
            found = await here.documents(url)
            assert url in found, "withdrawn, or never stored"
            assert found[url]["title"] == f"Post {n} of {host}"
            assert found[url]["text"].split() == " ".join(honest_lines(host, n)).split()
            assert found[url]["source_url"] == f"http://{host}{home}/"


@pytest.mark.parametrize("is_first", [True, False], ids=["pretended before", "pretended after"])
async def test_a_page_decides_over_no_other_by_calling_it_canonical(
    database: Database, database_url: str, is_first: bool
) -> None:
    async with street(database, database_url, {}, Plan(("false_canonical",))) as here:
        async with here.working():
            await (here.follow_hostile() if is_first else here.follow_honest())
            await here.settle()
            await (here.follow_honest() if is_first else here.follow_hostile())
            await here.settle()
            await canonical_street_is_true(here)
            # The true page, asked again, must not count as unchanged while a forgery stands there.
            pretenders = [f"http://{host}/x-{n}" for host in TENANTS_BESIDE for n in range(POSTS)]
            await here.fetch_again(*pretenders, *(f"{HOMES}/~mallory/x-{n}" for n in range(POSTS)))
            await here.fetch_again(*(f"{HOMES}/~alice/post-{n}" for n in range(POSTS)))
        await canonical_street_is_true(here)
        assert await here.forgeries() == []


async def test_noindex_withdraws_the_page_that_says_it_and_no_other(database: Database, database_url: str) -> None:
    async with street(database, database_url, {}, Plan(("false_canonical",))) as here:
        async with here.working():
            await here.follow_honest()
            await here.settle()
            await here.follow_hostile()
            await here.settle()
        withdrawn = await database.fetch(
            "select url, url_hash, canonical_url from documents where deleted_at is not null"
        )
        assert [address_of(row) for row in withdrawn if not here.is_hostile(address_of(row))] == []
        told_to_sinks = await database.fetchval(
            f"select count(*) from {TOLD} join documents d on (d.bucket, d.url_hash) = (o.bucket, o.hash)"
            " where o.op = 'delete' and d.url like '%/post-%'"
        )
        assert told_to_sinks == 0
        noindexed = await here.documents(*(f"{HOMES}/~mallory/x-{n}" for n in range(1, POSTS, 2)))
        assert noindexed == {}


# Row 149: what a page is read as follows from whose host it is on.


async def test_stories_listed_as_vacancies_become_the_newspapers_documents(
    database: Database, database_url: str
) -> None:
    victim = paper(count=6)
    plan = Plan(("stories_as_jobs",), stories=victim.urls)
    async with street(database, database_url, sites(victim), plan) as here:
        async with here.working():
            await here.follow_hostile()
            await here.settle()
            await here.follow(victim.followed)
            await here.settle()
            await here.poll_again(victim.followed.url)
        found = await here.documents(*victim.urls)
        assert {url: row["source_url"] for url, row in found.items()} == dict.fromkeys(
            victim.urls, "http://paper.test/"
        )
        assert await here.forgeries() == []


# Row 150: the original is where the story was seen first.


async def test_a_copy_fetched_first_leaves_the_original_the_original(database: Database, database_url: str) -> None:
    victim = paper(count=2)
    plan = Plan(("copies",), copied=victim.urls)
    async with street(database, database_url, sites(victim), plan) as here:
        async with here.working():
            await here.follow(victim.followed)
            await here.settle()
            await here.follow_hostile()
            await here.settle()
            for path, story in list(victim.stories.items()):
                victim.stories[path] = Story(story.title, (*story.lines, *told(f"new bridge at {path}", 2)))
            copies = [f"http://copies.mallory.test/copy-{n}" for n in range(2)]
            await here.poll_again("http://copies.mallory.test/")
            await here.fetch_again(*copies)
            await here.fetch_again(*victim.urls)
        found = await here.documents()
        assert set(victim.urls) <= set(found), "an original has become a copy"
        assert all("new bridge" in found[url]["text"] for url in victim.urls)
        assert not set(copies) & set(found), "a copy is shown as an original"
        deleted = await database.fetch(
            f"select d.url, d.url_hash, d.canonical_url from {TOLD}"
            " join documents d on (d.bucket, d.url_hash) = (o.bucket, o.hash) where o.op = 'delete'"
        )
        assert not {address_of(row) for row in deleted} & set(victim.urls)


# Not among the rows, and the neighbour does it all the same.


async def test_addresses_that_act_are_never_asked_for(database: Database, database_url: str) -> None:
    victim = paper()
    async with street(database, database_url, sites(victim), Plan(("effects",), victim.urls)) as here:
        async with here.working():
            await here.follow(*here.neighbours.followed)
            await here.settle()
        assert {visit.path for visit in here.web.visits.of("effects.mallory.test")} >= {"/feed.xml", "/sitemap.xml"}
        assert not [visit for visit in here.web.visits.all() if visit.target in ACTING]


async def test_words_that_no_reader_sees_are_not_stored(database: Database, database_url: str) -> None:
    async with street(database, database_url, {}, Plan(("hidden_text",))) as here:
        async with here.working():
            await here.follow(*here.neighbours.followed)
            await here.settle()
        found = await here.documents()
        assert len(found) == 6
        assert [url for url, row in found.items() if canary("hidden_text", 0)[:-1] in row["text"]] == []


# Row 151: a secret goes to the origins it is bound to.


async def test_an_imported_recipe_sends_no_secret_to_a_stranger(
    database: Database, database_url: str, tmp_path: Path
) -> None:
    secrets = tmp_path / "secrets"
    secrets.write_text("KEY=our-own-key-4711\n")
    secrets.chmod(0o600)
    recipe = {
        "v": 1,
        "base_url": "http://api.stranger.test",
        "path": "/items",
        "data_path": "items",
        "map": {"title": "t", "url": "u"},
        "auth": {"type": "bearer", "token": "{{SECRET:KEY}}"},
        "query": {"k": "{{SECRET:KEY}}"},
    }
    row = {"url": "http://api.stranger.test/", "source_type": "api", "parser_hint": json.dumps(recipe)}
    stranger = Pages({"/items": always(Page(b'{"items": []}', "application/json"))})
    flags = {"poll.secrets_file": str(secrets)}
    async with street(database, database_url, {"api.stranger.test": stranger}, Plan(), flags) as here:
        plan = await plan_import(database, read_sources(json.dumps(row).encode(), ListFormat.JSONL).rows)
        await carry_out(database, plan, DELAY, "tester")
        async with here.working():
            await here.settle()
        visits = here.web.visits.of("api.stranger.test")
        assert [visit.target for visit in visits if visit.is_authorized or "4711" in visit.query] == []


# Row 153: counted, not timed.


def street_of_papers(papers: int, stories: int) -> list[Paper]:
    return [paper(f"paper-{n}.test", stories) for n in range(papers)]


async def are_all_stored(here: Street, papers: Sequence[Paper], before: Callable[[], bool]) -> bool:
    """Whether all stories are documents before the neighbour got what it wants."""
    urls = [url for one in papers for url in one.urls]
    async with asyncio.timeout(LONGEST_WAIT_S * 2):
        while len(await here.documents(*urls)) < len(urls):
            if before():
                return False
            await asyncio.sleep(0.1)
    return True


async def test_silent_names_do_not_stop_other_publishers(database: Database, database_url: str) -> None:
    papers = street_of_papers(10, 5)
    flags = {"fetch.read_timeout": "2s", "fetch.total_timeout": "2s", "fetch.retries_in_place": "0"}
    async with street(database, database_url, sites(*papers), Plan(("silent_names",)), flags) as here:

        def tried() -> int:
            return len({visit.host for visit in here.web.visits.all()} & set(here.neighbours.mischief))

        async with here.working():
            await here.follow_hostile()
            async with asyncio.timeout(LONGEST_WAIT_S):
                await here.web.visits.until(lambda _: tried() > 0)
            await here.follow(*(one.followed for one in papers))
            assert await are_all_stored(here, papers, before=lambda: tried() > 2_000 // 10), "a tenth came before"


async def test_heavy_subdomains_do_not_take_all_readers(database: Database, database_url: str) -> None:
    papers = street_of_papers(5, 4)
    flags = {"extract.timeout": "3s", "extract.children": "2"}
    plan = Plan(("heavy_subdomains",), heavy_pages=60)
    async with street(database, database_url, sites(*papers), plan, flags) as here:

        def read() -> int:
            return sum(visit.path.startswith("/page-") for visit in here.web.visits.all())

        async with here.working():
            await here.follow_hostile()
            async with asyncio.timeout(LONGEST_WAIT_S):
                await here.web.visits.until(lambda _: read() > 1)
            await here.follow(*(one.followed for one in papers))
            assert await are_all_stored(here, papers, before=lambda: read() > 60 // 2), "half of them came before"


async def test_pages_that_kill_their_reader_harm_no_other_page(database: Database, database_url: str) -> None:
    papers = street_of_papers(3, 3)
    async with street(database, database_url, sites(*papers), Plan(("deadly_page",))) as here:
        async with here.working():
            await here.follow_hostile()
            await here.follow(*(one.followed for one in papers))
            await here.settle()
        found = await here.documents()
        assert set(found) == {url for one in papers for url in one.urls}


async def test_a_flood_of_foreign_addresses_is_cut_off_and_no_overflow(database: Database, database_url: str) -> None:
    victim = paper()
    async with street(database, database_url, sites(victim), Plan(("foreign_flood",), victim.urls)) as here:
        async with here.working():
            await here.follow_hostile()
            for polls in (1, 2, 3):
                await here.until("count(*) >= $1 from runs", polls)
                await database.execute("update channels set next_poll_at = now() where token is null")
        queued = await database.fetchval("select count(*) from url_frontier where url like '%/flood/%'")
        assert queued < 10_000
        assert await database.fetchval("select max(overflow_count) from channels") == 0


# Row 154: a channel is read like a page, within limits.


async def test_listings_that_are_never_read_to_their_end_rest_while_others_go_on(
    database: Database, database_url: str
) -> None:
    papers = street_of_papers(3, 3)
    flags = {"extract.timeout": "3s"}
    async with street(database, database_url, sites(*papers), Plan(("heavy_listing",)), flags) as here:
        async with here.working():
            await here.follow_hostile()
            async with asyncio.timeout(LONGEST_WAIT_S):
                await here.web.visits.until(lambda seen: any(one.path == "/careers" for one in seen))
            await here.follow(*(one.followed for one in papers))
            await here.until("count(*) = $1 from documents", 9)
            hostile = [here.sources[one.url] for one in here.neighbours.followed]
            # Read in time or given up: none of them is due again soon.
            await here.until(
                "not exists (select 1 from channels where source_id = any($1) and (token is not null"
                " or last_polled_at is null or next_poll_at < clock_timestamp() + interval '5 minutes'))",
                hostile,
            )
            entangled = here.sources[f"http://{ENTANGLED}/careers"]
            errors = await database.fetchval("select consecutive_errors from channels where source_id = $1", entangled)
        assert errors == 1
        assert sum(visit.path == "/careers" for visit in here.web.visits.all()) == 2


# Row 155: one machine, one pace.


@asynccontextmanager
async def socket_within_reach(database_url: str, folder: Path) -> AsyncIterator[str]:
    """The address of the same database by a socket of our own: a private network's users cannot reach the server's."""
    theirs = parse_qs(urlsplit(database_url).query)
    name = f".s.PGSQL.{theirs['port'][0]}"

    async def pour(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await source.read(1 << 16):
                target.write(data)
                await target.drain()
        target.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_unix_connection(f"{theirs['host'][0]}/{name}")
        await asyncio.gather(pour(reader, server_writer), pour(server_reader, writer))

    async with await asyncio.start_unix_server(relay, folder / name):
        yield database_url.replace(quote(theirs["host"][0], safe=""), quote(str(folder), safe=""))


async def test_many_names_of_one_machine_share_one_pace(
    database: Database, database_url: str, disk_folder: Path
) -> None:
    if refusal := available():
        pytest.skip(refusal)
    names, address = 40, "93.184.216.34"
    async with (
        street(database, database_url, {}, Plan(("many_names",), crowd=names)) as here,
        socket_within_reach(database_url, disk_folder) as reachable,
    ):
        await here.follow_hostile()
        flags = {name: value for name, value in here.task["flags"].items() if name != "network.allow"}
        task = {"flags": flags | {"database.url": reachable}, "names": names, "address": address}
        roles = await asyncio.create_subprocess_exec(
            *inside([address], [sys.executable, "-m", "tests.hostile.crowd_roles"]),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        async with asyncio.timeout(LONGEST_WAIT_S * 2):
            out, _ = await roles.communicate(json.dumps(task).encode() + b"\n")
    arrivals = json.loads(out)
    # Twenty names are no crowd; those above them come one a second. The delay of each name alone would allow fifty.
    assert arrivals[-1] - arrivals[0] >= 0.8 * (names - 20 - 1)
