"""Values as agents read them: short, and with all text of others under `untrusted_text`. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from headwater.archive.reads import Document
from headwater.deliver.pulling import PulledChange
from headwater.reports.archive import DetailedHit, SearchAnswer
from headwater.reports.discovery import DiscoveryOverview, DiscoverySummary
from headwater.reports.explaining import SourceStory
from headwater.reports.pages import PageStory
from headwater.reports.problems import Problems
from headwater.rights.record import PageUse
from headwater.search.facets import Facets, FacetValue
from headwater.serve.agents.text import UNTRUSTED, line_of, text_of, untrusted
from headwater.sources.store import ChannelState

LONGEST_URL = 2_083
# A longer one is no name, and seventy of them would be a long answer.
LONGEST_VALUE = 100
MOST_CHANNELS = 20
MOST_PROBLEMS = 10
MOST_PAST = 10


def url_of(url: str) -> str:
    return line_of(url, LONGEST_URL)


def found_as_dict(answer: SearchAnswer, name: str) -> dict[str, Any]:
    """A page of a search. `is_complete` False: older ones were not ranked."""
    counted = {"facets": facets_as_dict(answer.facets)} if answer.facets else {}
    return {
        name: [hit_as_dict(one) for one in answer.found],
        **counted,
        "cursor": answer.cursor,
        "is_complete": answer.is_complete,
    }


def facets_as_dict(facets: Facets) -> dict[str, Any]:
    """Values may be names that others gave: of sources, of authors, of hosts."""
    return {
        "counted": facets.counted,
        "is_complete": facets.is_complete,
        "counts": [
            {
                "facet": str(counts.facet),
                "values": [_value_as_dict(one) for one in counts.values if len(one.value) <= LONGEST_VALUE],
                "others": counts.others,
                "is_exact": counts.is_exact,
            }
            for counts in facets.counts
        ],
    }


def _value_as_dict(one: FacetValue) -> dict[str, Any]:
    name = line_of(one.name, LONGEST_VALUE) if one.name != one.value else None
    return {"count": one.count, **untrusted(value=one.value, name=name)}


def hit_as_dict(one: DetailedHit) -> dict[str, Any]:
    hit, about = one.hit, one.about
    dates = {"published_at": hit.published_at, "first_seen_at": hit.first_seen_at, "deadline": about.get("deadline")}
    return {
        "id": hit.hash.hex(),
        "kind": str(hit.kind),
        "url": url_of(hit.url),
        "language": line_of(hit.language, 20),
        **{name: at for name, at in dates.items() if at},
        **untrusted(
            title=line_of(hit.title),
            source=about["source"],
            snippet=hit.snippet,
            organisation=about.get("org_name"),
            place=about.get("location_raw"),
        ),
    }


def document_as_dict(found: Document, source: str, offset: int, most: int) -> dict[str, Any]:
    text = text_of(found.text)
    piece = text[offset : offset + most]
    end = offset + len(piece)
    told = untrusted(
        title=line_of(found.title), author=found.author, summary=found.summary, section=found.section, source=source
    )
    return {
        "id": found.key.url_hash.hex(),
        "url": url_of(found.url),
        "language": line_of(found.language, 20),
        "published_at": found.published_at,
        "first_seen_at": found.first_seen_at,
        "changed_at": found.changed_at,
        "version": found.version,
        "quality": found.quality,
        "word_count": found.word_count,
        "rights": {str(use): found.rights[use] for use in PageUse},
        "text_characters": len(text),
        "offset": offset,
        "next_offset": end if end < len(text) else None,
        UNTRUSTED: {**told.get(UNTRUSTED, {}), "text": piece},
    }


def change_as_dict(change: PulledChange) -> dict[str, Any]:
    entry, fields = change.entry, change.record.fields if change.record else {}
    address = fields.get("url") or fields.get("apply_url")
    return {
        "position": entry.position,
        "changed_at": entry.changed_at,
        "op": change.op,
        "kind": str(entry.key.kind),
        "id": entry.key.id,
        "version": change.version,
        **({"url": url_of(address)} if address else {}),
        **untrusted(title=line_of(fields.get("title")), source=fields.get("source_name")),
    }


def source_as_dict(one: DiscoveryOverview) -> dict[str, Any]:
    source, following = one.source, one.next
    return {
        "id": source.id,
        "url": url_of(source.profile.url),
        "kind": str(source.profile.kind),
        "status": str(source.status),
        "health": str(one.health.word),
        "errors_in_a_row": one.errors,
        "last_run_at": source.last_run_at,
        "next_poll_at": following.next_poll_at if following else None,
        "tags": [line_of(tag, 60) for tag in source.profile.tags[:MOST_CHANNELS]],
        **untrusted(name=line_of(source.name), status_reason=source.status_reason),
    }


def source_story_as_dict(story: SourceStory) -> dict[str, Any]:
    one = story.overview
    return source_as_dict(one) | {
        "is": "source",
        "channels": [channel_as_dict(channel) for channel in one.channels[:MOST_CHANNELS]],
        "problems": [
            {"kind": p.kind, **untrusted(what=p.what, fix=p.fix)} for p in one.health.problems[:MOST_PROBLEMS]
        ],
        "limits": [line_of(limit, 500) for limit in story.limits],
    }


def channel_as_dict(channel: ChannelState) -> dict[str, Any]:
    return {
        "kind": str(channel.kind),
        "url": url_of(channel.url),
        "is_polled": channel.is_active,
        "next_poll_at": channel.next_poll_at,
        "last_new_at": channel.last_new_at,
        "errors_in_a_row": channel.consecutive_errors,
        **untrusted(why_next=channel.next_reason, last_error=channel.last_error, why_off=channel.disabled_reason),
    }


def page_story_as_dict(story: PageStory) -> dict[str, Any]:
    """Its sentences may quote the page, its robots.txt or its server."""
    past = [
        {"at": one.at, "verdict": one.verdict, "status": one.status, **untrusted(reason=one.reason)}
        for one in story.history[:MOST_PAST]
    ]
    return {
        "is": "url",
        "url": url_of(story.url),
        "status": story.status,
        "next_at": story.next_at,
        "priority": story.priority,
        "history": past,
        **untrusted(
            why=story.why,
            document=story.document,
            vacancy=story.vacancy,
            next=story.next,
            source=story.source,
            found_by=story.found_by,
            delivery=" ".join(story.delivery),
        ),
    }


def status_as_dict(summary: DiscoverySummary, counts: Mapping[Any, int], problems: Problems) -> dict[str, Any]:
    return {
        "now": summary.now,
        "sources": summary.followed,
        "channels": summary.channels,
        "channels_due": summary.due,
        "last_24_hours": {"runs": summary.runs, "failed_runs": summary.failed_runs, "items_found": summary.found},
        "urls": {str(status): count for status, count in counts.items()},
        "problem_count": len(problems.found),
        "problem_count_is_capped": problems.is_cut,
        "problems": [
            {"kind": one.kind, "grade": str(one.grade), **untrusted(about=one.about, what=one.what, fix=one.fix)}
            for one in problems.found[:MOST_PROBLEMS]
        ],
    }


def views_as_dict(views: Sequence[Mapping[str, Any]], most: int) -> dict[str, Any]:
    """`left_out`: further ones, which can be named all the same."""
    told = [
        {
            "name": one["name"],
            "kinds": [str(kind) for kind in one["kinds"]],
            "query": line_of(one["query"], 500),
            "languages": one["languages"][:50],
            "tags": [line_of(tag, 60) for tag in one["tags"][:50]],
            "min_quality": one["min_quality"],
            "rights": one["rights"],
            **untrusted(sources=", ".join(one["sources"][:MOST_CHANNELS])),
        }
        for one in views[:most]
    ]
    return {"views": told, "left_out": max(len(views) - most, 0)}
