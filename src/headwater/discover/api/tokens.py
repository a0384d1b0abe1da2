"""Access tokens by client credentials (RFC 6749, 4.4): asked for when they are needed, and kept in memory only."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote_plus, urlencode

import orjson
from pydantic import SecretStr

from headwater.clock import Clock
from headwater.discover.api.recipe import Auth
from headwater.discover.api.request import FORM, JSON, ApiRequest, basic_credentials
from headwater.discover.api.secrets import Secrets, echoes_of, fill_placeholders, require_bound

LONGEST_ANSWER_BYTES = 64 * 1024
# Where the answer does not say how long a token holds, and how long before its end it is not used any more.
USUAL_SECONDS = 300.0
LONGEST_SECONDS = 86_400.0
EARLY_SECONDS = 30.0
_CODE = re.compile(r"[a-z_]{1,40}")
_TOKEN = re.compile(r"[\x21-\x7e]{1,16000}")

TokenProblem = TypeVar("TokenProblem")


@dataclass(frozen=True, slots=True)
class Token:
    value: SecretStr
    seconds: float = USUAL_SECONDS


@dataclass(frozen=True, slots=True)
class NoToken:
    """`why` is a sentence without any value in it."""

    why: str


def token_request(auth: Auth, secrets: Secrets) -> ApiRequest:
    """Raises UsageError if a secret is missing, or may not be sent to the server of tokens."""
    require_bound(auth.client_secret_names, auth.token_url, secrets)
    client, secret = fill_placeholders(auth.client_id, secrets), fill_placeholders(auth.client_secret, secrets)
    form = {"grant_type": "client_credentials", "scope": auth.scope, "audience": auth.audience}
    headers = {"Accept": SecretStr(JSON), "Content-Type": SecretStr(FORM)}
    # RFC 6749, 2.3.1: both parts are written as in a form before they are joined.
    sent = basic_credentials(quote_plus(client), quote_plus(secret))
    if auth.client_as == "body":
        form |= {"client_id": client, "client_secret": secret}
    else:
        headers["Authorization"] = SecretStr(f"Basic {sent}")
    body = SecretStr(urlencode({name: text for name, text in form.items() if text}))
    echoes = echoes_of([secret], [sent])
    return ApiRequest(SecretStr(auth.token_url), headers, auth.token_url, echoes, "POST", body)


def token_in(body: bytes) -> Token | NoToken:
    said = _object_in(body)
    value = said.get("access_token")
    if not isinstance(value, str) or not _TOKEN.fullmatch(value):
        return NoToken("The answer of auth.token_url holds no access token.")
    if str(said.get("token_type", "bearer")).lower() != "bearer":
        return NoToken("auth.token_url gives tokens of another type than bearer.")
    return Token(SecretStr(value), _seconds(said.get("expires_in")))


def refusal_in(body: bytes, status: int) -> str:
    """The error's code, where the answer has one (RFC 6749, 5.2), and no other word of it."""
    code = _object_in(body).get("error")
    is_code = isinstance(code, str) and _CODE.fullmatch(code)
    return f"auth.token_url refused the client: HTTP {status}{f', {code}' if is_code else ''}"


def _object_in(body: bytes) -> dict[str, Any]:
    try:
        said = orjson.loads(body) if len(body) <= LONGEST_ANSWER_BYTES else None
    except orjson.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}


def _seconds(stated: object) -> float:
    """Some write the number as a text."""
    try:
        seconds = float(stated) if isinstance(stated, str | int | float) else USUAL_SECONDS
    except ValueError:
        return USUAL_SECONDS
    return min(seconds, LONGEST_SECONDS) if seconds > 0 else USUAL_SECONDS


@dataclass(slots=True)
class Tokens:
    """One token for each client of a server; requests that need the same one wait for the first."""

    clock: Clock
    _known: dict[tuple[str, ...], tuple[Token, float]] = field(default_factory=dict, repr=False)
    _asking: dict[tuple[str, ...], asyncio.Lock] = field(default_factory=dict, repr=False)

    async def token_for(self, auth: Auth, ask: Callable[[], Awaitable[Token | TokenProblem]]) -> Token | TokenProblem:
        """The one that is known and still holds, else a new one."""
        key = _key(auth)
        async with self._asking.setdefault(key, asyncio.Lock()):
            known, until = self._known.get(key, (None, 0.0))
            if known is not None and self.clock.monotonic() < until:
                return known
            self._known.pop(key, None)
            new = await ask()
            if isinstance(new, Token):
                early = min(EARLY_SECONDS, new.seconds / 2)
                self._known[key] = (new, self.clock.monotonic() + new.seconds - early)
            return new

    def knows(self, auth: Auth) -> bool:
        _, until = self._known.get(_key(auth), (None, 0.0))
        return self.clock.monotonic() < until

    def drop(self, auth: Auth, token: Token) -> None:
        """It was refused: the next one who needs a token asks for another."""
        known, _ = self._known.get(_key(auth), (None, 0.0))
        if known is token:
            del self._known[_key(auth)]


def _key(auth: Auth) -> tuple[str, ...]:
    return (auth.token_url, auth.client_id, auth.client_secret, auth.client_as, auth.scope, auth.audience)
