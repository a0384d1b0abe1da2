"""A robots.txt read as RFC 9309 says: its lines, its rules for us, its pace and its sitemaps. Pure.

Where the RFC leaves a choice, or Google's reader differs, `tests/unit/politeness/test_robots_google.py` records ours.
"""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from itertools import islice, takewhile
from typing import NamedTuple
from urllib.parse import quote

from headwater.errors import UrlRejected
from headwater.rights.headers import licence_statement
from headwater.rights.preferences import path_and_pairs, preferences_in
from headwater.rights.record import LONGEST_SAID, Convention, StatedIn, UseStatement
from headwater.storable import one_line
from headwater.urls.canonical import canonicalise, with_plain_escapes

# RFC 9309 2.5. Fetch one byte more: only so can a cut be told from an end.
LARGEST_BYTES = 500 * 1024
LONGEST_LINE = 16 * 1024

# A byte order mark may arrive without its tail.
_UTF8_MARK = re.compile(rb"\A\xef(?:\xbb\xbf?)?")
_STRAY_OCTET = re.compile(r"[\udc80-\udcff]")
_LINE_END = re.compile(r"\r\n|\r|\n")
# Reserved characters stand as they are, except those that a path must not hold literally: `*` and `$` mean something
# in a rule (RFC 9309 2.2.3), and URL parsers write `'` as %27 in a query.
_KEPT = "/?:@!&()+,;=[]#"
_TO_WRITE_ANEW = re.compile(rf"[^A-Za-z0-9._~{re.escape(_KEPT)}-]")

# Written behind every path and for the `$` of a rule, which thereby is a character like any other: none is spelt so.
END = "\n"
LONGEST_CRAWL_DELAY = timedelta(hours=24)
MOST_SITEMAPS = 500
MOST_USAGE_LINES = 200
MOST_LICENCES = 5

_OUTSIDE_TOKEN = re.compile(r"[^A-Za-z_-]")
# What follows the number (`10s`, `10 seconds`) is ignored rather than the wish.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Key(StrEnum):
    AGENT = "user-agent"
    ALLOW = "allow"
    DISALLOW = "disallow"
    CRAWL_DELAY = "crawl-delay"
    SITEMAP = "sitemap"
    CONTENT_USAGE = "content-usage"
    CONTENT_SIGNAL = "content-signal"
    LICENSE = "license"


RULES = frozenset({Key.ALLOW, Key.DISALLOW})
# They say how pages may be used, never whether they may be fetched.
USAGE = {Key.CONTENT_USAGE: Convention.CONTENT_USAGE, Key.CONTENT_SIGNAL: Convention.CONTENT_SIGNAL}

# Misspellings that site owners make and Google understands. Whole words only: `disallowed` is no rule.
_KEYS = {
    **{key.value: key for key in Key},
    **dict.fromkeys(("useragent", "user agent"), Key.AGENT),
    **dict.fromkeys(("dissallow", "dissalow", "disalow", "diasllow", "disallaw"), Key.DISALLOW),
    **dict.fromkeys(("crawldelay", "crawl delay"), Key.CRAWL_DELAY),
    **dict.fromkeys(("site-map", "sitemaps"), Key.SITEMAP),
    "content-signals": Key.CONTENT_SIGNAL,
}


class RobotsLine(NamedTuple):
    """A line we understand; `written` is the line as it stands, without its comment."""

    line_number: int
    key: Key
    value: str
    written: str


def robots_text(body: bytes) -> str:
    """The text to store: the part that is read, as text any database takes, which reads again to the same rules."""
    text = _decoded(body[:LARGEST_BYTES])
    if len(body) > LARGEST_BYTES:
        # Half a line would be another rule: `Disallow: /private` cut short forbids the site.
        text = text[: max(text.rfind("\n"), text.rfind("\r")) + 1]
    # Dropping NULs also makes UTF-16 without its mark readable.
    return text.replace("\0", "")


def _decoded(body: bytes) -> str:
    if body.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return body.decode("utf-16", "replace")
    text = _UTF8_MARK.sub(b"", body).decode("utf-8", "surrogateescape")
    # Paths are compared as octets, so an octet of another charset is kept as what a URL would say for it.
    return _STRAY_OCTET.sub(lambda octet: f"%{ord(octet[0]) - 0xDC00:02X}", text)


def records_of(text: str) -> Iterator[RobotsLine]:
    for line_number, line in enumerate(_LINE_END.split(text), start=1):
        written = line[:LONGEST_LINE].partition("#")[0].strip()
        if field := _field(written):
            yield RobotsLine(line_number, *field, written)


def _field(written: str) -> tuple[Key, str] | None:
    name, colon, value = written.partition(":")
    if colon and (key := _KEYS.get(name.rstrip().lower())):
        return key, value.strip()
    # `Disallow /private`: the colon is forgotten, the meaning is plain. More words than two are prose.
    words = written.split(maxsplit=2)
    if len(words) == 2 and (key := _KEYS.get(words[0].lower())):
        return key, words[1]
    return None


def normalise_path(text: str) -> str:
    """One spelling for every path: unreserved characters plain, everything else escaped in upper case."""
    if not _TO_WRITE_ANEW.search(text):
        return text
    return with_plain_escapes(quote(text, safe=_KEPT + "%", errors="surrogatepass"))


class Pattern(NamedTuple):
    """`head`, then `pieces` in this order with anything between; `octets` is how specific it is."""

    head: str
    pieces: tuple[str, ...]
    octets: int

    def matches(self, target: str) -> bool:
        """Each piece at its first place: no later place could leave more room, so nothing is ever tried twice."""
        if not target.startswith(self.head):
            return False
        at = len(self.head)
        for piece in self.pieces:
            found = target.find(piece, at)
            if found < 0:
                return False
            at = found + len(piece)
        return True


def pattern_of(written: str) -> Pattern:
    parts = [normalise_path(part) for part in written.removesuffix("$").split("*")]
    if written.endswith("$"):
        parts[-1] += END
    head, *pieces = parts
    octets = len(head) + sum(len(piece) + 1 for piece in pieces)
    return Pattern(head, tuple(filter(None, pieces)), octets)


@dataclass(frozen=True, slots=True)
class Decision:
    """Decided by a line of the file, or by none (`line_number` None: a path that no rule forbids is allowed)."""

    allowed: bool
    line_number: int | None = None
    rule_text: str = ""
    group: str = ""


ALWAYS_ALLOWED = Decision(True, rule_text="/robots.txt itself is always allowed")


class Rule(NamedTuple):
    pattern: Pattern
    decision: Decision


class Rulebook:
    """Rules in the order in which they decide. Plain prefixes, which most rules are, are looked up, not tried."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._plain: dict[str, tuple[int, Decision]] = {}
        self._starred: list[tuple[int, Rule]] = []
        known: set[Pattern] = set()
        for rank, rule in enumerate(sorted(rules, key=_precedence)):
            if rule.pattern in known:
                continue
            known.add(rule.pattern)
            if rule.pattern.octets == len(rule.pattern.head):
                self._plain.setdefault(rule.pattern.head, (rank, rule.decision))
            else:
                self._starred.append((rank, rule))
        self._lengths = sorted({len(prefix) for prefix in self._plain}, reverse=True)

    def decision_for(self, target: str) -> Decision | None:
        """None if no rule matches."""
        spelt = normalise_path(target) + END
        limit, decision = self._longest_plain(spelt)
        for rank, rule in self._starred:
            if rank > limit:
                break
            if rule.pattern.matches(spelt):
                return rule.decision
        return decision

    def _longest_plain(self, spelt: str) -> tuple[float, Decision | None]:
        for length in self._lengths:
            if found := self._plain.get(spelt[:length]):
                return found
        return float("inf"), None


def _precedence(rule: Rule) -> tuple[int, bool, int]:
    return -rule.pattern.octets, not rule.decision.allowed, rule.decision.line_number or 0


class UsageLine(NamedTuple):
    """A line about the use of the pages whose path matches."""

    pattern: Pattern
    statement: UseStatement


@dataclass(frozen=True, slots=True)
class RobotsGroup:
    """Consecutive User-agent lines, as written, and the lines that follow for them."""

    agents: tuple[str, ...]
    lines: tuple[RobotsLine, ...]

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
    usage: tuple[UsageLine, ...]
    licences: tuple[UseStatement, ...]
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

    def statements_on(self, target: str) -> tuple[UseStatement, ...]:
        """On the use of one page: of each convention the lines with the longest path that matches, and all licences."""
        if not self.usage:
            return self.licences
        spelt = normalise_path(target if target.startswith("/") else f"/{target}") + END
        matching = [line for line in self.usage if line.pattern.matches(spelt)]
        longest = {one.statement.convention: 0 for one in matching}
        for one in matching:
            longest[one.statement.convention] = max(longest[one.statement.convention], one.pattern.octets)
        told = [one.statement for one in matching if one.pattern.octets == longest[one.statement.convention]]
        return (*told, *self.licences)


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
        usage=tuple(_usage(token, records)),
        licences=tuple(_licences(records)),
        _rulebook=Rulebook(_rules(ours)),
        _silence=Decision(True, group=", ".join(map(str, ours))),
    )


def token_of(agent: str) -> str:
    """RFC 9309 2.2.1: `Headwater/1.0 (+mail)` is `headwater`. A star stands for everyone; "" for nobody."""
    if agent.split()[:1] == ["*"]:
        return "*"
    return _OUTSIDE_TOKEN.split(agent, maxsplit=1)[0].lower()


def _groups(records: Iterable[RobotsLine], members: frozenset[Key]) -> Iterator[RobotsGroup]:
    """Only a member ends a list of agents: what we do not know, and Sitemap, stand anywhere (RFC 9309 2.2.4)."""
    agents: list[str] = []
    lines: list[RobotsLine] = []
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


def _sitemaps(records: Iterable[RobotsLine]) -> tuple[str, ...]:
    """Absolute ones only, each once."""
    written = [record.value for record in records if record.key is Key.SITEMAP]
    return tuple(dict.fromkeys(_absolute_urls(written[:MOST_SITEMAPS])))


def _absolute_urls(written: Iterable[str]) -> Iterator[str]:
    for text in written:
        try:
            yield canonicalise(text).url
        except UrlRejected:
            continue


def _usage(token: str, records: list[RobotsLine]) -> Iterator[UsageLine]:
    """Of the groups that hold for us, and of lines before any group, which are for everyone."""
    before = list(takewhile(lambda record: record.key is not Key.AGENT, records))
    groups = _holding_for(token, _groups(records, RULES | USAGE.keys()))
    lines = [line for line in (*before, *(line for group in groups for line in group.lines)) if line.key in USAGE]
    for line in lines[:MOST_USAGE_LINES]:
        path, pairs = path_and_pairs(line.value)
        if told := preferences_in(USAGE[line.key], StatedIn.ROBOTS, pairs):
            yield UsageLine(pattern_of(path), replace(told, said=one_line(line.written, LONGEST_SAID)))


def _licences(records: Iterable[RobotsLine]) -> Iterator[UseStatement]:
    """Like Sitemap they stand anywhere, and are for everyone."""
    written = (record.written for record in records if record.key is Key.LICENSE)
    told = (licence_statement(StatedIn.ROBOTS, one, one.partition(":")[2].strip()) for one in dict.fromkeys(written))
    yield from islice((one for one in told if one), MOST_LICENCES)
