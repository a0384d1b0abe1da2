"""Hosts, their robots.txt and the rules of their URLs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.actions.hosts import HostStory, RobotsRefetch
    from headwater.frontier.host_rules import RulesOfHost
    from headwater.politeness.robots import Decision


MOST_PAGES = 10
LARGEST_PAGE_KB, LARGEST_JOBS_PAGE_KB = 10_240, 1_024


def host_as_dict(story: "HostStory") -> dict[str, Any]:
    from headwater.reports.frontier import health_of_host

    pace = story.pace
    closed_by = story.closures[0]["reason"] if story.closures else None
    health = health_of_host(story.row | {"closed_by": closed_by})
    return (
        story.row
        | {"health": health}
        | {"effective_delay_ms": pace.delay.total_seconds() * 1000, "decided_by": pace.decided_by}
    )


def host_row_as_dict(row: Mapping[str, Any]) -> dict[str, Any]:
    """Of a list."""
    from headwater.reports.frontier import health_of_host

    return {**row, "health": health_of_host(row)}


def policy_as_dict(story: "HostStory") -> dict[str, Any]:
    """With the defaults that hold where nothing was set, as the SQL view `domain_policies` tells them."""
    from headwater.editions import edition_of
    from headwater.politeness.hosts import HostPolicy

    row = story.row
    interval = row["min_request_interval_ms"]
    own = {
        "max_concurrency": row["policy_concurrency"],
        "min_request_interval_ms": interval,
        "burst": row["policy_burst"],
        "max_pages": row["max_pages"],
        "max_kb_per_page": row["max_kb_per_page"],
        "allow_js": row["allow_js"],
    }
    usual_kb = LARGEST_JOBS_PAGE_KB if row["serves_jobs"] else LARGEST_PAGE_KB
    return {
        "host": row["host"],
        "max_concurrency": row["policy_concurrency"] or 1,
        "min_request_interval_ms": _usual_interval(row) if interval is None else interval,
        "max_pages": MOST_PAGES if row["max_pages"] is None else row["max_pages"],
        "max_kb_per_page": row["max_kb_per_page"] or usual_kb,
        "allow_js": bool(row["allow_js"]),
        "burst": row["policy_burst"] or 1,
        "last_seen_status": row["last_status"],
        "updated_at": row["policy_updated_at"],
        "own": own,
        "edition": edition_of(HostPolicy(**own)),
        "effective_delay_ms": story.pace.delay.total_seconds() * 1000,
        "decided_by": story.pace.decided_by,
    }


def _usual_interval(row: Mapping[str, Any]) -> int:
    return 0 if row["is_unpaced"] else int(row["base_delay_ms"])


def robots_as_dict(row: Mapping[str, Any]) -> dict[str, Any]:
    from headwater.politeness.robots import robots_text

    text = robots_text(row["body"]) if row["body"] else ""
    return {name: value for name, value in row.items() if name != "body"} | {"text": text}


def refetch_as_dict(one: "RobotsRefetch") -> dict[str, Any]:
    return {
        "asked": [str(origin) for origin in one.asked],
        "left": [str(origin) for origin in one.left],
        "wait_seconds": None if one.wait is None else one.wait.total_seconds(),
        "robots": [robots_as_dict(row) for row in one.rows],
    }


def decision_as_dict(decision: "Decision") -> dict[str, Any]:
    return {"allowed": decision.allowed, "line": decision.line_number, "rule": decision.rule_text}


def rules_as_dict(one: "RulesOfHost") -> dict[str, Any]:
    return {
        "host": one.host,
        "keep_slash": one.rules.keep_slash,
        "keep": sorted(one.rules.keep_params),
        "strip": sorted(one.rules.strip_params),
        "is_applied": one.rekeyed_at is not None,
    }
