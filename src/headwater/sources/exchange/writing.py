"""Sources as a file, in any of the formats they can be brought in."""

from collections.abc import Iterable, Iterator

from headwater.sources.exchange.fields import Row
from headwater.sources.exchange.jsonlines import write_jsonl
from headwater.sources.exchange.opml import write_opml
from headwater.sources.exchange.reading import Format
from headwater.sources.exchange.tables import write_csv
from headwater.sources.exchange.urllist import write_urls

DEFAULT_TITLE = "Headwater sources"


def write_sources(rows: Iterable[Row], as_format: Format, title: str = DEFAULT_TITLE) -> Iterator[str]:
    """Piece by piece. CSV and JSON Lines carry every field; OPML name, addresses and tags; a URL list URL and tags."""
    match as_format:
        case Format.OPML:
            return write_opml(rows, title)
        case Format.CSV:
            return write_csv(rows)
        case Format.JSONL:
            return write_jsonl(rows)
        case Format.URLS:
            return write_urls(rows)
