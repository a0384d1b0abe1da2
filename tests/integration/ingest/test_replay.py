"""Today's rules over yesterday's bodies, on a real database and in real children."""

import asyncio
from collections import Counter
from typing import Any

import pytest
from tests.integration.archive.shelf import everything, key_of, page
from tests.integration.ingest.press import Press
from tests.integration.ingest.test_template_trainer import trainings

from headwater.archive.documents import keep_document, tombstone
from headwater.archive.raw import newest_body
from headwater.archive.reads import Document, read_document, versions_of
from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.errors import UsageError
from headwater.extraction.pool.extraction_pool import ExtractionPool
from headwater.extraction.templates.explain import TemplateExplanation
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.ingest.difference import MOST_ROWS, side_by_side
from headwater.ingest.inspection import Inspection, InspectionAnswer
from headwater.ingest.page_context import Context
from headwater.ingest.page_reader import ChildReader
from headwater.ingest.replay import Replayed, ReplayOutcome
from headwater.ingest.taking_down import record
from headwater.learning.template_cache import TemplateCache
from headwater.politeness.takedown import parse_takedown
from headwater.sources.store import create_source, edit_source

SHORTER = "article > p:nth-of-type(n+2)"
PROSE = "".join(f"<p>The harbour office said on day {n} that the wall would be mended soon.</p>" for n in range(12))


async def replayed(press: Press, **how: Any) -> list[Replayed]:
    return [one async for one in press.replay.over(press.source, **how)]


def outcomes(told: list[Replayed]) -> dict[str, int]:
    return dict(Counter(str(one.outcome) for one in told))


async def select(press: Press, **article: Any) -> None:
    async with press.database.transaction() as connection:
        await edit_source(connection, press.source, {"selectors": {"article": article}}, "tester")


async def document(press: Press, url: str) -> Document:
    found = await read_document(press.database, key_of(url))
    assert found is not None
    return found


@pytest.mark.long
async def test_the_same_rules_change_nothing(press: Press) -> None:
    await press.print(6)
    before = await everything(press.database)
    assert outcomes(await replayed(press)) == {"same": 6}
    assert await everything(press.database) == before


async def test_the_charset_of_the_answer_is_remembered(press: Press) -> None:
    html = f"<title>Гавань</title><article>{PROSE.replace('harbour', 'гавань')}</article>"
    url = f"{press.publisher.home}gavan"
    await press.keep(url, html.encode("koi8-r"), {"Content-Type": "text/html; charset=koi8-r"})
    assert (await document(press, url)).title == "Гавань"
    assert outcomes(await replayed(press)) == {"same": 1}


async def test_a_changed_rule_is_shown_first_and_stored_then(press: Press) -> None:
    urls = await press.print(4)
    before = await everything(press.database)
    await select(press, body=SHORTER)
    dry = await replayed(press, stores=False)
    assert await everything(press.database) == before
    stored = await replayed(press)
    assert dry == stored
    changed = [one for one in stored if one.outcome is ReplayOutcome.CHANGED]
    assert len(changed) == 4
    for one in changed:
        assert one.difference is not None
        assert one.difference.likeness < 1
        assert one.difference.lines_gone
        now, then = await versions_of(press.database, key_of(one.url))
        assert (now.version, then.version) == (2, 1)
        assert one.difference.fields["word_count"] == (then.word_count, now.word_count)
    told = await press.database.fetchval("select count(*) from outbox where version = 2")
    assert told == len(changed)
    assert {one.url for one in stored} == set(urls)
    assert await press.database.fetchval("select count(*) from outlinks") == len(changed)


@pytest.mark.long
async def test_a_second_run_changes_nothing(press: Press) -> None:
    await press.print(4)
    await select(press, body=SHORTER)
    await replayed(press)
    before = await everything(press.database)
    again = await replayed(press)
    assert not {one.outcome for one in again} & {ReplayOutcome.CHANGED, ReplayOutcome.NEW}
    assert await everything(press.database) == before


FACTS = "select authors, images, metadata, blocks, updated_at, quality from documents"
AS_BEFORE_THERE_WERE_SUCH_FACTS = """/* by hand */
UPDATE documents SET authors = '{}', images = '{}', metadata = metadata - 'access' - 'lead_image', blocks = NULL,
                     quality = 1"""
PICTURED = (
    '<html lang=en><title>Story</title><meta name=author content="Ann Lee"><meta property="og:image" content="/a.jpg">'
    f"<article><h2>The <i>wall</i></h2>{PROSE}<pre>one = 1</pre></article>"
)


async def test_facts_read_anew_are_stored_without_a_version_of_the_text(press: Press) -> None:
    url = f"{press.publisher.home}story"
    await press.keep(url, PICTURED.encode())
    facts = await press.database.fetchrow(FACTS)
    await press.database.execute(AS_BEFORE_THERE_WERE_SUCH_FACTS)
    before = await everything(press.database)
    [dry] = await replayed(press, stores=False)
    assert await everything(press.database) == before
    [told] = await replayed(press)
    assert told == dry
    assert told.difference is not None
    assert told.difference.is_of_parts
    assert {"authors", "images", "blocks", "quality", "metadata.lead_image"} <= set(told.difference.fields)
    assert told.difference.fields["authors"] == ([], ["Ann Lee"])
    assert await press.database.fetchrow(FACTS) == facts
    assert [one.version for one in await versions_of(press.database, key_of(url))] == [2]
    assert await press.database.fetch("select version, op from outbox order by version") == [
        (1, "upsert"),
        (2, "upsert"),
    ]
    assert outcomes(await replayed(press)) == {"same": 1}


async def test_facts_of_a_text_that_was_stored_anew_meanwhile_are_left(press: Press) -> None:
    url = f"{press.publisher.home}story"
    await press.keep(url, PICTURED.encode())
    await press.database.execute(AS_BEFORE_THERE_WERE_SUCH_FACTS)
    newer = page(url, "A text of today", source_id=press.source)
    async with press.database.transaction() as connection:
        await keep_document(connection, newer, await connection.fetchval("select clock_timestamp()"))
        running = asyncio.create_task(replayed(press))
        await until_somebody_waits(press)
    [told] = await running
    assert (told.outcome, told.why) == (ReplayOutcome.LEFT, "was stored anew meanwhile")
    assert (await document(press, url)).text == "A text of today"


async def test_a_page_that_yielded_nothing_can_yield_a_document(press: Press) -> None:
    url = f"{press.publisher.home}odd"
    await press.keep(url, f"<title>Odd</title><nav class=x>{PROSE}</nav>".encode())
    assert outcomes(await replayed(press)) == {"nothing": 1}
    await select(press, body="nav.x")
    [told] = await replayed(press)
    assert (told.outcome, told.why) == (ReplayOutcome.NEW, "Odd (168 words)")
    assert (await document(press, url)).version == 1
    assert outcomes(await replayed(press)) == {"same": 1}


async def test_a_rule_that_finds_nothing_leaves_what_stands(press: Press) -> None:
    url = f"{press.publisher.home}story"
    await press.keep(url, f"<title>Story</title><article>{PROSE}</article>".encode())
    # As if what was sent last had been this: the document is of the fetch before.
    await press.keep(url, b"<title>Story</title><article><p>Please wait.</p></article>")
    [told] = await replayed(press)
    assert (told.outcome, told.why) == (ReplayOutcome.LOST, "extract_failed: too_short: 2 words")
    assert (await document(press, url)).version == 1


async def test_a_page_that_asks_not_to_be_kept_is_not(press: Press) -> None:
    url = f"{press.publisher.home}quiet"
    await press.keep(url, f"<title>Q</title><article>{PROSE}</article>".encode(), {"X-Robots-Tag": "noindex"})
    [told] = await replayed(press)
    assert (told.outcome, told.why) == (ReplayOutcome.NOTHING, "asks not to be kept: noindex")


async def test_what_was_deleted_stays_deleted(press: Press) -> None:
    [url] = await press.print(1)
    async with press.database.transaction() as connection:
        await tombstone(connection, *key_of(url), "gone", (await document(press, url)).changed_at)
    await select(press, body="p")
    [told] = await replayed(press)
    assert (told.outcome, told.why) == (ReplayOutcome.LEFT, "was deleted: gone")
    assert (await document(press, url)).deleted_reason == "gone"


async def test_what_was_taken_down_stays_down(press: Press) -> None:
    await press.print(2)
    await select(press, body=SHORTER)
    await record(press.database, parse_takedown(press.publisher.host), "")
    assert outcomes(await replayed(press)) == {"left": 2}
    assert await press.database.fetchval("select count(*) from documents where version > 1") == 0


async def test_a_page_that_is_gone_yields_no_document_after_all(press: Press) -> None:
    url = f"{press.publisher.home}odd"
    await press.keep(url, f"<title>Odd</title><nav class=x>{PROSE}</nav>".encode())
    async with press.database.transaction() as connection:
        await submit(connection, Submitter(press.source, EntryOrigin.FEED), [FoundUrl(url)])
        await connection.execute("update url_frontier set status = 'dead', reason = 'not_found'")
    await select(press, body="nav.x")
    [told] = await replayed(press)
    assert (told.outcome, told.why) == (ReplayOutcome.LEFT, "ended: not_found")
    await press.database.execute("update url_frontier set reason = 'extract_failed'")
    assert outcomes(await replayed(press)) == {"new": 1}


async def test_pages_that_call_one_page_canonical_are_documents_of_their_own(press: Press) -> None:
    home = press.publisher.home
    head = f'<title>One</title><link rel=canonical href="{home}one">'
    await press.keep(f"{home}one", f"{head}<article>{PROSE}</article>".encode())
    await press.keep(f"{home}print-one", f"{head}<article>{PROSE}<p>Printed here.</p></article>".encode())
    before = await everything(press.database)
    told = {one.url: one.outcome for one in await replayed(press)}
    assert told == {f"{home}one": ReplayOutcome.SAME, f"{home}print-one": ReplayOutcome.SAME}
    assert await everything(press.database) == before


async def test_a_page_of_another_source_by_now_is_left(press: Press) -> None:
    [url] = await press.print(1)
    await press.database.execute("/* by hand */ UPDATE documents SET source_id = gen_random_uuid()")
    [told] = await replayed(press)
    assert (told.url, told.outcome, told.why) == (url, ReplayOutcome.LEFT, "belongs to another source by now")


async def test_a_document_stored_while_we_read_is_newer(press: Press) -> None:
    urls = await press.print(3)
    await select(press, body=SHORTER)
    replay = press.replay.over(press.source)
    first = await anext(replay)
    last = max(urls, key=key_of)
    newer = page(last, "A text of today", source_id=press.source)
    async with press.database.transaction() as connection:
        await keep_document(connection, newer, await connection.fetchval("select clock_timestamp()"))
    rest = {one.url: one async for one in replay}
    assert first.url != last
    assert (rest[last].outcome, rest[last].why) == (ReplayOutcome.LEFT, "was stored anew meanwhile")
    assert (await document(press, last)).text == "A text of today"


async def test_a_document_stored_between_our_look_and_our_lock_is_newer(press: Press) -> None:
    [url] = await press.print(1)
    await select(press, body=SHORTER)
    newer = page(url, "A text of today", source_id=press.source)
    async with press.database.transaction() as connection:
        await keep_document(connection, newer, await connection.fetchval("select clock_timestamp()"))
        running = asyncio.create_task(replayed(press))
        await until_somebody_waits(press)
    [told] = await running
    assert (told.outcome, told.why) == (ReplayOutcome.LEFT, "was stored anew meanwhile")
    assert (await document(press, url)).text == "A text of today"


async def until_somebody_waits(press: Press) -> None:
    waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    async with asyncio.timeout(300):
        while not await press.database.fetchval(f"select exists ({waiting})"):
            await asyncio.sleep(0.01)


@pytest.mark.long
async def test_an_interrupted_run_leaves_whole_documents(press: Press) -> None:
    await press.print(6)
    await select(press, body=SHORTER)
    seen: list[Replayed] = []
    second = asyncio.Event()

    async def run() -> None:
        async for one in press.replay.over(press.source):
            seen.append(one)
            if len(seen) == 2:
                second.set()

    task = asyncio.create_task(run())
    await second.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    stored = sum(one.outcome is ReplayOutcome.CHANGED for one in seen)
    changed = await press.database.fetchval("select count(*) from documents where version = 2")
    kept = await press.database.fetchval("select count(*) from document_versions")
    told = await press.database.fetchval("select count(*) from outbox where version = 2")
    assert stored <= changed == kept == told <= 6
    finished = await replayed(press)
    assert changed + sum(one.outcome is ReplayOutcome.CHANGED for one in finished) == 6


async def test_a_limit_is_kept(press: Press) -> None:
    await press.print(5)
    assert len(await replayed(press, limit=3)) == 3
    assert len(await replayed(press, limit=50)) == 5


async def test_vacancies_are_not_replayed(press: Press) -> None:
    async with press.database.transaction() as connection:
        jobs = await create_source(connection, "Careers", "https://careers.test/", "jobs")
    with pytest.raises(UsageError, match="offers vacancies"):
        await anext(press.replay.over(jobs))


def inspection(press: Press, pool: ExtractionPool) -> Inspection:
    context = Context(press.database, SystemClock(), TemplateCache(SystemClock(), random_from(1)))
    return Inspection(press.database, context, ChildReader(pool, "Headwater"), 2)


async def test_a_comparison_keeps_its_limit_and_changes_nothing(press: Press) -> None:
    await press.print(5)
    before = await everything(press.database)
    told = [one async for one in inspection(press, press.pool).compare(press.source, limit=3)]
    assert [(one.answer, one.why, one.likeness) for one in told] == [(InspectionAnswer.UNASKED, "no template", 1.0)] * 3
    assert all(one.general_words == one.template_words > 0 for one in told)
    assert await everything(press.database) == before


async def test_what_a_taken_over_child_answers_is_not_believed(press: Press) -> None:
    await press.print(4)
    await trainings(press)
    body = await newest_body(press.database, key_of(press.items(1)[0].url))
    assert body is not None
    async with ExtractionPool("builtins:len", size=2, timeout=30.0, clock=SystemClock()) as strange:
        told = await inspection(press, strange).explain(body)
        compared = [one async for one in inspection(press, strange).compare(press.source)]
    assert told is not None
    assert (told.answer, told.why) == (InspectionAnswer.NOTHING, "its child answered with something else")
    assert told.explanation == TemplateExplanation()
    assert {one.answer for one in compared} == {InspectionAnswer.NOTHING}


async def test_vacancies_are_not_compared(press: Press) -> None:
    async with press.database.transaction() as connection:
        jobs = await create_source(connection, "Careers", "https://careers.test/", "jobs")
    with pytest.raises(UsageError, match="offers vacancies"):
        await anext(inspection(press, press.pool).compare(jobs))


def test_lines_that_differ_stand_beside_those_of_the_same_place() -> None:
    one = "Title\nA\nB old\nC\n\nLast"
    other = "A\n B new \nC\nMore\nLast\nEnd"
    assert side_by_side(one, other) == (("Title", ""), ("B old", "B new"), ("", "More"), ("", "End"))
    assert side_by_side(one, one) == ()
    assert side_by_side("", "A\nB") == (("", "A"), ("", "B"))


def test_two_texts_without_a_line_in_common_are_cut() -> None:
    rows = side_by_side("\n".join(f"a{n}" for n in range(100_000)), "\n".join(f"b{n}" for n in range(100_000)))
    assert len(rows) == MOST_ROWS
    assert rows[0] == ("a0", "b0")
