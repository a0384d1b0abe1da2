"""Rejected records are written as they came in, with the reason, and can be imported again once they are mended."""

import pytest

from headwater.errors import UsageError
from headwater.sources.exchange.reading import ListFormat, ReadSources, read_sources
from headwater.sources.exchange.writing import write_rejected

MENDED = ("https://b.example/", "Beta, of B", ("Ships", "North"))
LISTS = {
    ListFormat.CSV: (
        "Name;Website;Tags;colour\r\nAlpha;https://a.example/;;red\r\n"
        '"Beta, of B";htps://b.example/;Ships,North;"dark\nblue";more\r\n'
    ),
    ListFormat.JSONL: (
        '{"url": "https://a.example/"}\n'
        '{"url": "htps://b.example/", "name": "Beta, of B", "tags": ["Ships", "North"], "colour": {"a": 1}}\n'
    ),
    ListFormat.OPML: (
        '<opml><body><outline text="A" xmlUrl="https://a.example/feed"/><outline text="Ships">'
        '<outline text="Beta, of B" url="htps://b.example/" category="North"/></outline></body></opml>'
    ),
    ListFormat.URLS: "https://a.example/\nhtps://b.example/ Ships, North\n",
}


def read(text: str, form: ListFormat) -> ReadSources:
    return read_sources(text.encode(), form)


def written(found: ReadSources) -> str:
    return "".join(write_rejected(found.bad_lines, found))


@pytest.mark.parametrize("form", LISTS)
def test_a_rejected_record_comes_in_again_once_it_is_mended(form: ListFormat) -> None:
    first = read(LISTS[form], form)
    assert (len(first.rows), len(first.bad_lines)) == (1, 1)
    again = read(written(first), form)
    assert (again.rows, len(again.bad_lines)) == ((), 1)
    mended = read(
        written(again).replace("htps:", "https:", 1) if form is not ListFormat.URLS else mend_line(again), form
    )
    [row] = mended.rows
    assert (row.url, row.tags) == (MENDED[0], MENDED[2])
    assert form is ListFormat.URLS or row.name == MENDED[1]
    assert set(mended.unused) <= {"colour"}


def mend_line(found: ReadSources) -> str:
    return "".join(line for line in written(found).splitlines(True) if line[0] != "#").replace("htps:", "https:")


def test_the_reason_stands_beside_the_record_and_only_once() -> None:
    first = read(LISTS[ListFormat.CSV], ListFormat.CSV)
    again = read(written(first), ListFormat.CSV)
    header, *_ = written(again).splitlines()
    assert header == "Name,Website,Tags,colour,,rejected_line,rejected_because"
    assert "unsupported scheme" in written(again)
    assert written(read(LISTS[ListFormat.OPML], ListFormat.OPML)).count("rejectedBecause=") == 1


def test_what_is_no_record_is_kept_as_text() -> None:
    found = read('url,name\nhttps://a.example/,"Foo\nhttps://b.example/,B\n', ListFormat.CSV)
    assert written(found).splitlines()[0] == "url,name,rejected_line,rejected_because,rejected_text"
    assert '"https://a.example/,""Foo"' in written(found)
    found = read('{"url": \n{"url": "https://b.example/"}\n', ListFormat.JSONL)
    assert written(found).startswith('{"rejected_text":"{\\"url\\": "')


def test_a_remark_about_the_whole_file_is_no_record() -> None:
    found = read('<opml><body><outline xmlUrl="https://a.example/feed"/></oops', ListFormat.OPML)
    assert found.bad_lines
    assert "outline" not in written(found)


def test_settings_are_no_json_array() -> None:
    with pytest.raises(UsageError, match="looks like settings"):
        read_sources(b"[section]\nurl = https://a.example/\n", filename="p.ini")
    with pytest.raises(UsageError, match="one JSON array"):
        read_sources(b'[\n  {"url": "https://a.example/"}]', filename="p.json")


def test_a_duplicate_line_adds_its_id() -> None:
    found = read("url,id\nhttps://a.example/,7\nhttps://a.example/,9\n", ListFormat.CSV)
    assert (found.rows[0].external_ids, found.duplicates) == (("7", "9"), 1)


def test_the_fix_for_a_table_without_addresses_names_the_option() -> None:
    with pytest.raises(UsageError) as refused:
        read("colour,size\nred,9\n", ListFormat.CSV)
    assert "--map url=COLUMN" in str(refused.value.fix)
