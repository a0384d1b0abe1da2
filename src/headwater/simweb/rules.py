"""A second reading of robots.txt, the site owner's own: it must share no code with the reader it checks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RobotsRule:
    allows: bool
    pattern: str

    def matches(self, target: str) -> bool:
        body = self.pattern.removesuffix("$")
        anchor = r"\Z" if self.pattern.endswith("$") else ""
        return re.match(".*".join(map(re.escape, body.split("*"))) + anchor, target, re.DOTALL) is not None


def rules_for(agent: str, robots_txt: str) -> tuple[RobotsRule, ...]:
    """Rules of the groups that name this product token; of the starred groups if none does."""
    groups = list(_groups(robots_txt))
    named = [rule for names, rules in groups if agent.lower() in names for rule in rules]
    is_named = any(agent.lower() in names for names, _ in groups)
    return tuple(named if is_named else [rule for names, rules in groups if "*" in names for rule in rules])


def allows(rules: tuple[RobotsRule, ...], target: str) -> bool:
    """The longest matching rule decides, and Allow wins a tie (RFC 9309 2.2.2)."""
    if target == "/robots.txt":
        return True
    matching = [rule for rule in rules if rule.matches(target)]
    return max(matching, key=lambda rule: (len(rule.pattern), rule.allows)).allows if matching else True


def _groups(robots_txt: str) -> Iterator[tuple[set[str], list[RobotsRule]]]:
    names: set[str] = set()
    rules: list[RobotsRule] = []
    naming = False
    for field, value in _fields(robots_txt):
        if field == "user-agent":
            if not naming and names:
                yield names, rules
                names, rules = set(), []
            names.add(value.lower())
        elif field in ("allow", "disallow") and value:
            rules.append(RobotsRule(field == "allow", value))
        naming = field == "user-agent"
    yield names, rules


def _fields(robots_txt: str) -> Iterator[tuple[str, str]]:
    for line in robots_txt.removeprefix("\ufeff").splitlines():
        field, colon, value = line.partition("#")[0].partition(":")
        # Fields we do not know, such as Sitemap, must not end a list of user agents.
        if colon and field.strip().lower() in ("user-agent", "allow", "disallow"):
            yield field.strip().lower(), value.strip()
