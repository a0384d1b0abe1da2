"""A part of a long index of sitemaps with every poll, so that all of it is read in time. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Turn:
    """`since`: all of them were asked for since then, as far as is known. `memory` is for the next turn."""

    children: tuple[str, ...]  # in the order of this turn, also those for which there is no room
    is_cut: bool
    since: datetime | None
    memory: Mapping[str, Any]


def turn_of(children: Sequence[str], known: Mapping[str, Any], room: int, now: datetime) -> Turn:
    """Begins where the last turn ended. Where all have room, the next one begins with another all the same:
    what an inner index leads to may leave no room for the others.
    """
    first = known.get("turn", 0) % len(children)
    asked = min(len(children), room)
    began = known.get("round_began_at", now.isoformat())
    covered = known.get("covered", 0) + asked
    is_through = covered >= len(children)
    step = asked if asked < len(children) else 1
    memory = {
        "turn": (first + step) % len(children),
        "covered": 0 if is_through else covered,
        "round_began_at": now.isoformat() if is_through else began,
        "through_since": began if is_through else known.get("through_since"),
    }
    since = known.get("through_since")
    return Turn(
        (*children[first:], *children[:first]),
        asked < len(children),
        datetime.fromisoformat(since) if since else None,
        memory,
    )
