"""Takedowns, and what became of them in each sink."""

from typing import Any

from headwater.actions.takedowns import TakedownStory


def story_as_dict(found: TakedownStory) -> dict[str, Any]:
    return {
        "domain_or_url": found.takedown.name,
        "reason": found.reason,
        "created_at": found.created_at,
        "swept_at": found.swept_at,
        "sinks": [
            {
                "name": one.sink.name,
                "is_confirmed": one.is_confirmed,
                "held": one.held,
                "forgets_not": one.forgets_not,
                "state": one.sink.state,
                "behind": one.sink.behind,
            }
            for one in found.sinks
        ],
    }
