"""Entries of all kinds of feeds become items by one set of rules, and notes name the entries that were left out."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from headwater.discover.feeds.dates import moment
from headwater.discover.feeds.words import (
    LONGEST_NAME,
    LONGEST_SUMMARY,
    LONGEST_TITLE,
    absolute,
    is_http,
    summary_from,
)
from headwater.discover.items import Item, Reading
from headwater.rights.record import UseStatement
from headwater.rights.rsl import RIGHTS_FIELD
from headwater.storable import one_line

MOST_ENTRIES = 10_000
LONGEST_GUID = 1_024
LONGEST_CONTENT = 1_000_000
LONGEST_LANGUAGE = 35


class Draft(NamedTuple):
    """An entry as its feed writes it. Dates are candidates, the best first; summary and content are HTML."""

    link: str
    guid: str = ""
    title: str = ""
    published: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    author: str = ""
    summary: str = ""
    content: str = ""
    language: str = ""
    rights: tuple[UseStatement, ...] = ()


def reading_of(feed: Reading, drafts: Iterable[Draft], now: datetime) -> Reading:
    """The feed with its items: the first entry of a link counts, and no more entries are looked at than allowed."""
    entries = iter(drafts)
    items: dict[str, Item] = {}
    unlinked = repeated = 0
    for draft in islice(entries, MOST_ENTRIES):
        url = _url(draft)
        if not url:
            unlinked += 1
        elif url in items:
            repeated += 1
        else:
            items[url] = _item(url, draft, feed.language, now)
    cut = f"Only the first {MOST_ENTRIES:,} entries were read." if next(entries, None) is not None else ""
    notes = (
        _counted(unlinked, "without a link that can be fetched"),
        _counted(repeated, "with the link of an earlier one"),
        cut,
    )
    return replace(
        feed,
        items=tuple(items.values()),
        notes=feed.notes + tuple(filter(None, notes)),
        damage=feed.damage or cut,
        is_partial=feed.is_partial or bool(cut),
    )


def _url(draft: Draft) -> str:
    if draft.link:
        return draft.link
    guid = draft.guid.strip()
    return absolute(guid, "") if is_http(guid) else ""


def _item(url: str, draft: Draft, language: str, now: datetime) -> Item:
    updated_at = _first_moment(draft.updated, now)
    return Item(
        url=url,
        title=draft.title[:LONGEST_TITLE],
        # An Atom entry need not say more than when it was last changed.
        published_at=_first_moment(draft.published, now) or updated_at,
        # A change that lies ahead would be a new one at every poll.
        updated_at=updated_at if updated_at and updated_at < now else None,
        guid=one_line(draft.guid, LONGEST_GUID),
        author=one_line(draft.author, LONGEST_NAME),
        summary=summary_from(draft.summary),
        content=_content(draft),
        language=one_line(draft.language, LONGEST_LANGUAGE) if draft.language else language,
        fields={RIGHTS_FIELD: [one.as_dict() for one in draft.rights]} if draft.rights else {},
    )


def _content(draft: Draft) -> str:
    # Many feeds put the whole article into the description; it is longer than a summary then.
    content = draft.content or (draft.summary if len(draft.summary) > LONGEST_SUMMARY else "")
    return content[:LONGEST_CONTENT].replace("\x00", "")


def _first_moment(texts: tuple[str, ...], now: datetime) -> datetime | None:
    return next((at for text in texts if (at := moment(text, now))), None)


def _counted(count: int, what: str) -> str:
    entries = "entry" if count == 1 else "entries"
    return f"Skipped {count:,} {entries} {what}." if count else ""
