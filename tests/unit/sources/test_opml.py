import pytest
from lxml import etree

from headwater.errors import UsageError
from headwater.sources.exchange.fields import Row
from headwater.sources.exchange.opml import write_opml
from headwater.sources.exchange.reading import ListFormat, ReadSources, read_sources
from headwater.sources.exchange.writing import write_sources

TWO_FOLDERS = """<?xml version="1.0" encoding="UTF-8"?>
<opml version="1.0">
  <head><title>Mine</title></head>
  <body>
    <outline text="World">
      <outline text="Asia, east">
        <outline type="rss" text="Harbour" title="Harbour News" xmlUrl="https://harbour.example/feed"
                 htmlUrl="https://harbour.example" category="/daily/ships,/fish"/>
      </outline>
    </outline>
    <outline text="Just a feed" xmlUrl="http://tide.example/rss.xml"/>
    <outline type="link" text="Just a site" url="https://dune.example/"/>
  </body>
</opml>"""


def opml(*outlines: str) -> bytes:
    return f'<opml version="2.0"><body>\n{chr(10).join(outlines)}\n</body></opml>'.encode()


def read(data: bytes | str) -> ReadSources:
    return read_sources(data.encode() if isinstance(data, str) else data, filename="x.opml")


def test_folders_and_categories_become_tags() -> None:
    assert read(TWO_FOLDERS).rows == (
        Row(
            8,
            "https://harbour.example/",
            "Harbour News",
            "https://harbour.example/feed",
            tags=("World", "Asia", "east", "daily/ships", "fish"),
        ),
        Row(11, "http://tide.example/rss.xml", "Just a feed", "http://tide.example/rss.xml"),
        Row(12, "https://dune.example/", "Just a site"),
    )


def test_the_case_of_names_does_not_matter() -> None:
    rows = read(b'<OPML><body><Outline TEXT="a" xmlURL="https://a.example/f"/></body></OPML>').rows
    assert [(row.name, row.feed_url) for row in rows] == [("a", "https://a.example/f")]


def test_what_lies_inside_a_source_is_not_tagged_with_its_name() -> None:
    inner = '<outline text="in" xmlUrl="https://a.example/in"/>'
    rows = read(opml(f'<outline text="out" xmlUrl="https://a.example/out">{inner}</outline>')).rows
    assert [(row.name, row.tags) for row in rows] == [("out", ()), ("in", ())]


def test_a_site_without_feed_or_url_is_told() -> None:
    found = read(opml('<outline text="a" htmlUrl="https://a.example/"/>'))
    assert found.rows == ()
    assert found.bad_lines[0].line == 2
    assert found.bad_lines[0].text == '<outline text="a" htmlUrl="https://a.example/"/>'
    assert "xmlUrl" in found.bad_lines[0].reason


def test_a_bad_address_is_told_with_its_line() -> None:
    found = read(
        opml('<outline text="ok" xmlUrl="https://a.example/"/>', '<outline text="&lt;B>" xmlUrl="htp://b.example/"/>')
    )
    assert len(found.rows) == 1
    bad = found.bad_lines[0]
    assert (bad.line, bad.text) == (3, '<outline text="&lt;B&gt;" xmlUrl="htp://b.example/"/>')
    assert bad.reason == 'feed_url "htp://b.example/": unsupported scheme (did you mean http://?)'


def test_a_feed_in_two_folders_is_one_source_with_both_tags() -> None:
    feed = '<outline text="{0}"><outline text="a" xmlUrl="https://a.example/feed"/></outline>'
    found = read(opml(*(feed.format(folder) for folder in ("Ships", "North", "Ships"))))
    assert [row.tags for row in found.rows] == [("Ships", "North")]
    assert (found.bad_lines, found.duplicates) == ((), 2)


def test_tags_joined_from_many_folders_have_an_end() -> None:
    feed = '<outline text="{0}"><outline text="a" xmlUrl="https://a.example/feed"/></outline>'
    assert len(read(opml(*(feed.format(n) for n in range(200)))).rows[0].tags) == 100


@pytest.mark.parametrize("before", ["", "\ufeff", "\n\n"])
def test_what_stands_before_the_declaration_moves_lines_only(before: str) -> None:
    assert read(before + TWO_FOLDERS).rows[0].line == 8 + before.count("\n")


def test_a_bare_ampersand_and_an_html_entity_are_mended() -> None:
    row = read(opml('<outline text="Caf&eacute; &amp; Bar &more" xmlUrl="https://a.example/?x=1&y=2"/>')).rows[0]
    assert (row.name, row.feed_url) == ("Café & Bar &more", "https://a.example/?x=1&y=2")


def test_a_charset_that_lies_is_forgiven() -> None:
    said_utf8 = (
        '<?xml version="1.0" encoding="utf-8"?>' + opml('<outline text="Großé" xmlUrl="https://a.example/"/>').decode()
    )
    assert read(said_utf8.encode("cp1252")).rows[0].name == "Gro\ufffd\ufffd"
    assert read(said_utf8.replace("utf-8", "windows-1252").encode("cp1252")).rows[0].name == "Großé"
    assert read(said_utf8.replace("utf-8", "utf-16").encode("utf-16")).rows[0].name == "Großé"
    assert read(said_utf8.replace("utf-8", "utf-16").encode()).rows[0].name == "Großé"


def test_a_file_that_is_cut_off_gives_what_came_and_says_so() -> None:
    found = read(TWO_FOLDERS[: TWO_FOLDERS.index("Just a site")])
    assert len(found.rows) == 2
    assert "was not read" in found.bad_lines[-1].reason


@pytest.mark.parametrize("data", ["<html><body/></html>", "<!DOCTYPE html><html/>", "<rss/>", "<opml", "<"])
def test_what_is_no_opml_is_refused_as_a_whole(data: str) -> None:
    with pytest.raises(UsageError, match="cannot be read as OPML"):
        read(data)


def test_an_export_is_xml_whatever_is_in_the_names() -> None:
    name = "a\x00\x08\x1b\ud800\ufffe \"b\" <c> & 'd' ]]>"
    written = "".join(write_opml([Row(1, "https://a.example/?x=1&y=2", name, tags=(name,))], title=name))
    outline = etree.fromstring(written.encode()).find(".//outline/outline")
    assert outline.get("url") == "https://a.example/?x=1&y=2"
    assert outline.get("text") == "a \"b\" <c> & 'd' ]]>"


def test_an_export_has_a_folder_for_each_first_tag() -> None:
    rows = [
        Row(1, f"https://{host}.example/", host, tags=tags)
        for host, tags in (("a", ("x", "y")), ("b", ()), ("c", ("x",)))
    ]
    body = etree.fromstring("".join(write_sources(rows, ListFormat.OPML)).encode()).find("body")
    assert [(child.get("text"), [inner.get("text") for inner in child]) for child in body] == [
        ("x", ["a", "c"]),
        ("b", []),
    ]
    assert body[0][0].get("category") == "x,y"
