"""The registrable domain of a host: the name somebody owns, by the public suffix list.

`feeds.bbci.co.uk` lies in `bbci.co.uk`, and `alice.github.io` is a domain of its own: the private half of the list
counts, so tenants of a shared domain are strangers to each other.
"""

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from headwater.urls.canonical import CanonicalUrl
from headwater.urls.scope import is_within

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

MOST_REMEMBERED = 100_000


_DEFAULT_PORTS = frozenset({80, 443})


@lru_cache(maxsize=MOST_REMEMBERED)
def registrable_domain(host: str) -> str:
    """Of an address, a name without a dot and a public suffix: the host itself, which nobody shares."""
    name = host.lower().rstrip(".")
    if "." not in name or ":" in name or name.rpartition(".")[2].isdigit():
        return name
    return _suffixes().privatesuffix(name) or name


def is_same_site(one: CanonicalUrl, other: CanonicalUrl) -> bool:
    """Whether both lie in one registrable domain."""
    ports = {one.origin.port, other.origin.port}
    is_one_domain = one.host == other.host or registrable_domain(one.host) == registrable_domain(other.host)
    return is_one_domain and (len(ports) == 1 or ports <= _DEFAULT_PORTS)


def is_public_suffix(name: str) -> bool:
    """Whether anybody may register a name below it."""
    return _suffixes().privatesuffix(name.lower()) is None


def is_listed_suffix(name: str) -> bool:
    """Such as com or co.uk; a name that the list does not know is a host of somebody's own network."""
    return _suffixes().publicsuffix(name.lower(), accept_unknown=False) == name.lower()


@cache
def _suffixes() -> "PublicSuffixList":
    # Reading the list takes a tenth of a second, which `headwater --help` should not pay.
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


@dataclass(frozen=True, slots=True)
class Voice:
    """The hosts of which a channel's word counts: those of its own registrable domain, those an operator named, and
    those of the site it is followed for, where the site itself or a person named the channel.

    Of any other host it may tell that a URL exists, and nothing about it.
    """

    domain: str = ""
    named: frozenset[str] = frozenset()
    site: str = ""

    @property
    def domains(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(domain for domain in (self.domain, self.site) if domain))

    def covers(self, host: str) -> bool:
        return registrable_domain(host) in self.domains or is_within(host, self.named)


NO_VOICE = Voice()
