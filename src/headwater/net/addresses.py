"""Which addresses are never asked for a page. Our own table: the standard library's answers differ by version."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
AddressRule = tuple[int, int, str]

LOOPBACK = "loopback"
# The first that matches names the reason, so an exception stands before the range it lies in.
FORBIDDEN_V4 = (
    ("100.100.100.200/32", "cloud metadata"),
    ("168.63.129.16/32", "cloud metadata"),
    ("255.255.255.255/32", "broadcast"),
    ("0.0.0.0/8", "this network"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "carrier-grade NAT"),
    ("127.0.0.0/8", LOOPBACK),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "protocol assignments"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "6to4 relay"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
)
# What carries an IPv4 address inside is refused whole: the packet may come out at a place we never looked at.
FORBIDDEN_V6 = (
    ("::/128", "unspecified"),
    ("::1/128", LOOPBACK),
    ("::/96", "IPv4-compatible"),
    ("::ffff:0:0/96", "IPv4-mapped"),
    ("::ffff:0:0:0/96", "IPv4-translated"),
    ("64:ff9b::/96", "NAT64"),
    ("64:ff9b:1::/48", "NAT64"),
    ("100::/64", "discard"),
    ("2001::/32", "Teredo"),
    ("2001::/23", "protocol assignments"),
    ("2001:db8::/32", "documentation"),
    ("2002::/16", "6to4"),
    ("3fff::/20", "documentation"),
    ("5f00::/16", "segment routing"),
    ("fc00::/7", "unique local"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local"),
    ("ff00::/8", "multicast"),
)
NOT_AN_ADDRESS = "not an address"
ZONE = "address with a zone"
NOT_GLOBAL_UNICAST = "not global unicast"

# Only 2000::/3 is given out for the public internet; what is not given out yet is nobody's web server.
_GLOBAL_UNICAST_PREFIX = 0b001


def why_forbidden(address: str | Address) -> str | None:
    """The name of the range that makes the address off limits; None for a public one."""
    parsed = parse_address(address) if isinstance(address, str) else address
    if parsed is None:
        return NOT_AN_ADDRESS
    if isinstance(parsed, IPv4Address):
        return _named(int(parsed), _RULES_V4)
    if parsed.scope_id is not None:
        return ZONE
    number = int(parsed)
    return _named(number, _RULES_V6) or (None if number >> 125 == _GLOBAL_UNICAST_PREFIX else NOT_GLOBAL_UNICAST)


@lru_cache(maxsize=8_192)
def machine_of(text: str) -> str | None:
    """The address as names may share it: of IPv6 the /64, which is one owner's."""
    address = parse_address(text)
    if isinstance(address, IPv6Address):
        return str(ip_network(f"{address}/64", strict=False))
    return None if address is None else str(address)


def parse_address(text: str) -> Address | None:
    """Only the full spellings: `127.1` and `0x7f.1` are for the URL parser to spell out first."""
    try:
        return ip_address(text)
    except ValueError:
        return None


def _named(number: int, rules: Sequence[AddressRule]) -> str | None:
    for first, last, name in rules:
        if first <= number <= last:
            return name
    return None


def _rules(table: Sequence[tuple[str, str]]) -> tuple[AddressRule, ...]:
    networks = ((ip_network(text), name) for text, name in table)
    return tuple((int(network[0]), int(network[-1]), name) for network, name in networks)


_RULES_V4 = _rules(FORBIDDEN_V4)
_RULES_V6 = _rules(FORBIDDEN_V6)
