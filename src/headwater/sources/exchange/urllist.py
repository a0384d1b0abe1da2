"""Plain lists: one URL a line, tags after it if there are any, `#` before a remark."""

from collections.abc import Iterable, Iterator

from headwater.sources.exchange.fields import BY_NAME, BadLine, Row, row_from
from headwater.sources.exchange.lines import short_lines_in


def read_urls(text: str) -> Iterator[Row | BadLine]:
    for number, line in enumerate(short_lines_in(text), 1):
        url, *rest = line.split(maxsplit=1) or [""]
        if url and not url.startswith("#"):
            yield row_from(number, line, [(BY_NAME["url"], url), (BY_NAME["tags"], "".join(rest))])


def write_urls(rows: Iterable[Row]) -> Iterator[str]:
    """Each URL once: a source with several feeds comes as several rows."""
    written: set[str] = set()
    for row in rows:
        if row.url not in written:
            written.add(row.url)
            yield f"{row.url} {', '.join(row.tags)}".rstrip() + "\n"
