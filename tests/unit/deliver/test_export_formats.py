"""Formats of exports: read back by the programs that people read them with."""

import csv
import io
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from tests.unit.deliver.samples import HOSTILE, NOW, document, job, key
from warcio.archiveiterator import ArchiveIterator

from headwater.archive.raw import KeptBody, RawBody
from headwater.deliver.columns import row_of
from headwater.deliver.exports.encoders import CsvEncoder, WarcEncoder
from headwater.deliver.exports.markdown import name_of_page, page_of, slug_of
from headwater.deliver.exports.request import Checkpoint, ExportCursor, ExportedRecord, ExportFormat, ExportRequest
from headwater.deliver.parquet import schema_of, table_of
from headwater.errors import UsageError
from headwater.record_kind import RecordKind
from headwater.urls.fingerprint import DocumentKey


def table(*titles: str) -> list[dict[str, str]]:
    encoder = CsvEncoder(RecordKind.DOCUMENT)
    records = [document(number, title=title) for number, title in enumerate(titles)]
    body = encoder.head() + b"".join(encoder.encode(ExportedRecord(one)) for one in records)
    return list(csv.DictReader(io.StringIO(body.decode(), newline="")))


def test_no_cell_is_a_formula_and_every_record_is_one_row() -> None:
    rows = table(*HOSTILE, "+1", "-1", "@x", "\t=x", " =x")
    assert len(rows) == len(HOSTILE) + 5
    assert not [
        cell for row in rows for cell in row.values() if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    ]
    assert rows[0]["title"] == "'=cmd|' /C calc'!A0"


def test_cells_say_lists_times_and_objects_in_words() -> None:
    (row,) = table("x")
    assert (row["keywords"], row["metadata"], row["published_at"]) == (
        "sea; tide",
        '{"a":[1]}',
        "2026-11-18T14:05:09Z",
    )


def test_a_text_longer_than_a_cell_is_cut() -> None:
    encoder = CsvEncoder(RecordKind.DOCUMENT)
    body = encoder.head() + encoder.encode(ExportedRecord(document(1, text="x" * 200_000)))
    (row,) = csv.DictReader(io.StringIO(body.decode(), newline=""))
    assert len(row["text"]) == 32_000


def test_vacancies_are_a_table_too() -> None:
    encoder = CsvEncoder(RecordKind.JOB)
    body = encoder.head() + encoder.encode(ExportedRecord(job(1)))
    (row,) = csv.DictReader(io.StringIO(body.decode(), newline=""))
    assert (row["deadline"], row["sdgs"], row["international_eligible"]) == ("2026-11-18", "3", "yes")


@pytest.mark.parametrize("title", HOSTILE)
def test_a_page_of_markdown_is_read_back_and_its_name_stays_in_its_folder(title: str) -> None:
    record = document(1, title=title, text=title, author=title)
    _, front, body = page_of(record).decode().split("---\n", 2)
    said = yaml.safe_load(front)
    assert said["id"] == record.id
    assert "\n" not in said.get("title", "")
    assert "<script" not in body
    assert re.fullmatch(r"2026-11/2026-11-18-[a-z0-9-]*[0-9a-f]{16}\.md", name_of_page(record))


MARKUP = {
    "[x](javascript:alert(1))": r"\[x\](javascript:alert(1))",
    "![x](http://spy.example/beacon)": r"!\[x\](http://spy.example/beacon)",
    "<http://spy.example/>": "&lt;http://spy.example/&gt;",
    "[x]: http://spy.example/": r"\[x\]: http://spy.example/",
    "`code` *strong* __strong__ snake_case": r"\`code\` \*strong\* \_\_strong\_\_ snake_case",
    "# heading": r"\# heading",
    "- item": r"\- item",
    "7. item": r"7\. item",
    "> quote": "&gt; quote",
    "~~~": r"\~~~",
    "---": r"\---",
    "| a | b |": r"\| a | b |",
    "&lt;script&gt;": "&amp;lt;script&amp;gt;",
}


@pytest.mark.parametrize(("words", "written"), MARKUP.items())
def test_titles_and_descriptions_become_no_markup_of_a_page(words: str, written: str) -> None:
    vacancy = job(1, title=words, description_snippet=f"One.\n{words}\nTwo.")
    for record in (document(1, title=words), vacancy):
        assert f"\n# {written}\n" in page_of(record).decode()
    assert page_of(vacancy).decode().endswith(f"\n\nOne.\n\n{written}\n\nTwo.\n")


def test_a_name_has_the_words_of_the_title() -> None:
    assert slug_of("Ébb & Flöd: the 2nd!") == "ebb-flod-the-2nd"
    assert slug_of("潮汐") == ""
    assert len(slug_of("x" * 999)) == 60


def kept(number: int, body: bytes = b"<p>x</p>", **headers: str) -> ExportedRecord:
    record = document(number)
    raw = RawBody(DocumentKey(*key(number)[1:]), record.source.id, f"https://a.example/{number}", 200, headers, body)
    return ExportedRecord(record, KeptBody(NOW, raw))


def test_a_warc_holds_pages_as_they_were_sent() -> None:
    encoder = WarcEncoder(NOW)
    body = encoder.head() + encoder.encode(kept(1, b"\x00\xff<p>", **{"content-type": "text/html\r\nX-Evil: 1"}))
    body += encoder.encode(ExportedRecord(document(2)))
    records = [
        (one.rec_type, one.rec_headers.get_header("WARC-Target-URI"), one.content_stream().read())
        for one in ArchiveIterator(io.BytesIO(body), check_digests="raise")
    ]
    assert [one[0] for one in records] == ["warcinfo", "response"]
    assert records[1][1:] == ("https://a.example/1", b"\x00\xff<p>")
    assert body == encoder.head() + encoder.encode(kept(1, b"\x00\xff<p>", **{"content-type": "text/html X-Evil: 1"}))


def test_a_status_that_has_no_name_is_written_all_the_same() -> None:
    one = kept(1)
    assert one.raw
    odd = RawBody(one.raw.raw.key, one.raw.raw.source_id, one.raw.raw.url, 799, {}, b"")
    assert WarcEncoder(NOW).encode(ExportedRecord(one.record, KeptBody(NOW, odd)))


@pytest.mark.parametrize("kind", list(RecordKind))
def test_parquet_keeps_types_and_takes_whatever_a_title_holds(kind: RecordKind) -> None:
    make = document if kind is RecordKind.DOCUMENT else job
    rows = [row_of(make(number, title=title)) for number, title in enumerate(HOSTILE)]
    found = table_of(kind, rows)
    assert found.schema == schema_of(kind)
    file = io.BytesIO()
    pq.write_table(found, file)
    assert pq.read_table(file).num_rows == len(HOSTILE)
    assert table_of(kind, []).schema == schema_of(kind)


def test_a_change_in_parquet_begins_with_its_position() -> None:
    schema = schema_of(RecordKind.DOCUMENT, with_change=True)
    assert (schema.names[:2], schema.field("position").type) == (["position", "op"], pa.int64())


def test_a_checkpoint_is_read_as_it_was_written() -> None:
    import orjson

    reached = Checkpoint(NOW, NOW, ExportCursor(NOW, 7, b"\x01"), 5, 1, 99, 2, ("a", "b"))
    assert Checkpoint.from_dict(orjson.loads(orjson.dumps(reached.as_dict()))) == reached


def test_vacancies_have_no_pages_of_their_own() -> None:
    with pytest.raises(UsageError, match="WARC holds pages"):
        ExportRequest(RecordKind.JOB, ExportFormat.WARC)
