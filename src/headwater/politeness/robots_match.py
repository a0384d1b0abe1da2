"""Which rule decides about a path: the longest that matches, and Allow before Disallow (RFC 9309 2.2.2). Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from headwater.urls.canonical import with_plain_escapes

# Reserved characters stand as they are, except those that a path must not hold literally: `*` and `$` mean something
# in a rule (RFC 9309 2.2.3), and URL parsers write `'` as %27 in a query.
_KEPT = "/?:@!&()+,;=[]#"
_TO_WRITE_ANEW = re.compile(rf"[^A-Za-z0-9._~{re.escape(_KEPT)}-]")

# Written behind every path and for the `$` of a rule, which thereby is a character like any other: none is spelt so.
END = "\n"


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
    """Who decided: a line of the file, or none (`line_number` None: what no rule forbids is allowed)."""

    allowed: bool
    line_number: int | None = None
    rule_text: str = ""
    group: str = ""


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
