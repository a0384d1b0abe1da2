"""Which parts of a URL say nothing about the page, and a host's exceptions to that."""

from dataclasses import dataclass

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
