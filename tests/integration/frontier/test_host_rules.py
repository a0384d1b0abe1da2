"""Exceptions of hosts to what makes a key, and what becomes of all that was keyed otherwise."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.integration.archive.bodies import keep_body
from tests.integration.archive.shelf import LONG, OTHER, Shelf, broken, key_of
from tests.integration.frontier.invariants import broken_invariants
from tests.integration.frontier.stage import AT_ONCE as VISIT
from tests.integration.frontier.stage import Stage, add_source

from headwater.archive.raw import RawBody, newest_body
from headwater.archive.reads import read_document
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.errors import UsageError
from headwater.frontier.claim import Claimer
from headwater.frontier.host_rules import RuleChange, apply_rules, read_rules, set_rules, use_stored_rules
from headwater.frontier.reads import count_entries, recount_entries
from headwater.frontier.settle import settle
from headwater.frontier.verdicts import Fetched, Released, RetryPolicy, settlement_of
from headwater.politeness.takedown import parse_takedown
from headwater.sources.kinds import ChannelKind
from headwater.sources.source import Profile
from headwater.sources.store import NewChannel, add_channel, store_source
from headwater.urls.canonical import canonicalise
from headwater.urls.rules import HostRules, use_rules

HOST = "a.example"
AT_ONCE = timedelta()


@pytest.fixture(autouse=True)
def no_rules() -> Iterator[None]:
    use_rules({})
    yield
    use_rules({})


@pytest.fixture
async def stage(database: Database) -> AsyncIterator[Stage]:
    yield Stage(database, await add_source(database))
    assert await broken(database) == []


async def entries(stage: Stage) -> dict[str, Any]:
    rows = await stage.database.fetch("select url, url_hash, status, priority, source_id from url_frontier")
    return {row["url"]: row for row in rows}


async def is_keyed_by_rules(stage: Stage) -> bool:
    return all(canonicalise(url).url_hash == row["url_hash"] for url, row in (await entries(stage)).items())


async def test_a_rule_holds_for_what_is_submitted(stage: Stage) -> None:
    await set_rules(stage.database, HOST, RuleChange(keep_params=["ref"], strip_params=["sid"], keep_slash=True))
    await stage.submit(*(f"https://{HOST}/job?ref={n}" for n in range(3)))
    await stage.submit(f"https://{HOST}/a?sid=1", f"https://{HOST}/a?sid=2", f"https://{HOST}/b", f"https://{HOST}/b/")
    await stage.submit("https://other.example/job?ref=1", "https://other.example/job?ref=2")
    assert len(await entries(stage)) == 3 + 1 + 2 + 1


@pytest.mark.long
async def test_entries_are_keyed_anew_and_stay_what_they_were(stage: Stage) -> None:
    urls = [f"https://{HOST}/job?ref={n}&id={n}" for n in range(700)]
    await stage.submit(*urls, "https://other.example/x?ref=1")
    before = await entries(stage)
    await set_rules(stage.database, HOST, RuleChange(keep_params=["ref"]))
    assert not await is_keyed_by_rules(stage)
    done = await apply_rules(stage.database, AT_ONCE)
    assert (done.moved, done.merged, done.busy) == (700, 0, 0)
    after = await entries(stage)
    assert await is_keyed_by_rules(stage)
    assert {url: row["status"] for url, row in after.items()} == {url: row["status"] for url, row in before.items()}
    found = "select count(*) from discoveries d join url_frontier e using (bucket, url_hash)"
    assert await stage.database.fetchval(found) == 701
    assert await broken_invariants(stage.database, await stage.database.fetchval("select clock_timestamp()")) == []


async def test_two_entries_of_one_page_become_one(stage: Stage) -> None:
    second = await add_source(stage.database)
    first, other = f"https://{HOST}/a?sid=1", f"https://{HOST}/a?sid=2"
    await stage.submit(first)
    await Stage(stage.database, second).submit(other)
    await stage.database.execute("update url_frontier set priority = 9 where url = $1", other)
    await set_rules(stage.database, HOST, RuleChange(strip_params=["sid"]))
    done = await apply_rules(stage.database, AT_ONCE)
    assert done.moved + done.merged == 2
    [(_, row)] = (await entries(stage)).items()
    assert row["priority"] == 9
    sources = await stage.database.fetch("select source_id from discoveries where url_hash = $1", row["url_hash"])
    assert {one["source_id"] for one in sources} == {stage.source, second}
    assert (await count_entries(stage.database)).by_source == (await recount_entries(stage.database)).by_source
    assert await broken_invariants(stage.database, await stage.database.fetchval("select clock_timestamp()")) == []


@pytest.mark.parametrize("fetched_first", [True, False])
async def test_of_two_the_one_is_kept_that_was_fetched(stage: Stage, fetched_first: bool) -> None:
    urls = [f"https://{HOST}/a?sid=1", f"https://{HOST}/a?sid=2"]
    await stage.submit(*urls)
    await fake_fetched(stage, urls[0] if fetched_first else urls[1])
    await set_rules(stage.database, HOST, RuleChange(strip_params=["sid"]))
    await apply_rules(stage.database, AT_ONCE)
    [(url, row)] = (await entries(stage)).items()
    assert row["status"] == "fetched"
    assert (url == urls[0]) == fetched_first
    assert (await count_entries(stage.database)).by_source == (await recount_entries(stage.database)).by_source


async def fake_fetched(stage: Stage, url: str) -> None:
    await stage.database.execute("update url_frontier set status = 'fetched', fetch_count = 1 where url = $1", url)
    moved = "insert into counter_deltas values ($1, 'pending', -1), ($1, 'fetched', 1)"
    await stage.database.execute(moved, stage.source)


async def test_what_is_being_fetched_waits_for_the_next_walk(stage: Stage) -> None:
    url = f"https://{HOST}/a?ref=1"
    await stage.submit(url)
    lease = await stage.claim_one()
    await set_rules(stage.database, HOST, RuleChange(keep_params=["ref"]))
    assert (await apply_rules(stage.database, AT_ONCE)).busy == 1
    assert [one.rekeyed_at for one in await read_rules(stage.database)] == [None]
    assert await stage.settle(lease, Released())
    assert (await apply_rules(stage.database, AT_ONCE)).moved == 1
    assert await is_keyed_by_rules(stage)
    [one] = await read_rules(stage.database)
    assert one.rekeyed_at is not None


async def test_a_walk_is_repeated_until_every_process_knows_of_the_change(stage: Stage) -> None:
    await stage.submit(f"https://{HOST}/a?ref=1")
    await set_rules(stage.database, HOST, RuleChange(keep_params=["ref"]))
    assert (await apply_rules(stage.database)).moved == 1
    # A process that has not read the change yet.
    use_rules({})
    await stage.submit(f"https://{HOST}/b?ref=1")
    assert (await apply_rules(stage.database)).moved == 0
    await use_stored_rules(stage.database)
    assert not await is_keyed_by_rules(stage)
    await stage.database.execute("update host_rules set changed_at = changed_at - interval '2 minutes'")
    assert (await apply_rules(stage.database)).moved == 1
    assert await is_keyed_by_rules(stage)
    [one] = await read_rules(stage.database)
    assert one.rekeyed_at is not None
    assert (await apply_rules(stage.database)).moved == 0


async def test_a_change_on_the_way_begins_anew(stage: Stage) -> None:
    await stage.submit(*(f"https://{HOST}/a?ref={n}&sid={n}" for n in range(5)))
    await set_rules(stage.database, HOST, RuleChange(keep_params=["ref"]))
    await apply_rules(stage.database, AT_ONCE)
    assert len(await entries(stage)) == 5
    await set_rules(stage.database, HOST, RuleChange(keep_params=["ref"], strip_params=["sid"]))
    await apply_rules(stage.database, AT_ONCE)
    assert await is_keyed_by_rules(stage)
    await set_rules(stage.database, HOST, RuleChange(keep_params=(), strip_params=()))
    await apply_rules(stage.database, AT_ONCE)
    assert await is_keyed_by_rules(stage)
    assert await broken_invariants(stage.database, await stage.database.fetchval("select clock_timestamp()")) == []


async def test_a_document_goes_with_its_page(stage: Stage) -> None:
    shelf, url = Shelf(stage.database), f"https://{HOST}/a?ref=1"
    await stage.submit(url)
    await fake_fetched(stage, url)
    await shelf.keep(url, LONG)
    old = key_of(url)
    raw = RawBody(old, stage.source, url, 200, {}, b"<p>")
    async with stage.database.transaction() as connection:
        await keep_body(connection, raw, await connection.fetchval("select now()"))
    await stage.database.execute("insert into outlinks values ($1, $2, ''::bytea)", *old)
    told = len(await shelf.told())
    await stage.database.execute("/* by hand */ update documents set first_seen_at = now() - interval '3 days'")
    seen_at = await stage.database.fetchval("select first_seen_at from documents")
    await set_rules(stage.database, HOST, RuleChange(keep_params=["ref"]))
    await apply_rules(stage.database, AT_ONCE)
    new = key_of(url)
    assert new != old
    gone, stands = await read_document(stage.database, old), await read_document(stage.database, new)
    assert gone is not None
    assert stands is not None
    assert (gone.deleted_at is not None, gone.deleted_reason) == (True, "rekeyed")
    assert (stands.deleted_at, stands.text, stands.url, stands.first_seen_at) == (None, LONG, url, seen_at)
    assert [op for _, _, op in (await shelf.told())[told:]] == ["delete", "upsert"]
    assert await newest_body(stage.database, new) is not None
    assert await newest_body(stage.database, old) is None
    assert await stage.database.fetchval("select count(*) from outlinks where url_hash = $1", new.url_hash) == 1


async def test_of_two_documents_of_one_page_one_stands(stage: Stage) -> None:
    shelf, urls = Shelf(stage.database), [f"https://{HOST}/a?sid={n}" for n in range(3)]
    await stage.submit(*urls)
    for url, text in zip(urls, (LONG, OTHER, LONG), strict=True):
        await fake_fetched(stage, url)
        await shelf.keep(url, text)
    await set_rules(stage.database, HOST, RuleChange(strip_params=["sid"]))
    await apply_rules(stage.database, AT_ONCE)
    standing = await stage.database.fetch("select url_hash from documents where deleted_at is null")
    assert [row["url_hash"] for row in standing] == [canonicalise(urls[0]).url_hash]


async def test_whoever_repeats_a_document_still_has_an_original(stage: Stage) -> None:
    shelf, url = Shelf(stage.database), f"https://{HOST}/a?ref=1"
    copies = ["https://copy.example/1", "https://copy.example/2"]
    await stage.submit(url)
    await fake_fetched(stage, url)
    for one in (url, *copies):
        await shelf.keep(one, LONG)
        shelf.wait()
    await set_rules(stage.database, HOST, RuleChange(keep_params=["ref"]))
    await apply_rules(stage.database, AT_ONCE)
    standing = await stage.database.fetch("select duplicate_of from documents where deleted_at is null")
    assert sorted(row["duplicate_of"] is None for row in standing) == [False, False, True]


async def test_a_takedown_holds_whatever_the_rules_are(stage: Stage) -> None:
    takedown = parse_takedown(f"https://{HOST}/a?sid=1")
    await set_rules(stage.database, HOST, RuleChange(strip_params=["sid"]))
    assert takedown.covers(canonicalise(f"https://{HOST}/a?sid=1"))
    assert not takedown.covers(canonicalise(f"https://{HOST}/a?sid=2"))
    assert parse_takedown(f"https://{HOST}/a?sid=1") == takedown


async def test_sources_and_channels_are_found_by_their_addresses(stage: Stage) -> None:
    async with stage.database.transaction() as connection:
        source = await store_source(connection, Profile(f"https://{HOST}/jobs/?ref=7"), "a person")
        await add_channel(connection, source, NewChannel(ChannelKind.FEED, canonicalise(f"https://{HOST}/f/")), "me")
    await set_rules(stage.database, HOST, RuleChange(keep_slash=True, keep_params=["ref"]))
    for table in ("sources", "channels"):
        row = await stage.database.fetchrow(f"select url, url_hash from {table} where url like 'https://{HOST}/%'")
        assert row is not None
        assert canonicalise(row["url"]).url_hash == row["url_hash"]


@pytest.mark.parametrize("name", ["a=b", "a&b", "", " ", "x" * 101])
def test_what_is_no_name_of_a_parameter_is_refused(name: str) -> None:
    if not name:
        assert RuleChange(keep_params=[name]).of(HostRules()) == HostRules()
        return
    with pytest.raises(UsageError, match="is not the name of a parameter"):
        RuleChange(keep_params=[name]).of(HostRules())


def test_a_parameter_cannot_be_kept_and_stripped() -> None:
    with pytest.raises(UsageError, match="cannot be kept and stripped"):
        RuleChange(strip_params=["Ref"]).of(HostRules(keep_params=frozenset({"ref"})))


@pytest.mark.long
async def test_nothing_is_lost_or_doubled_while_everybody_works(stage: Stage) -> None:
    """Maintenance of several processes, workers and submitters, some of which do not know the new rules yet."""
    urls = [f"https://{HOST}/page-{n % 60}?sid={n}&ref={n % 3}" for n in range(400)]
    await stage.submit(*urls[:300])
    await set_rules(stage.database, HOST, RuleChange(strip_params=["sid"], keep_params=["ref"]))
    await stage.database.execute("update hosts set delay_ms = 0, base_delay_ms = 0, max_concurrency = 50")

    async def work(owner: str) -> None:
        claimer = Claimer(stage.database, SystemClock(), owner, timedelta(seconds=60))
        for _ in range(15):
            for lease in (await claimer.claim(5)).leases:
                await asyncio.sleep(0.001)
                settlement = settlement_of(lease, Fetched(), VISIT, RetryPolicy(), random_from(1))
                assert await settle(stage.database, [settlement])

    async def find(first: int) -> None:
        for n in range(first, first + 50, 5):
            await stage.submit(*urls[n : n + 5])

    async def maintain() -> None:
        for _ in range(5):
            await apply_rules(stage.database)

    await asyncio.gather(maintain(), maintain(), work("ann"), work("bob"), find(300), find(350))
    await stage.database.execute("update host_rules set changed_at = changed_at - interval '2 minutes'")
    for _ in range(3):
        await apply_rules(stage.database)
    found = await entries(stage)
    assert await is_keyed_by_rules(stage)
    assert {canonicalise(url).url_hash for url in urls} == {row["url_hash"] for row in found.values()}
    assert len(found) == await stage.database.fetchval("select count(*) from url_frontier")
    now = await stage.database.fetchval("select clock_timestamp()")
    assert [one for one in await broken_invariants(stage.database, now) if "sleeps too long" not in one] == []
    [one] = await read_rules(stage.database)
    assert one.rekeyed_at is not None
