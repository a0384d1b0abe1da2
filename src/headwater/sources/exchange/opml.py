"""OPML 1 and 2: the subscription lists of feed readers. Folders become tags."""

from collections.abc import Iterable, Iterator, Mapping
from html import escape

from headwater.errors import UsageError
from headwater.sources.exchange.fields import BY_NAME, LONGEST_TEXT, BadLine, Row, bad_line, row_from
from headwater.sources.exchange.lines import lines_in
from headwater.sources.exchange.markup import MarkupListener, ParseStopped, hear, parse_markup
from headwater.storable import one_line

_PIECE = 65_536
# One is kept for each outline, however deep it lies.
_LONGEST_CATEGORY = 1_000
# The attribute of a rejected outline that says why.
REASON = "rejectedBecause"


class _Outlines(MarkupListener):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Row | BadLine] = []
        self.line = 0
        self._folders: list[str] = []

    def pieces(self, text: str) -> Iterator[bytes]:
        """Line by line, so that what is heard can be told with its line."""
        for line in lines_in(text):
            self.line += 1
            for at in range(0, len(line), _PIECE):
                yield line[at : at + _PIECE].encode()

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:
        if not self.path and name.lower() != "opml":
            raise ParseStopped(f"It is not OPML: its outermost element is <{one_line(name[:100])}>.")
        if name.lower() == "outline":
            self._outline({key.lower(): value for key, value in attributes.items()}, attributes)

    def closed(self, name: str) -> None:
        if name.lower() == "outline":
            self._folders.pop()

    def _outline(self, said: Mapping[str, str], attributes: Mapping[str, str]) -> None:
        label = said.get("title") or said.get("text") or ""
        is_source = any(said.get(key, "").strip() for key in ("xmlurl", "url"))
        if is_source:
            record = _record(attributes, self._folders)
            self.found.append(_row(self.line, record, label, said, self._folders))
        elif said.get("htmlurl"):
            why = "This outline names a site (htmlUrl) but no feed: give it an xmlUrl, or a url to follow the site."
            self.found.append(bad_line(self.line, _record(attributes, self._folders), why))
        # A source may hold outlines too; its name is no tag for them.
        self._folders.append("" if is_source else label)

    def take(self) -> list[Row | BadLine]:
        """Rows found since the last call."""
        found, self.found = self.found, []
        return found


class _Scout(_Outlines):
    """Reads ahead, to see whether there is anything to find and how far the file can be read."""

    has_found = False

    def _outline(self, said: Mapping[str, str], attributes: Mapping[str, str]) -> None:
        self.has_found = self.has_found or any(said.get(key, "").strip() for key in ("xmlurl", "url", "htmlurl"))
        self._folders.append("")


def _record(attributes: Mapping[str, str], folders: Iterable[str]) -> str:
    """The outline written again, with its folders: all may stand on one line, which is none to keep for each."""
    said = {key.rpartition("}")[2]: value[:LONGEST_TEXT] for key, value in attributes.items()}
    said.pop(REASON, None)
    if tags := ";".join(filter(None, (*folders, said.get("category", "")))):
        said["category"] = tags[:_LONGEST_CATEGORY]
    return f"<outline{_attributes(**said)}/>"


def _row(line: int, record: str, label: str, said: Mapping[str, str], folders: Iterable[str]) -> Row | BadLine:
    tags = ";".join((*folders, said.get("category", "")))
    cells = {
        "feed_url": said.get("xmlurl", ""),
        "url": said.get("htmlurl", "").strip() or said.get("url", ""),
        "name": label,
        "tags": tags,
    }
    return row_from(line, record, ((BY_NAME[name], cell) for name, cell in cells.items()))


def read_opml(text: str) -> Iterator[Row | BadLine]:
    """Raises UsageError if nothing could be read; a break further on is told as a bad line."""
    scout, ending, text = parse_markup(text, _Scout)
    if ending.why and (not scout.has_found or ending.is_too_large):
        raise UsageError(
            f"The file cannot be read as OPML. {ending.why}", fix="Split it." if ending.is_too_large else ""
        )
    outlines = _Outlines()
    for _ in hear(text, outlines):
        yield from outlines.take()
    yield from outlines.take()
    if ending.why:
        yield BadLine(outlines.line, "", f"{ending.why} The rest of the file was not read.")


def write_opml(rows: Iterable[Row], title: str) -> Iterator[str]:
    """The first tag is the folder; all of them stand in `category`."""
    folders: dict[str, list[Row]] = {}
    for row in rows:
        folders.setdefault(row.tags[0] if row.tags else "", []).append(row)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0">\n'
    yield f"  <head><title>{_in_xml(title)}</title></head>\n  <body>\n"
    for folder, members in folders.items():
        yield from _folder(folder, members)
    yield "  </body>\n</opml>\n"


def _folder(folder: str, rows: Iterable[Row]) -> Iterator[str]:
    if not folder:
        yield from (f"    {_outline_of(row)}\n" for row in rows)
        return
    yield f"    <outline{_attributes(text=folder, title=folder)}>\n"
    yield from (f"      {_outline_of(row)}\n" for row in rows)
    yield "    </outline>\n"


def _outline_of(row: Row) -> str:
    label = row.name or row.url
    category = ",".join(row.tags)
    if not row.feed_url:
        return f"<outline{_attributes(type='link', text=label, title=row.name, url=row.url, category=category)}/>"
    site = "" if row.url == row.feed_url else row.url
    said = _attributes(type="rss", text=label, title=row.name, xmlUrl=row.feed_url, htmlUrl=site, category=category)
    return f"<outline{said}/>"


def _attributes(**said: str) -> str:
    return "".join(f' {name}="{_in_xml(value)}"' for name, value in said.items() if value)


def _in_xml(text: str) -> str:
    return escape(one_line(text))
