"""The last look at an address before a connection is made to it."""

import asyncio
import errno
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_network

from headwater.errors import SettingError
from headwater.net.addresses import Address, Network, parse_address, why_forbidden

DEFAULT_PORTS = frozenset({80, 443, 8080, 8443})
ALL_PORTS = range(1, 65536)

SocketAddress = tuple[str, int] | tuple[str, int, int, int]
AddrInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, SocketAddress]

# A bare IPv6 network has colons of its own, so with a port it stands in brackets.
_PLACE = re.compile(r"(?:\[([^\]]*)\]|([^\[\]:]*))(?::([^:]*))?")
_PORTS = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?", re.ASCII)
_FIX = "Write 10.0.0.0/8, 127.0.0.1/32:8080, 127.0.0.1:8000-8999 or [::1]:80."
# Names that lead home whatever a resolver says, and where to.
_HOME_NAMES = {
    "localhost": ("127.0.0.1", "::1"),
    "localhost.localdomain": ("127.0.0.1", "::1"),
    "metadata.google.internal": ("169.254.169.254", "fd20:ce::254"),
}
_METADATA_NAMES = frozenset({"metadata.google.internal", "metadata", "instance-data"})
# Inside ranges that an operator may well use; the others have a range of their own.
_METADATA_ADDRESSES = frozenset({"fd20:ce::254", "fd00:ec2::254"})
# A listener there listens at every address of this machine.
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - nothing is bound
# What an operator's own servers may have; None is a public address.
_OPERATORS_OWN = frozenset({None, "private", "loopback", "carrier-grade NAT", "unique local", "benchmarking"})


class BlockedAddress(OSError):
    """An OSError, or aiohttp would not hand it through as the reason why a connection failed."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(errno.EACCES, f"{place} is off limits: {reason}")
        self.place = place
        self.reason = reason


@dataclass(frozen=True, slots=True)
class AllowedPlace:
    """A network and ports on it that may be asked although the table of addresses or the list of ports forbids it."""

    network: Network
    ports: range = ALL_PORTS

    def holds(self, address: Address, port: int) -> bool:
        return port in self.ports and address in self.network

    def __str__(self) -> str:
        if self.ports == ALL_PORTS:
            return str(self.network)
        network = f"[{self.network}]" if self.network.version == 6 else str(self.network)
        last = "" if len(self.ports) == 1 else f"-{self.ports[-1]}"
        return f"{network}:{self.ports[0]}{last}"


def parse_allowed_place(text: str) -> AllowedPlace:
    found = _PLACE.fullmatch(text)
    if found is None:
        return AllowedPlace(_network(text, text))
    network = _network(found[1] or found[2] or "", text)
    return AllowedPlace(network, ALL_PORTS if found[3] is None else _ports(found[3], text))


def _network(written: str, text: str) -> Network:
    try:
        return ip_network("" if "%" in written else written)
    except ValueError as error:
        hint = "has bits set outside its mask" if "host bits" in str(error) else "is not an address or a network"
        raise SettingError(f"{text!r} cannot be allowed: {written!r} {hint}.", fix=_FIX) from None


def _ports(written: str, text: str) -> range:
    found = _PORTS.fullmatch(written)
    ports = range(int(found[1]), int(found[2] or found[1]) + 1) if found else range(0)
    if not ports or ports[0] not in ALL_PORTS or ports[-1] not in ALL_PORTS:
        raise SettingError(f"{text!r} cannot be allowed: {written!r} is neither a port nor a range.", fix=_FIX)
    return ports


@dataclass(frozen=True, slots=True)
class AddressGuard:
    """Public addresses on the usual ports, and what is allowed besides; never our own listeners."""

    allow: frozenset[AllowedPlace] = frozenset()
    ports: frozenset[int] = DEFAULT_PORTS
    own_listeners: frozenset[tuple[str, int]] = frozenset()

    def __post_init__(self) -> None:
        spelt = frozenset((str(parse_address(address) or address), port) for address, port in self.own_listeners)
        object.__setattr__(self, "own_listeners", spelt)

    def check(self, address: str, port: int) -> None:
        """Raises BlockedAddress."""
        if reason := self._why_blocked(address, port):
            raise BlockedAddress(_place(address, port), reason)

    def is_inside(self, address: str, port: int) -> bool:
        """In a network of our own: allowed, and no place that anybody else could reach."""
        return why_forbidden(address) is not None and self._is_allowed(address, port)

    def check_inside(self, connection: asyncio.BaseTransport | None, *, is_proxied: bool) -> None:
        """Raises BlockedAddress. Of the connection itself, which may have been kept, not of what its name says now."""
        peer = connection.get_extra_info("peername") if connection else None
        if is_proxied or not peer or not self.is_inside(_written_address(peer), peer[1]):
            raise BlockedAddress("this host", "a secret goes unencrypted only to a private place in network.allow")

    def check_all(self, places: Iterable[tuple[str, int]]) -> None:
        """One forbidden address condemns the name: the rest of its answer is as little to be trusted."""
        for address, port in places:
            self.check(address, port)

    def check_host(self, host: str) -> None:
        """Raises BlockedAddress for names that mean this machine or its metadata service, before they are resolved."""
        name = host.lower().rstrip(".")
        name = "localhost" if name.endswith(".localhost") else name
        homes = [address for address in map(parse_address, _HOME_NAMES.get(name, ())) if address]
        if homes and not any(address in place.network for place in self.allow for address in homes):
            raise BlockedAddress(host, "a name of this machine or of its cloud")

    def socket_factory(self, addr_info: AddrInfo) -> socket.socket:
        """For aiohttp's TCPConnector, which calls it for literals too. With several addresses it tries the next
        after a refusal: names need `check_all` at the resolver."""
        family, kind, protocol, _, sockaddr = addr_info
        self.check(_written_address(sockaddr), sockaddr[1])
        opened = socket.socket(family, kind, protocol)
        opened.setblocking(False)
        return opened

    def describe(self) -> str:
        """One line for the start of the program."""
        ports = ", ".join(map(str, sorted(self.ports)))
        besides = ", ".join(sorted(map(str, self.allow))) or "nothing"
        return f"public addresses on ports {ports}; allowed besides: {besides}"

    def _why_blocked(self, address: str, port: int) -> str | None:
        parsed = parse_address(address)
        if self._is_our_own(str(parsed or address), port):
            return "one of our own listeners"
        if self._is_allowed(address, port):
            return None
        return why_forbidden(parsed or address) or (None if port in self.ports else "port not allowed")

    def _is_our_own(self, address: str, port: int) -> bool:
        is_everywhere = any((everywhere, port) in self.own_listeners for everywhere in _EVERYWHERE)
        return (address, port) in self.own_listeners or (is_everywhere and _is_of_this_machine(address))

    def _is_allowed(self, address: str, port: int) -> bool:
        parsed = parse_address(address)
        # A zone picks an interface of this machine, which no entry of the allow list speaks of.
        if parsed is None or "%" in address:
            return False
        return any(place.holds(parsed, port) for place in self.allow)


@dataclass(frozen=True, slots=True)
class OperatorGuard(AddressGuard):
    """For places that the operator names, such as a search server: private ones, too, on any port.

    Never a cloud's metadata service, which would hand out this machine's own keys.
    """

    def check_host(self, host: str) -> None:
        if host.lower().rstrip(".") in _METADATA_NAMES:
            raise BlockedAddress(host, "a name of this machine's cloud")

    def is_inside(self, address: str, port: int) -> bool:
        return why_forbidden(address) is not None

    def _why_blocked(self, address: str, port: int) -> str | None:
        if address in _METADATA_ADDRESSES:
            return "cloud metadata"
        reason = why_forbidden(parse_address(address) or address)
        return None if reason in _OPERATORS_OWN else reason


def _is_of_this_machine(address: str) -> bool:
    """A public one, too: it can be bound to nowhere else."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


def _place(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _written_address(sockaddr: SocketAddress) -> str:
    """With the zone of a scoped IPv6 address, which a socket address keeps apart."""
    zone = sockaddr[3] if len(sockaddr) == 4 else 0
    return f"{sockaddr[0]}%{zone}" if zone else sockaddr[0]
