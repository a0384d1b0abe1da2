"""The rules of a robots.txt for us: rules, pace and sitemaps, as RFC 9309 reads it. Pure.

Where the RFC leaves a choice, or Google's reader differs, `tests/unit/politeness/test_robots_google.py` records ours.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from headwater.errors import UrlRejected
from headwater.politeness.robots_match import Decision, Rule, Rulebook, pattern_of
from headwater.politeness.robots_text import RULES, Key, Record, records_of, robots_text
from headwater.urls.canonical import canonicalise

LONGEST_CRAWL_DELAY = timedelta(hours=24)
MOST_SITEMAPS = 500
ALWAYS_ALLOWED = Decision(True, rule_text="/robots.txt itself is always allowed")

_OUTSIDE_TOKEN = re.compile(r"[^A-Za-z_-]")
# What follows the number (`10s`, `10 seconds`) is ignored rather than the wish.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class RobotsGroup:
    """Consecutive User-agent lines, as written, and the lines that follow for them."""

    agents: tuple[str, ...]
    lines: tuple[Record, ...]

    def names(self, token: str) -> bool:
        return any(token_of(agent) == token for agent in self.agents)

    def __str__(self) -> str:
        return ", ".join(self.agents)


@dataclass(frozen=True, slots=True)
class Robots:
    """`ours` are the groups of `groups` that hold for us; a crawl delay beyond a day or below zero is clamped."""

    groups: tuple[RobotsGroup, ...]
    ours: tuple[RobotsGroup, ...]
    crawl_delay: timedelta | None
    is_clamped: bool
    sitemaps: tuple[str, ...]
    _rulebook: Rulebook = field(repr=False, compare=False)
    _silence: Decision = field(repr=False, compare=False)

    @property
    def disallowed(self) -> tuple[str, ...]:
        """The paths that are forbidden to us, as written; an empty one forbids nothing."""
        lines = (line for group in self.ours for line in group.lines)
        return tuple(line.value for line in lines if line.key is Key.DISALLOW and line.value)

    def decide(self, target: str) -> Decision:
        """`target` is path and query, as `CanonicalUrl.target` gives them."""
        wanted = target if target.startswith("/") else f"/{target}"
        if wanted == "/robots.txt":
            return ALWAYS_ALLOWED
        return self._rulebook.decision_for(wanted) or self._silence


def parse_robots(body: bytes, product_token: str) -> Robots:
    return parse_robots_text(robots_text(body), product_token)


def parse_robots_text(text: str, product_token: str) -> Robots:
    """`text` is what `robots_text` made of a body, now or when it was stored."""
    records = list(records_of(text))
    token = token_of(product_token)
    groups = tuple(_groups(records, RULES))
    ours = _holding_for(token, groups)
    asked = _asked_delay(_holding_for(token, _groups(records, RULES | {Key.CRAWL_DELAY})))
    delay = None if asked is None else min(max(asked, 0.0), LONGEST_CRAWL_DELAY.total_seconds())
    return Robots(
        groups=groups,
        ours=ours,
        crawl_delay=None if delay is None else timedelta(seconds=delay),
        is_clamped=delay != asked,
        sitemaps=_sitemaps(records),
        _rulebook=Rulebook(_rules(ours)),
        _silence=Decision(True, group=", ".join(map(str, ours))),
    )


def token_of(agent: str) -> str:
    """RFC 9309 2.2.1: `Headwater/1.0 (+mail)` is `headwater`. A star stands for everyone; "" for nobody."""
    if agent.split()[:1] == ["*"]:
        return "*"
    return _OUTSIDE_TOKEN.split(agent, maxsplit=1)[0].lower()


def _groups(records: Iterable[Record], members: frozenset[Key]) -> Iterator[RobotsGroup]:
    """Only a member ends a list of agents: what we do not know, and Sitemap, stand anywhere (RFC 9309 2.2.4)."""
    agents: list[str] = []
    lines: list[Record] = []
    for record in records:
        if record.key is Key.AGENT:
            if lines:
                yield RobotsGroup(tuple(agents), tuple(lines))
                agents, lines = [], []
            agents.append(record.value)
        elif agents and record.key in members:
            lines.append(record)
    if agents:
        yield RobotsGroup(tuple(agents), tuple(lines))


def _holding_for(token: str, groups: Iterable[RobotsGroup]) -> tuple[RobotsGroup, ...]:
    """All that name us, as one; only if none does, all that name everyone."""
    known = tuple(groups)
    named = tuple(group for group in known if token and group.names(token))
    return named or tuple(group for group in known if group.names("*"))


def _rules(groups: Iterable[RobotsGroup]) -> Iterator[Rule]:
    for group in groups:
        name = str(group)
        for line in group.lines:
            # An empty Disallow forbids nothing.
            if line.value:
                allowed = line.key is Key.ALLOW
                yield Rule(pattern_of(line.value), Decision(allowed, line.line_number, line.written, name))


def _asked_delay(groups: Iterable[RobotsGroup]) -> float | None:
    """In seconds; of several the largest, as everywhere in politeness."""
    lines = (line for group in groups for line in group.lines if line.key is Key.CRAWL_DELAY)
    numbers = (_NUMBER.match(line.value) for line in lines)
    return max((float(number[0]) for number in numbers if number), default=None)


def _sitemaps(records: Iterable[Record]) -> tuple[str, ...]:
    """Absolute ones only, each once."""
    written = [record.value for record in records if record.key is Key.SITEMAP]
    return tuple(dict.fromkeys(_absolute_urls(written[:MOST_SITEMAPS])))


def _absolute_urls(written: Iterable[str]) -> Iterator[str]:
    for text in written:
        try:
            yield canonicalise(text).url
        except UrlRejected:
            continue
