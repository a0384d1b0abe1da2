"""Which parts of a URL say nothing about the page, and the exceptions of single hosts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TRACKING_PREFIX = "utm_"
TRACKING_PARAMS = frozenset({"fbclid", "gclid", "gclsrc", "dclid", "msclkid", "ref"})


@dataclass(frozen=True, slots=True)
class HostRules:
    """Exceptions of one host, not of the source that found the URL, or one URL would have two keys."""

    keep_slash: bool = False
    keep_params: frozenset[str] = frozenset()
    strip_params: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep_params", frozenset(map(str.lower, self.keep_params)))
        object.__setattr__(self, "strip_params", frozenset(map(str.lower, self.strip_params)))

    def strips(self, name: str) -> bool:
        """Whether the parameter is left out of the key; keeping beats stripping."""
        name = name.lower()
        if name in self.keep_params:
            return False
        return name in TRACKING_PARAMS or name.startswith(TRACKING_PREFIX) or name in self.strip_params


DEFAULT_RULES = HostRules()

# One table for a whole process: a key that is made in ninety places must be made by one rule. Read from the database
# when a process starts and again every few seconds; what was stored by older rules is keyed anew by maintenance.
NO_RULES: Mapping[str, HostRules] = {}
_rules: Mapping[str, HostRules] = NO_RULES


def use_rules(rules: Mapping[str, HostRules]) -> None:
    """From now on these are the exceptions, by host; all other hosts have none."""
    global _rules  # noqa: PLW0603 - replaced whole, so that no reader sees half of it
    if rules != _rules:
        _rules = dict(rules) if rules else NO_RULES


def rules_in_use() -> Mapping[str, HostRules]:
    return _rules


def rules_of_host(host: str) -> HostRules:
    return _rules.get(host, DEFAULT_RULES)


def rules_to_json(rules: Mapping[str, HostRules]) -> dict[str, Any]:
    return {host: [one.keep_slash, sorted(one.keep_params), sorted(one.strip_params)] for host, one in rules.items()}


def rules_from(written: Mapping[str, Any]) -> dict[str, HostRules]:
    """Reads the output of `rules_to_json`."""
    return {
        host: HostRules(keep_slash, frozenset(kept), frozenset(stripped))
        for host, (keep_slash, kept, stripped) in written.items()
    }
