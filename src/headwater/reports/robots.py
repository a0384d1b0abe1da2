"""Was a page requested that robots.txt forbade at that time? Judged from the fetch log by the rules of then."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import UrlRejected
from headwater.politeness.robots import Robots, parse_robots
from headwater.reports.discovery import time_now
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.origin import Origin

queries = load_queries("headwater.reports")

STRETCH = timedelta(minutes=10)
MOST_REMEMBERED = 1_000
# A request that began as its rules changed was judged by those of before.
CHANGE_TAKES = timedelta(minutes=1)
MOST_NAMED = 100


@dataclass(frozen=True, slots=True)
class Rules:
    """`until` None: they hold now. `robots` None: there is no file, and all is allowed."""

    robots: Robots | None
    until: datetime | None

    def forbid(self, url: CanonicalUrl) -> str | None:
        """The rule that does."""
        decision = self.robots.decide(url.target) if self.robots else None
        return decision.rule_text if decision and not decision.allowed else None


@dataclass(frozen=True, slots=True)
class ForbiddenRequest:
    host: str
    url: str
    at: datetime
    rule: str


@dataclass(slots=True)
class RobotsAudit:
    """`unjudged` are requests to origins whose rules are not known any more. `named` are the first of the forbidden."""

    judged: int = 0
    unjudged: int = 0
    forbidden: int = 0
    named: list[ForbiddenRequest] = field(default_factory=list)


def rule_broken(rules: Sequence[Rules], url: CanonicalUrl, at: datetime) -> str | None:
    """`rules` are those of the origin, the oldest first. Around a change both have to forbid it."""
    place = next((n for n, one in enumerate(rules) if one.until is None or at < one.until), len(rules) - 1)
    began = rules[place - 1].until if place else None
    broken = rules[place].forbid(url)
    if broken and began is not None and at < began + CHANGE_TAKES:
        return broken if rules[place - 1].forbid(url) else None
    return broken


@dataclass(slots=True)
class RulesRead:
    """Files read lately: many hosts have the same one."""

    product_token: str
    _read: OrderedDict[bytes, Robots] = field(default_factory=OrderedDict)

    def of(self, body: bytes) -> Robots:
        if body not in self._read:
            self._read[body] = parse_robots(body, self.product_token)
            if len(self._read) > MOST_REMEMBERED:
                self._read.popitem(last=False)
        self._read.move_to_end(body)
        return self._read[body]


async def audit_robots(database: Database, since: timedelta, product_token: str) -> RobotsAudit:
    """A stretch of the log after the other, so that no day is held in memory."""
    audit, read = RobotsAudit(), RulesRead(product_token)
    until = await time_now(database)
    begins = until - since
    while begins < until:
        ends = min(begins + STRETCH, until)
        rows = await database.fetch(queries.pages_requested, begins, ends)
        hosts = sorted({(row["bucket"], row["host"]) for row in rows})
        known = await database.fetch(queries.robots_in_force, [one[0] for one in hosts], [one[1] for one in hosts])
        rules: dict[Origin, list[Rules]] = {}
        for row in known:
            robots = None if row["body"] is None else read.of(row["body"])
            origin = Origin(row["scheme"], row["host"], row["port"])
            rules.setdefault(origin, []).append(Rules(robots, row["until"]))
        for row in rows:
            _judge(audit, row, rules)
        begins = ends
    return audit


def _judge(audit: RobotsAudit, row: Any, rules: dict[Origin, list[Rules]]) -> None:
    try:
        url = canonicalise(row["url"])
    except UrlRejected:
        audit.unjudged += 1
        return
    known = rules.get(url.origin)
    if not known:
        audit.unjudged += 1
        return
    audit.judged += 1
    if (rule := rule_broken(known, url, row["started_at"])) is not None:
        audit.forbidden += 1
        if len(audit.named) < MOST_NAMED:
            audit.named.append(ForbiddenRequest(row["host"], row["url"], row["started_at"], rule))
