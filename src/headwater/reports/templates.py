"""The learning of hosts, for people: how far each is, what its templates know, and why one ended."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.extraction.templates.template import Template, template_from
from headwater.extraction.templates.verdicts import ElementPath
from headwater.learning.life import FIRST_TRAINING, MOST_DOUBLINGS
from headwater.learning.store import unknown
from headwater.politeness.hosts import site_of
from headwater.reports.paging import ListPage, page_of
from headwater.reports.template_words import outcome_in_words
from headwater.urls.canonical import site_named

queries = load_queries("headwater.reports")
learning = load_queries("headwater.learning")

MOST_EVENTS = 10
ACTIVE = "active"
DIRECTLY = "(directly in it)"


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateVersion:
    """One template: `agreement` with the general extractor when it was learned, `agreeing` of late, where audited."""

    section: str
    version: int
    status: str
    pages: int
    agreement: float
    learned_at: datetime
    used_at: datetime
    ended_at: datetime | None
    why_ended: str | None
    served: int
    refused: int
    audited: int
    refusing: float
    agreeing: float | None
    reasons: Mapping[str, int]

    @property
    def refused_share(self) -> float | None:
        asked = self.served + self.refused
        return self.refused / asked if asked else None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReport:
    """A host: `pages` can teach, `fresh` of them came since the last training; `ended` is why its last template did."""

    host: str
    pages: int
    fresh: int
    failures: int
    why: str
    outcome: str
    learn_at: datetime | None
    learned_at: datetime | None
    disabled_at: datetime | None
    ended: str = ""
    ended_at: datetime | None = None
    versions: tuple[TemplateVersion, ...] = ()

    @property
    def active(self) -> tuple[TemplateVersion, ...]:
        return tuple(one for one in self.versions if one.status == ACTIVE)


@dataclass(frozen=True, slots=True)
class TemplateEvent:
    at: datetime
    kind: str
    level: str
    actor: str
    message: str


@dataclass(frozen=True, slots=True)
class Schooling:
    """All there is on one host. `templates` by version; None where one was written in a form we no longer read."""

    host_learning: HostReport
    templates: Mapping[int, Template | None]
    events: tuple[TemplateEvent, ...]


async def list_learning(database: Database, limit: int, after: str = "") -> list[HostReport]:
    """By host, with their active templates."""
    rows = await database.fetch(learning.list_learning, after, limit)
    hosts = [row["bucket"] for row in rows], [row["host"] for row in rows]
    versions: dict[str, list[TemplateVersion]] = defaultdict(list)
    for row in await database.fetch(learning.list_templates, *hosts):
        versions[row["host"]].append(_version(row))
    return [_host_learning(row, versions[row["host"]], row["why_ended"], row["ended_at"]) for row in rows]


async def page_of_learning(database: Database, limit: int, cursor: str | None) -> ListPage[HostReport]:
    """By host."""
    found = await list_learning(database, limit + 1, site_of(cursor) if cursor else "")
    return page_of(found, limit, lambda one: one.host)


async def read_schooling(database: Database, host: str) -> Schooling:
    bucket = site_named(host).bucket
    row = await database.fetchrow(learning.read_learning, bucket, host)
    if row is None:
        raise unknown(host)
    rows = await database.fetch(learning.versions_of_host, bucket, host)
    versions = [_version(one) for one in rows]
    ended = max((one for one in versions if one.ended_at), key=lambda one: (one.ended_at, one.version), default=None)
    host_learning = _host_learning(row, versions, *((ended.why_ended, ended.ended_at) if ended else (None, None)))
    events = await database.fetch(queries.template_events, row["source_id"], host, MOST_EVENTS)
    templates = {one["version"]: template_from(one["template"]) for one in rows}
    return Schooling(host_learning, templates, tuple(TemplateEvent(**one) for one in events))


async def server_time(database: Database) -> datetime:
    now: datetime = await database.fetchval(queries.server_time)
    return now


def state_of(host_learning: HostReport) -> str:
    """How far a host is, in words."""
    if host_learning.disabled_at:
        return "disabled"
    if host_learning.active:
        return "learned"
    if host_learning.learn_at:
        return "waiting for training"
    if host_learning.ended_at and (
        host_learning.learned_at is None or host_learning.ended_at >= host_learning.learned_at
    ):
        return f"ended: {host_learning.ended}"
    if host_learning.learned_at:
        return outcome_in_words(host_learning.outcome)
    return f"too few pages ({host_learning.pages} of {FIRST_TRAINING})"


def pages_wanted(host_learning: HostReport) -> int:
    """How many more pages must come before there is a training again."""
    return max(1, (FIRST_TRAINING << min(host_learning.failures, MOST_DOUBLINGS)) - host_learning.fresh)


def knowledge_of(template: Template) -> dict[str, Any]:
    """The parts of a template, with paths as selectors write them."""
    return {
        "containers": [
            {
                "selector": variant.selector,
                "most_a_page": variant.containers,
                "kept": sorted(_path(way) for way, keep in variant.verdicts.ways.items() if keep),
                "dropped": sorted(_path(way) for way, keep in variant.verdicts.ways.items() if not keep),
                "nothing_kept_below": sorted(map(_path, variant.verdicts.barren)),
            }
            for variant in template.variants
        ],
        "required": list(template.required),
        "places": template.places._asdict(),
        "ranges": {name: getattr(template.ranges, name) for name in template.ranges.__dataclass_fields__},
        "blocks_of_the_host": len(template.repeated),
        "house_names": list(template.house_names),
    }


def _path(way: ElementPath) -> str:
    return " > ".join(way) or DIRECTLY


def _version(row: Any) -> TemplateVersion:
    return TemplateVersion(**{name: row[name] for name in TemplateVersion.__dataclass_fields__})


def _host_learning(
    row: Any, versions: list[TemplateVersion], ended: str | None, ended_at: datetime | None
) -> HostReport:
    own = set(HostReport.__dataclass_fields__) - {"versions", "ended", "ended_at"}
    known = {name: row[name] for name in own}
    return HostReport(**known, versions=tuple(versions), ended=ended or "", ended_at=ended_at)
