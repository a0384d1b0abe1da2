import io
import zipfile
from datetime import timedelta

import orjson
import pytest

from headwater.errors import UsageError
from headwater.sources.exchange.fields import BadLine, Row
from headwater.sources.exchange.reading import ListFormat, ReadSources, format_of, read_sources
from headwater.sources.exchange.writing import write_sources


def read(text: str, as_format: ListFormat | None = None) -> ReadSources:
    return read_sources(text.encode(), as_format)


@pytest.mark.parametrize(
    ("text", "filename", "expected"),
    [
        ("<?xml version='1.0'?><opml/>", "", ListFormat.OPML),
        ("  <opml/>", "list.txt", ListFormat.OPML),
        ('{"url": "https://a.example/"}', "", ListFormat.JSONL),
        ("url\nhttps://a.example/", "", ListFormat.CSV),
        ("Org;Homepage", "", ListFormat.CSV),
        ("Org;Homepage", "list.txt", ListFormat.URLS),
        ("https://a.example/", "list.csv", ListFormat.CSV),
        ("https://a.example/ tag, other", "", ListFormat.URLS),
        ("# url, name\nhttps://a.example/", "", ListFormat.URLS),
        ("a.example", "", ListFormat.URLS),
        ("x", "LIST.TSV", ListFormat.CSV),
        ("x", "a.ndjson", ListFormat.JSONL),
    ],
)
def test_the_format_is_found(text: str, filename: str, expected: ListFormat) -> None:
    assert format_of(text, filename) is expected
    assert format_of(f"\n{text}", filename) is expected


def test_a_list_holds_urls_tags_and_remarks() -> None:
    found = read("# mine\n\nhttps://a.example/x#top  ships, north sea\n\thttps://b.example\n#https://c.example\n")
    assert found == ReadSources(
        (Row(3, "https://a.example/x", tags=("ships", "north sea")), Row(4, "https://b.example/")),
        (),
        ListFormat.URLS,
        "utf-8",
    )


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("htp://a.example/", "unsupported scheme (did you mean http://?)"),
        ("htpps://a.example/", "unsupported scheme (did you mean https://?)"),
        ("feed://a.example/rss", "unsupported scheme (did you mean https://?)"),
        ("a.example:8080/x", "unsupported scheme (did you mean https://?)"),
        ("www.a.example/x", "no host (did you mean https://?)"),
        ("http:a.example", "no host (did you mean http://?)"),
        ("ftp://a.example/", "The URL's scheme is neither http nor https."),
        ("https://me:secret@a.example/", "The URL carries a user name or password."),
        ("/x", "The URL names no host, or is relative with nothing to resolve it against."),
        ("https://a.example/" + "x" * 3000, "The URL is longer than 2083 characters."),
    ],
)
def test_a_refused_url_comes_with_the_reason_and_a_guess(url: str, reason: str) -> None:
    found = read(f"https://fine.example/\n{url}\n")
    assert len(found.rows) == 1
    assert [(bad.line, bad.reason) for bad in found.bad_lines] == [(2, reason)]
    assert found.bad_lines[0].text == url


def test_json_lines_take_numbers_lists_and_objects() -> None:
    said = {
        "Website": "https://a.example/",
        "name": "A",
        "tags": ["x", "y, z"],
        "priority": 7,
        "interval": 90,
        "parser_hint": {"v": 1, "path": "/jobs"},
        "feed_url": None,
        "colour": "red",
    }
    assert read(orjson.dumps(said).decode(), ListFormat.JSONL).rows == (
        Row(
            1,
            "https://a.example/",
            "A",
            tags=("x", "y", "z"),
            priority=7,
            interval=timedelta(seconds=90),
            parser_hint='{"v":1,"path":"/jobs"}',
        ),
    )


@pytest.mark.parametrize(
    "line", ["{", "[1]", '"x"', "{}", '{"url": true}', '{"url": "https://a.example/", "kind": 1}', "NaN"]
)
def test_a_line_of_json_that_is_no_source_is_told(line: str) -> None:
    found = read(f'{{"url": "https://fine.example/"}}\n\n{line}\n', ListFormat.JSONL)
    assert len(found.rows) == 1
    assert [bad.line for bad in found.bad_lines] == [3]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"enabled": False}, "paused"),
        ({"enabled": "no"}, "paused"),
        ({"enabled": 0, "status": "active"}, "paused"),
        ({"enabled": True, "status": "paused"}, "paused"),
        ({"enabled": True}, ""),
        ({"enabled": None}, ""),
    ],
)
def test_what_is_not_enabled_is_paused_whatever_else_is_said(said: dict[str, object], status: str) -> None:
    line = orjson.dumps({"url": "https://a.example/", **said})
    assert read_sources(line, ListFormat.JSONL).rows[0].status == status


def test_a_row_of_which_nobody_can_tell_whether_it_is_enabled_is_not_followed() -> None:
    found = read_sources(b"url,enabled\nhttps://a.example/,perhaps\n")
    assert (found.rows, found.bad_lines[0].reason) == ((), 'enabled "perhaps": should be yes or no')


def test_whether_a_source_is_enabled_can_be_mapped() -> None:
    found = read_sources(b"url,In use\nhttps://a.example/,FALSE\n", mapping={"enabled": "In use"})
    assert found.rows[0].status == "paused"


def test_a_long_reason_is_cut_and_comes_in() -> None:
    row = Row(1, "https://a.example/", status="paused", disable_reason="=" + "x" * 2_000)
    [back] = read_sources("".join(write_sources([row], ListFormat.CSV)).encode(), ListFormat.CSV).rows
    assert back.disable_reason == "=" + "x" * 498 + "…"


def test_keys_of_json_lines_can_be_mapped() -> None:
    data = b'{"w": "https://a.example/"}\n{"url": "https://b.example/"}'
    assert [row.line for row in read_sources(data, ListFormat.JSONL, {"url": "W"}).rows] == [1, 2]


def test_a_line_of_json_nobody_can_follow_is_kept_whole() -> None:
    line = '{"url": "https://a.example/", "kind": "blog", "colour": 1}'
    bad = read(f"{line}\n", ListFormat.JSONL).bad_lines
    assert bad == (BadLine(1, line, 'kind "blog": should be news, jobs or docs'),)


def test_a_line_of_a_list_nobody_can_follow_is_kept_whole() -> None:
    bad = read("htp://a.example/ ships, north sea\n", ListFormat.URLS).bad_lines
    said = 'url "htp://a.example/": unsupported scheme (did you mean http://?)'
    assert bad == (BadLine(1, "htp://a.example/ ships, north sea", said),)


def test_keys_of_json_lines_that_bring_nothing_are_told_once() -> None:
    lines = [
        {"url": "https://a.example/", "colour": 1, "x\x1b\n": 2},
        {"url": "https://b.example/", "colour": 1, "size": 2, "link": "https://c.example/"},
    ]
    found = read("\n".join(orjson.dumps(line).decode() for line in lines), ListFormat.JSONL)
    assert (found.unused, found.doubled) == (("colour", "x", "size"), ("link",))


def test_the_names_that_bring_nothing_have_an_end() -> None:
    lines = (f'{{"url": "https://a.example/{n}", "{"k" * 1_000}{n}": 1, "{n}": 2}}' for n in range(500))
    found = read("\n".join(lines), ListFormat.JSONL)
    assert len(found.rows) == 500
    assert len(found.unused) == 50
    assert max(map(len, found.unused)) <= 100


def test_the_first_of_equal_lines_counts_with_the_tags_of_all() -> None:
    found = read(
        "https://a.example/x one\nhttp://a.example/x/ two\nhttps://b.example/\nhttps://A.example/x?utm_source=y\n"
    )
    assert [(row.line, row.tags) for row in found.rows] == [(1, ("one", "two")), (3, ())]
    assert (found.bad_lines, found.duplicates) == ((), 2)


def test_two_feeds_of_one_site_are_two_sources() -> None:
    found = read("url,feed\nhttps://a.example/,https://a.example/1\nhttps://a.example/,https://a.example/2")
    assert (len(found.rows), found.bad_lines) == (2, ())


def test_bad_lines_are_in_the_order_of_the_file() -> None:
    found = read("https://a.example/\nftp://x/\nhttps://b.example/\nftp://y/\n")
    assert [bad.line for bad in found.bad_lines] == [2, 4]


def workbook() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (workbook(), "zip archive"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"\xd0\xcf\x11\xe0\xa1", "old Excel"),
        (b"%PDF-1.7", "PDF"),
        (b"\x7fELF\x00\x01", "binary"),
        (b"", "empty"),
        (b" \n", "empty"),
    ],
)
@pytest.mark.parametrize("as_format", [None, *ListFormat])
def test_what_is_no_text_is_refused_whatever_it_is_called(data: bytes, what: str, as_format: ListFormat | None) -> None:
    with pytest.raises(UsageError, match=what):
        read_sources(data, as_format, filename="feeds.opml")


def test_a_json_array_is_refused_with_what_to_do() -> None:
    with pytest.raises(UsageError, match="JSON array"):
        read('[{"url": "https://a.example/"}]')


@pytest.mark.parametrize("as_format", [ListFormat.OPML, ListFormat.URLS])
def test_a_mapping_is_refused_where_there_are_no_columns(as_format: ListFormat) -> None:
    with pytest.raises(UsageError, match="columns to map"):
        read_sources(b"<opml/>", as_format, {"url": "x"})


def test_an_export_of_urls_names_each_once() -> None:
    rows = [Row(0, "https://a.example/", feed_url=f"https://a.example/{n}", tags=("x",)) for n in range(3)]
    assert list(write_sources(rows, ListFormat.URLS)) == ["https://a.example/ x\n"]


def test_an_export_to_json_lines_says_only_what_is_known() -> None:
    row = Row(9, "https://a.example/", interval=timedelta(minutes=90))
    assert list(write_sources([row], ListFormat.JSONL)) == ['{"url":"https://a.example/","interval":"1h30m"}\n']
