"""Documents and vacancies through the API: listed, searched, shown, written out and read again."""

import asyncio
from typing import Any
from uuid import uuid4

import orjson
import pytest
from tests.integration.archive.bodies import keep_body
from tests.integration.archive.shelf import LONG, OTHER, SOURCE, Shelf, key_of
from tests.integration.deliver.memory_sink import Delivering
from tests.integration.serve.callers import ApiCaller, command, ended, every_item

from headwater.archive.documents import keep_outlinks
from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.archive.raw import RawBody
from headwater.blocks.block import BlockKind, BodyBlock, blocks_of_text, pack_blocks, text_of_blocks
from headwater.extraction.jobs.identity import canonical_hash
from headwater.urls.domains import NO_VOICE
from headwater.vacancy import NewJob

A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"
TELLER = Teller(SOURCE, "https://j.example/", NO_VOICE)
HARMFUL = b"<script>alert(1)</script>"


@pytest.fixture
async def shelf(api: ApiCaller) -> Shelf:
    await Delivering(api.services.database).source()
    return Shelf(api.services.database)


def id_of(url: str) -> str:
    return key_of(url).url_hash.hex()


async def keep_vacancies(shelf: Shelf, *titles: str) -> None:
    made = [
        NewJob(
            canonical_hash=canonical_hash(f"https://j.example/{n}", "", "", ""),
            title=title,
            org_name="Clinic",
            apply_url=f"https://j.example/{n}",
            country_iso="KE",
            level_norm="senior",
        )
        for n, title in enumerate(titles)
    ]
    async with shelf.database.transaction() as connection:
        await keep_jobs(connection, TELLER, made, shelf.now)


async def test_documents_are_listed_and_searched_as_on_the_command_line(
    api: ApiCaller, shelf: Shelf, database_url: str
) -> None:
    for n in range(7):
        await shelf.keep(f"https://a.example/{n}", f"{LONG} ferry {n}", title=f"Ferry {n}")
    listed = await every_item(api, "documents?limit=3", "documents")
    assert [one["title"] for one in listed] == [f"Ferry {n}" for n in reversed(range(7))]
    said = await command(database_url, "docs", "list")
    assert said["documents"] == listed

    assert len(await every_item(api, "search?q=ferry&limit=3", "documents")) == 7
    found = (await api.get("search?q=ferry&kind=document")).json
    assert (found["engine"], found["kind"], found["jobs"]) == ("PostgreSQL", "document", [])
    assert "**ferry**" in found["documents"][0]["snippet"]
    said = await command(database_url, "docs", "search", "ferry")
    assert said["documents"] == found["documents"]

    await api.post("views", {"name": "six", "query": "6"})
    assert [one["title"] for one in (await api.get("search?view=six")).json["documents"]] == ["Ferry 6"]
    assert (await api.get("documents?language=de")).json["documents"] == []
    assert len((await api.get(f"documents?source={SOURCE}&since=7d")).json["documents"]) == 7


async def test_a_document_is_shown_with_its_past(api: ApiCaller, shelf: Shelf, database_url: str) -> None:
    for n in range(5):
        await shelf.keep(A, f"{LONG} {n}", title=f"Title {n}")
    async with shelf.database.transaction() as connection:
        await keep_outlinks(connection, key_of(A), [B, C])
    shown = (await api.get(f"documents/{id_of(A)}")).json
    assert (shown["title"], shown["version"], shown["source"]) == ("Title 4", 5, "The Gazette")
    assert (await api.get(f"documents/{id_of(A).upper()}")).json == shown
    assert (await api.get(f"documents/by-url?url={A}%23part")).json == shown
    assert await command(database_url, "docs", "show", A) == shown

    versions = await every_item(api, f"documents/{id_of(A)}/versions?limit=2", "versions")
    assert [one["version"] for one in versions] == [5, 4, 3, 2, 1]
    assert "text" not in versions[0]
    second = (await api.get(f"documents/{id_of(A)}/versions/2")).json
    assert (second["title"], second["text"]) == ("Title 1", f"{LONG} 1")
    assert (await api.get(f"documents/{id_of(A)}/versions/6")).status == 404
    assert (await api.get(f"documents/{id_of(A)}/outlinks")).json == {"id": id_of(A), "outlinks": [B, C]}


async def test_the_blocks_of_a_document_are_told(api: ApiCaller, shelf: Shelf, database_url: str) -> None:
    blocks = (BodyBlock(kind=BlockKind.HEADING, text="Ferries", level=2), *blocks_of_text(LONG))
    text = text_of_blocks(blocks)
    await shelf.keep(A, LONG)
    await shelf.keep(A, text, blocks=pack_blocks(blocks, text))
    told = (await api.get(f"documents/{id_of(A)}/blocks")).json
    assert told["blocks"] == [
        {"kind": "heading", "text": "Ferries", "level": 2},
        {"kind": "paragraph", "text": LONG},
    ]
    assert (told["version"], told["markdown"]) == (2, f"## Ferries\n\n{LONG}\n")
    assert (await api.get(f"documents/{id_of(A)}/blocks?version=1")).json["markdown"] == f"{LONG}\n"
    assert (await api.get(f"documents/{id_of(A)}/blocks?version=3")).status == 404
    shown = await command(database_url, "docs", "show", A, "--blocks")
    assert (shown["blocks"], shown["markdown"]) == (told["blocks"], told["markdown"])


async def test_nothing_is_told_of_the_words_of_a_document_that_was_taken_down(api: ApiCaller, shelf: Shelf) -> None:
    await api.post("frontier/submit", {"url": A})
    await shelf.keep(A, f"{LONG} before")
    await shelf.keep(A, LONG)
    async with shelf.database.transaction() as connection:
        await keep_outlinks(connection, key_of(A), [B])
    await ended(api, await api.post("takedowns", {"domain_or_url": "a.example", "confirm": True}))
    shown = (await api.get(f"documents/{id_of(A)}")).json
    assert (shown["title"], shown["text"], shown["deleted_reason"]) == ("(taken down)", "", "takedown")
    assert (await api.get(f"documents/{id_of(A)}/versions")).json["versions"] == []
    assert (await api.get(f"documents/{id_of(A)}/versions/1")).status == 404
    assert (await api.get(f"documents/{id_of(A)}/outlinks")).json["outlinks"] == []
    assert (await api.get(f"documents/{id_of(A)}/blocks")).json["blocks"] == []
    assert (await api.get(f"documents/{id_of(A)}/blocks?version=1")).status == 404


async def test_a_raw_page_is_a_file_and_never_a_page(api: ApiCaller, shelf: Shelf) -> None:
    await shelf.keep(A)
    async with shelf.database.transaction() as connection:
        await keep_body(connection, RawBody(key_of(A), SOURCE, A, 200, {}, HARMFUL), shelf.now)
    raw = await api.get(f"documents/{id_of(A)}/raw")
    assert raw.body == HARMFUL
    assert raw.headers["content-type"].startswith("text/plain")
    assert raw.headers["content-disposition"].startswith("attachment;")
    assert raw.headers["content-security-policy"].startswith("sandbox;")
    assert raw.headers["x-content-type-options"] == "nosniff"
    assert (await api.get(f"documents/{id_of(B)}/raw")).status == 404


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"documents/{'0' * 64}", 404),
        (f"documents/{'0' * 63}", 422),
        (f"documents/{'z' * 64}", 422),
        ("documents/%00", 422),
        ("documents/by-url?url=nonsense", 422),
        ("documents/by-url?url=https://unknown.example/", 404),
        (f"documents/{'0' * 64}/versions?cursor=x", 422),
        (f"documents/{'0' * 64}/versions?cursor=99999999999", 422),
        (f"documents/{'0' * 64}/versions/0", 422),
        (f"documents/{'0' * 64}/versions/99999999999999999999", 422),
        ("documents?limit=101", 422),
        ("documents?cursor=zz", 422),
        ("documents?since=yesterday", 422),
        ("documents?since=99999999999999d", 422),
        ("documents?since=9999-12-31T23:59:59-23:59", 422),
        ("documents?view=nothing", 404),
        ("documents?view=%00", 422),
        ("documents?language=%00", 422),
        ("documents?source=nobody", 404),
        ("search?q=%00", 200),
        ("search?q=%27%3B%20drop%20table%20documents%3B--", 200),
        ("search?q=!!!%3A*%26%28%28", 200),
        ("search?kind=sentence", 422),
        ("search?kind=job&level=emperor", 422),
        ("search?country=KE", 422),
        ("search?kind=job&author=Ann", 422),
        (f"search?q={'x' * 501}", 422),
        ("jobs?country=Atlantis", 422),
        ("jobs/nothing", 404),
        ("jobs/%00", 404),
        ("documents/export?format=parquet", 422),
        ("documents/export?view=nothing", 404),
        ("jobs/export?source=nobody", 404),
    ],
)
async def test_what_cannot_be_had_is_told_with_a_sentence(api: ApiCaller, path: str, status: int) -> None:
    answer = await api.get(path)
    assert answer.status == status, answer.body
    assert status == 200 or answer.json["detail"]


async def test_words_that_may_be_said_are_told_as_they_are_written(api: ApiCaller) -> None:
    answer = await api.get("documents/export?format=parquet")
    assert "'jsonl', 'csv' or 'atom'" in answer.json["detail"]


async def test_the_archive_is_written_out_as_it_is_read(api: ApiCaller, shelf: Shelf) -> None:
    for n in range(230):
        await shelf.keep(f"https://a{n}.example/1", f"{LONG} {n}", title=f"=Title {n}")
    await shelf.keep(B, f"{LONG} 1")  # says the same as another
    await shelf.tombstone("https://a0.example/1")
    position = (await api.get("changes?limit=1")).json["next"]
    whole = await api.get("documents/export")
    rows = [orjson.loads(line) for line in whole.body.splitlines()]
    assert len({one["id"] for one in rows}) == len(rows) == 229
    assert whole.headers["content-type"] == "application/x-ndjson"
    assert whole.headers["headwater-position"] == str(position)
    assert "content-length" not in whole.headers
    await api.post("views", {"name": "seven", "query": "7"})
    seven = await api.get("documents/export?view=seven&format=csv")
    assert seven.headers["content-disposition"] == 'attachment; filename="documents.csv"'
    assert b"'=Title 7" in seven.body
    assert len(seven.body.splitlines()) == 2
    assert (await api.get("documents/export?format=atom")).body.count(b"</entry>") == 229
    assert (await api.get("jobs/export")).body == b""


async def test_exports_beyond_the_places_there_are_have_to_wait(api: ApiCaller, shelf: Shelf) -> None:
    for n in range(120):
        await shelf.keep(f"https://a{n}.example/1", f"{'word ' * 40_000} {n}")
    host, port = api.address.removeprefix("http://").split(":")
    slow = [await asyncio.open_connection(host, int(port)) for _ in range(4)]
    for _, writer in slow:
        writer.write(b"GET /api/v1/documents/export HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for reader, _ in slow:
        assert b"200" in await reader.readline()
    refused = await api.get("documents/export")
    assert (refused.status, refused.headers["retry-after"]) == (429, "5")
    for _, writer in slow:
        writer.close()
    while (await api.get("jobs/export")).status == 429:
        await asyncio.sleep(0.01)


async def test_a_stored_page_is_read_again(api: ApiCaller, shelf: Shelf) -> None:
    words = " ".join(f"Sentence {n} of the story about the harbour goes on." for n in range(40))
    page = f"<html><head><title>A story</title></head><body><article><h1>A story</h1><p>{words}</p></article></body>"
    shelf.wait(-3600)
    await shelf.keep(A, LONG)
    async with shelf.database.transaction() as connection:
        raw = RawBody(key_of(A), SOURCE, A, 200, {"content-type": "text/html"}, page.encode())
        await keep_body(connection, raw, shelf.now)
    tried = await ended(api, await api.post(f"documents/{id_of(A)}/reextract", {"dry_run": True}))
    assert (tried["state"], tried["result"]["outcome"], tried["result"]["dry_run"]) == ("done", "changed", True)
    assert (await api.get(f"documents/{id_of(A)}")).json["version"] == 1
    done = await ended(api, await api.post(f"documents/{id_of(A)}/reextract"))
    assert done["result"]["outcome"] == "changed"
    assert "harbour" in (await api.get(f"documents/{id_of(A)}")).json["text"]
    await shelf.keep(B, OTHER)
    missing = await ended(api, await api.post(f"documents/{id_of(B)}/reextract"))
    assert (missing["state"], missing["problem"]["status"]) == ("failed", 404)
    assert (await api.post(f"documents/{'0' * 64}/reextract")).status == 404


async def test_vacancies_are_listed_searched_shown_and_taken_out(
    api: ApiCaller, shelf: Shelf, database_url: str
) -> None:
    await keep_vacancies(shelf, "Nurse", "Midwife", "Doctor")
    listed = await every_item(api, "jobs?country=Kenya&level=sr&limit=2", "jobs")
    assert {one["title"] for one in listed} == {"Nurse", "Midwife", "Doctor"}
    assert (await command(database_url, "jobs", "list"))["jobs"] == (await api.get("jobs")).json["jobs"]
    (nurse,) = (await api.get("search?kind=job&q=nurse")).json["jobs"]
    assert (await api.get("jobs?q=nurse")).json["jobs"] == [nurse]
    shown = (await api.get(f"jobs/{nurse['canonical_hash']}")).json
    assert (shown["title"], shown["status"], shown["sightings"]) == ("Nurse", "active", [])
    assert (await api.get("jobs/https%3A%2F%2Fj.example%2F0")).json == shown
    assert (await api.get(f"jobs/{shown['id']}")).json == shown
    assert await command(database_url, "jobs", "show", shown["id"]) == shown
    assert len((await api.get("jobs/export")).body.splitlines()) == 3
    assert (await api.delete(f"jobs/{shown['id']}")).status == 422
    assert (await api.delete(f"jobs/{shown['id']}?reason=asked")).status == 204
    ended_now: Any = (await api.get(f"jobs/{shown['id']}")).json
    assert (ended_now["status"], ended_now["deleted_by"]) == ("deleted", "developer")
    assert (await api.delete(f"jobs/{uuid4()}?reason=asked")).status == 404
