"""How the web role is protected. Decided here for its start, for every request and for the doctor."""

from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.errors import SettingError
from headwater.settings.groups import WebSettings

queries = load_queries("headwater.accounts")

CREATE = "headwater admin create ann"


@dataclass(frozen=True, slots=True)
class LoginStanding:
    """What the database has to tell callers apart by. `has_logins`: any user, or a token that was not revoked."""

    has_logins: bool
    has_admin: bool


async def standing_of(database: Database) -> LoginStanding:
    row = await database.fetchrow(queries.standing)
    assert row is not None
    return LoginStanding(**dict(row))


@dataclass(frozen=True, slots=True)
class AccountCounts:
    """Users that are not disabled, tokens that hold; and how many of both are admins."""

    users: int
    tokens: int
    admins: int


async def count_accounts(database: Database) -> AccountCounts:
    row = await database.fetchrow(queries.count_accounts)
    assert row is not None
    return AccountCounts(**dict(row))


def is_open(web: WebSettings, standing: LoginStanding) -> bool:
    """Development mode: everybody who reaches it is an admin. Never where others can reach it. Pure."""
    if web.login == "never":
        return is_loopback(web.host)
    return (
        web.login == "auto" and not is_reached_by_others(web) and not web.proxy_user_header and not standing.has_logins
    )


def is_reached_by_others(web: WebSettings) -> bool:
    """Not only by where it listens: under a public name a proxy on this machine brings them."""
    public = urlsplit(web.public_url).hostname if web.public_url else None
    return not is_loopback(web.host) or (public is not None and not is_loopback(public))


def require_consistent(web: WebSettings) -> None:
    """What settings alone can tell. Raises SettingError."""
    if web.login == "never" and not is_loopback(web.host):
        raise SettingError(
            f"web.login is never, and web.host is {web.host}: everybody could do everything.",
            fix="Listen at 127.0.0.1, or leave web.login out.",
        )
    if web.proxy_user_header and not web.trusted_proxies:
        raise SettingError(
            "web.proxy_user_header is set, and no proxy is trusted: anybody could send that header.",
            fix="Name the addresses of your proxies in web.trusted_proxies.",
        )


def require_known_callers(web: WebSettings, standing: LoginStanding) -> None:
    """Where others can reach it somebody must be able to log in. Raises SettingError."""
    require_consistent(web)
    if web.login == "never" or not is_reached_by_others(web) or web.proxy_user_header or standing.has_admin:
        return
    raise SettingError(
        f"The web role at {web.public_url or web.host} can be reached by others, and there is no admin yet.",
        fix=f"Make one: {CREATE}",
    )


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


CookieName = Literal["__Host-headwater", "headwater"]


def is_secure(web: WebSettings) -> bool:
    """Whether cookies travel encrypted only: always, but on this machine alone without https."""
    return web.public_url.startswith("https://") or is_reached_by_others(web)


def cookie_name(web: WebSettings) -> CookieName:
    """Browsers take the first name only from https, for this host alone."""
    return "__Host-headwater" if is_secure(web) else "headwater"
