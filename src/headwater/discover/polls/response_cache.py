"""What a search for channels was answered, for the first polls of the channels it found: nothing is asked twice.

An answer goes with its new channel's row, whole: the first poll of the channel takes it from there, in whatever
process, and an answer of "not modified" loses none of its items.
"""

import zlib
from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from multidict import CIMultiDict

from headwater.clock import Clock
from headwater.discover.polls.classify import Body
from headwater.errors import UrlRejected
from headwater.net.body import Complete
from headwater.net.transport import Response
from headwater.urls.canonical import canonicalise

KEPT_FOR = timedelta(minutes=10)
MOST_BYTES = 32 * 1024 * 1024
# Larger answers are asked for again: a row is read and written with every poll.
MOST_PACKED_BYTES = 1024 * 1024
HEARD = "heard"


@dataclass(slots=True)
class ResponseCache:
    """Until the search is over, and only in this process."""

    clock: Clock
    _bodies: OrderedDict[bytes, tuple[float, Body]] = field(default_factory=OrderedDict)
    _bytes: int = 0

    def keep(self, heard: Body) -> None:
        """By where the answer came from, which is where a channel is made."""
        place = heard.response.url.url_hash
        self._drop(place)
        self._bodies[place] = (self.clock.monotonic(), replace(heard, moved_to=None, sitemaps=(), is_from_cache=True))
        self._bytes += len(heard.response.body)
        while self._bytes > MOST_BYTES:
            self._drop(next(iter(self._bodies)))

    def heard_at(self, place: bytes) -> Body | None:
        since, heard = self._bodies.get(place, (float("-inf"), None))
        return heard if self.clock.monotonic() - since <= KEPT_FOR.total_seconds() else None

    def forget(self, place: bytes) -> None:
        """Once its channel has it: whatever is asked after that is new."""
        self._drop(place)

    def _drop(self, place: bytes) -> tuple[float, Body] | None:
        kept = self._bodies.pop(place, None)
        if kept is not None:
            self._bytes -= len(kept[1].response.body)
        return kept


def pack_response(heard: Body) -> dict[str, Any] | None:
    """As a new channel keeps it for its first poll; None for what is too large."""
    response = heard.response
    body = zlib.compress(response.body)
    if len(body) > MOST_PACKED_BYTES:
        return None
    said = {
        "url": response.url.url,
        "status": response.status,
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in response.raw_headers],
        "body": b64encode(body).decode(),
        "at": response.at.isoformat(),
        "asked_as": response.asked_as,
    }
    return {HEARD: said}


def cached_response(progress: object) -> Body | None:
    """What a channel was given with its row; None where there is nothing, or nothing that we wrote."""
    said = progress.get(HEARD) if isinstance(progress, Mapping) else None
    try:
        return Body(_response_from(said), is_from_cache=True) if said else None
    except (AttributeError, KeyError, TypeError, ValueError, UrlRejected, zlib.error):
        return None


def is_fresh(heard: Body, now: datetime) -> bool:
    return now - heard.response.at <= KEPT_FOR


def _response_from(said: Any) -> Response:
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in said["headers"]]
    body = zlib.decompressobj().decompress(b64decode(said["body"]), MOST_BYTES)
    return Response(
        url=canonicalise(said["url"]),
        status=said["status"],
        headers=CIMultiDict(said["headers"]),
        raw_headers=raw,
        content=Complete(body),
        duration=timedelta(),
        is_reused=False,
        address=None,
        at=datetime.fromisoformat(said["at"]),
        asked_as=said["asked_as"],
    )
