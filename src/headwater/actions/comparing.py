"""Another system's list of pages beside the archive: what only one of them has, and what differs.

The list streams by, a batch at a time; which addresses it named is kept on disk, since any list may be longer than
memory, and the archive is walked along afterwards.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import islice
from typing import Any, Self

from headwater.actions.listed import ListedPage, UnreadableLine
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import UrlRejected
from headwater.frontier.entry import DeadReason
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.fingerprint import bucket_of
from headwater.urls.scope import without_www

queries = load_queries("headwater.reports")

LOOKED_UP_AT_ONCE = 200
WALKED_AT_ONCE = 5_000
# Redirects behind one another that are followed.
LONGEST_WAY = 10
# Longer texts are compared by their beginnings.
COMPARED_CHARACTERS = 200_000
WORD = re.compile(r"\w+")


class PageDifference(StrEnum):
    SAME = "same"
    DIFFERS = "differs"
    ONLY_LISTED = "only_listed"
    ONLY_ARCHIVED = "only_archived"
    REPEATED = "repeated"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class ComparedPage:
    """`why` is a word or a sentence; `alike` the share of words both texts have, None where one of them has no text."""

    difference: PageDifference
    url: str
    why: str = ""
    title: str = ""
    archived_title: str = ""
    alike: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`least_alike`: texts with a smaller share of common words differ. Without `everywhere` only those of the archive
    count whose host the list names."""

    least_alike: float = 0.8
    since: datetime | None = None
    everywhere: bool = False


@dataclass(slots=True)
class ComparedCounts:
    by_difference: Counter[PageDifference] = field(default_factory=Counter)

    @property
    def is_equal(self) -> bool:
        return not {*self.by_difference} - {PageDifference.SAME, PageDifference.REPEATED}


async def compare(
    database: Database, listed: Iterable[ListedPage | UnreadableLine], how: Comparison, counts: ComparedCounts
) -> AsyncIterator[ComparedPage]:
    """All of the list in its order, then what only the archive has. They are counted as they come."""
    with _NamedPages() as named:
        async for one in _all(database, listed, how, named):
            counts.by_difference[one.difference] += 1
            yield one


async def _all(
    database: Database, listed: Iterable[ListedPage | UnreadableLine], how: Comparison, named: "_NamedPages"
) -> AsyncIterator[ComparedPage]:
    lines = iter(listed)
    while batch := list(islice(lines, LOOKED_UP_AT_ONCE)):
        for one in await _batch(database, batch, how, named):
            yield one
    async for one in _only_archived(database, how, named):
        yield one


class _NamedPages:
    """Addresses and hosts that the list named, in a file of SQLite's that nobody else sees and that ends with us."""

    def __init__(self) -> None:
        self._file = sqlite3.connect("", isolation_level=None)
        self._file.execute("pragma journal_mode = off")
        self._file.execute("create table page (hash blob primary key, bucket integer) without rowid")
        self._file.execute("create table reached (hash blob primary key) without rowid")
        self._file.execute("create table site (name text primary key) without rowid")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, url: CanonicalUrl) -> bool:
        """Whether it is new."""
        self._file.execute("insert or ignore into site values (?)", (without_www(url.host),))
        added = self._file.execute("insert or ignore into page values (?, ?)", (url.url_hash, url.bucket))
        return added.rowcount == 1

    def reach(self, url: CanonicalUrl) -> None:
        """It was not named itself, but stands for an address that was."""
        self._file.execute("insert or ignore into reached values (?)", (url.url_hash,))

    def has(self, *hashes: bytes | None) -> bool:
        found = self._file.execute(
            "select 1 from page where hash in (?1, ?2) union all select 1 from reached where hash in (?1, ?2)", hashes
        )
        return found.fetchone() is not None

    def has_host(self, host: str) -> bool:
        return self._file.execute("select 1 from site where name = ?", (without_www(host),)).fetchone() is not None

    def buckets(self) -> list[int]:
        """A host and its twin with or without `www.` lie in different ones."""
        names = (name for (name,) in self._file.execute("select name from site"))
        return sorted({bucket_of(host) for name in names for host in (name, f"www.{name}")})


async def _batch(
    database: Database, batch: Sequence[ListedPage | UnreadableLine], how: Comparison, named: _NamedPages
) -> list[ComparedPage]:
    read = [_read(one) for one in batch]
    fresh = {place: url for place, url in enumerate(read) if isinstance(url, CanonicalUrl) and named.add(url)}
    found = await _led_to(database, await _looked_up(database, fresh), named)
    return [_judged(one, read[place], found.get(place), how) for place, one in enumerate(batch)]


async def _looked_up(database: Database, urls: Mapping[int, CanonicalUrl]) -> dict[int, Any]:
    keys = ([url.bucket for url in urls.values()], [url.url_hash for url in urls.values()])
    return dict(zip(urls, await database.fetch(queries.look_up_listed, *keys), strict=True))


async def _led_to(database: Database, found: dict[int, Any], named: _NamedPages) -> dict[int, Any]:
    """What redirects lead to stands for the address that was listed, if a document of it is there."""
    ways = {place: url for place, row in found.items() if (url := _target_of(row))}
    for _ in range(LONGEST_WAY):
        if not ways:
            break
        targets = await _looked_up(database, ways)
        for place, row in targets.items():
            if row["url"] is not None:
                found[place] = row
                named.reach(ways[place])
        ways = {place: url for place, row in targets.items() if (url := _target_of(row))}
    return found


def _target_of(row: Any) -> CanonicalUrl | None:
    is_redirect = row["url"] is None and row["reason"] == DeadReason.REDIRECT and row["moved_to"]
    return canonicalise(row["moved_to"]) if is_redirect else None


def _read(one: ListedPage | UnreadableLine) -> CanonicalUrl | str:
    if isinstance(one, UnreadableLine):
        return one.why
    try:
        return canonicalise(one.url)
    except UrlRejected as error:
        return str(error.what)


def _judged(one: ListedPage | UnreadableLine, url: CanonicalUrl | str, row: Any, how: Comparison) -> ComparedPage:
    if isinstance(one, UnreadableLine) or isinstance(url, str):
        said = f"line {one.place}" if isinstance(one, UnreadableLine) else one.url
        return ComparedPage(PageDifference.UNREADABLE, said, str(url))
    if row is None:
        return ComparedPage(PageDifference.REPEATED, one.url, "it was listed before", one.title)
    if row["url"] is None:
        return ComparedPage(PageDifference.ONLY_LISTED, one.url, why_missing(row), one.title)
    alike = share_of_words(one.text, row["text"]) if one.text and row["text"] else None
    differing = ["title"] * bool(one.title and not is_same_title(one.title, row["title"]))
    differing += ["text"] * (alike is not None and alike < how.least_alike)
    kind = PageDifference.DIFFERS if differing else PageDifference.SAME
    return ComparedPage(kind, one.url, ", ".join(differing), one.title, row["title"], alike)


def why_missing(row: Any) -> str:
    """Of an address without a document: what became of it here."""
    if row["deleted_reason"]:
        return f"withdrawn: {row['deleted_reason']}"
    if row["status"] is None:
        return "never found"
    return f"{row['status']}: {row['reason']}" if row["reason"] else str(row["status"])


def is_same_title(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


def share_of_words(one: str, other: str) -> float:
    """How many of all words both have, each as often as it stands there: 1 is the same words, 0 none in common."""
    counted = [Counter(WORD.findall(text[:COMPARED_CHARACTERS].casefold())) for text in (one, other)]
    every = (counted[0] | counted[1]).total()
    return (counted[0] & counted[1]).total() / every if every else 1.0


async def _only_archived(database: Database, how: Comparison, named: _NamedPages) -> AsyncIterator[ComparedPage]:
    for bucket in range(256) if how.everywhere else named.buckets():
        after = b""
        while rows := await database.fetch(queries.walk_documents, bucket, after, WALKED_AT_ONCE, how.since):
            for row in _unnamed(rows, how, named):
                yield ComparedPage(PageDifference.ONLY_ARCHIVED, row["url"], archived_title=row["title"])
            after = rows[-1]["url_hash"]


def _unnamed(rows: Sequence[Any], how: Comparison, named: _NamedPages) -> Iterator[Any]:
    for row in rows:
        if not row["is_wanted"] or named.has(row["url_hash"], row["believed_hash"]):
            continue
        if how.everywhere or named.has_host(canonicalise(row["url"]).host):
            yield row
