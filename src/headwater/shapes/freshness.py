"""Delays, and polls with what they bring."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from headwater.shapes.spans import with_seconds

if TYPE_CHECKING:
    from headwater.reports.crowds import CrowdedHost
    from headwater.reports.freshness import Delay, SinkDelay, SourceFreshness, WastefulChannel


EVERY = ("deserved_every", "possible_every")


def delay_as_dict(delay: "Delay") -> dict[str, Any]:
    """Below a second, too: a sink may be that fast."""
    lengths = {"p50_seconds": delay.p50, "p95_seconds": delay.p95}
    return {"count": delay.count} | {
        name: None if one is None else round(one.total_seconds(), 3) for name, one in lengths.items()
    }


def sinks_as_dict(sinks: "tuple[SinkDelay, ...]") -> dict[str, Any]:
    return {one.sink: delay_as_dict(one.delay) for one in sinks}


def freshness_as_dict(found: "SourceFreshness") -> dict[str, Any]:
    return {
        "discovery_delay": delay_as_dict(found.discovery),
        "sink_delay": sinks_as_dict(found.sinks),
        "polls_lately": round(found.polls, 1),
        "vain_polls_lately": round(found.vain_polls, 1),
        "new_items_lately": round(found.new_items, 1),
        "polls_per_item": found.polls_per_item,
    }


def crowded_as_dict(one: "CrowdedHost") -> dict[str, Any]:
    return {
        **with_seconds({"deserved_every": one.deserved_every, "possible_every": one.possible_every}, *EVERY),
        "host": one.host,
        "channels": one.channels,
        "deserved_per_hour": round(one.deserved_per_hour, 1),
        "possible_per_hour": round(one.possible_per_hour, 1),
        "lost_share": round(one.lost_share, 3),
        "lengthened": round(one.lengthened, 2),
        "judged_at": one.judged_at,
    }


def wasteful_as_dict(one: "WastefulChannel") -> dict[str, Any]:
    rounded = {name: round(getattr(one, name), 1) for name in ("polls", "vain_polls", "new_items")}
    return with_seconds(asdict(one), "interval") | rounded | {"polls_per_item": one.polls_per_item}
