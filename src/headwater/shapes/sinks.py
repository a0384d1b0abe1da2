"""Sinks, their types, how delivery stands, and how sinks compare with the archive."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.actions.adding_sinks import AddedSink
    from headwater.actions.delivery import SinkStory
    from headwater.deliver.store import SinkReport
    from headwater.deliver.verifying import Verification
    from headwater.reports.sinks import DeliveryNow


def sink_as_dict(one: "SinkReport") -> dict[str, Any]:
    from headwater.actions.delivery import settings_of_sink
    from headwater.editions import edition_of
    from headwater.reports.sinks import health_of_sink, is_left_behind, state_word

    # Without a time of failure there is none to be tried after.
    times = {
        "retry_at": one.retry_at if one.failures else None,
        "leased_until": one.leased_until if one.is_worked else None,
    }
    more = {
        "standing": state_word(one),
        "health": health_of_sink(one),
        "edition": edition_of(settings_of_sink(one)),
        "is_left_behind": is_left_behind(one),
        "backfill_share": one.backfill_share,
    }
    return asdict(one) | times | more


def sink_story_as_dict(story: "SinkStory") -> dict[str, Any]:
    forgets_not = story.kind.forgets_not if story.kind else None
    failures = [
        {name: value for name, value in asdict(one).items() if name != "hash"} | {"id": one.hash.hex()}
        for one in story.failures
    ]
    more = {"forgets_not": forgets_not, "failed_records": failures, "failed_by_error": list(map(asdict, story.groups))}
    return sink_as_dict(story.sink) | more


def added_as_dict(name: str, added: "AddedSink") -> dict[str, Any]:
    trouble = {"what": added.trouble.what, "fix": added.trouble.fix} if added.trouble else None
    told = {"name": name, "type": added.kind.name, "is_filled": added.is_filled}
    return told | {"answer": added.answer, "trouble": trouble}


def verification_as_dict(name: str, found: "Verification") -> dict[str, Any]:
    named = [
        {
            "kind": one.key.kind,
            "id": one.key.id,
            "difference": one.difference.name.lower(),
            "version": one.version,
            "place": one.place,
        }
        for one in found.named
    ]
    return {
        "name": name,
        "is_asked": found.is_asked,
        "is_equal": not found.is_red,
        "expected": found.expected,
        "held": found.held,
        "on_their_way": found.on_their_way,
        "from_before": found.older,
        "parked": found.parked,
        "mended": found.mended,
        "differences": {kind.name.lower(): count for kind, count in found.differences.items()},
        "examples": named,
    }


def delivery_as_dict(delivery: "DeliveryNow") -> dict[str, object]:
    delay = delivery.log_delay
    return {
        "position": delivery.position,
        "oldest_position": delivery.oldest_position,
        "waiting_since": delivery.waiting_since,
        "log_delay_seconds": None if delay is None else round(delay.total_seconds(), 3),
        "sinks": [sink_as_dict(one) for one in delivery.sinks],
    }
