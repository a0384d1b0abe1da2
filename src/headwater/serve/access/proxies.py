"""What reverse proxies say about callers: believed from those that are trusted, from nobody else. Pure."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from starlette.datastructures import Headers

from headwater.accounts.role import Role
from headwater.serve.access.caller import Caller, NotIdentified, Proof
from headwater.settings.groups import WebSettings

FORWARDED_FOR = "x-forwarded-for"
# Any of them says that a proxy brought the request.
TRACES = (FORWARDED_FOR, "forwarded", "x-real-ip", "x-forwarded-host", "x-forwarded-proto")
MOST_HOPS = 20
LONGEST_NAME = 200
# Visible signs and spaces between them.
USER = re.compile(r"[^\W_]|[^\W_][\w .@+\\/:-]{0,198}[\w]")

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class ProxyRules:
    trusted: tuple[IPv4Network | IPv6Network, ...]
    user_header: str
    role_header: str
    usual_role: Role | None

    def trusts(self, address: Address | None) -> bool:
        return address is not None and any(address in network for network in self.trusted)

    def client_of(self, headers: Headers, peer: str) -> str:
        """The address of the caller: what trusted proxies say, read from the nearest on."""
        nearest = address_in(peer)
        if not self.trusts(nearest):
            return peer
        hops = ",".join(headers.getlist(FORWARDED_FOR)).split(",")
        for hop in reversed(hops[-MOST_HOPS:]):
            named = address_in(hop.strip())
            if named is None:
                break
            nearest = named
            if not self.trusts(named):
                break
        return str(nearest)

    def caller_in(self, headers: Headers, peer: str) -> Caller | None:
        """Who logged in at a trusted proxy. Raises NotIdentified where it says something that cannot be."""
        if not self.user_header or not self.trusts(address_in(peer)):
            return None
        names = headers.getlist(self.user_header)
        if not names or names == [""]:
            return None
        # Two of them: one was sent by the caller, and nobody can say which.
        if len(names) > 1 or not USER.fullmatch(names[0]):
            raise _unusable(self.user_header)
        return Caller(names[0], self._role_in(headers), Proof.PROXY)

    def _role_in(self, headers: Headers) -> Role:
        said = headers.getlist(self.role_header) if self.role_header else []
        if len(said) > 1:
            raise _unusable(self.role_header)
        words = set(re.split(r"[,;\s]+", said[0].lower())) if said else set()
        roles = [role for role in Role if role in words]
        if roles:
            return roles[-1]
        if self.usual_role is None:
            raise NotIdentified("The proxy names no role for you.", fix="Ask the one who runs it for a role.")
        return self.usual_role


def proxy_rules_of(web: WebSettings) -> ProxyRules:
    return ProxyRules(
        tuple(ip_network(one, strict=False) for one in web.trusted_proxies),
        web.proxy_user_header,
        web.proxy_role_header,
        None if web.proxy_role == "none" else Role(web.proxy_role),
    )


def address_in(text: str) -> Address | None:
    """With or without a port; an IPv4 address is one however it came."""
    bare = text.partition("]")[0].removeprefix("[") if text.startswith("[") else text
    if bare.count(":") == 1:
        bare = bare.partition(":")[0]
    try:
        found = ip_address(bare)
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found


def came_by_proxy(headers: Headers) -> bool:
    return any(name in headers for name in TRACES)


def _unusable(header: str) -> NotIdentified:
    return NotIdentified(
        f"The header {header} of the proxy cannot be used.", fix="Let the proxy replace it, with one name in it."
    )
