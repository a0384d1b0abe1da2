"""What a client's headers ask of a representation: which coding, is it still fresh, which bytes (RFC 9110)."""

from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from functools import lru_cache

# The cheapest to make comes first: many clients accept all of them alike.
CODINGS = ("zstd", "br", "gzip")


@lru_cache(maxsize=1024)
def best_coding(accept_encoding: str) -> str:
    """The coding we serve for this Accept-Encoding; "identity" if none of ours is welcome."""
    wishes = dict(_wishes(accept_encoding))
    rest = wishes.get("*", 0.0)
    quality, coding = max((wishes.get(name, rest), -place) for place, name in enumerate(CODINGS))
    if quality <= 0 or quality < wishes.get("identity", 0.0):
        return "identity"
    return CODINGS[-coding]


def _wishes(accept_encoding: str) -> Iterator[tuple[str, float]]:
    for part in accept_encoding.lower().split(","):
        name, _, parameter = part.partition(";")
        yield name.strip(), _quality(parameter)


def _quality(parameter: str) -> float:
    name, _, value = parameter.partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0


def http_date(moment: datetime) -> str:
    return format_datetime(moment.astimezone(UTC), usegmt=True)


def read_http_date(text: str) -> datetime | None:
    """None for what is no date: the header then counts as absent."""
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def names_tag(if_none_match: str, etag: str) -> bool:
    """Weak comparison against a list of tags or the star (RFC 9110 13.1.2)."""
    if if_none_match.strip() == "*":
        return True
    ours = etag.removeprefix("W/")
    return any(theirs.strip().removeprefix("W/") == ours for theirs in if_none_match.split(","))


def modified_after(last_modified: datetime | None, if_modified_since: str) -> bool:
    since = read_http_date(if_modified_since)
    if last_modified is None or since is None:
        return True
    return last_modified.replace(microsecond=0) > since


def wanted_range(header: str, size: int) -> range | None:
    """The bytes a single byte-range asks for; empty if outside, None if the header is to be ignored."""
    unit, _, spec = header.partition("=")
    first, dash, last = spec.strip().partition("-")
    numbers_only = all(part == "" or (part.isascii() and part.isdigit()) for part in (first, last))
    if unit.strip().lower() != "bytes" or not dash or not numbers_only or not (first or last):
        return None
    if not first:
        return range(max(0, size - int(last)), size)
    if last and int(last) < int(first):
        return None
    return range(int(first), min(int(last) + 1, size) if last else size)
