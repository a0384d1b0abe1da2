"""A record as an entry of a feed: few words, on one line each, with nothing in them that poses as something else."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from html import escape
from typing import Any, Self

from headwater.deliver.records import Record
from headwater.record_kind import RecordKind
from headwater.rights.record import rights_in_words
from headwater.storable import as_laid_out, cut_text, one_line

LONGEST_TITLE = 300
LONGEST_SUMMARY = 400
LONGEST_NAME = 200
_MOST_AUTHORS = 20
# Marks of direction that reach beyond their own text, and letters nobody sees: a title could pose as another.
_POSING = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]")
_WEB = re.compile(r"https?://[^\s\"<>]+", re.IGNORECASE)
_MOMENTS = ("published_at", "updated_at")


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """`published_at` is never later than when we first saw it; `facts` are those of a vacancy; `text` may be empty."""

    id: str
    kind: str
    url: str
    title: str
    summary: str
    author: str
    source: str
    language: str
    published_at: datetime
    updated_at: datetime
    facts: tuple[str, ...] = ()
    text: str = ""
    rights: str = ""
    authors: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Who stands for it: its authors, or else its source."""
        return self.authors or tuple(filter(None, (self.author or self.source,)))

    @property
    def urn(self) -> str:
        return f"urn:headwater:{self.id}"

    @property
    def html(self) -> str:
        """The text as paragraphs."""
        return "\n".join(f"<p>{escape(line)}</p>" for line in self.text.splitlines() if line.strip())

    def as_dict(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Self:
        moments = {name: datetime.fromisoformat(said[name]) for name in _MOMENTS}
        return cls(**{**said, **moments, "facts": tuple(said["facts"]), "authors": tuple(said.get("authors", ()))})


@dataclass(frozen=True, slots=True)
class FeedAbout:
    """The head of a feed. `url` is the page it belongs to, `self_url` its own; empty where nobody knows."""

    id: str
    title: str
    updated_at: datetime
    url: str = ""
    self_url: str = ""


def entry_of(record: Record, *, with_text: bool = False) -> FeedEntry:
    said = record.fields
    if record.key.kind is RecordKind.JOB:
        return _entry_of_job(record)
    first_seen_at = said["first_seen_at"]
    text = as_laid_out(said["text"] or "")
    return FeedEntry(
        id=record.id,
        kind=str(record.key.kind),
        url=web_address(said["canonical_url"] or said["url"]),
        title=plain_line(said["title"], LONGEST_TITLE) or "(no title)",
        summary=_summary(said["summary"] or text),
        author=plain_line(said["author"], LONGEST_NAME),
        authors=tuple(
            filter(None, (plain_line(one, LONGEST_NAME) for one in (said.get("authors") or ())[:_MOST_AUTHORS]))
        ),
        source=plain_line(record.source.name, LONGEST_NAME),
        language=said["language"] or "",
        published_at=min(said["published_at"] or first_seen_at, first_seen_at),
        updated_at=said["changed_at"],
        text=_without_posing(text) if with_text else "",
        rights=plain_line(rights_in_words(said["rights"]), LONGEST_SUMMARY),
    )


def _entry_of_job(record: Record) -> FeedEntry:
    said = record.fields
    place = ", ".join(filter(None, (said["city"], said["country"]))) or said["location_raw"]
    until = f"until {said['deadline']:%Y-%m-%d}" if said["deadline"] else ""
    facts = (plain_line(one, LONGEST_NAME) for one in (said["org_name"], place, until) if one)
    return FeedEntry(
        id=record.id,
        kind=str(record.key.kind),
        url=web_address(said["apply_url"]) or web_address(said["page_url"]),
        title=plain_line(said["title"], LONGEST_TITLE) or "(no title)",
        summary=_summary(said["description_snippet"]),
        author=plain_line(said["org_name"], LONGEST_NAME),
        source=plain_line(record.source.name, LONGEST_NAME),
        language=said["language"] or "",
        published_at=said["created_at"],
        updated_at=said["updated_at"],
        facts=tuple(filter(None, facts)),
    )


def plain_line(text: str | None, longest: int) -> str:
    """On one line, without what feed readers and browsers would obey or hide."""
    cut = (text or "")[: longest * 10]
    return cut_text(one_line(_without_posing(one_line(cut))), longest)


def _without_posing(text: str) -> str:
    return text if text.isascii() else _POSING.sub("", text)


def web_address(url: str | None) -> str:
    """Empty for all that is no address of the web: a link to it would do something else than to open a page."""
    line = one_line(url or "")
    return line if _WEB.fullmatch(line) else ""


def moment_in_feed(moment: datetime) -> str:
    """RFC 3339, to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _summary(text: str) -> str:
    line = plain_line(text, LONGEST_SUMMARY + 1)
    if len(line) <= LONGEST_SUMMARY:
        return line
    head, _, _ = line[:LONGEST_SUMMARY].rpartition(" ")
    return f"{head or line[: LONGEST_SUMMARY - 1]}…"
