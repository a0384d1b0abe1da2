"""The sink elasticsearch against real servers: OpenSearch 2 and Elasticsearch 8."""

import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any
from uuid import UUID

import aiohttp
import pytest
from tests.integration.archive.shelf import Shelf, key_of
from tests.integration.deliver.memory_sink import Delivering
from tests.search_records import (
    SOURCE,
    document,
    open_sink,
    removal,
    right_to_send,
    sink_context,
    upsert,
    vacancy,
)

from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.deliver import store
from headwater.deliver.delivering import SinkWorker
from headwater.deliver.log import move_changes
from headwater.deliver.records import Record, RecordSource
from headwater.deliver.sink import Accepted, AskableSink, Delivery, DeliveryOutcome, KeyRange, RecordRefused, Removal
from headwater.deliver.sinks.elasticsearch import KIND, ElasticsearchOptions, ElasticsearchSink
from headwater.deliver.sinks.layouts import differences
from headwater.deliver.sinks.raw_content import MAPPING
from headwater.deliver.sinks.retiring import Retirement, find_foreign, retire_foreign
from headwater.record_kind import RecordKind
from headwater.search.rules import ALL_RULES, RULES_OF_LANGUAGE
from headwater.urls.fingerprint import hash_of

# One worker starts each server, and once.
pytestmark = [pytest.mark.opensearch, pytest.mark.xdist_group("search_servers")]

ALL = ("0" * 64, "f" * 64)
OK = Accepted()


class Server:
    """What another program sees and does."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url = url
        self._session = session

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        async with self._session.request(method, self.url + path, json=body) as answer:
            return await answer.json()

    async def document(self, index: str, record: Record) -> Any:
        return await self.ask("GET", f"/{index}/_doc/{record.id}")


@pytest.fixture
async def server(search_server_url: str) -> AsyncIterator[Server]:
    async with aiohttp.ClientSession() as session:
        server = Server(search_server_url, session)
        yield server
        for index in await server.ask("GET", "/*"):
            await server.ask("DELETE", f"/{index}")
        for template in ("headwater_raw_content", "headwater_documents", "headwater_jobs", "headwater_search_*"):
            await server.ask("DELETE", f"/_index_template/{template}")


@pytest.fixture
async def sink(server: Server) -> AsyncIterator[ElasticsearchSink]:
    async with open_sink(server.url) as opened:
        await opened.prepare(right_to_send())
        yield opened


async def send(sink: ElasticsearchSink, *batch: Delivery) -> Sequence[DeliveryOutcome]:
    """Each under its position as the number of its batch."""
    outcomes: list[DeliveryOutcome] = []
    for position, part in groupby(batch, lambda one: one.position):
        outcomes += await sink.send(list(part), right_to_send(batch_number=position))
    return outcomes


async def test_a_document_is_created_changed_and_deleted(server: Server, sink: ElasticsearchSink) -> None:
    record = document(html="<html>")
    place = sink.place_of(record)
    assert await send(sink, upsert(sink, record, 1)) == [OK]
    found = await server.document(place, record)
    assert found["_version"] == 1_024
    assert found["_source"]["raw_html"] == "<html>"
    assert found["_source"]["classification_status"] == "pending"

    changed = document(version=2, title="Another title", published_at=None)
    assert await send(sink, upsert(sink, changed, 2)) == [OK]
    source = (await server.document(place, record))["_source"]
    assert (source["title"], source["published_date"]) == ("Another title", None)
    assert "raw_html" not in source

    assert await send(sink, removal(sink, record, 3)) == [OK]
    assert not (await server.document(place, record))["found"]


async def test_the_index_is_made_as_the_contract_says(server: Server, sink: ElasticsearchSink) -> None:
    record = document()
    await send(sink, upsert(sink, record, 1))
    about = (await server.ask("GET", f"/{sink.place_of(record)}"))[sink.place_of(record)]
    assert about["mappings"]["dynamic"] == "strict"
    assert not list(differences(MAPPING, about["mappings"]))
    assert not list(differences(about["mappings"], MAPPING))
    settings = about["settings"]["index"]
    assert (settings["number_of_shards"], settings["number_of_replicas"], settings["gc_deletes"]) == ("1", "0", "1h")


async def test_an_older_send_that_comes_late_changes_nothing_and_learns_of_the_later_one(
    server: Server, sink: ElasticsearchSink
) -> None:
    record, older = document(title="New"), document(title="Old")
    place = sink.place_of(record)
    assert await send(sink, upsert(sink, record, 9)) == [OK]
    late, later, same = await send(sink, upsert(sink, older, 8), removal(sink, older, 7), upsert(sink, record, 9))
    assert same == OK
    assert [isinstance(one, RecordRefused) and one.later_batch for one in (late, later)] == [10, 10]
    found = await server.document(place, record)
    assert (found["_source"]["title"], found["_version"]) == ("New", 9 * 1_024)


async def test_an_older_send_does_not_bring_a_deleted_document_back(server: Server, sink: ElasticsearchSink) -> None:
    record = document()
    await send(sink, upsert(sink, record, 1))
    assert await send(sink, removal(sink, record, 3)) == [OK]
    # A refresh is when a server forgets deletions that are older than index.gc_deletes.
    await server.ask("POST", "/_refresh")
    [late] = await send(sink, upsert(sink, record, 2))
    assert isinstance(late, RecordRefused)
    assert late.later_batch == 4
    assert not (await server.document(sink.place_of(record), record))["found"]
    assert await send(sink, upsert(sink, record, 4)) == [OK]
    assert (await server.document(sink.place_of(record), record))["found"]


async def test_updates_by_others_do_not_hide_our_next_change(server: Server, sink: ElasticsearchSink) -> None:
    record = document()
    place = sink.place_of(record)
    await send(sink, upsert(sink, record, 1))
    for number in range(20):
        classified = {"classification_status": "classified", "classified_at": f"2026-05-07T00:00:{number:02}Z"}
        await server.ask("POST", f"/{place}/_update/{record.id}", {"doc": classified})
    assert (await server.document(place, record))["_version"] == 1_024 + 20

    assert await send(sink, upsert(sink, document(title="Changed"), 2)) == [OK]
    found = await server.document(place, record)
    assert found["_version"] == 2 * 1_024
    assert (found["_source"]["title"], found["_source"]["classification_status"]) == ("Changed", "pending")


async def test_the_same_version_is_sent_again_under_a_later_position(server: Server, sink: ElasticsearchSink) -> None:
    record = document()
    await send(sink, upsert(sink, record, 1))
    assert await send(sink, upsert(sink, document(html="<html>"), 2)) == [OK]
    assert (await server.document(sink.place_of(record), record))["_source"]["raw_html"] == "<html>"


async def test_one_record_that_is_refused_does_not_hold_up_the_others(server: Server, sink: ElasticsearchSink) -> None:
    records = [document(f"https://daily.test/{number}") for number in range(3)]
    bad = replace(records[1], fields={**records[1].fields, "crawled_at": "no date"})
    outcomes = await send(sink, *(upsert(sink, one, 1) for one in (records[0], bad, records[2])))
    assert outcomes[0] == outcomes[2] == OK
    assert isinstance(outcomes[1], RecordRefused)
    assert "crawled_at" in outcomes[1].why
    assert not outcomes[1].is_final


async def test_a_strict_mapping_of_others_refuses_with_its_words_and_is_told_once(server: Server) -> None:
    place = "the_daily_test_raw_content"
    mapping = {"dynamic": "strict", "properties": {"id": {"type": "keyword"}, "title": {"type": "text"}}}
    await server.ask("PUT", f"/{place}", {"mappings": mapping})
    log = io.StringIO()
    for position in (1, 2):
        async with open_sink(server.url, log) as sink:
            await sink.prepare(right_to_send())
            [outcome] = await send(sink, upsert(sink, document(), position))
            assert isinstance(outcome, RecordRefused)
            assert "strict_dynamic_mapping_exception" in outcome.why
    assert log.getvalue().count("mapping_differs") == 1
    assert (await server.ask("GET", f"/{place}/_mapping"))[place]["mappings"]["properties"] == mapping["properties"]


async def test_a_deletion_where_nothing_is_left_is_done_and_makes_no_index(
    server: Server, sink: ElasticsearchSink
) -> None:
    record = document()
    assert await send(sink, Removal(record.key, 1, 2, "gone_raw_content")) == [OK]
    assert await server.ask("GET", "/*_raw_content") == {}
    await send(sink, upsert(sink, record, 2))
    other = document("https://daily.test/never-sent")
    assert await send(sink, removal(sink, other, 3)) == [OK]


async def test_a_record_moves_with_its_source(server: Server, sink: ElasticsearchSink) -> None:
    record = document()
    await send(sink, upsert(sink, record, 1))
    renamed = document(source=RecordSource(SOURCE.id, "Renamed"))
    old, new = sink.place_of(record), sink.place_of(renamed)
    assert await send(sink, Removal(record.key, 2, 1, old), upsert(sink, renamed, 2)) == [OK, OK]
    assert not (await server.document(old, record))["found"]
    assert (await server.document(new, record))["_source"]["source_name"] == "Renamed"


async def test_an_index_that_is_deleted_under_us_is_made_anew_as_it_was(
    server: Server, sink: ElasticsearchSink
) -> None:
    place = sink.place_of(document())
    await send(sink, upsert(sink, document(), 1))
    await server.ask("DELETE", f"/{place}")
    assert await send(sink, upsert(sink, document(), 2)) == [OK]
    about = (await server.ask("GET", f"/{place}"))[place]
    assert about["mappings"]["dynamic"] == "strict"
    assert about["settings"]["index"]["gc_deletes"] == "1h"


async def test_two_processes_that_make_an_index_at_once_both_go_on(server: Server, sink: ElasticsearchSink) -> None:
    record = document()
    index = sink.layout.index_at(sink.place_of(record))

    class Late(ElasticsearchSink):
        async def _mappings_of(self, places: Sequence[str], fence: Any) -> Any:
            found = await super()._mappings_of(places, fence)
            await server.ask("PUT", f"/{index.name}", index.body)
            return found

    sink.__class__ = Late
    assert await send(sink, upsert(sink, record, 1)) == [OK]


async def test_a_template_of_others_is_left_as_it_is(server: Server) -> None:
    theirs = {"index_patterns": ["*_raw_content"], "priority": 51, "template": {"settings": {"number_of_replicas": 0}}}
    await server.ask("PUT", "/_index_template/theirs", theirs)
    log = io.StringIO()
    async with open_sink(server.url, log) as sink:
        await sink.prepare(right_to_send())
        assert await send(sink, upsert(sink, document(), 1)) == [OK]
    await server.ask("DELETE", "/_index_template/theirs")
    assert "template_not_written" in log.getvalue()


async def test_a_sink_says_what_it_holds_with_the_batch_of_each(server: Server, sink: ElasticsearchSink) -> None:
    records = [
        document(f"https://daily.test/{number}", source=RecordSource(SOURCE.id, f"Source {number % 3}"))
        for number in range(30)
    ]
    await send(sink, *(upsert(sink, one, 1 + number) for number, one in enumerate(records)))
    place = sink.place_of(records[0])
    await server.ask("POST", f"/{place}/_update/{records[0].id}", {"doc": {"classification_status": "failed"}})

    held = await sink.state_of(KeyRange(RecordKind.DOCUMENT, *ALL))
    assert {(one.id, one.batch_number, one.place) for one in held} == {
        (one.id, 1 + number, sink.place_of(one)) for number, one in enumerate(records)
    }
    half = await sink.state_of(KeyRange(RecordKind.DOCUMENT, "0" * 64, "7" + "f" * 63))
    assert {one.id for one in half} == {one.id for one in records if one.id < "8"}
    assert await sink.state_of(KeyRange(RecordKind.JOB, *ALL)) == []


async def test_what_is_held_is_read_page_by_page(
    server: Server, sink: ElasticsearchSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headwater.deliver.sinks.elasticsearch.PAGE", 2)
    # The same id in two indexes, on both sides of a page's end.
    sources = [RecordSource(SOURCE.id, name) for name in ("A", "B", "C")]
    records = [document(source=source) for source in sources] + [document("https://daily.test/2")]
    await send(sink, *(upsert(sink, one, 1) for one in records))
    held = await sink.state_of(KeyRange(RecordKind.DOCUMENT, *ALL))
    assert sorted((one.id, one.place) for one in held) == sorted((one.id, sink.place_of(one)) for one in records)


async def test_an_empty_server_holds_nothing(sink: ElasticsearchSink) -> None:
    assert await sink.state_of(KeyRange(RecordKind.DOCUMENT, *ALL)) == []


async def test_documents_and_vacancies_lie_behind_an_alias_each(server: Server) -> None:
    async with open_sink(server.url, layout="documents") as sink:
        await sink.prepare(right_to_send())
        assert await sink.state_of(KeyRange(RecordKind.JOB, *ALL)) == []
        story, job = document(version=4), vacancy(version=7)
        assert await send(sink, upsert(sink, story, 1), upsert(sink, job, 2)) == [OK, OK]
        assert (sink.place_of(story), sink.place_of(job)) == ("headwater_documents", "headwater_jobs")
        assert list(await server.ask("GET", "/headwater_jobs/_alias")) == ["headwater_jobs-1"]
        found = (await server.document("headwater_jobs", job))["_source"]
        assert (found["title"], found["deadline"], found["version"]) == ("Nurse", "2026-06-01", 7)
        [held] = await sink.state_of(KeyRange(RecordKind.JOB, *ALL))
        assert (held.id, held.version, held.place, held.batch_number) == (job.id, 7, "headwater_jobs", None)
        [held] = await sink.state_of(KeyRange(RecordKind.DOCUMENT, *ALL))
        assert (held.id, held.version) == (story.id, 4)
        assert await send(sink, removal(sink, job, 3)) == [OK]
        assert await sink.state_of(KeyRange(RecordKind.JOB, *ALL)) == []


async def test_words_lie_in_an_index_by_the_rules_of_their_language(server: Server) -> None:
    if "version" not in await server.ask("GET", "/"):
        pytest.skip("the embedded Elasticsearch knows no stems")
    async with open_sink(server.url, layout="search", shards=2) as sink:
        await sink.prepare(right_to_send())
        english, german = document("https://daily.test/en"), document("https://daily.test/de", language="de")
        other = document("https://daily.test/xx", language="xx")
        job = vacancy(language="en", mission_tags=["climate_change"])
        records = (english, german, other, job)
        assert await send(sink, *(upsert(sink, one, 1) for one in records)) == [OK] * 4
        places = [sink.place_of(one) for one in records]
        assert [place.removeprefix("headwater_search_") for place in places] == [
            *("documents_english", "documents_german", "documents_simple", "jobs_english")
        ]
        settings = (await server.ask("GET", f"/{places[0]}"))[places[0]]["settings"]["index"]
        assert (settings["number_of_shards"], settings["gc_deletes"]) == ("2", "1h")
        await server.ask("POST", "/_refresh")
        for place, field, words, found in (
            (places[0], "text", "worded", 1),
            (places[2], "text", "worded", 0),
            (places[2], "text", "WORDS", 1),
            (places[0], "keywords.words", "ones", 1),
            (places[3], "mission_tags.words", "climates", 1),
        ):
            question = {"query": {"match_phrase": {field: words}}}
            assert (await server.ask("POST", f"/{place}/_count", question))["count"] == found, (place, words)

        held = await sink.state_of(KeyRange(RecordKind.DOCUMENT, *ALL))
        assert {(one.id, one.version, one.place) for one in held} == {
            (one.id, one.version, sink.place_of(one)) for one in (english, german, other)
        }
        # Its language was told wrongly.
        moved = document("https://daily.test/de", language="nl", version=2)
        assert await send(sink, Removal(german.key, 2, 1, places[1]), upsert(sink, moved, 2)) == [OK, OK]
        assert not (await server.document(places[1], german))["found"]
        assert (await server.document("headwater_search_documents_dutch", german))["found"]


async def test_all_rules_of_the_layout_search_are_known_to_a_server(server: Server) -> None:
    if "version" not in await server.ask("GET", "/"):
        pytest.skip("the embedded Elasticsearch knows no stems")
    async with open_sink(server.url, layout="search") as sink:
        await sink.prepare(right_to_send())
        languages = [*RULES_OF_LANGUAGE, "xx", ""]
        records = [document(f"https://daily.test/{one}", language=one) for one in languages]
        assert await send(sink, *(upsert(sink, one, 1) for one in records)) == [OK] * len(records)
        assert len({sink.place_of(one) for one in records}) == len(ALL_RULES)


async def test_a_field_that_is_new_is_kept_in_the_layout_documents(server: Server) -> None:
    async with open_sink(server.url, layout="documents") as sink:
        await sink.prepare(right_to_send())
        assert await send(sink, upsert(sink, document(mood="glad", metadata={"odd": [1, {"a": "b"}]}), 1)) == [OK]
        assert (await server.document("headwater_documents", document()))["_source"]["mood"] == "glad"


async def test_a_change_can_be_found_within_seconds(server: Server, sink: ElasticsearchSink) -> None:
    """The server shows what it took with its next refresh, a second later at most; ours is the rest."""
    clock = SystemClock()
    await send(sink, upsert(sink, document("https://daily.test/first"), 1))
    began = clock.monotonic()
    records = [document(f"https://daily.test/{number}", html="x" * 10_000) for number in range(200)]
    assert await send(sink, *(upsert(sink, one, 2) for one in records)) == [OK] * 200
    while (await server.ask("GET", "/*_raw_content/_count"))["count"] < 201:
        await clock.sleep(0.05)
    assert clock.monotonic() - began < 20


async def test_the_server_is_named_when_a_sink_is_tried(server: Server, sink: ElasticsearchSink) -> None:
    about = await server.ask("GET", "/")
    if "version" not in about:
        pytest.skip("the embedded Elasticsearch has no page that names it")
    assert await sink.test(right_to_send()) == (
        f"OpenSearch {about['version']['number']}, cluster 'headwater-tests', answers at {server.url}; "
        "layout raw_content."
    )


async def test_archive_and_server_agree_on_what_was_sent_last_whatever_others_update(
    server: Server, shelf: Shelf, delivering: Delivering
) -> None:
    await delivering.source("The Gazette")
    url, place = "https://gazette.example/story", "the_gazette_raw_content"
    document_id = key_of(url).url_hash.hex()
    classified = {"doc": {"classification_status": "classified"}}
    async with shelf.database.transaction() as connection:
        sink_id = await store.add_sink_row(connection, "search", "elasticsearch", {"url": server.url}, None)
    async with sink_context() as context:
        clock, random = SystemClock(), context.random
        worker = SinkWorker(shelf.database, clock, random, context.log, "tester", lambda name: context)
        for title in ("First", "Second"):
            await shelf.keep(url, title=title)
            await move_changes(shelf.database)
            await worker.run(sink_id)
            found = (await server.ask("GET", f"/{place}/_doc/{document_id}"))["_source"]
            assert (found["title"], found["classification_status"]) == (title, "pending")
            await server.ask("POST", f"/{place}/_update/{document_id}", classified)

        sink = KIND.make(ElasticsearchOptions(url=server.url), context)
        assert isinstance(sink, AskableSink)
        [held] = await sink.state_of(KeyRange(RecordKind.DOCUMENT, *ALL))
        noted = await shelf.database.fetchrow("SELECT encode(hash, 'hex') AS id, batch_number, place FROM delivered")
        assert noted is not None
        assert (held.id, held.batch_number, held.place) == tuple(noted)

        await shelf.tombstone(url)
        await move_changes(shelf.database)
        await worker.run(sink_id)
        assert await sink.state_of(KeyRange(RecordKind.DOCUMENT, *ALL)) == []


async def test_documents_of_an_earlier_system_are_found_and_retired(
    server: Server, sink: ElasticsearchSink, database: Database
) -> None:
    ours, other = document(), document("https://daily.test/2")
    # It was to be sent, and nobody knows whether it was.
    unsure = document("https://daily.test/unsure", version=0)
    place = sink.place_of(ours)
    await send(sink, upsert(sink, ours, 1), upsert(sink, other, 1))
    sink_id = await _noted(database, [ours, other, unsure], place)
    by_content = hash_of("the text").hex()
    for name, url, canonical in (
        (by_content, "https://daily.test/story?utm_source=x", None),
        ("abc", "https://elsewhere.test/copy", "https://daily.test/2"),
        ("kept", "https://daily.test/unknown-to-us", None),
        ("only", "https://daily.test/unsure", None),
        ("odd", "not a URL", None),
    ):
        body = {"id": name, "url": url, "title": "Theirs", "classification_status": "classified"}
        await server.ask("PUT", f"/{place}/_doc/{name}", body | ({"canonical_url": canonical} if canonical else {}))

    found = [one async for one in find_foreign(sink, database, sink_id)]
    assert {one.id: one.replaced_by for one in found} == {
        by_content: ours.id,
        "abc": other.id,
        "kept": None,
        "only": None,
        "odd": None,
    }
    assert len(await sink.state_of(KeyRange(RecordKind.DOCUMENT, *ALL))) == 3

    # Its writer still uses this one.
    await server.ask("POST", f"/{place}/_update/abc", {"doc": {"title": "Changed"}})
    assert await retire_foreign(sink, found, right_to_send()) == Retirement(retired=1, left=1)
    await server.ask("POST", "/_refresh")
    hits = (await server.ask("GET", f"/{place}/_search?size=100"))["hits"]["hits"]
    assert {hit["_id"] for hit in hits} == {ours.id, other.id, "abc", "kept", "only", "odd"}


async def _noted(database: Database, records: Sequence[Record], place: str) -> UUID:
    async with database.transaction() as connection:
        sink_id: UUID = await connection.fetchval(
            "insert into sinks (name, type, position) values ('search', 'elasticsearch', 0) returning id"
        )
        for one in records:
            await connection.execute(
                "insert into delivered values ($1, 'document', $2, $3, $4, 1, $5, now())",
                sink_id,
                one.key.bucket,
                one.key.hash,
                one.version,
                place,
            )
    return sink_id
