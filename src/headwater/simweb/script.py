"""Which mischief applies to which request."""

from collections.abc import Iterator
from dataclasses import dataclass

from headwater.simweb.message import Request
from headwater.simweb.mischief.stage import Mischief

EVERY_HOST = "*"


@dataclass(slots=True)
class Rule:
    """Applies to paths that begin with the prefix; a final `$` makes it that path alone."""

    host: str
    path_prefix: str
    mischief: Mischief
    times: int | None  # how often it applies; None is for ever
    played: int = 0

    def covers(self, path: str) -> bool:
        if self.times is not None and self.played >= self.times:
            return False
        exact = self.path_prefix.endswith("$")
        return path == self.path_prefix[:-1] if exact else path.startswith(self.path_prefix)


class Script:
    """The longest prefix wins, a named host before the star; scripting the same place again replaces it."""

    def __init__(self) -> None:
        self._rules: dict[str, dict[str, Rule]] = {}

    def add(self, rule: Rule) -> None:
        rules = self._rules.setdefault(rule.host, {})
        rules[rule.path_prefix] = rule
        self._rules[rule.host] = dict(sorted(rules.items(), key=lambda item: -len(item[0])))

    def remove(self, host: str = "", path_prefix: str = "") -> int:
        """Rules of one host and prefix, of one host, or all of them; returns how many."""
        doomed = [rule for rule in self if host in ("", rule.host) and path_prefix in ("", rule.path_prefix)]
        for rule in doomed:
            del self._rules[rule.host][rule.path_prefix]
            if not self._rules[rule.host]:
                del self._rules[rule.host]
        return len(doomed)

    def take(self, request: Request) -> tuple[Mischief, int] | None:
        """The mischief for this request and how often it was played before; None to behave."""
        for host in (request.host, EVERY_HOST):
            for rule in self._rules.get(host, {}).values():
                if rule.covers(request.path):
                    rule.played += 1
                    return rule.mischief, rule.played - 1
        return None

    def __bool__(self) -> bool:
        return bool(self._rules)

    def __iter__(self) -> Iterator[Rule]:
        return (rule for rules in self._rules.values() for rule in rules.values())
