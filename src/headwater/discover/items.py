"""The content of a channel's answer, whatever its kind. Readers return these values; nothing here touches anything."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from headwater.extraction.jobs.normalise import NOTHING, Harvest
from headwater.net.validators import Validators


@dataclass(frozen=True, slots=True)
class Item:
    """One thing a channel lists. `url` is absolute and as the channel writes it: submit makes it canonical."""

    url: str
    title: str = ""
    published_at: datetime | None = None
    updated_at: datetime | None = None
    guid: str = ""
    author: str = ""
    summary: str = ""
    content: str = ""  # the full text as HTML, where the channel carries it
    language: str = ""
    depth: int = 0
    is_external: bool = False
    fields: dict[str, Any] = field(default_factory=dict)  # what a mapped API names beyond these


@dataclass(frozen=True, slots=True)
class Reading:
    """A channel's answer, read. `notes` say in words what was dropped or repaired; `damage` is the one of them by which
    not all of the answer could be read, or not as it should be.
    """

    items: tuple[Item, ...]
    title: str = ""
    language: str = ""
    ttl: timedelta | None = None  # how long the publisher says to wait between polls
    skip_hours: frozenset[int] = frozenset()  # UTC, 0 to 23
    skip_days: frozenset[int] = frozenset()  # Monday is 0
    hub: str = ""
    topic: str = ""  # the address by which it calls itself
    cloud: str = ""  # of rssCloud: where to ask for pings
    more: tuple[str, ...] = ()  # further answers to ask for: children of an index, the next page
    notes: tuple[str, ...] = ()
    damage: str = ""
    is_partial: bool = False  # it may list more than could be read of it


@dataclass(frozen=True, slots=True)
class HubLinks:
    """What an answer says of push: in its head, or in its body. All addresses of others, absolute or empty."""

    hub: str = ""
    topic: str = ""
    cloud: str = ""


@dataclass(frozen=True, slots=True)
class FoundItems:
    """The yield of one answer, or a part of it: items, and for job sources the vacancies it tells of.

    `url` is the address that answered; it may hold an API's key, and is never stored. `before`: how many items of the
    same answer earlier parts had. `is_believed`: whether their dates of change are, where that was judged already.
    """

    items: tuple[Item, ...] = ()
    harvest: Harvest = NOTHING
    url: str = ""
    validators: Validators = Validators()  # noqa: RUF009 - a frozen value
    before: int = 0
    is_believed: bool | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An answer that is not of its channel's kind; `why` is a sentence for people."""

    why: str
