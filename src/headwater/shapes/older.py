"""Sources in the words of the systems before this one, beside our own: their programs need not change."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from headwater.settings.durations import format_duration
from headwater.shapes.sources import source_as_dict

if TYPE_CHECKING:
    from headwater.actions.described import DescribedSource
    from headwater.sources.store import ChannelState

# Kept as a tag: a source has one kind here, and may be of several such types.
TYPES = ("indigenous", "government", "mining", "community", "structured", "api")
SOURCE_TYPES = {"api": "api", "feed": "rss"}
# Read and told, and of no meaning here.
NOT_KEPT = (
    *("time", "allow_source_discovery", "extraction_profile", "template_hint", "indigenous_region"),
    *("data_format", "update_frequency", "license_type", "attribution_text"),
)


def described_as_dict(one: "DescribedSource", usual_delay: timedelta) -> dict[str, Any]:
    """All fields of both, for every source: one that says nothing is null."""
    return {"feed_url": None, "sitemap_url": None} | source_as_dict(one.overview) | _older(one, usual_delay)


def _older(one: "DescribedSource", usual_delay: timedelta) -> dict[str, Any]:
    source, profile, channels = one.overview.source, one.overview.source.profile, one.overview.channels
    limit = profile.rate_limit_ms
    off = switched_off(channels)
    stopped = source.status != "active"
    return {
        **dict.fromkeys(NOT_KEPT),
        "edition": one.edition,
        "time": [],
        "allow_source_discovery": False,
        "rate_limit": format_duration(usual_delay if limit is None else timedelta(milliseconds=limit)),
        "enabled": not stopped,
        "disabled_at": source.updated_at if stopped else None,
        "disable_reason": source.status_reason if stopped else None,
        "feed_disabled_at": off.updated_at if off else None,
        "feed_disable_reason": off and off.disabled_reason and off.disabled_reason.partition(": ")[2],
        "identity_key": one.external_ids[0] if one.external_ids else None,
        "external_ids": list(one.external_ids),
        "render_mode": "dynamic" if one.is_rendered else "static",
        "type": next((tag for tag in profile.tags if tag in TYPES), str(profile.kind)),
        "source_type": source_type(channels),
        "org_name": profile.name,
        "careers_url": profile.url,
        "article_url_patterns": list(profile.article_patterns),
    }


def switched_off(channels: "tuple[ChannelState, ...]") -> "ChannelState | None":
    """A feed that a person switched off, where none is polled."""
    feeds = [one for one in channels if one.kind == "feed"]
    if any(one.is_enabled for one in feeds):
        return None
    return next((one for one in feeds if (one.disabled_reason or "").startswith("switched off: ")), None)


def source_type(channels: "tuple[ChannelState, ...]") -> str:
    """The kind of its first channel that is polled."""
    first = next((str(one.kind) for one in channels if one.is_enabled), "")
    return SOURCE_TYPES.get(first, "html")


def in_our_words(said: dict[str, Any]) -> dict[str, Any]:
    """What a program of those systems said of a source, under names that a list of sources may have. Pure."""
    kept = {name: value for name, value in said.items() if name not in {*NOT_KEPT, "type", "identity_key"}}
    word = str(said.get("type") or "").lower()
    if word in ("news", "jobs", "docs"):
        kept.setdefault("kind", word)
    elif word in ("html", "rss") or (word == "api" and said.get("parser_hint")):
        kept.setdefault("source_type", word)
    elif word:
        kept["tags"] = [*_tags(kept.get("tags")), word]
    if said.get("identity_key"):
        kept["external_ids"] = [*(kept.get("external_ids") or ()), said["identity_key"]]
    return kept


def _tags(given: Any) -> list[str]:
    return [given] if isinstance(given, str) and given else list(given or ())
