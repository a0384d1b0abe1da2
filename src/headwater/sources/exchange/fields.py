"""The fields a person may bring: how each is written in text, under which names people keep it, where it is stored.

Every URL goes through the one gate; where it is refused, with a guess at what was meant.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import timedelta
from difflib import get_close_matches
from math import nan
from typing import Any
from zoneinfo import ZoneInfo

import orjson

from headwater.errors import UrlRejected
from headwater.settings.durations import format_duration, parse_duration, parse_durations
from headwater.sources.causes import StopReason
from headwater.sources.source import Policy, Profile, SourceKind, SourceMode, tags_from
from headwater.storable import as_laid_out, cut_text, one_line
from headwater.urls.canonical import canonicalise
from headwater.urls.rejection import MAX_LENGTH, Rejection

LONGEST_TEXT = 20_000

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)+(?:[/:?#]|$)")
# `htp`, `hhtps` and `http` itself are near enough; `ftp` and `file` are not.
_NEAR = 0.7

LONGEST_NAME = 500
LONGEST_HINT = 20_000
MOST_EXTERNAL_IDS = 20
LONGEST_EXTERNAL_ID = 200
NO_REASON_GIVEN = "imported as disabled"
_LONGEST_SHOWN = 100
_LEAST_DAYS, _MOST_DAYS = 0.04, 365

_WHOLE = re.compile(r"(-?[0-9]{1,9})(?:\.0+)?")  # spreadsheets write 5.0
_WINDOW = re.compile(r"((?:[01]\d|2[0-3]):[0-5]\d)\s*[-–]\s*((?:[01]\d|2[0-3]):[0-5]\d)", re.ASCII)
_TWO_LETTERS = re.compile(r"[A-Za-z]{2}")
# Less is a slip of the unit: `0.5` was meant as hours or minutes.
_SHORTEST = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class BadLine:
    """`text` is the record as it stood there, to be mended and brought again; `reason` is for people."""

    line: int
    text: str
    reason: str


def bad_line(line: int, text: str, reason: str) -> BadLine:
    # Cut before cleaning: a line may be as long as the file.
    return BadLine(line, cut_text(as_laid_out(text[: LONGEST_TEXT * 2]).strip("\n"), LONGEST_TEXT), reason)


def is_whole(bad: BadLine) -> bool:
    """Whether the record is all there, and was not cut."""
    return len(bad.text) < LONGEST_TEXT


def check_url(raw: str) -> str:
    """The URL as it will be asked for; a ValueError says why it never will be."""
    try:
        # Whatever is longer is refused for its length, and nobody needs to read all of it to know.
        return canonicalise(raw[: MAX_LENGTH * 2]).url
    except UrlRejected as refusal:
        raise ValueError(_why_refused(raw, refusal)) from None


def _why_refused(raw: str, refusal: UrlRejected) -> str:
    meant = _meant_start(raw) if refusal.reason in (Rejection.UNSUPPORTED_SCHEME, Rejection.NO_HOST) else ""
    if not meant:
        return refusal.what
    return f"{refusal.reason.replace('_', ' ')} (did you mean {meant}?)"


def _meant_start(raw: str) -> str:
    if _NAME.match(raw):
        return "https://"
    found = _SCHEME.match(raw)
    if not found:
        return ""
    scheme = found[1].lower()
    # Some readers write `feed://` for the address of a feed.
    near = ["https"] if scheme == "feed" else get_close_matches(scheme, ("http", "https"), 1, _NEAR)
    return f"{near[0]}://" if near else ""


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Field:
    """`read` raises ValueError with the end of a sentence that begins with the field's name."""

    name: str
    read: Callable[[str], Any]
    also: tuple[str, ...] = ()
    column: str = ""  # of the profile, where it is called otherwise there
    stored: Callable[[Any], Any] = _same  # from a row to a profile
    written: Callable[[Any], Any] = _same  # from a profile to a row
    is_json: bool = False  # written as JSON wherever it stands: its parts may hold any separator


def _name(text: str) -> str:
    return _no_longer(one_line(text), LONGEST_NAME)


def _reason(text: str) -> str:
    # Cut, not refused: ours may quote what a site wrote, and has to come back.
    return cut_text(one_line(text), LONGEST_NAME)


def _hint(text: str) -> str:
    # Lines and indents stay: a hint may be JSON laid out by a person.
    return _no_longer(as_laid_out(text).strip(), LONGEST_HINT)


def _no_longer(text: str, limit: int) -> str:
    if len(text) > limit:
        raise ValueError(f"should be at most {limit:,} characters")
    return text


def _one_of(*choices: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text.lower() not in choices:
            raise ValueError(f"should be {', '.join(choices[:-1])} or {choices[-1]}")
        return text.lower()

    return read


def _whole(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        found = _WHOLE.fullmatch(text)
        if not found or not least <= int(found[1]) <= most:
            raise ValueError(f"should be a whole number from {least:,} to {most:,}")
        return int(found[1])

    return read


def _interval(text: str) -> timedelta:
    wait = parse_duration(text)
    if wait < _SHORTEST:
        raise ValueError("should be a duration of a second or more")
    return wait


def _wait_between(text: str) -> timedelta:
    """It is kept in milliseconds: what would become none of them is no wait at all, which nobody asked for."""
    wait = parse_duration(text)
    if wait and not _milliseconds_in(wait):
        raise ValueError("should be 0 or at least a millisecond, such as 250ms or 2s")
    return wait


def _intervals(text: str) -> tuple[timedelta, ...]:
    waits = parse_durations(text)
    if any(wait < _SHORTEST for wait in waits):
        raise ValueError("should be durations of a second or more, such as 24h,7d")
    return waits


def _minutes(text: str) -> timedelta:
    return timedelta(minutes=_whole(1, 5_256_000)(text))


def _milliseconds(text: str) -> timedelta:
    return timedelta(milliseconds=_whole(0, 86_400_000)(text))


def _timezone(text: str) -> str:
    try:
        return ZoneInfo(text).key
    except (KeyError, ValueError, OSError):
        raise ValueError("should be the name of a time zone such as Europe/Paris") from None


def _window(text: str) -> str:
    found = _WINDOW.fullmatch(text)
    if not found:
        raise ValueError("should be two times such as 22:00-05:00")
    return f"{found[1]}-{found[2]}"


def _number(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = nan
    if not _LEAST_DAYS <= found <= _MOST_DAYS:
        raise ValueError(f"should be a number of days from {_LEAST_DAYS} to {_MOST_DAYS}")
    return found


def _country(text: str) -> str:
    """Its two letters, also where its name was written."""
    if _TWO_LETTERS.fullmatch(text):
        return text
    from pycountry import countries

    try:
        return str(countries.lookup(text).alpha_2)
    except LookupError:
        raise ValueError("should be a country such as FR") from None


def _yes_or_no(text: str) -> bool:
    if text.lower() not in ("true", "yes", "1", "false", "no", "0"):
        raise ValueError("should be yes or no")
    return text.lower() in ("true", "yes", "1")


def _texts(text: str) -> tuple[str, ...]:
    """A JSON array, or words with spaces between them."""
    listed = listed_texts(text)
    return tuple(text.split()) if listed is None else listed


def listed_texts(text: str) -> tuple[str, ...] | None:
    """A JSON array of texts without its empty ones, or None."""
    with suppress(orjson.JSONDecodeError):
        read = orjson.loads(text)
        if isinstance(read, list) and all(isinstance(one, str | None) for one in read):
            return tuple(one for one in read if one and one.strip())
    return None


def _external_ids(text: str) -> tuple[str, ...]:
    """A JSON array, or one id, whatever it is made of."""
    listed = listed_texts(text)
    ids = tuple(dict.fromkeys(map(one_line, (text,) if listed is None else listed)))
    if len(ids) > MOST_EXTERNAL_IDS or any(len(one) > LONGEST_EXTERNAL_ID for one in ids):
        raise ValueError(f"should be at most {MOST_EXTERNAL_IDS} ids of at most {LONGEST_EXTERNAL_ID} characters")
    return ids


def _is_since(text: str) -> bool:
    """Whether a time is said at all: systems write `never` in several ways."""
    return text.lower() not in ("false", "no", "0", "null", "none") and not text.startswith("0001-01-01")


def _urls(text: str) -> tuple[str, ...]:
    return tuple(check_url(url) for url in _texts(text))


def json_object(text: str) -> dict[str, Any]:
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        read = None
    if not isinstance(read, dict):
        raise ValueError("should be a JSON object")  # noqa: TRY004 - it is the text that is wrong
    return read


def selectors_in(text: str) -> dict[str, Any]:
    """Without empty ones: a form that has a place for each of them leaves many so."""
    read = _without_empty(json_object(text))
    assert isinstance(read, dict)
    return read


def _without_empty(value: object) -> object:
    if isinstance(value, dict):
        kept = {name: _without_empty(inner) for name, inner in value.items()}
        return {name: inner for name, inner in kept.items() if inner not in (None, "", [], {})}
    if isinstance(value, list):
        return [one for one in map(_without_empty, value) if one not in (None, "")]
    return value.strip() if isinstance(value, str) else value


def _milliseconds_in(wait: timedelta) -> int:
    return round(wait.total_seconds() * 1000)


def _wait_of(milliseconds: int) -> timedelta:
    return timedelta(milliseconds=milliseconds)


def described(
    read: Callable[[str], Any],
    *also: str,
    column: str = "",
    stored: Callable[[Any], Any] = _same,
    written: Callable[[Any], Any] = _same,
    is_json: bool = False,
) -> dict[str, Any]:
    """The description of a field, which its reading, its writing and its way into a profile follow."""
    return {
        "read": read,
        "also": also,
        "column": column,
        "stored": stored,
        "written": written,
        "is_json": is_json,
    }


@dataclass(frozen=True, slots=True)
class Row:
    """One source as a person describes it. Empty and None mean that the file does not say.

    Every field that a file may bring is described here, and nowhere else: where its profile has a column of that name,
    an import stores it there, and an export writes it.
    """

    line: int
    url: str = field(
        metadata=described(
            check_url, "website", "site", "homepage", "link", "web", "html_url", "htmlurl", "careers_url"
        )
    )
    name: str = field(
        default="",
        metadata=described(
            _name, "title", "org", "org_name", "organisation", "organization", "publisher", "company", "source"
        ),
    )
    feed_url: str = field(
        default="",
        metadata=described(check_url, "feed", "rss", "rss_url", "rss_feed", "atom", "xml_url", "xmlurl"),
    )
    sitemap_url: str = field(default="", metadata=described(check_url, "sitemap"))
    kind: str = field(default="", metadata=described(_one_of("news", "jobs", "docs"), stored=SourceKind, written=str))
    source_type: str = field(default="", metadata=described(_one_of("html", "rss", "api")))
    ingestion_mode: str = field(
        default="", metadata=described(_one_of("feed", "spider", "both"), "mode", stored=SourceMode, written=str)
    )
    status: str = field(default="", metadata=described(_one_of("active", "paused", "blocked", "deleted")))
    # Why it is not active.
    disable_reason: str = field(default="", metadata=described(_reason, "disabled_reason", "status_reason"))
    tags: tuple[str, ...] = field(
        default=(),
        metadata=described(tags_from, "tag", "category", "categories", "folder", "folders", "group", "label", "labels"),
    )
    priority: int | None = field(default=None, metadata=described(_whole(1, 10)))
    interval: timedelta | None = field(
        default=None, metadata=described(_interval, "poll_interval", "poll_every", column="poll_every")
    )
    rate_limit: timedelta | None = field(
        default=None,
        metadata=described(_wait_between, column="rate_limit_ms", stored=_milliseconds_in, written=_wait_of),
    )
    # -1 is without limit.
    max_depth: int | None = field(default=None, metadata=described(_whole(-1, 1_000), "depth"))
    timezone: str = field(default="", metadata=described(_timezone, "time_zone", "tz"))
    org_type: str = field(default="", metadata=described(_name, "organisation_type", "organization_type"))
    parser_hint: str = field(default="", metadata=described(_hint, "hint"))
    crawl_frequency_days: float | None = field(default=None, metadata=described(_number, "frequency_days"))
    time_window: str = field(default="", metadata=described(_window, "window"))
    more_sitemaps: tuple[str, ...] = field(default=(), metadata=described(_urls, is_json=True))
    country: str = field(default="", metadata=described(_country))
    policy: str = field(
        default="",
        metadata=described(_one_of("adaptive", "tiers", "frequency", "fixed"), stored=Policy, written=str),
    )
    revisit_every: tuple[timedelta, ...] = field(default=(), metadata=described(_intervals))
    max_pages: int | None = field(default=None, metadata=described(_whole(1, 1_000_000)))
    start_urls: tuple[str, ...] = field(default=(), metadata=described(_urls, is_json=True))
    allowed_domains: tuple[str, ...] = field(default=(), metadata=described(_texts, is_json=True))
    include_paths: tuple[str, ...] = field(default=(), metadata=described(_texts, is_json=True))
    exclude_paths: tuple[str, ...] = field(default=(), metadata=described(_texts, is_json=True))
    allow_external: bool = field(default=False, metadata=described(_yes_or_no))
    article_patterns: tuple[str, ...] = field(
        default=(), metadata=described(_texts, "article_url_patterns", is_json=True)
    )
    selectors: dict[str, Any] = field(default_factory=dict, metadata=described(selectors_in, is_json=True))
    # Whether origins of its pages are never asked for /.well-known/tdmrep.json, which others are once a day.
    skips_tdmrep: bool = field(default=False, metadata=described(_yes_or_no))
    speaks_for: tuple[str, ...] = field(default=(), metadata=described(_texts, is_json=True))
    # Its names in other systems.
    external_ids: tuple[str, ...] = field(
        default=(), metadata=described(_external_ids, "external_id", "id", is_json=True)
    )
    # Whether its pages need a browser.
    render_mode: str = field(default="", metadata=described(_one_of("static", "dynamic")))
    # Why its feed is not polled; nothing means that it is.
    feed_disable_reason: str = field(default="", metadata=described(_reason))
    # As it stood in the file.
    record: str = field(default="", compare=False, repr=False)


FIELDS = tuple(Field(one.name, **one.metadata) for one in fields(Row) if one.metadata)
_IN_PROFILE = tuple(one for one in FIELDS if (one.column or one.name) in Profile.__dataclass_fields__)
# Other ways to say `status` and that a feed is not polled, so they are read and never written.
SAID_OTHERWISE = (
    Field("enabled", _yes_or_no),
    Field("disabled_at", _is_since),
    Field("feed_disabled_at", _is_since),
    Field("last_crawl_message", _reason),
)
# Of a last run's messages, those that say why a source is no longer active.
_REASONS = frozenset({StopReason.ROBOTS_DISALLOW, StopReason.AUTO_PAUSED})
BY_NAME = {one.name: one for one in (*FIELDS, *SAID_OTHERWISE)}
# The same field in another unit, which its name says.
OTHER_FIELDS = (
    Field("interval", _minutes, ("feed_poll_interval_minutes", "interval_minutes")),
    Field("rate_limit", _milliseconds, ("rate_limit_ms",)),
)


def row_from(line: int, record: str, cells: Iterable[tuple[Field, str]]) -> Row | BadLine:
    """At most one cell for each field; a row with no address but its feed's is followed under that."""
    values: dict[str, Any] = {}
    for known, cell in cells:
        text = cell.strip()
        if not text:
            continue
        try:
            values[known.name] = known.read(text)
        except ValueError as problem:
            # Where the cell is all there is, it need not be said again.
            start = "" if text == record.strip() else f'{known.name} "{cut_text(one_line(text), _LONGEST_SHOWN)}": '
            return bad_line(line, record, f"{start}{problem}")
    # Whatever `status` says: where one of them says no, nothing is to be polled.
    is_enabled, is_disabled = values.pop("enabled", True), values.pop("disabled_at", False)
    if (is_disabled or not is_enabled) and values.get("status", "active") == "active":
        values["status"] = "paused"
    if (message := values.pop("last_crawl_message", "")) in _REASONS:
        values.setdefault("disable_reason", message)
    if values.pop("feed_disabled_at", False):
        values.setdefault("feed_disable_reason", NO_REASON_GIVEN)
    url = values.pop("url", "") or values.get("feed_url", "")
    return Row(line, url, **values, record=record) if url else bad_line(line, record, "empty URL")


def is_said(value: object) -> bool:
    return value is not False and value not in (None, "", (), {})


def value_as_text(known: Field, value: object) -> str:
    """As the field's `read` takes it back."""
    if not is_said(value):
        return ""
    if known.is_json:
        return orjson.dumps(value).decode()
    if isinstance(value, tuple):
        return "; ".join(map(_text_of, value))
    return _text_of(value)


def _text_of(value: object) -> str:
    return format_duration(value) if isinstance(value, timedelta) else str(value)


def profile_fields_of(row: Row) -> dict[str, Any]:
    """The columns of a profile that the file says, as the profile wants them."""
    said = ((one, getattr(row, one.name)) for one in _IN_PROFILE)
    return {one.column or one.name: one.stored(value) for one, value in said if is_said(value)}


def row_fields_of(profile: Profile) -> dict[str, Any]:
    """The fields of a row that a profile says, as a file wants them."""
    kept = ((one, getattr(profile, one.column or one.name)) for one in _IN_PROFILE)
    return {one.name: one.written(value) for one, value in kept if is_said(value)}
