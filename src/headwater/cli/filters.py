"""Filters as people type them."""

from typing import TYPE_CHECKING, TypeVar

from headwater.errors import UsageError

if TYPE_CHECKING:
    from enum import StrEnum

    from headwater.frontier.reads import Filter

    Word = TypeVar("Word", bound=StrEnum)


def filter_from(
    status: str | None,
    host: str | None,
    origin: str | None,
    reason: str | None,
    prefix: str | None,
) -> "Filter":
    from headwater.frontier.entry import EntryOrigin, EntryStatus
    from headwater.frontier.listing import filter_for

    return filter_for(
        status=word_of("status", EntryStatus, status),
        host=host,
        origin=word_of("origin", EntryOrigin, origin),
        reason=reason,
        prefix=prefix,
    )


def word_of(noun: str, words: "type[Word]", text: str | None) -> "Word | None":
    if text is None:
        return None
    try:
        return words(text)
    except ValueError:
        raise UsageError(f"There is no {noun} {text!r}.", fix=f"One of: {', '.join(words)}.") from None
