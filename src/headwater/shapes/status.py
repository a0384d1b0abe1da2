"""How things stand, the schedule of polls, and problems."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from headwater.shapes.freshness import crowded_as_dict, sinks_as_dict
from headwater.shapes.sinks import delivery_as_dict
from headwater.shapes.spans import with_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from headwater.actions.standing import StandingNow
    from headwater.reports.discovery import Scheduled
    from headwater.reports.operations import Operations
    from headwater.reports.problems import Problems


def standing_as_dict(now: "StandingNow", problems: "Problems") -> dict[str, object]:
    templates = asdict(now.templates)
    return {
        **with_seconds(asdict(now.summary), "delay_p50", "delay_p95"),
        "sink_delay": sinks_as_dict(now.sink_delays),
        "polls_avoided": now.polls_avoided,
        "crowded_hosts": [crowded_as_dict(one) for one in now.crowds],
        "polls_per_item": now.polls_per_item,
        "frontier": now.counts,
        "hosts": with_seconds(asdict(now.hosts), "next_in"),
        "suspects": asdict(now.suspects),
        "operations": operations_as_dict(now.operations),
        "delivery": delivery_as_dict(now.operations.delivery) if now.operations.delivery else None,
        "hurried_by_source": templates.pop("hurried"),
        "templates": {"is_on": now.learns, **templates},
        "problems": len(problems.found),
        "problems_is_cut": problems.is_cut,
    }


def operations_as_dict(now: "Operations") -> dict[str, object]:
    def seconds_since(moment: "datetime | None") -> int | None:
        return round((now.now - moment).total_seconds()) if moment else None

    whole = with_seconds(asdict(now), "connection_waiting")
    del whole["now"], whole["work"], whole["delivery"]
    return {
        **whole,
        "oldest_due_channel_seconds": seconds_since(now.work.poll_due),
        "oldest_due_page_seconds": seconds_since(now.work.host_open),
        "overdue_channels": now.work.overdue,
        "maintained_at": now.work.maintained_at,
    }


def schedule_as_dicts(coming: "Sequence[Scheduled]", now: "datetime") -> list[dict[str, object]]:
    return [
        {
            "source": one.source,
            "source_id": one.source_id,
            "kind": one.kind,
            "url": one.url,
            "next_fetch": one.next_poll_at,
            "in_seconds": one.next_poll_at and round((one.next_poll_at - now).total_seconds()),
            "interval_seconds": one.interval and round(one.interval.total_seconds()),
            "errors": one.errors,
            "is_running": one.is_running,
            "why": one.next_reason,
        }
        for one in coming
    ]


def problems_as_dict(looked: "Problems", limit: int) -> dict[str, Any]:
    return {
        "looked_at": looked.now,
        "last_run_at": looked.last_run,
        "count": len(looked.found),
        "is_cut": looked.is_cut,
        "problems": [asdict(one) for one in looked.found[:limit]],
    }
