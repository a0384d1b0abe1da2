"""How a source is, in one word and a sentence. Pure: computed from what is stored, never stored itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from headwater.sources.channels import ChannelKind, ChannelState
from headwater.sources.source import Source, SourceStatus


class Word(StrEnum):
    OK = "ok"
    STRUGGLING = "struggling"
    SILENT = "silent"
    PAUSED = "paused"
    BLOCKED = "blocked"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Health:
    word: Word
    reason: str


def health_of(source: Source, channels: Sequence[ChannelState]) -> Health:
    """The worst that is true of it."""
    if source.status is not SourceStatus.ACTIVE:
        return Health(Word(source.status), source.status_reason or "by a person")
    enabled = [one for one in channels if one.is_enabled]
    polled = [one for one in enabled if one.kind is not ChannelKind.SEARCH]
    if not polled:
        return _without_channel(enabled)
    failing = [one for one in polled if one.consecutive_errors]
    if len(failing) == len(polled):
        return Health(Word.STRUGGLING, "; ".join(map(_trouble, failing[:2])))
    if silent := [one for one in polled if one.silent_since is not None]:
        since = silent[0].silent_since
        return Health(
            Word.SILENT, f"{silent[0].kind} {silent[0].url} says nothing new since {since:%Y-%m-%d %H:%M} UTC"
        )
    if failing:
        return Health(Word.OK, f"but {_trouble(failing[0])}")
    if all(one.last_polled_at is None for one in polled):
        return Health(Word.OK, "not polled yet")
    return Health(Word.OK, "")


def _without_channel(enabled: Sequence[ChannelState]) -> Health:
    searches = [one for one in enabled if one.kind is ChannelKind.SEARCH]
    if not searches:
        return Health(Word.STRUGGLING, "it has no channel to poll")
    search = searches[0]
    if search.last_polled_at is None:
        return Health(Word.OK, "its channels are being looked for")
    why = f": {search.last_error}" if search.last_error else ""
    return Health(Word.STRUGGLING, f"no feed, sitemap or listing was found{why}")


def _trouble(channel: ChannelState) -> str:
    times = "1 error" if channel.consecutive_errors == 1 else f"{channel.consecutive_errors} errors in a row"
    return f"{channel.kind} {channel.url}: {times}, {channel.last_error or channel.error_class}"
