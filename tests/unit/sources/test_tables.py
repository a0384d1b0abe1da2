from dataclasses import replace
from datetime import timedelta
from time import process_time

import pytest

from headwater.errors import UsageError
from headwater.sources.exchange.fields import LONGEST_TEXT, BadLine, Row
from headwater.sources.exchange.reading import ListFormat, ReadSources, read_sources
from headwater.sources.exchange.writing import write_rejected, write_sources
from headwater.sources.store import EDITABLE


def read(text: str, **mapping: str) -> ReadSources:
    return read_sources(text.encode(), ListFormat.CSV, mapping)


def test_every_field_can_be_brought() -> None:
    cells = {
        "url": "https://a.example",
        "name": "A",
        "feed_url": "https://a.example/f",
        "sitemap_url": "https://a.example/s",
        "kind": "Jobs",
        "source_type": "html",
        "ingestion_mode": "both",
        "status": "paused",
        "tags": "x; y",
        "priority": "7",
        "interval": "1h30m",
        "rate_limit": "2",
        "max_depth": "-1",
        "timezone": "Europe/Paris",
        "org_type": "ngo",
        "parser_hint": ".job",
        "crawl_frequency_days": "3.0",
        "time_window": "22:00 – 05:00",
    }
    assert read(f"{','.join(cells)}\n{','.join(cells.values())}").rows == (
        Row(
            line=2,
            url="https://a.example/",
            name="A",
            feed_url="https://a.example/f",
            sitemap_url="https://a.example/s",
            kind="jobs",
            source_type="html",
            ingestion_mode="both",
            status="paused",
            tags=("x", "y"),
            priority=7,
            interval=timedelta(minutes=90),
            rate_limit=timedelta(seconds=2),
            max_depth=-1,
            timezone="Europe/Paris",
            org_type="ngo",
            parser_hint=".job",
            crawl_frequency_days=3,
            time_window="22:00-05:00",
        ),
    )


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("kind", "blog", 'kind "blog": should be news, jobs or docs'),
        ("priority", "11", 'priority "11": should be a whole number from 1 to 10'),
        ("priority", "high", 'priority "high": should be a whole number from 1 to 10'),
        ("interval", "0", 'interval "0": should be a duration of a second or more'),
        ("interval", "soon", 'interval "soon": should be a duration such as'),
        ("rate_limit", "0.0004s", 'rate_limit "0.0004s": should be 0 or at least a millisecond, such as 250ms or 2s'),
        ("rate_limit_ms", "a second", 'rate_limit "a second": should be a whole number'),
        ("timezone", "Europe/Atlantis", 'timezone "Europe/Atlantis": should be the name of a time zone'),
        ("timezone", "../../etc/passwd", 'timezone "../../etc/passwd": should be the name of a time zone'),
        ("time_window", "22:00-25:00", 'time_window "22:00-25:00": should be two times'),
        ("name", "x" * 501, f'name "{"x" * 99}…": should be at most 500 characters'),
        ("tags", "x" * 101, f'tags "{"x" * 99}…": should be at most'),
        (
            "feed_url",
            "file:///etc/passwd",
            'feed_url "file:///etc/passwd": The URL\'s scheme is neither http nor https.',
        ),
    ],
)
def test_a_value_that_makes_no_sense_is_told(field: str, value: str, complaint: str) -> None:
    found = read(f"url,{field}\nhttps://a.example/,{value}\nhttps://b.example/,")
    assert [row.url for row in found.rows] == ["https://b.example/"]
    assert found.bad_lines[0].line == 2
    assert found.bad_lines[0].reason.startswith(complaint)
    assert found.bad_lines[0].text == f"https://a.example/,{value}"


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_record_nobody_can_follow_is_kept_as_it_stood(delimiter: str) -> None:
    record = '"two\nlines, ""said""",htp://a.example/,\tx'.replace(",", delimiter)
    bad = read(f"name,url,tags\n{record}\n".replace(",", delimiter)).bad_lines[0]
    assert (bad.line, bad.text) == (2, record)
    assert bad.reason == 'url "htp://a.example/": unsupported scheme (did you mean http://?)'


def test_no_record_is_kept_without_end_or_with_what_a_terminal_obeys() -> None:
    bad = read(f"name,url\n\x1b[2J{'x' * 30_000},htp://a.example/\n").bad_lines[0]
    assert bad.text.startswith("[2Jxxx")
    assert bad.text.endswith("x…")
    assert len(bad.text) == LONGEST_TEXT


@pytest.mark.parametrize(("delimiter", "word"), [(",", "comma"), (";", "semicolon"), ("\t", "tab"), ("|", "bar")])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_delimiter_is_found(delimiter: str, word: str, end: str) -> None:
    found = read(
        end.join(["Name|Website|Tags", "A|https://a.example/?x=1,2|", ""]).replace("|", delimiter).replace("1,2", "1")
    )
    assert [(row.name, row.url, row.line) for row in found.rows] == [("A", "https://a.example/?x=1", 2)]
    assert found.spelling == f"utf-8, {word}"


def test_excels_own_line_about_the_delimiter_is_no_header() -> None:
    assert read("sep=;\nName;URL\nA;https://a.example/").rows[0].name == "A"


@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_the_charset_is_found(charset: str) -> None:
    data = "url,name\nhttps://a.example/,Großé €\n".encode(charset)
    assert read_sources(data, ListFormat.CSV).rows[0].name == "Großé €"


def test_columns_can_be_named() -> None:
    text = "Org,Website,url\nA,https://a.example/,nonsense"
    assert [(row.name, row.url) for row in read(text, url="WEBSITE", name="org").rows] == [("A", "https://a.example/")]


def test_an_exact_name_beats_a_guess() -> None:
    assert read("link,url\nhttps://no.example/,https://yes.example/").rows[0].url == "https://yes.example/"


def test_the_columns_of_other_systems_are_known() -> None:
    row = read("org_name,careers_url,feed_poll_interval_minutes\nA,https://a.example/jobs,15").rows[0]
    assert (row.name, row.url, row.interval) == ("A", "https://a.example/jobs", timedelta(minutes=15))


def test_every_field_that_can_be_edited_is_known_by_that_name() -> None:
    found = read(f"url,{','.join(EDITABLE)}\nhttps://a.example/")
    assert (found.unused, found.doubled) == ((), ())
    row = read("url,poll_every,rate_limit_ms\nhttps://a.example/,45m,2500").rows[0]
    assert (row.interval, row.rate_limit) == (timedelta(minutes=45), timedelta(seconds=2.5))


def test_columns_that_bring_nothing_are_told() -> None:
    found = read("Name,url,Colour,,prioritty,title,URL\nA,https://a.example/,red,,9,B,https://b.example/")
    assert [(row.name, row.url) for row in found.rows] == [("A", "https://a.example/")]
    assert (found.unused, found.doubled) == (("Colour", "prioritty"), ("title", "URL"))


def test_a_column_given_up_for_a_named_one_is_told() -> None:
    found = read("Website,url\nhttps://a.example/,https://b.example/", url="website")
    assert (found.rows[0].url, found.unused, found.doubled) == ("https://a.example/", (), ("url",))
    assert read("W,W\nhttps://a.example/,https://b.example/", url="w").doubled == ("W",)


def test_a_column_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UsageError, match='no column "Site"') as refused:
        read("Org,Website\nA,https://a.example/", url="Site")
    assert refused.value.fix == "The columns are: Org, Website."


def test_a_field_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(UsageError, match='no field "uri"') as refused:
        read("Org,Website\n", uri="Website")
    assert "feed_url" in refused.value.fix


@pytest.mark.parametrize("text", ["https://a.example/,A\nhttps://b.example/,B", "who,what\na,b", ",,\n"])
def test_a_table_without_an_address_column_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="No column is known to hold the address"):
        read(text)


def test_lines_are_counted_as_an_editor_does() -> None:
    found = read('\nname,url\n"two\nlines",https://a.example/\n\n\u2028,bad\nB,https://b.example/\n')
    assert [(row.line, row.name) for row in found.rows] == [(3, "two lines"), (7, "B")]
    assert [bad.line for bad in found.bad_lines] == [6]


@pytest.mark.parametrize(
    "after",
    [
        "http://b.example/,B\nhttp://c.example/,C",
        'http://b.example/,"B"\nhttp://c.example/,C',
        'http://b.example/,B\nhttp://c.example/,"C"\n',
        'http://b.example/,"B\n"\nhttp://c.example/,C',
        'http://b.example/,B\nhttp://c.example/,C,""\n',
    ],
)
def test_a_quote_left_open_costs_its_own_line_only(after: str) -> None:
    found = read(f'url,name\nhttp://a.example/,"Foo\n{after}')
    assert [(row.url, row.name) for row in found.rows] == [("http://b.example/", "B"), ("http://c.example/", "C")]
    assert found.bad_lines == (BadLine(2, 'http://a.example/,"Foo', "a quote is opened here and not closed"),)


def test_a_quote_closed_too_far_on_was_left_open() -> None:
    lines = "\n".join(f"http://{n}.example/,{'x' * 50}" for n in range(3_000))
    found = read(f'url,name\nhttp://a.example/,"Foo\n{lines}\nhttp://b.example/,5"\n')
    assert (len(found.rows), [bad.line for bad in found.bad_lines]) == (3_001, [2])


def test_each_quote_left_open_is_told() -> None:
    found = read('url,name\nhttp://a.example/,"A\nhttp://b.example/,"B\nhttp://c.example/,C')
    assert [bad.line for bad in found.bad_lines] == [2, 3]
    assert [row.name for row in found.rows] == ["C"]


def test_a_long_hint_may_be_laid_out_in_many_lines() -> None:
    row = Row(1, "https://a.example/", parser_hint='"\n' * 9_999 + '"')
    assert read("".join(write_sources([row, Row(2, "https://b.example/")], ListFormat.CSV))).rows[0] == replace(
        row, line=2
    )


@pytest.mark.long
@pytest.mark.parametrize("last", ["", 'x",y\n'])
def test_many_quotes_left_open_take_no_longer_than_as_many_lines(last: str) -> None:
    # Each line leaves a quote open, whether one was open before it or not. Looked at from each, it takes minutes.
    began = process_time()
    found = read("url,name\n" + 'x","y\n' * 30_000 + last)
    assert process_time() - began < 10
    assert len(found.bad_lines) > 10_000


def test_short_rows_are_filled_and_long_ones_cut() -> None:
    found = read("url,name\nhttps://a.example/\nhttps://b.example/,B,more,and more")
    assert [row.name for row in found.rows] == ["", "B"]


def test_a_row_without_any_address_is_told() -> None:
    assert read("name,url\nA,\n").bad_lines == (BadLine(2, "A,", "empty URL"),)


def test_a_row_with_a_feed_only_is_followed_under_the_feeds_address() -> None:
    assert read("feed\nhttps://a.example/f").rows == (Row(2, "https://a.example/f", feed_url="https://a.example/f"),)


def test_a_cell_too_long_for_anyone_is_one_bad_line() -> None:
    found = read(f'url,name\nhttps://a.example/,"{"x" * 200_000}"\nhttps://b.example/,B')
    assert [row.name for row in found.rows] == ["B"]
    assert "not CSV" in found.bad_lines[0].reason


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "'=1", "''@x", "'tis", "=cmd|' /C calc'!A0"])
def test_no_cell_of_ours_is_a_formula_and_reading_undoes_that(name: str) -> None:
    written = "".join(write_sources([Row(1, "https://a.example/", name)], ListFormat.CSV))
    assert f",{name}," not in written or name == "'tis"
    assert read(written).rows[0].name == name


@pytest.mark.parametrize("start", "=+-@")
def test_rejected_lines_are_written_inert(start: str) -> None:
    found = read(f"url,name\nftp://x,{start}cmd\n")
    header, line = write_rejected(found.bad_lines, found)
    assert header == "url,name,rejected_line,rejected_because\r\n"
    assert line.startswith(f"ftp://x,'{start}cmd,2,")


@pytest.mark.parametrize("nothing", ["NULL", "\\N", " NULL "])
def test_the_null_of_a_dump_is_an_empty_cell(nothing: str) -> None:
    found = read(f"url,feed_url,priority,name\nhttps://a.example/,{nothing},{nothing},{nothing}\n")
    assert found.rows == (Row(2, "https://a.example/"),)
