"""Push as people see it: how things stand between a channel and its hub, as a value and in words. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any


class PushWord(StrEnum):
    """The same in one word, for programs."""

    WANTED = "wanted"  # its hub is known, and was not asked yet
    PENDING = "pending"  # asked, and the hub has not confirmed it
    SUBSCRIBED = "subscribed"  # confirmed, and nothing proves anything yet
    PROVING = "proving"  # pushed, and not in time so often in a row that it is trusted
    PUSHED = "pushed"  # trusted: polls are for safety
    SILENT = "silent"  # polls found what it did not push, or not in time
    LAPSED = "lapsed"  # the hub did not renew it
    DENIED = "denied"
    FAILED = "failed"


_SAID = {
    PushWord.WANTED: "its hub is not asked yet, polling",
    PushWord.PENDING: "subscription pending, polling",
    PushWord.SUBSCRIBED: "subscribed, nothing pushed yet, polling",
    PushWord.LAPSED: "subscription lapsed, polling",
    PushWord.DENIED: "denied by its hub, polling",
    PushWord.FAILED: "its hub cannot be subscribed to, polling",
}


@dataclass(frozen=True, slots=True)
class PushState:
    """A channel's subscription. Its address and secret are in no value that is shown."""

    protocol: str
    hub: str
    topic: str
    state: str
    reason: str | None
    since: datetime | None
    lease_until: datetime | None
    proofs: int
    needed: int
    pushes: int
    missed: int
    last_push_at: datetime | None
    looked_at: datetime  # by the database's clock


COLUMNS = tuple(PushState.__dataclass_fields__)


def push_from(row: Mapping[str, Any]) -> PushState | None:
    """From the columns of a subscription, each with `push_` before its name; None for a channel without one."""
    if row["push_hub"] is None:
        return None
    return PushState(**{name: row[f"push_{name}"] for name in COLUMNS})


def may_subscribe(public_url: str) -> bool:
    """Hubs push to a public https address only: over http anybody on the way could read secrets, and push."""
    return public_url.lower().startswith("https://")


def push_word(push: PushState, now: datetime) -> PushWord:
    if push.state in (PushWord.DENIED, PushWord.FAILED) and not _holds(push, now):
        return PushWord(push.state)
    if push.since is None or push.lease_until is None:
        return PushWord.PENDING if push.state == PushWord.PENDING else PushWord.WANTED
    if not _holds(push, now):
        return PushWord.LAPSED
    if push.proofs >= push.needed:
        return PushWord.PUSHED
    if push.proofs:
        return PushWord.PROVING
    return PushWord.SILENT if push.missed else PushWord.SUBSCRIBED


def push_in_words(push: PushState | None, now: datetime) -> str:
    """`pushed 3 min ago`, `hub silent, polling`; empty for a channel that names no hub."""
    if push is None:
        return ""
    word = push_word(push, now)
    last = f"pushed {_ago(push.last_push_at, now)}" if push.last_push_at else ""
    match word:
        case PushWord.PUSHED:
            return last
        case PushWord.PROVING:
            return f"{last}, polling; {push.proofs} of {push.needed} pushes in time that trust takes"
        case PushWord.SILENT:
            return f"hub silent or late, polling; last {last}" if last else "hub silent, polling"
        case PushWord.DENIED | PushWord.FAILED:
            return _SAID[word] + (f": {push.reason}" if push.reason else "")
        case _:
            return _SAID[word]


def push_as_dict(push: PushState | None) -> dict[str, Any] | None:
    """With its word and its words."""
    if push is None:
        return None
    said = {"word": push_word(push, push.looked_at), "says": push_in_words(push, push.looked_at)}
    return said | {name: getattr(push, name) for name in COLUMNS if name not in ("state", "looked_at")}


def _holds(push: PushState, now: datetime) -> bool:
    return push.lease_until is not None and push.lease_until > now


def _ago(at: datetime, now: datetime) -> str:
    gone = max(now - at, timedelta())
    for unit, size in (("d", timedelta(days=1)), ("h", timedelta(hours=1)), ("min", timedelta(minutes=1))):
        if gone >= 2 * size or (gone >= size and unit == "min"):
            return f"{gone // size} {unit} ago"
    return f"{gone // timedelta(seconds=1)} s ago"
