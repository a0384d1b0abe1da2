"""Requests that prove who makes them: Web Bot Auth (draft-ietf-webbotauth-httpsig-protocol) over RFC 9421.

The functions are pure; `RequestSigner` keeps what one process has signed.
"""

import base64
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import orjson

from headwater.chance import new_secret
from headwater.clock import Clock
from headwater.errors import DependencyDown, NotFound, SettingError, as_fields
from headwater.log import Logger
from headwater.net.head import header_lines
from headwater.net.keys import IdentityKey, KeyRing, read_keys

LABEL = "sig1"
REQUEST_TAG, DIRECTORY_TAG = "web-bot-auth", "http-message-signatures-directory"
DIRECTORY_PLACE = "/.well-known/http-message-signatures-directory"
DIRECTORY_TYPE = "application/http-message-signatures-directory+json"
# One signature serves a host for so long. It is valid a little longer on both sides: clocks differ, and a request may
# wait for its slot.
SERVES = timedelta(hours=1)
BEFORE, AFTER = timedelta(seconds=10), timedelta(minutes=10)
DIRECTORY_VALID = timedelta(days=1)
DIRECTORY_CACHED = timedelta(hours=1)
# A key that was replaced at once is not used for longer.
LOOKED_AGAIN_S = 60.0
MOST_HOSTS = 10_000

AgentForm = Literal["dictionary", "string"]


def agent_origin(public_url: str) -> str:
    """As `Signature-Agent` names us: an origin over https, or the reason why there is none."""
    parts = urlsplit(public_url)
    if parts.scheme != "https" or not parts.hostname:
        raise SettingError(
            "Requests cannot be signed: verifiers fetch the keys under web.public_url, and that is no https address.",
            fix="Set web.public_url to the https address of the web role, or identity.sign = false.",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = "" if parts.port in (None, 443) else f":{parts.port}"
    return f"https://{host}{port}"


def authority_of(origin: str) -> str:
    """RFC 9421 2.2.3: in small letters, without the usual port."""
    return origin.partition("://")[2]


def quoted(text: str) -> str:
    """A string of RFC 9651; ours hold neither quotes nor backslashes."""
    return f'"{text}"'


def signature_params(
    components: str, key: IdentityKey, created: datetime, expires: datetime, tag: str, nonce: str = ""
) -> str:
    times = f"created={int(created.timestamp())};expires={int(expires.timestamp())}"
    unique = f";nonce={quoted(nonce)}" if nonce else ""
    return f"({components});{times};keyid={quoted(key.thumbprint)}{unique};tag={quoted(tag)}"


def signature_base(covered: Mapping[str, str], params: str) -> bytes:
    """RFC 9421 2.5: what is signed. `covered`: by identifier, as it stands in the parameters."""
    lines = (*(f"{name}: {value}" for name, value in covered.items()), f'"@signature-params": {params}')
    return "\n".join(lines).encode("ascii")


def signed_headers(
    key: IdentityKey, agent: str, authority: str, now: datetime, form: AgentForm = "dictionary", nonce: str = ""
) -> dict[str, str]:
    """The three headers that serve every request to `authority`, for `SERVES` from now."""
    named = quoted(agent)
    member = f'"signature-agent";key={quoted(LABEL)}' if form == "dictionary" else '"signature-agent"'
    covered = {'"@authority"': authority, member: named}
    params = signature_params(" ".join(covered), key, now - BEFORE, now + SERVES + AFTER, REQUEST_TAG, nonce)
    return {
        "Signature-Agent": f"{LABEL}={named}" if form == "dictionary" else named,
        "Signature-Input": f"{LABEL}={params}",
        "Signature": f"{LABEL}={as_bytes_item(key.sign(signature_base(covered, params)))}",
    }


def as_bytes_item(value: bytes) -> str:
    return f":{base64.b64encode(value).decode()}:"


@dataclass(frozen=True, slots=True)
class KeyDirectory:
    body: bytes
    headers: Mapping[str, str]


def key_directory(ring: KeyRing, authority: str, now: datetime) -> KeyDirectory:
    """What verifiers read: all keys that are valid, and for each the proof that we hold it."""
    keys = ring.published_at(now)
    body = orjson.dumps({"keys": [key.as_public_jwk() for key in keys]})
    digest = f"sha-256={as_bytes_item(sha256(body).digest())}"
    covered = {'"@authority";req': authority, '"content-digest"': digest}
    inputs, proofs = [], []
    for number, key in enumerate(keys, 1):
        params = signature_params(" ".join(covered), key, now - BEFORE, now + DIRECTORY_VALID, DIRECTORY_TAG)
        inputs.append(f"sig{number}={params}")
        proofs.append(f"sig{number}={as_bytes_item(key.sign(signature_base(covered, params)))}")
    return KeyDirectory(
        body,
        {
            "content-digest": digest,
            "signature-input": ", ".join(inputs),
            "signature": ", ".join(proofs),
            "cache-control": f"public, max-age={DIRECTORY_CACHED.total_seconds():.0f}",
        },
    )


@dataclass(frozen=True, slots=True)
class _Signed:
    at: datetime
    lines: Mapping[str, str] = field(repr=False)

    def serves_at(self, now: datetime) -> bool:
        # A clock that was set back would make a signature of the future.
        return self.at <= now < self.at + SERVES


@dataclass(slots=True)
class KeyFile:
    """The keys as the file has them; one that is broken while we run changes nothing, and is told once."""

    file: Path
    clock: Clock
    log: Logger
    ring: KeyRing = field(init=False)
    _sign: tuple[int, ...] = field(init=False)
    _looked_at: float = field(init=False)

    def __post_init__(self) -> None:
        self.ring = read_keys(self.file)
        self._sign, self._looked_at = self._sign_of_change(), self.clock.monotonic()

    def has_changed(self) -> bool:
        """Looked at once a minute."""
        now = self.clock.monotonic()
        if now - self._looked_at < LOOKED_AGAIN_S:
            return False
        self._looked_at, before = now, self._sign
        self._sign = self._sign_of_change()
        if self._sign == before:
            return False
        try:
            self.ring = read_keys(self.file)
        except (NotFound, SettingError, DependencyDown) as error:
            self.log.warning("identity_not_read", **as_fields(error))
            return False
        return True

    def _sign_of_change(self) -> tuple[int, ...]:
        try:
            found = self.file.stat()
        except OSError:
            return ()
        return found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode


@dataclass(slots=True)
class RequestSigner:
    """`is_once`: a signature for each request, with a nonce; else one serves a host for an hour."""

    keys: KeyFile
    agent: str
    form: AgentForm = "dictionary"
    is_once: bool = False
    nonce: Callable[[], str] = new_secret
    most_hosts: int = MOST_HOSTS
    _signed: OrderedDict[str, _Signed] = field(default_factory=OrderedDict, init=False)

    def lines_for(self, authority: str) -> Mapping[str, str]:
        """Of the head of a request over https to `authority`, which is what its Host says."""
        if self.keys.has_changed():
            self._signed.clear()
        now = self.keys.clock.now()
        known = self._signed.get(authority)
        if known is not None and known.serves_at(now):
            return known.lines
        key = self.keys.ring.signing_at(now)
        nonce = self.nonce() if self.is_once else ""
        lines = header_lines(signed_headers(key, self.agent, authority, now, self.form, nonce))
        if not self.is_once:
            self._keep(authority, _Signed(now, lines))
        return lines

    def _keep(self, authority: str, signed: _Signed) -> None:
        self._signed[authority] = signed
        self._signed.move_to_end(authority)
        if len(self._signed) > self.most_hosts:
            self._signed.popitem(last=False)
