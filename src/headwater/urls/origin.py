"""Where a URL points: scheme, host and port, and how that place is spelt in URLs and in keys."""

import re
from dataclasses import dataclass
from functools import lru_cache

from headwater.urls.parse import is_port
from headwater.urls.rejection import Rejection, rejection

_DEFAULT_PORTS = {"http": 80, "https": 443}
_LONGEST_HOST = 253
# The parser lets through names no resolver can answer: `a..b`, `*.h`, labels of any length.
_NAME = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_ROOT = re.compile(r"(https?)://(\[[0-9a-f:]+\]|[^:]*)(?::(\d+))?")


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port: one robots.txt holds for it. An IPv6 `host` keeps its brackets."""

    scheme: str
    host: str
    port: int

    @property
    def site(self) -> str:
        """The host, with its port where that is not the scheme's own: as all keys of its pages spell it."""
        return self.host if self.port == _DEFAULT_PORTS[self.scheme] else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.site}"


@dataclass(frozen=True, slots=True)
class Site:
    """An origin with its two spellings: how its URLs begin and how their keys begin."""

    origin: Origin
    url_root: str
    key_root: str


# A crawl sees few hosts many times. The bound keeps a page full of invented hosts from filling memory.
@lru_cache(maxsize=32_768)
def site_at(root: str) -> Site:
    """`root` is what stands before the path in a URL the parser has spelt."""
    found = _ROOT.fullmatch(root)
    if found is None:
        raise rejection(Rejection.BAD_HOST)
    scheme, host, port = found.groups(default="")
    if not is_port(port):
        raise rejection(Rejection.BAD_PORT)
    origin = Origin(scheme, _checked_host(host), int(port or _DEFAULT_PORTS[scheme]))
    return Site(origin, str(origin), _key_root(origin))


def _checked_host(host: str) -> str:
    if host.startswith("["):
        return host
    # `example.com.` is the same name as `example.com`: two spellings would be two politeness slots.
    name = host.removesuffix(".")
    if len(name) > _LONGEST_HOST or not _NAME.fullmatch(name):
        raise rejection(Rejection.BAD_HOST)
    return name


def _key_root(origin: Origin) -> str:
    # http on port 443 is not the https site: upgraded, its key would be read again without the port.
    is_upgraded = origin.port != _DEFAULT_PORTS["https"]
    return f"{'https' if is_upgraded else origin.scheme}://{origin.site}"
