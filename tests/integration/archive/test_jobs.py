import asyncio
from datetime import date, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from tests.integration.archive.shelf import SOURCE, Shelf, everything, key_of

from headwater.archive.job import Teller
from headwater.archive.jobs import (
    OURSELVES,
    JobCounts,
    delete_jobs,
    expire_jobs,
    expire_unnamed,
    forget_sightings,
    keep_jobs,
)
from headwater.database.pool import Database
from headwater.ingest.taking_down import record
from headwater.politeness.takedown import parse_takedown
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import NO_VOICE, Voice
from headwater.urls.fingerprint import DocumentKey
from headwater.vacancy import NewJob

LIST, OTHER_LIST, MALLORY = uuid4(), uuid4(), uuid4()
UNSEEN = timedelta(days=7)
DAY = 86_400.0


def job(name: str = "Nurse", **fields: Any) -> NewJob:
    ours = {"canonical_hash": hash_of(name), "title": name, "org_name": "Org", "apply_url": "https://o.example/1"}
    return NewJob(**ours | fields)


def hash_of(name: str) -> bytes:
    return sha256(name.encode()).digest()


def teller(channel: UUID | None = LIST, *, source: UUID = SOURCE, domain: str = "o.example") -> Teller:
    return Teller(source, f"https://{domain}/jobs", Voice(domain), channel, f"https://{domain}/")


STRANGER = teller(OTHER_LIST, source=MALLORY, domain="evil.example")


def key(name: str = "Nurse") -> DocumentKey:
    return DocumentKey(hash_of(name)[0], hash_of(name))


async def keep(shelf: Shelf, *jobs: NewJob, channel: UUID | None = LIST, by: Teller | None = None) -> JobCounts:
    async with shelf.database.transaction() as connection:
        return await keep_jobs(connection, by or teller(channel), jobs, shelf.now)


async def expire(shelf: Shelf) -> int:
    async with shelf.database.transaction() as connection:
        return await expire_jobs(connection, shelf.now)


async def expire_left_out(shelf: Shelf, *, channel: UUID = LIST, since: datetime | None = None) -> int:
    """By a list that names, since then, what it names."""
    async with shelf.database.transaction() as connection:
        return await expire_unnamed(connection, channel, since or shelf.now, shelf.now)


async def row(shelf: Shelf, name: str = "Nurse") -> asyncpg.Record:
    found = await shelf.database.fetchrow("SELECT * FROM jobs WHERE canonical_hash = $1", hash_of(name))
    assert found is not None
    return found


async def told(shelf: Shelf) -> list[tuple[int, str]]:
    rows = await shelf.database.fetch("SELECT version, op FROM outbox WHERE kind = 'job' ORDER BY seq")
    return [tuple(one) for one in rows]


async def test_every_vacancy_of_a_run_is_counted_once(shelf: Shelf) -> None:
    assert await keep(shelf, job("A"), job("B")) == JobCounts(2, 2, 0, 0)
    told_now = await keep(shelf, job("A"), job("B", city="Rome"), job("C"), job("C"))
    assert told_now == JobCounts(4, 1, 1, 2)
    assert sorted(await told(shelf)) == [(1, "upsert")] * 3 + [(2, "upsert")]


async def test_an_empty_list_is_no_error(shelf: Shelf) -> None:
    assert await keep(shelf) == JobCounts(0, 0, 0, 0)


async def test_everything_a_vacancy_says_comes_back_and_is_then_unchanged(shelf: Shelf) -> None:
    full = job(
        language="en",
        location_raw="Rome, Italy",
        country="Italy",
        country_iso="IT",
        city="Rome",
        mission_tags=("health", "water"),
        international_eligible=True,
        deadline=(shelf.now + timedelta(days=9)).date(),
        application_window={"opens": "2026-01-01"},
        description_snippet="Care for people",
        contract_duration_months=6,
        surge_required=True,
        compensation_visible=True,
        compensation_min_usd=Decimal("1234.50"),
        compensation_max_usd=Decimal(99999),
        compensation_confidence=0.5,
        raw_metadata={"unknown": ["x"], "assumed": ["career_type", "work_modality"]},
        is_detailed=True,
        document=key_of("https://o.example/1"),
    )
    await keep(shelf, full)
    assert await keep(shelf, full) == JobCounts(1, 0, 0, 1)
    stored = await row(shelf)
    for name in ("city", "deadline", "application_window", "compensation_min_usd", "raw_metadata", "surge_required"):
        assert stored[name] == getattr(full, name), name
    assert stored["mission_tags"] == ["health", "water"]
    assert stored["document_hash"] == key_of("https://o.example/1").url_hash
    assert (stored["country_name"], stored["id"].bytes[0]) == ("Italy", hash_of("Nurse")[0])


async def test_a_vacancy_seen_again_moves_only_what_nobody_is_told(shelf: Shelf) -> None:
    await keep(shelf, job())
    before = await row(shelf)
    shelf.wait(1)
    await keep(shelf, job())
    after = await row(shelf)
    moved = {name for name in after.keys() if after[name] != before[name]}  # noqa: SIM118 # a record is no mapping
    assert moved == {"listed_at"}
    assert await told(shelf) == [(1, "upsert")]


@pytest.mark.parametrize("channel", [LIST, None])
async def test_its_last_sighting_moves_once_a_day_and_sinks_are_told(shelf: Shelf, channel: UUID | None) -> None:
    await keep(shelf, job())
    for _ in range(3):
        shelf.wait(DAY)
        assert await keep(shelf, job(), channel=channel) == JobCounts(1, 0, 0, 1)
        await keep(shelf, job(), channel=channel)
        assert (await row(shelf))["last_seen_at"] == shelf.now
    assert await told(shelf) == [(version, "upsert") for version in (1, 2, 3, 4)]


async def test_a_language_is_filled_in_at_the_next_sighting_and_sinks_are_told_once(shelf: Shelf) -> None:
    await keep(shelf, job(description_snippet="engineers wanted"))
    for _ in range(2):
        shelf.wait(1)
        await keep(shelf, job(description_snippet="engineers wanted", language="en"))
    found = await row(shelf)
    assert (found["language"], found["version"]) == ("en", 2)
    assert "engin" in found["search_tsv"]
    assert await told(shelf) == [(1, "upsert"), (2, "upsert")]


async def test_an_organisation_that_is_named_later_replaces_the_sources_name(shelf: Shelf) -> None:
    marked = {"facts": {}, "assumed": ["org_name"]}
    await keep(shelf, job(org_name="The board", raw_metadata=marked))
    await keep(shelf, job(org_name="The board", raw_metadata=marked, is_detailed=True), channel=None)
    await keep(shelf, job(org_name="Well Aid", work_modality="remote"))
    found = await row(shelf)
    assert (found["org_name"], found["work_modality"]) == ("Well Aid", "remote")
    await keep(shelf, job(org_name="The board", raw_metadata=marked, is_detailed=True), channel=None)
    assert (await row(shelf))["version"] == found["version"]


async def test_an_expired_vacancy_that_is_still_named_moves_nothing(shelf: Shelf) -> None:
    await keep(shelf, job(deadline=shelf.now.date()))
    shelf.wait(3 * DAY)
    await expire(shelf)
    before = await everything(shelf.database)
    await keep(shelf, job())
    assert await everything(shelf.database) == before


async def test_its_own_page_is_a_sighting_but_not_a_listing(shelf: Shelf) -> None:
    await keep(shelf, job())
    listed_at = shelf.now
    shelf.wait(DAY)
    await keep(shelf, job(is_detailed=True), channel=None)
    stored = await row(shelf)
    assert (stored["listed_at"], stored["last_seen_at"], stored["channel_id"]) == (listed_at, shelf.now, LIST)


async def test_a_vacancy_is_over_after_its_day(shelf: Shelf) -> None:
    await keep(shelf, job(deadline=shelf.now.date()), job("Open"))
    assert await expire(shelf) == 0
    shelf.wait(2.5 * DAY)
    assert await expire(shelf) == 1
    assert ((await row(shelf))["status"], (await row(shelf, "Open"))["status"]) == ("expired", "active")
    assert (await told(shelf))[-1] == (2, "delete")
    assert await expire(shelf) == 0


async def test_a_vacancy_whose_own_page_calls_it_over_is_over(shelf: Shelf) -> None:
    await keep(shelf, job())
    past = (shelf.now - timedelta(days=9)).date()
    await keep(shelf, job(deadline=past, is_detailed=True), channel=None)
    assert await told(shelf) == [(1, "upsert"), (2, "upsert"), (3, "delete")]
    assert await keep(shelf, job()) == JobCounts(1, 0, 0, 1)
    assert (await row(shelf))["status"] == "expired"


async def test_a_vacancy_its_list_no_longer_names_is_over(shelf: Shelf) -> None:
    await keep(shelf, job("Gone"), job("There"))
    await keep(shelf, job("Elsewhere"), channel=OTHER_LIST)
    shelf.wait(DAY)
    await keep(shelf, job("There"))
    assert await expire_left_out(shelf) == 1
    assert (await row(shelf, "Gone"))["status"] == "expired"
    assert (await told(shelf))[-1] == (2, "delete")
    assert await expire_left_out(shelf) == 0
    assert (await row(shelf, "Elsewhere"))["status"] == "active"


async def test_a_vacancy_whose_page_was_just_seen_is_not_gone(shelf: Shelf) -> None:
    await keep(shelf, job("Paged"), job("There"))
    shelf.wait(DAY)
    await keep(shelf, job("There"))
    await keep(shelf, job("Paged", is_detailed=True), channel=None)
    assert await expire_left_out(shelf) == 0


async def test_a_vacancy_that_is_back_is_delivered_again(shelf: Shelf) -> None:
    await keep(shelf, job(deadline=shelf.now.date()))
    shelf.wait(3 * DAY)
    await expire(shelf)
    assert await keep(shelf, job(deadline=(shelf.now + UNSEEN).date())) == JobCounts(1, 0, 1, 0)
    assert await told(shelf) == [(1, "upsert"), (2, "delete"), (3, "upsert")]
    assert (await row(shelf))["status"] == "active"


async def test_what_a_person_took_out_stays_out(shelf: Shelf) -> None:
    await keep(shelf, job())
    async with shelf.database.transaction() as connection:
        assert await delete_jobs(connection, [key("Nurse")], "ann", "not a job\0", shelf.now) == 1
        assert await delete_jobs(connection, [key("Nurse")], "ann", "again", shelf.now) == 0
        assert await delete_jobs(connection, [key("Nobody")], "ann", "never was", shelf.now) == 0
    before = await everything(shelf.database)
    assert await keep(shelf, job(city="Oslo")) == JobCounts(1, 0, 0, 1)
    assert await everything(shelf.database) == before
    assert await told(shelf) == [(1, "upsert"), (2, "delete")]


async def test_a_vacancy_over_before_it_was_seen_is_not_stored(shelf: Shelf) -> None:
    assert await keep(shelf, job(deadline=date(2020, 1, 1))) == JobCounts(1, 0, 0, 1)
    assert await shelf.database.fetchval("SELECT count(*) FROM jobs") == 0


@pytest.mark.parametrize("text", ["nul \0 half \ud800", "x" * 1_000_000, "a_" * 200_000])
async def test_no_words_can_fail_a_run(shelf: Shelf, text: str) -> None:
    hostile = job("Nurse", org_name=text, description_snippet=text, mission_tags=(text,), raw_metadata={text[:9]: text})
    assert await keep(shelf, hostile) == JobCounts(1, 1, 0, 0)
    assert await keep(shelf, hostile) == JobCounts(1, 0, 0, 1)


@pytest.mark.long
async def test_runs_that_show_the_same_vacancies_at_once_never_deadlock(database_url: str) -> None:
    names = [f"Job {n}" for n in range(40)]
    async with await Database.connect(database_url, size=6) as database:
        shelf = Shelf(database)
        orders = [names, names[::-1], names[20:] + names[:20]] * 2
        inserted = written = 0
        # First they are new to all, then known to all.
        for _ in range(4):
            shelf.wait()
            counts = await asyncio.gather(
                *(keep(shelf, *(job(name, city=str(turn)) for name in order)) for turn, order in enumerate(orders))
            )
            inserted += sum(one.inserted for one in counts)
            written += sum(one.inserted + one.updated for one in counts)
        assert inserted == len(names)
        assert await database.fetchval("SELECT count(*) FROM outbox") == written


async def sightings(shelf: Shelf) -> list[tuple[Any, ...]]:
    columns = "source_id, channel_id, url, first_seen_at, last_seen_at"
    rows = await shelf.database.fetch(f"SELECT {columns} FROM job_sightings")
    return [tuple(one) for one in rows]


async def test_a_list_that_claims_another_employers_apply_url_adds_a_sighting_and_changes_nothing(shelf: Shelf) -> None:
    await keep(shelf, job(city="Rome"))
    before = await everything(shelf.database)
    seen_at = shelf.now
    shelf.wait()
    assert await keep(shelf, job(title="Forged", city="Oslo"), by=STRANGER) == JobCounts(1, 0, 0, 1)
    assert await everything(shelf.database) == before
    assert await sightings(shelf) == [(MALLORY, OTHER_LIST, "https://evil.example/jobs", shelf.now, shelf.now)]
    first = shelf.now
    shelf.wait(DAY)
    await keep(shelf, job(), by=STRANGER)
    [(*_, first_seen_at, last_seen_at)] = await sightings(shelf)
    assert (first_seen_at, last_seen_at) == (first, shelf.now)
    assert (await row(shelf))["last_seen_at"] == seen_at


async def test_a_strangers_list_neither_keeps_a_vacancy_alive_nor_lets_it_expire(shelf: Shelf) -> None:
    await keep(shelf, job("Gone"), job("There"))
    await keep(shelf, job("Gone"), by=STRANGER)
    shelf.wait(8 * DAY)
    # The stranger names others, and no longer this one: that says nothing about it.
    await keep(shelf, job("Bait", apply_url="https://evil.example/1"), by=STRANGER)
    assert await expire_left_out(shelf, channel=OTHER_LIST) == 0
    await keep(shelf, job("There"))
    await keep(shelf, job("Gone"), by=STRANGER)
    assert await expire_left_out(shelf) == 1
    assert (await row(shelf, "Gone"))["status"] == "expired"


async def test_who_may_speak_for_a_vacancy_takes_it_over_with_its_list(shelf: Shelf) -> None:
    await keep(shelf, job(title="Forged", city="Oslo"), by=STRANGER)
    shelf.wait()
    assert await keep(shelf, job()) == JobCounts(1, 0, 1, 0)
    stored = await row(shelf)
    assert (stored["source_id"], stored["channel_id"], stored["listed_at"]) == (SOURCE, LIST, shelf.now)
    assert (stored["title"], stored["city"], stored["is_spoken_for"]) == ("Nurse", None, True)
    assert await told(shelf) == [(1, "upsert"), (2, "upsert")]


async def test_a_page_that_takes_over_leaves_the_list_of_the_stranger(shelf: Shelf) -> None:
    await keep(shelf, job(), by=STRANGER)
    shelf.wait()
    await keep(shelf, job(is_detailed=True), channel=None)
    stored = await row(shelf)
    assert (stored["source_id"], stored["channel_id"], stored["listed_at"]) == (SOURCE, None, None)


async def test_an_expired_vacancy_is_told_by_whoever_still_sees_it(shelf: Shelf) -> None:
    await keep(shelf, job("Gone", city="Rome"), job("There"))
    shelf.wait(8 * DAY)
    await keep(shelf, job("There"))
    assert await expire_left_out(shelf) == 1
    assert await keep(shelf, job("Gone", city="Oslo"), by=STRANGER) == JobCounts(1, 0, 1, 0)
    stored = await row(shelf, "Gone")
    assert (stored["source_id"], stored["city"], stored["status"], stored["version"]) == (MALLORY, "Oslo", "active", 3)


async def test_a_vacancy_of_a_deleted_source_is_told_by_whoever_still_sees_it(shelf: Shelf) -> None:
    await shelf.database.execute(
        "INSERT INTO sources (id, name, url, status) VALUES ($1, 'o', 'https://o.example/', 'active')", SOURCE
    )
    await keep(shelf, job(city="Rome"))
    assert await keep(shelf, job(city="Oslo"), by=STRANGER) == JobCounts(1, 0, 0, 1)
    await shelf.database.execute("UPDATE sources SET status = 'deleted'")
    assert await keep(shelf, job(city="Oslo"), by=STRANGER) == JobCounts(1, 0, 1, 0)
    assert (await row(shelf))["source_id"] == MALLORY


async def test_what_a_takedown_deleted_is_told_again_once_it_is_lifted(shelf: Shelf) -> None:
    await keep(shelf, job())
    async with shelf.database.transaction() as connection:
        await delete_jobs(connection, [key()], OURSELVES, "takedown", shelf.now)
    assert await keep(shelf, job()) == JobCounts(1, 0, 1, 0)
    stored = await row(shelf)
    assert (stored["status"], stored["deleted_at"], stored["deleted_by"]) == ("active", None, None)


async def test_sightings_that_nobody_repeats_are_forgotten(shelf: Shelf) -> None:
    await keep(shelf, job())
    shelf.wait(-40 * DAY)
    await keep(shelf, job(), by=STRANGER)
    shelf.wait(40 * DAY)
    await keep(shelf, job(), by=teller(uuid4(), source=MALLORY, domain="evil.example"))
    assert await forget_sightings(shelf.database, 30) == 1
    assert len(await sightings(shelf)) == 1


@pytest.mark.parametrize("place", ["apply_url", "page_url", "list", "source"])
async def test_no_vacancy_is_kept_of_a_place_that_was_taken_down(shelf: Shelf, place: str) -> None:
    await record(shelf.database, parse_takedown("gone.example"), "")
    fields = {place: "https://sub.gone.example/1"} if place in ("apply_url", "page_url") else {}
    url = "https://gone.example/jobs" if place == "list" else "https://o.example/jobs"
    source_url = "https://www.gone.example/" if place == "source" else "https://o.example/"
    by = Teller(SOURCE, url, Voice("o.example"), LIST, source_url)
    is_told_there = place in ("list", "source")
    counts = await keep(shelf, job("Gone", **fields), job("There"), by=by)
    assert counts == JobCounts(2, 0 if is_told_there else 1, 0, 2 if is_told_there else 1)
    titles = {one["title"] for one in await shelf.database.fetch("SELECT title FROM jobs")}
    assert titles == (set() if is_told_there else {"There"})


LISTED, MIDWAY, LED_TO = "https://o.example/r/1", "https://o.example/m/1", "https://o.example/jobs/nurse"


def at(url: str, **fields: Any) -> NewJob:
    return job(**{"canonical_hash": canonicalise(url).url_hash, "apply_url": url, "title": "Nurse"} | fields)


async def lead(shelf: Shelf, *way: str) -> None:
    """Each address redirects to the next one, which was found by it."""
    for parent, url, onward in zip((None, *way), way, (*way[1:], None), strict=False):
        place = canonicalise(url)
        await shelf.database.execute(
            "INSERT INTO url_frontier (bucket, url_hash, host, url, source_id, origin, parent_url, priority, status,"
            " reason, moved_to) VALUES ($1, $2, $3, $4, $5, 'feed', $6, 5, $7, $8, $9)",
            *(place.bucket, place.url_hash, place.host, url, SOURCE, parent),
            *(("dead", "redirect", onward) if onward else ("fetched", None, None)),
        )


async def standing(shelf: Shelf) -> list[tuple[str, str]]:
    rows = await shelf.database.fetch("SELECT apply_url, city FROM jobs WHERE status = 'active' ORDER BY apply_url")
    return [tuple(one) for one in rows]


def page_at(url: str) -> Teller:
    return Teller(SOURCE, url, Voice("o.example"), source_url="https://o.example/")


async def test_a_vacancy_whose_address_redirects_stands_once(shelf: Shelf) -> None:
    await keep(shelf, at(LISTED, city="Rome"))
    await lead(shelf, LISTED, MIDWAY, LED_TO)
    await keep(shelf, at(LED_TO, is_detailed=True), by=page_at(LED_TO))
    assert await standing(shelf) == [(LED_TO, "Rome")]
    shelf.wait(DAY)
    assert await keep(shelf, at(LISTED, city="Rome")) == JobCounts(1, 0, 0, 1)
    assert await standing(shelf) == [(LED_TO, "Rome")]


async def test_a_list_takes_nothing_from_the_page_that_its_address_led_to(shelf: Shelf) -> None:
    """The page was read for a source that may not speak for it; its list may speak for what it names itself."""
    await keep(shelf, at(LISTED, city="Rome"))
    await lead(shelf, LISTED, LED_TO)
    await keep(shelf, at(LED_TO, city="Oslo", is_detailed=True), by=Teller(SOURCE, LED_TO, NO_VOICE))
    await keep(shelf, at(LISTED, city="Rome"))
    assert await standing(shelf) == [(LED_TO, "Oslo")]


async def test_a_redirected_vacancy_is_over_when_its_list_leaves_it_out(shelf: Shelf) -> None:
    await keep(shelf, at(LISTED))
    await lead(shelf, LISTED, LED_TO)
    await keep(shelf, at(LED_TO, is_detailed=True), by=page_at(LED_TO))
    shelf.wait(DAY)
    assert await expire_left_out(shelf) == 1
    assert await standing(shelf) == []


async def test_a_list_names_the_page_that_a_redirect_of_another_source_led_to(shelf: Shelf) -> None:
    """The page was known before: nothing says that the redirect led there but the redirect itself."""
    await lead(shelf, LED_TO)
    await keep(shelf, at(LED_TO, is_detailed=True), by=page_at(LED_TO))
    board = teller(OTHER_LIST, source=MALLORY, domain="board.example")
    await keep(shelf, at("https://board.example/7"), by=board)
    place = canonicalise("https://board.example/7")
    await shelf.database.execute(
        "INSERT INTO url_frontier (bucket, url_hash, host, url, source_id, origin, priority, status, reason, moved_to)"
        " VALUES ($1, $2, $3, $4, $5, 'feed', 5, 'dead', 'redirect', $6)",
        *(place.bucket, place.url_hash, place.host, place.url, MALLORY, LED_TO),
    )
    await keep(shelf, at("https://board.example/7"), by=board)
    assert [url for url, _ in await standing(shelf)] == [LED_TO]
    assert await shelf.database.fetchval("SELECT count(*) FROM job_sightings WHERE source_id = $1", MALLORY) == 1


async def test_a_redirect_to_a_page_without_a_vacancy_ends_none(shelf: Shelf) -> None:
    await keep(shelf, at(LISTED))
    await lead(shelf, LISTED, "https://o.example/careers")
    await keep(shelf, at(LISTED))
    assert [url for url, _ in await standing(shelf)] == [LISTED]


async def test_redirects_in_a_circle_end_no_vacancy(shelf: Shelf) -> None:
    await lead(shelf, LISTED, MIDWAY)
    await shelf.database.execute(
        "UPDATE url_frontier SET status = 'dead', reason = 'redirect', moved_to = $1 WHERE url = $2", LISTED, MIDWAY
    )
    await keep(shelf, at(LISTED, is_detailed=True), at(MIDWAY, is_detailed=True))
    await keep(shelf, at(LISTED), at(MIDWAY))
    assert len(await standing(shelf)) == 2


async def test_a_vacancy_that_a_person_deleted_stays_out_under_the_address_that_leads_to_it(shelf: Shelf) -> None:
    await keep(shelf, at(LISTED))
    await lead(shelf, LISTED, LED_TO)
    await keep(shelf, at(LED_TO, is_detailed=True), by=page_at(LED_TO))
    place = canonicalise(LED_TO)
    async with shelf.database.transaction() as connection:
        await delete_jobs(connection, [DocumentKey(place.url_hash[0], place.url_hash)], "me", "asked", shelf.now)
    await keep(shelf, at(LISTED))
    assert await standing(shelf) == []
