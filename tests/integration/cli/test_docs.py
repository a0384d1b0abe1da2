"""`headwater docs` and `headwater jobs` on a database: searched, shown, read again, and refused with a sentence."""

import io
import re
import signal
from contextlib import redirect_stdout
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.integration.archive.bodies import keep_body
from tests.integration.archive.shelf import LONG, OTHER, key_of, page
from tests.integration.cli.conftest import Starts
from tests.integration.cli.desk import Desk, assert_a_sentence
from tests.integration.ingest.press import press_on, reading_pool

from headwater.archive.documents import NewDocument, keep_document, tombstone
from headwater.archive.job import Teller
from headwater.archive.jobs import keep_jobs
from headwater.archive.raw import RawBody
from headwater.blocks.block import BlockKind, BodyBlock, blocks_of_text, pack_blocks, text_of_blocks
from headwater.cli.docs.showing import write_bytes
from headwater.database.pool import Database
from headwater.extraction.jobs.identity import canonical_hash
from headwater.urls.domains import NO_VOICE
from headwater.vacancy import NewJob

A, B, C = "https://a.example/1", "https://b.example/2", "https://c.example/3"
TELLER = Teller(UUID(int=1), "https://j.example/", NO_VOICE)
TIDES = f"New tide tables were printed for the harbour this week. {LONG}"


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def kept(desk: Desk, *documents: NewDocument) -> None:
    async def keep(database: Database) -> None:
        for one in documents:
            async with database.transaction() as connection:
                await keep_document(connection, one, await connection.fetchval("select clock_timestamp()"))

    desk.on_database(keep)


def of_source(desk: Desk, name: str) -> UUID:
    return UUID(desk.followed(f"https://{name.lower()}.example/", "--name", name))


def found(desk: Desk, *words: str) -> list[str]:
    return [one["url"] for one in desk.says("docs", "search", *words, "--json").json["documents"]]


def test_a_document_is_shown_as_blocks_and_as_markdown(desk: Desk) -> None:
    blocks = (
        BodyBlock(kind=BlockKind.HEADING, text="Tides", level=2),
        *blocks_of_text(TIDES),
        BodyBlock(kind=BlockKind.CODE, text="a\n\n  b\x1b[2J", language="sh"),
        BodyBlock(kind=BlockKind.TABLE, rows=(("a", "b"), ("c", "d"))),
    )
    text = text_of_blocks(blocks)
    kept(desk, page(A, text, blocks=pack_blocks(blocks, text)))
    shown = desk.says("docs", "show", A, "--blocks").out
    assert re.search(r"heading +level 2 +Tides", shown)
    assert re.search(r"table +2 rows +a \| b", shown)
    told = desk.says("docs", "show", A, "--markdown").out
    assert told.startswith("## Tides\n\nNew tide tables")
    assert "```sh\na\n\n  b" in told
    assert "\x1b" not in shown + told


def test_a_search_shows_what_a_reader_needs_and_says_who_answered(desk: Desk) -> None:
    source = of_source(desk, "Alpha")
    kept(desk, page(A, TIDES, title="Tides", source_id=source), page(B, OTHER))
    said = desk.says("docs", "search", "tide", "table")
    title, facts, url, snippet = said.out.strip().splitlines()
    assert (title, url.strip()) == ("Tides", A)
    assert facts.split(" · ")[0].strip() == "Alpha"
    assert facts.endswith("70 words · en")
    assert snippet.startswith("  **tide** **tables** were printed")
    assert said.err.startswith("1 document; found by PostgreSQL in ")


def test_json_of_a_search_has_ids_that_show_understands(desk: Desk) -> None:
    kept(desk, page(A, TIDES))
    told = desk.says("docs", "search", "tide", "--json").json
    [one] = told["documents"]
    assert (told["engine"], told["has_more"], told["is_complete"]) == ("PostgreSQL", False, True)
    assert told["took_ms"] > 0
    assert desk.says("docs", "show", one["id"], "--json").json["url"] == A


@pytest.mark.long
def test_a_search_is_narrowed_by_source_language_time_and_originality(desk: Desk) -> None:
    source = of_source(desk, "Alpha")
    kept(desk, page(A, TIDES, source_id=source), page(B, TIDES), page(C, f"Die tide {OTHER}", language="de"))
    assert set(found(desk, "tide")) == {A, C}
    assert found(desk, "tide", "--source", "alpha") == [A]
    assert found(desk, "tide", "--language", "DE") == [C]
    assert set(found(desk, "tide", "--duplicates")) == {A, B, C}
    assert set(found(desk, "tide", "--since", "1h")) == {A, C}
    assert found(desk, "tide", "--since", "2999-01-01") == []


def test_values_are_counted_and_each_can_be_asked_for(desk: Desk) -> None:
    source = of_source(desk, "Alpha")
    may = datetime(2026, 5, 6, tzinfo=UTC)
    kept(
        desk,
        page(A, TIDES, source_id=source, published_at=may, authors=("A\x1b[2J, B",)),
        page(B, f"tide {OTHER}", page_type="live", published_at=may),
    )
    said = desk.says("docs", "search", "tide", "--facets", "source,host,page_type,author,month", "--page-type", "")
    assert (said.code, said.out) == (2, "")
    said = desk.says("docs", "search", "tide", "--facets", "source,host,month,author")
    assert "source: Alpha (1), others (1)\nhost: a.example (1), b.example (1)\nmonth: 2026-05 (2)\nauthor: " in said.out
    assert "\x1b" not in said.out
    told = desk.says("docs", "search", "--facets", "page_type", "--month", "2026-05", "--json").json
    assert told["facets"]["counts"][0]["values"] == [{"value": "live", "count": 1, "name": "live"}]
    assert found(desk, "tide", "--host", "A.example", "--day", "2026-05-06") == [A]
    assert found(desk, "tide", "--page-type", "live", "--month", "2026-05") == [B]
    assert "facets" not in desk.says("docs", "search", "tide", "--json").json


@pytest.mark.parametrize(
    "words", [("--facets", "title"), ("--month", "may"), ("--day", "2026-05"), ("--page-type", "poem")]
)
def test_what_cannot_be_counted_or_asked_for_is_told(desk: Desk, words: tuple[str, str]) -> None:
    said = desk.says("docs", "search", "tide", *words)
    assert said.code == 2
    assert_a_sentence(said)


def test_pages_of_a_search_follow_each_other(desk: Desk) -> None:
    kept(desk, *(page(f"https://a.example/{n}", f"tide {n} {OTHER}") for n in range(5)))
    first = desk.says("docs", "search", "tide", "--limit", "3", "--json").json
    second = desk.says("docs", "search", "tide", "--limit", "3", "--cursor", first["cursor"], "--json").json
    urls = [one["url"] for one in (*first["documents"], *second["documents"])]
    assert (first["has_more"], second["has_more"], len(set(urls))) == (True, False, 5)
    assert f"--cursor {first['cursor']}" in desk.says("docs", "search", "tide", "--limit", "3").err


@pytest.mark.parametrize("query", ["nowhere", "the", "'", '"""', "&|!():*", "a\0b", "\udcff", "' or 1=1; --", "%_\\"])
def test_a_search_that_finds_nothing_says_so(desk: Desk, query: str) -> None:
    kept(desk, page(A, TIDES))
    said = desk.says("docs", "search", query)
    assert (said.code, said.out) == (0, "")
    assert said.err.startswith("No document matches. Searched by PostgreSQL in ")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((), 2, "There is nothing to search for."),
        (("  ",), 2, "There is nothing to search for."),
        (("x" * 501,), 2, "A search of 501 characters is not possible."),
        (("x", "--since", "yesterday"), 2, "'yesterday' is no time."),
        (("x", "--since", "99999d"), 2, "'99999d' is no time."),
        (("x", "--source", "nobody"), 4, "No source is called 'nobody'."),
        (("x", "--cursor", "zz"), 2, "This cursor was not made by a search."),
        (("x", "--limit", "0"), 2, "--limit"),
        (("x", "--limit", "101"), 2, "--limit"),
    ],
)
def test_a_search_that_cannot_be_is_a_sentence(desk: Desk, words: tuple[str, ...], code: int, told: str) -> None:
    said = desk.says("docs", "search", *words)
    assert said.code == code
    assert told in said.err
    assert_a_sentence(said)


def test_nothing_in_a_hit_moves_a_cursor(desk: Desk) -> None:
    kept(desk, page(A, f"tide \x1b[2J \u202e {OTHER}", title="T\x1b]0;x\x07\nide"))
    out = desk.says("docs", "search", "tide").out + desk.says("docs", "show", A).out
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_a_document_is_shown_with_its_origin_and_its_worth(desk: Desk) -> None:
    source = of_source(desk, "Alpha")
    first = page(A, TIDES, source_id=source, title="Old tides")
    story = page(
        A,
        f"First line\n\nSecond {TIDES}",
        source_id=source,
        title="Tides",
        author="Ann",
        page_type="article",
        quality=62,
        quality_parts={"length": 20, "metadata": 42},
        produced_by="selectors",
    )
    kept(desk, first, story, page(B, story.text, content_hash=story.content_hash, source_id=source))
    lines = desk.says("docs", "show", "http://A.example/1#top").out.splitlines()
    assert lines[:3] == ["Tides", f"  {A}", "  by Ann, Alpha"]
    assert "  article, en, 73 words" in lines
    assert "  quality 62 of 100: length 20, metadata 42" in lines
    assert "  read by its source's selectors" in lines
    assert f"  2 versions, id {key_of(A).url_hash.hex()}" in lines
    assert f"  is copied by {B}" in lines
    assert "First line" in lines
    assert f"  says the same as {A}" in desk.says("docs", "show", B).out.splitlines()
    assert "Old tides" not in desk.says("docs", "show", A).out
    assert "Old tides" in desk.says("docs", "show", A, "--versions").out


def test_a_document_says_what_it_calls_canonical_and_whether_that_is_believed(desk: Desk) -> None:
    amp, unread, other = "https://a.example/amp/1", "https://a.example/unread", "https://a.example/other"
    kept(
        desk,
        page(A, TIDES),
        page(amp, TIDES, claims=A),
        page(other, OTHER, claims=A),
        page(B, f"{OTHER} b", claims=unread),
        page("https://a.example/third", f"{OTHER} c", claims=other),
    )

    def claim_in(url: str) -> str:
        said = desk.says("docs", "show", url).out.splitlines()
        return next(line.strip() for line in said if " canonical; " in line)

    assert claim_in(amp) == f"calls {A} canonical; believed"
    assert claim_in(other) == f"calls {A} canonical; not believed, because that page says something else"
    assert claim_in(B) == f"calls {unread} canonical; not believed, because that page has not become a document"
    assert claim_in("https://a.example/third").endswith(f"not believed, because that page calls {A} canonical")
    told = desk.says("docs", "show", other, "--json").json
    assert (told["claimed_url"], told["canonical_url"]) == (A, other)
    assert told["why_not_canonical"] == "that page says something else"
    assert " canonical; " not in desk.says("docs", "show", A).out


def test_a_document_says_which_version_of_a_template_read_it(desk: Desk) -> None:
    kept(desk, page(A, TIDES, produced_by="template/sport@3"))
    assert "  read by its host's template for /sport, version 3" in desk.says("docs", "show", A).out.splitlines()
    assert desk.says("docs", "show", A, "--json").json["produced_by"] == "template/sport@3"


def test_json_of_a_document_has_everything(desk: Desk) -> None:
    kept(desk, page(A, TIDES, keywords=("sea",)), page(A, OTHER, keywords=("sea",)))
    told = desk.says("docs", "show", A, "--versions", "--json").json
    assert (told["id"], told["text"], told["keywords"]) == (key_of(A).url_hash.hex(), OTHER, ["sea"])
    assert [one["version"] for one in told["versions"]] == [2, 1]
    assert told["versions"][1]["text"] == TIDES
    assert len(told["content_hash"]) == 64
    assert "versions" not in desk.says("docs", "show", A, "--json").json


def test_a_deleted_document_says_why(desk: Desk) -> None:
    kept(desk, page(A, TIDES))

    async def take(database: Database) -> None:
        async with database.transaction() as connection:
            await tombstone(connection, *key_of(A), "gone", await connection.fetchval("select clock_timestamp()"))

    desk.on_database(take)
    assert ": gone" in desk.says("docs", "show", A).out
    assert found(desk, "tide") == []


@pytest.mark.parametrize(
    ("what", "code", "told"),
    [
        (A, 4, f"There is no document {A}: not queued: no source follows a.example"),
        ("0" * 64, 4, "There is no document 000"),
        ("tides", 2, "'tides' is neither a URL nor an id of a document."),
        ("z" * 64, 2, "is neither a URL nor an id"),
        ("ftp://a.example/", 2, ""),
    ],
)
def test_a_document_that_is_not_there_is_a_sentence(desk: Desk, what: str, code: int, told: str) -> None:
    for words in ((), ("--raw",)):
        said = desk.says("docs", "show", what, *words)
        assert said.code == code
        assert told in said.err
        assert_a_sentence(said)


def bodied(desk: Desk, url: str, body: bytes) -> None:
    async def keep(database: Database) -> None:
        async with database.transaction() as connection:
            raw = RawBody(key_of(url), UUID(int=1), url, 200, {}, body)
            await keep_body(connection, raw, await connection.fetchval("select clock_timestamp()"))

    desk.on_database(keep)


def test_a_body_is_written_as_it_was_sent(desk: Desk) -> None:
    body = b"<p>\0\xff\r\n"
    bodied(desk, A, body)
    bodied(desk, f"{B}?print=1", body * 2)
    kept(desk, replace(page(B, TIDES), url=f"{B}?print=1"))
    place = desk.home / "page.html"
    assert desk.says("docs", "show", A, "--raw", "-o", str(place)).err == f"Wrote 7 bytes to {place}\n"
    assert place.read_bytes() == body
    desk.says("docs", "show", key_of(B).url_hash.hex(), "--raw", "--output", str(place))
    assert place.read_bytes() == body * 2
    said = desk.says("docs", "show", A, "--raw", "-o", str(desk.home / "no" / "where"))
    assert said.code == 2
    assert "cannot be written" in said.err


def test_a_body_that_is_no_longer_kept_is_a_sentence(desk: Desk) -> None:
    kept(desk, page(A, TIDES))
    said = desk.says("docs", "show", A, "--raw")
    assert (said.code, said.err.splitlines()[0]) == (4, f"headwater: No body is kept for {A}.")


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_a_body_goes_into_a_pipe_and_never_to_a_terminal() -> None:
    pipe, screen = io.TextIOWrapper(io.BytesIO()), Terminal(io.BytesIO())
    with redirect_stdout(pipe):
        write_bytes(b"\0\xff", None)
    with redirect_stdout(screen), pytest.raises(Exception, match="not written to a terminal"):
        write_bytes(b"\0\xff", None)
    assert (pipe.buffer.getvalue(), screen.buffer.getvalue()) == (b"\0\xff", b"")  # type: ignore[attr-defined]


def offered(desk: Desk, **fields: Any) -> None:
    count = desk.value("select count(*) from jobs")
    said = {"title": "Water engineer", "org_name": "Wells", "apply_url": f"https://j.example/{count}", "language": "en"}
    job = NewJob(**{"canonical_hash": bytes([count]) * 32} | said | fields)

    async def keep(database: Database) -> None:
        async with database.transaction() as connection:
            await keep_jobs(connection, TELLER, [job], await connection.fetchval("select clock_timestamp()"))

    desk.on_database(keep)


def vacancies(desk: Desk, *words: str) -> list[str]:
    return [one["apply_url"][-1] for one in desk.says("jobs", "search", *words, "--json").json["jobs"]]


def test_a_vacancy_that_a_person_took_out_stays_out(desk: Desk) -> None:
    apply = "https://j.example/water"
    known = canonical_hash(apply, "", "", "")
    offered(desk, apply_url=apply, canonical_hash=known)
    assert desk.says("jobs", "rm", apply).code == 2
    assert desk.says("jobs", "rm", apply, "--reason", "no job").out == "Water engineer is taken out.\n"
    assert desk.says("jobs", "rm", apply, "--reason", "again").out == "Water engineer was taken out before.\n"
    offered(desk, apply_url=apply, canonical_hash=known, city="Nairobi")
    assert vacancies(desk, "water") == []
    shown = desk.says("jobs", "show", apply).out
    assert "by command line: no job" in shown
    assert desk.value("select op from outbox order by seq desc limit 1") == "delete"
    missing = desk.says("jobs", "rm", "https://j.example/none", "--reason", "x")
    assert (missing.code, "There is no vacancy" in missing.err) == (4, True)


def test_an_expired_vacancy_says_why_and_since_when(desk: Desk) -> None:
    apply = "https://j.example/water"
    known = canonical_hash(apply, "", "", "")
    offered(desk, apply_url=apply, canonical_hash=known)
    assert desk.says("jobs", "show", apply, "--json").json["ending"] is None
    desk.execute(
        "/* by hand */ update jobs set status = 'expired', updated_at = '2026-05-04 06:00Z', deadline = '2026-05-01'"
    )
    assert "  expired 2026-05-04 06:00: its deadline, 2026-05-01, has passed\n" in desk.says("jobs", "show", apply).out
    told = desk.says("jobs", "show", apply, "--json").json
    assert told["ending"]["reason"] == "deadline_passed"
    assert told["ending"]["at"].startswith("2026-05-04T06:00")
    assert not {"source_status", "list_url"} & set(told)
    said = desk.says("explain", apply).out
    assert "  vacancy: Water engineer (Wells), expired since 2026-05-04 06:00, its deadline" in said


def test_a_vacancy_that_moved_is_found_from_the_address_it_left(desk: Desk) -> None:
    old, new = "https://j.example/water", "https://j.example/water-engineer"
    for apply in (old, new):
        offered(desk, apply_url=apply, canonical_hash=canonical_hash(apply, "", "", ""))
    desk.says("frontier", "add", old, new)
    moved = "update url_frontier set status = 'dead', reason = 'redirect', moved_to = $2 where url = $1"
    desk.execute(moved, old, new)
    expired = "/* by hand */ update jobs set status = 'expired', updated_at = clock_timestamp() where apply_url = "
    desk.execute(f"{expired}'{old}'")
    desk.execute("update url_frontier set updated_at = now() + interval '1 hour'")
    said = desk.says("explain", old).out
    assert f"its address leads to {new} now; at {new}: Water engineer (Wells), open\n" in said
    assert f": its address leads to {new} now\n" in desk.says("jobs", "show", old).out


def test_a_vacancy_is_shown_with_those_who_only_name_it(desk: Desk) -> None:
    apply = "https://j.example/water"
    known = canonical_hash(apply, "", "", "")
    offered(
        desk, apply_url=apply, canonical_hash=known, city="Nairobi", country="Kenya", description_snippet="Dig wells."
    )

    async def name_it(database: Database) -> None:
        await database.execute(
            "insert into job_sightings (bucket, canonical_hash, source_id, url, first_seen_at, last_seen_at)"
            " values ($1, $2, gen_random_uuid(), 'https://list.example/\x1b[2J', now(), now())",
            *(known[0], known),
        )

    desk.on_database(name_it)
    said = desk.says("jobs", "show", apply)
    facts = "  Wells, Nairobi, Kenya, onsite\n  career: staff\n  language: en\n"
    assert said.out.startswith(f"Water engineer\n{facts}  apply: https://j.example/water\n")
    assert "Also listed by these sources, whose texts are not used:" in said.out
    assert "\x1b" not in said.out
    told = desk.says("jobs", "show", known.hex(), "--json").json
    assert [one["url"][:20] for one in told["sightings"]] == ["https://list.example"]
    assert desk.says("jobs", "show", told["id"], "--json").json["title"] == "Water engineer"
    for unknown in ("https://j.example/none", "nonsense", "0" * 64, str(uuid4())):
        missing = desk.says("jobs", "show", unknown)
        assert (missing.code, missing.err.count("There is no vacancy")) == (4, 1)


@pytest.mark.parametrize(
    ("pay", "line"),
    [
        ({"min": "45000", "max": "54000", "currency": "CHF", "period": "year"}, "CHF 45000 to 54000 per year"),
        ({"min": "300", "max": "300", "currency": "", "period": "day"}, "300 per day"),
        ({"max": "20", "currency": "EUR", "period": ""}, "EUR 20"),
    ],
)
def test_a_vacancy_is_shown_with_pay_contract_and_length(desk: Desk, pay: dict[str, str], line: str) -> None:
    apply = "https://j.example/water"
    known = canonical_hash(apply, "", "", "")
    terms = {"career_type": "consultancy", "contract_type": "fixed_term", "contract_duration_months": 12}
    offered(desk, apply_url=apply, canonical_hash=known, raw_metadata={"compensation": pay}, **terms)
    told = f"  salary: {line}\n  career: consultancy\n  contract: fixed_term\n  duration: 12 months\n  language: en\n"
    assert told in desk.says("jobs", "show", apply).out


def test_vacancies_are_found_by_words_and_by_what_they_are(desk: Desk) -> None:
    offered(desk, country="Kenya", country_iso="KE", city="Nairobi", level_norm="senior", mission_tags=("wash",))
    offered(desk, country="Kenya", country_iso="KE", level_norm="junior", work_modality="remote")
    offered(desk, title="Accountant", country_iso="UG")
    assert sorted(vacancies(desk, "water")) == ["0", "1"]
    assert vacancies(desk, "water", "--country", "kenya", "--level", "sr") == ["0"]
    assert vacancies(desk, "water", "--modality", "wfh") == ["1"]
    assert vacancies(desk, "water", "--mission", "wash") == ["0"]
    assert vacancies(desk, "water", "--country", "UG") == []
    assert vacancies(desk, "accountant", "--country", "UG") == ["2"]


def test_a_vacancy_is_shown_with_place_level_and_deadline(desk: Desk) -> None:
    offered(desk, country="Kenya", city="Nairobi", level_norm="senior", deadline=date(2999, 5, 1))
    said = desk.says("jobs", "search", "engineer")
    assert said.out.splitlines()[:3] == [
        "Water engineer",
        "  Wells · Nairobi, Kenya · senior · onsite · until 2999-05-01",
        "  https://j.example/0",
    ]
    assert said.err.startswith("1 vacancy; found by PostgreSQL in ")


def test_a_filter_is_looked_for_behind_the_first_page_of_matches(desk: Desk) -> None:
    async def keep(database: Database) -> None:
        many = [
            NewJob(
                canonical_hash=bytes([n % 256, n // 256]) * 16,
                title="Water engineer",
                org_name="Wells",
                apply_url=f"https://j.example/{n}",
                language="en",
                country_iso="KE" if n % 100 == 0 else "UG",
            )
            for n in range(250)
        ]
        async with database.transaction() as connection:
            await keep_jobs(connection, TELLER, many, await connection.fetchval("select clock_timestamp()"))

    desk.on_database(keep)
    told = desk.says("jobs", "search", "water", "--country", "KE", "--json").json
    assert len(told["jobs"]) == 3
    told = desk.says("jobs", "search", "water", "--country", "KE", "--limit", "2", "--json").json
    assert (len(told["jobs"]), told["has_more"]) == (2, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--country", "Atlantis"), "There is no country 'Atlantis'."),
        (("--level", "wizard"), "There is no level 'wizard'.\n  fix: One of: intern, junior,"),
        (("--contract", ""), "There is no contract ''."),
    ],
)
def test_an_unknown_word_for_a_vacancy_is_a_usage_error(desk: Desk, words: tuple[str, ...], told: str) -> None:
    said = desk.says("jobs", "search", "water", *words)
    assert said.code == 2
    assert told in said.err
    assert_a_sentence(said)


def print_articles(desk: Desk, count: int) -> None:
    """Articles of a publisher of the simulated web, fetched."""

    async def keep(database: Database) -> None:
        async with reading_pool() as pool, press_on(database, pool) as press:
            await press.print(count)

    desk.on_database(keep)


def chosen(desk: Desk, selector: str) -> None:
    desk.execute("update sources set selectors = $1::jsonb", {"article": {"body": selector}})


@pytest.mark.long
def test_a_changed_rule_is_tried_and_then_applied(desk: Desk) -> None:
    print_articles(desk, 3)
    source = desk.value("select name from sources")
    assert desk.says("docs", "reextract", "--source", source).err == "3 pages: 3 as they were.\n"
    chosen(desk, "article > p:nth-of-type(n+2)")
    dry = desk.says("docs", "reextract", "--source", source, "--dry-run")
    assert dry.err == "3 pages: 3 would be changed.\n"
    assert dry.out.count("\nchanged  http://") == 2
    assert "  produced_by: " in dry.out
    assert " of the words are the same\n  - " in dry.out
    assert desk.value("select max(version) from documents") == 1
    told = desk.says("docs", "reextract", "--source", source, "--json").json
    assert told["counts"] == {"changed": 3}
    assert told["pages"][0]["fields"]["produced_by"]["after"] == "selectors"
    assert 0 < told["pages"][0]["likeness"] < 1
    assert desk.value("select min(version) from documents") == 2
    again = desk.says("docs", "reextract", "--source", source, "--limit", "2")
    assert (again.code, again.out, again.err) == (0, "", "2 pages: 2 as they were.\n")


@pytest.mark.long
def test_an_interrupted_run_says_how_far_it_came(desk: Desk, starts: Starts) -> None:
    print_articles(desk, 40)
    chosen(desk, "article > p:nth-of-type(n+2)")
    source = desk.value("select name from sources")
    flags = ("--set", f"database.url={desk.database_url}", "--set", "extract.children=1")
    process = starts(*flags, "docs", "reextract", "--source", source, "--dry-run")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("changed  ")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    stopped, interrupted = err.splitlines()[-2:]
    assert stopped.startswith("Stopped after ")
    assert stopped.endswith(" would be changed.")
    assert interrupted == "headwater: interrupted."


def test_reextract_needs_a_source_that_has_pages(desk: Desk) -> None:
    desk.followed("https://careers.example/", "--name", "Careers", "--kind", "jobs")
    desk.followed("https://empty.example/", "--name", "Empty")
    refused = desk.says("docs", "reextract", "--source", "Careers")
    assert (refused.code, refused.err.splitlines()[0]) == (2, "headwater: Careers offers vacancies.")
    assert desk.says("docs", "reextract", "--source", "Empty").err == "0 pages: nothing is stored.\n"
    assert desk.says("docs", "reextract", "--source", "nobody").code == 4
    assert desk.says("docs", "reextract").code == 2


def listed(desk: Desk, *words: str) -> list[str]:
    return [one["url"] for one in desk.says("docs", "list", *words, "--json").json["documents"]]


def test_documents_are_listed_from_the_newest_on(desk: Desk) -> None:
    source = of_source(desk, "Alpha")
    kept(desk, page(A, TIDES, source_id=source), page(B, OTHER), page(C, f"Die Flut {OTHER}", language="de"))
    assert listed(desk) == [C, B, A]
    assert listed(desk, "--source", "alpha") == [A]
    said = desk.says("docs", "list", "--limit", "2")
    assert said.out.count("https://") == 2
    cursor = desk.says("docs", "list", "--limit", "2", "--json").json["cursor"]
    assert said.err.endswith(f"More: add --cursor {cursor}\n")
    assert listed(desk, "--limit", "2", "--cursor", cursor) == [A]


def test_a_list_shows_the_time_that_it_is_ordered_by(desk: Desk) -> None:
    kept(desk, page(A, TIDES, published_at=datetime(2026, 4, 1, 8, tzinfo=UTC)))
    listing = desk.says("docs", "list").out
    assert re.search(r"first seen \d{4}-\d\d-\d\d \d\d:\d\d · published 2026-04-01 · ", listing)
    assert "first seen" not in desk.says("docs", "search", "tide").out


def test_filters_alone_find_the_newest_that_match(desk: Desk) -> None:
    kept(desk, page(A, TIDES, language="de"), page(B, OTHER))
    assert found(desk, "--language", "de") == [A]
    assert found(desk, "--since", "1h") == [B, A]
    offered(desk, country_iso="KE")
    offered(desk, country_iso="UG")
    assert vacancies(desk, "--country", "UG") == ["1"]
    assert [one["title"] for one in desk.says("jobs", "list", "--json").json["jobs"]] == ["Water engineer"] * 2


def test_each_search_says_how_it_is_asked(desk: Desk) -> None:
    assert "headwater docs search" in desk.says("docs", "search").err
    said = desk.says("jobs", "search")
    assert (said.code, "headwater docs" in said.err) == (2, False)
    assert "headwater jobs search nurse --country KE" in said.err


@pytest.mark.long
def test_pages_of_vacancies_follow_each_other(desk: Desk) -> None:
    for _ in range(3):
        offered(desk, country_iso="KE")
    for words in (("jobs", "search", "water"), ("jobs", "search", "--country", "KE"), ("jobs", "list")):
        first = desk.says(*words, "--limit", "2", "--json").json
        second = desk.says(*words, "--limit", "2", "--cursor", first["cursor"], "--json").json
        urls = {one["apply_url"] for one in (*first["jobs"], *second["jobs"])}
        assert (len(urls), second["cursor"]) == (3, None)
