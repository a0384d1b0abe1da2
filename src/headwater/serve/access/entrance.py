"""Who makes a request: by token, by proxy, by session; or anybody, in development mode."""

import re
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from headwater.accounts.passwords import Passwords
from headwater.accounts.protection import CREATE, LoginStanding, cookie_name, is_open, is_secure, standing_of
from headwater.accounts.sessions import Session, Sessions
from headwater.accounts.tokens import TokenStore
from headwater.accounts.users import UserStore
from headwater.clock import Clock, SystemClock
from headwater.database.pool import Database
from headwater.errors import NotFound
from headwater.serve.access.caller import DEVELOPER, Caller, NotIdentified, Proof
from headwater.serve.access.proxies import ProxyRules, came_by_proxy, proxy_rules_of
from headwater.services import Services
from headwater.settings.groups import WebSettings

BEARER = re.compile(r"bearer\s+(\S+)\s*", re.IGNORECASE)
# A first user that another process makes is known here after so long.
LOOKED_AT_SECONDS = 2.0


@dataclass(slots=True)
class Entrance:
    """One for a process. `standing` is what the database said last."""

    database: Database
    web: WebSettings
    passwords: Passwords
    clock: Clock
    proxies: ProxyRules = field(init=False)
    sessions: Sessions = field(init=False)
    tokens: TokenStore = field(init=False)
    _standing: LoginStanding | None = field(default=None, init=False)
    _looked_at: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.proxies = proxy_rules_of(self.web)
        self.tokens = TokenStore(self.database)
        self.sessions = Sessions(self.database, self.passwords, self.web.session_idle, self.web.session_lifetime)

    @property
    def users(self) -> UserStore:
        return UserStore(self.database, self.passwords)

    @property
    def cookie(self) -> str:
        return cookie_name(self.web)

    async def identify(self, headers: Headers, peer: str) -> Caller:
        """Raises NotIdentified."""
        if (token := bearer_in(headers)) is not None:
            return await self._by_token(token)
        if (proxied := self.proxies.caller_in(headers, peer)) is not None:
            return await self._if_not_disabled(proxied)
        session = await self.session_in(headers)
        if session is not None:
            return Caller(session.user, session.role, Proof.SESSION, session)
        return await self._anybody(headers)

    async def session_in(self, headers: Headers) -> Session | None:
        secret = cookie_in(headers, self.cookie)
        return await self.sessions.shown(secret) if secret else None

    async def _by_token(self, secret: str) -> Caller:
        token = await self.tokens.shown(secret)
        if token is None:
            raise NotIdentified("The token is unknown, expired or revoked.", fix="Ask an admin for another one.")
        return Caller(f"token:{token.name}", token.role, Proof.TOKEN)

    async def _if_not_disabled(self, caller: Caller) -> Caller:
        """An account that an admin disabled here is not brought back by a proxy."""
        try:
            known = await self.users.read(caller.name.lower())
        except NotFound:
            return caller
        if known.is_disabled:
            raise NotIdentified("This account is disabled.", fix="Ask an admin to enable it.")
        return caller

    async def _anybody(self, headers: Headers) -> Caller:
        if is_open(self.web, await self._standing_now()):
            if self.web.login != "never" and came_by_proxy(headers):
                raise NotIdentified(
                    "A proxy brought this request, and nobody has to log in yet.", fix=f"Make an admin: {CREATE}"
                )
            return DEVELOPER
        raise NotIdentified(
            "Nothing says who you are, or your login has ended.",
            fix="Send Authorization: Bearer with a token, or log in at /api/v1/login.",
        )

    async def _standing_now(self) -> LoginStanding:
        now = self.clock.monotonic()
        if self._standing is None or now - self._looked_at > LOOKED_AT_SECONDS:
            self._standing, self._looked_at = await standing_of(self.database), now
        return self._standing

    def set_cookie(self, value: str, seconds: int) -> str:
        """As a header; 0 seconds take it away."""
        secure = "; Secure" if is_secure(self.web) else ""
        return f"{self.cookie}={value}; Max-Age={seconds}; Path=/; HttpOnly; SameSite=Lax{secure}"


def entrance_of(services: Services) -> Entrance:
    # By the machine's clock: whatever days are simulated, a person's login is real.
    return Entrance(services.database, services.settings.web, Passwords(services.figures), SystemClock())


def bearer_in(headers: Headers) -> str | None:
    """None where there is none; another scheme is meant for a proxy before us."""
    said = headers.get("authorization")
    if said is None or said.partition(" ")[0].lower() != "bearer":
        return None
    found = BEARER.fullmatch(said)
    return found[1] if found else ""


def cookie_in(headers: Headers, name: str) -> str:
    return cookie_parser(headers.get("cookie", "")).get(name, "")
