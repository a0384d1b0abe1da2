"""The keys that requests are signed with: made, kept in a file that only its owner may read, and replaced in time.

The file is a set of private JSON Web Keys (RFC 8037), of which at most two are valid at a time.
"""

import base64
import os
from binascii import Error as NotBase64
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from headwater.chance import new_id
from headwater.errors import Busy, DependencyDown, NotFound, SettingError, UsageError
from headwater.settings import Settings
from headwater.settings.environment import data_directory

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FILE_NAME = "identity.json"
LARGEST_FILE_BYTES = 16_384
MOST_KEYS = 2
# Directories are read again in an hour, by ours; a day is for verifiers that are slower.
PUBLISHED_BEFORE_USE = timedelta(days=1)
PUBLISHED_AFTER_USE = timedelta(days=1)
_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_ONLY_OWNER = 0o600
_KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class IdentityKey:
    """One pair. `used_from`: from when on it signs; `published_until`: None while nothing replaces it."""

    private: "Ed25519PrivateKey" = field(repr=False)
    public: bytes
    used_from: datetime
    published_until: datetime | None = None

    @property
    def thumbprint(self) -> str:
        """Of RFC 7638 and 8037: the name of a key."""
        return as_base64url(sha256(b'{"crv":"Ed25519","kty":"OKP","x":"%b"}' % self._x.encode()).digest())

    @property
    def _x(self) -> str:
        return as_base64url(self.public)

    def is_published_at(self, now: datetime) -> bool:
        return self.published_until is None or self.published_until > now

    def sign(self, message: bytes) -> bytes:
        return self.private.sign(message)

    def as_public_jwk(self) -> dict[str, str | int]:
        times = {"nbf": int(self.used_from.timestamp())}
        if self.published_until:
            times["exp"] = int(self.published_until.timestamp())
        return {"kty": "OKP", "crv": "Ed25519", "x": self._x, "kid": self.thumbprint, "use": "sig", **times}

    def as_private_jwk(self) -> dict[str, str | int]:
        return {**self.as_public_jwk(), "d": as_base64url(self.private.private_bytes_raw())}


@dataclass(frozen=True, slots=True)
class KeyRing:
    """By when they are used, oldest first; never empty."""

    keys: tuple[IdentityKey, ...]

    def signing_at(self, now: datetime) -> IdentityKey:
        """The newest that may be used; by a clock that is far behind, the oldest."""
        usable = [key for key in self.keys if key.used_from <= now]
        return usable[-1] if usable else self.keys[0]

    def published_at(self, now: datetime) -> tuple[IdentityKey, ...]:
        """A key that signs is never left out, whatever the clock says."""
        signing = self.signing_at(now)
        return tuple(key for key in self.keys if key is signing or key.is_published_at(now))

    def rotated(self, now: datetime, new: IdentityKey) -> "KeyRing":
        """With a key that is published now and used a day later; the one before stays published a day longer."""
        valid = self.published_at(now)
        if len(valid) >= MOST_KEYS:
            ends = max((key.published_until for key in valid if key.published_until), default=None)
            fix = f"Come again after {ends:%Y-%m-%d %H:%M} UTC" if ends else "Come again in two days"
            raise Busy("Two keys are valid: the last change is not over yet.", fix=f"{fix}, or say --at-once.")
        used_from = now + PUBLISHED_BEFORE_USE
        last = replace(valid[-1], published_until=used_from + PUBLISHED_AFTER_USE)
        return KeyRing((*valid[:-1], last, replace(new, used_from=used_from)))


def identity_file(settings: Settings) -> Path:
    named = settings.identity.key_file
    return named.expanduser().absolute() if named else data_directory(settings.service.data_dir) / FILE_NAME


def new_key(now: datetime) -> IdentityKey:
    private = _ed25519().generate()
    return IdentityKey(private, private.public_key().public_bytes_raw(), now)


def read_keys(file: Path) -> KeyRing:
    """Never with a word of what stands in it."""
    text = _text_of(file)
    try:
        keys = sorted(map(_key_from, orjson.loads(text)["keys"]), key=lambda key: key.used_from)
        if not 0 < len(keys) <= MOST_KEYS:
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, NotBase64):
        raise SettingError(
            f"The identity in {file} is damaged: it is no set of one or two Ed25519 keys.",
            fix="Restore it from a copy; or remove it and say: headwater identity init",
        ) from None
    return KeyRing(tuple(keys))


def _text_of(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            if os.fstat(opened.fileno()).st_mode & 0o077:
                raise SettingError(f"Others may read the key in {file}.", fix=f"Say: chmod 600 {file}")
            return opened.read(LARGEST_FILE_BYTES)
    except FileNotFoundError:
        raise NotFound(
            f"There is no identity yet: {file} does not exist.", fix="Make one: headwater identity init"
        ) from None
    except OSError as error:
        raise SettingError(
            f"The identity in {file} cannot be read: {error.strerror}.",
            fix="Let the user that Headwater runs as own that file, or correct identity.key_file.",
        ) from None


def _key_from(jwk: Mapping[str, Any]) -> IdentityKey:
    """Raises ValueError, KeyError or TypeError."""
    private = _ed25519().from_private_bytes(_from_base64url(jwk["d"]))
    public = private.public_key().public_bytes_raw()
    if (jwk["kty"], jwk["crv"], jwk["x"]) != ("OKP", "Ed25519", as_base64url(public)):
        raise ValueError
    until = jwk.get("exp")
    return IdentityKey(private, public, _moment(jwk["nbf"]), None if until is None else _moment(until))


def _moment(seconds: object) -> datetime:
    if type(seconds) is not int or not 0 <= seconds < 2**33:
        raise ValueError
    return datetime.fromtimestamp(seconds, UTC)


def write_keys(file: Path, ring: KeyRing, *, is_new: bool) -> None:
    """Whole or not at all; nobody else may read it at any moment. `is_new`: never in the place of another."""
    if is_new and file.exists():
        fix = "Show it with `headwater identity show`, or replace its key with `headwater identity rotate`."
        raise UsageError(f"There is an identity already: {file}. Nothing was written.", fix=fix)
    text = orjson.dumps({"keys": [key.as_private_jwk() for key in ring.keys]}, option=orjson.OPT_INDENT_2)
    beside = file.with_name(f".{file.name[:100]}.{new_id().hex}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(beside, _FRESH, _ONLY_OWNER), "wb") as opened:
            opened.write(text + b"\n")
            opened.flush()
            os.fsync(opened.fileno())
        if is_new:
            # Of two that make one at the same time, the second fails.
            os.link(beside, file)
        else:
            beside.replace(file)
    except OSError as error:
        raise SettingError(
            f"The identity cannot be written to {file}: {error.strerror}.",
            fix="Name a place that you may write to in identity.key_file or service.data_dir.",
        ) from None
    finally:
        with suppress(OSError):
            beside.unlink()


def as_base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _from_base64url(text: object) -> bytes:
    if not isinstance(text, str):
        raise TypeError
    value = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if len(value) != _KEY_BYTES:
        raise ValueError
    return value


def _ed25519() -> "type[Ed25519PrivateKey]":
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError as error:
        raise DependencyDown(
            "Requests cannot be signed: the package cryptography is not installed.",
            fix="Install it: pip install 'headwater[identity]'",
        ) from error
    return Ed25519PrivateKey
