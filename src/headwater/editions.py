"""Editions of what people change: a save names the one it was made from, and one over a newer one is refused."""

from collections.abc import Collection
from typing import Any

import orjson
import xxhash

from headwater.errors import Outdated

# None: whoever saves does not say what was read, and the last save holds.
KnownEditions = Collection[str] | None


def edition_of(value: Any) -> str:
    """The same for the same settings, in every process. Pure."""
    return xxhash.xxh3_64_hexdigest(orjson.dumps(value, default=str, option=orjson.OPT_SORT_KEYS))


def require_known(known: KnownEditions, value: Any, named: str, since: str = "") -> None:
    """Raises Outdated where it is no longer what was read; `since` is what is known about the changes."""
    if known is not None and edition_of(value) not in known:
        told = f": {since.rstrip('.')}" if since else ""
        raise Outdated(
            f"{named} was changed since it was read{told}.", fix="Read it again, and save what you still want."
        )
