"""Sources with their channels, and their story."""

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from headwater.shapes.freshness import crowded_as_dict, freshness_as_dict
from headwater.shapes.spans import with_seconds

if TYPE_CHECKING:
    from headwater.reports.discovery import DiscoveryOverview
    from headwater.reports.explaining import SourceStory
    from headwater.sources.source import Profile
    from headwater.sources.store import ChannelState, Happened


def source_as_dict(one: "DiscoveryOverview") -> dict[str, Any]:
    """Names that older programs ask for, beside ours."""
    source = one.source
    following = one.next
    feeds = [channel for channel in one.channels if channel.kind == "feed" and channel.is_enabled]
    sitemaps = [channel for channel in one.channels if channel.kind == "sitemap" and channel.is_enabled]
    interval = source.profile.poll_every or (feeds[0].poll_interval if feeds else None)
    return {
        "id": source.id,
        **with_seconds(asdict(source.profile), *durations_in(source.profile)),
        "scope": scope_of(one),
        **({"feed_url": feeds[0].url} if feeds else {}),
        **({"sitemap_url": sitemaps[0].url} if sitemaps else {}),
        "feed_poll_interval_minutes": interval and max(1, round(interval.total_seconds() / 60)),
        "status": source.status,
        "status_reason": source.status_reason,
        "health": one.health.word,
        "health_reason": one.health.reason,
        "problems": [asdict(problem) for problem in one.health.problems],
        "consecutive_failures": source.consecutive_failures,
        "next_run_at": following and following.next_poll_at,
        "next_reason": following and following.next_reason,
        "last_crawled_at": source.last_run_at,
        "last_crawl_status": source.last_run_status,
        "last_crawl_message": source.last_run_message,
        "created_at": source.created_at,
        "updated_at": source.updated_at,
        "channels": [channel_as_dict(one, channel) for channel in one.channels],
    }


def source_story_as_dict(story: "SourceStory") -> dict[str, Any]:
    around = {
        "external_ids": story.external_ids,
        "limits_reached": story.limits,
        "freshness": freshness_as_dict(story.freshness),
        "crawl_pause": asdict(story.pause) if story.pause else None,
        "crowded_hosts": [crowded_as_dict(one) for one in story.crowds],
        "events": [{"at": one.at, **asdict(one.event)} for one in story.events],
    }
    return source_as_dict(story.overview) | around


def event_as_dict(one: "Happened") -> dict[str, Any]:
    return {"id": one.id, "at": one.at, **asdict(one.event)}


def durations_in(profile: "Profile") -> list[str]:
    return [one.name for one in fields(profile) if "timedelta" in str(one.type)]


def channel_as_dict(one: "DiscoveryOverview", channel: "ChannelState") -> dict[str, Any]:
    from headwater.sources.push import push_as_dict

    told = with_seconds(asdict(channel), "poll_interval") | {"push": push_as_dict(channel.push)}
    return told | {"next_poll_at": None, "next_reason": "taken down"} if one.is_taken_down(channel) else told


def scope_of(one: "DiscoveryOverview") -> str:
    """Which pages are wanted; a feed may link to any other site."""
    from headwater.sources.source import scope_in_words

    told = scope_in_words(one.source.profile, follows_links=follows_links(one))
    return f"{told}; its feeds may name pages of other sites" if kinds_of(one) & {"feed", "api"} else told


def follows_links(one: "DiscoveryOverview") -> bool:
    return bool(kinds_of(one) & {"crawl", "listing"})


def kinds_of(one: "DiscoveryOverview") -> set[str]:
    return {str(channel.kind) for channel in one.channels if channel.is_enabled}
