"""Secrets of APIs: from a file of our own, each bound to the origins that it may be sent to.

A mapping has `{{SECRET:NAME}}`: the name is stored, the value is put in when a request is made.
"""

import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import orjson
from pydantic import SecretStr

from headwater.errors import SettingError, UrlRejected, UsageError
from headwater.urls.canonical import canonicalise
from headwater.urls.origin import Origin

MASK = "***"
# Shorter ones stand in ordinary words.
SHORTEST_MASKED = 4
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_ESCAPE = re.compile("%[0-9A-F]{2}")
_HOW = "NAME@https://host=value"

_PLACEHOLDER = re.compile(r"\{\{\s*SECRET:([A-Za-z][A-Za-z0-9_]{0,63})\s*\}\}")


class SecretRefused(UsageError):
    """A secret is missing, cannot stand in a request, or may not be sent to its place."""


@dataclass(frozen=True, slots=True)
class Secret:
    value: SecretStr
    origins: frozenset[Origin] = frozenset()


Secrets = Mapping[str, Secret]


def secrets_from(file: Path | None) -> dict[str, Secret]:
    """Lines of NAME@https://host=value; `#` begins a comment."""
    if file is None:
        return {}
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SettingError(
            f"The file of secrets {file} cannot be read: {why}.",
            fix="Make that file, or correct poll.secrets_file: without it no secret is bound to any host.",
        ) from error
    if file.stat().st_mode & 0o077:
        raise SettingError(f"Others may read the secrets in {file}.", fix=f"Say: chmod 600 {file}")
    try:
        return read_secrets(text)
    except ValueError as error:
        raise SettingError(f"The file of secrets {file} has {error}.", fix=f"Write {_HOW}, one on a line.") from None


def read_secrets(text: str) -> dict[str, Secret]:
    """Raises ValueError with the end of a sentence, without any value in it."""
    found: dict[str, Secret] = {}
    for number, line in enumerate(text.splitlines(), 1):
        written = line.strip()
        if not written or written.startswith("#"):
            continue
        head, equals, value = written.partition("=")
        name, at, places = head.strip().partition("@")
        if not equals or not _NAME.fullmatch(name):
            raise ValueError(f"no secret's name on line {number}")
        if name in found:
            raise ValueError(f"{name} a second time on line {number}")
        origins = frozenset(_origin(place, number) for place in places.split(",")) if at else frozenset()
        found[name] = Secret(SecretStr(value.strip()), origins)
    return found


def _origin(text: str, number: int) -> Origin:
    try:
        place = canonicalise(text.strip())
    except UrlRejected:
        place = None
    if place is None or place.target != "/":
        raise ValueError(f"no origin such as https://host or https://host:8443 after the @ on line {number}")
    return place.origin


def require_bound(names: Iterable[str], url: str, secrets: Secrets) -> None:
    """Raises UsageError for a secret that may not be sent to `url`. One that is not set yet harms nobody."""
    origin = canonicalise(url).origin
    for name in sorted(names):
        secret = secrets.get(name)
        origins = secret.origins if secret else frozenset()
        if origin in origins:
            continue
        if origin.scheme != "https" and secret is None:
            raise SecretRefused(
                f"The secret {name} is not set: no line of the file that poll.secrets_file names has it. Secrets go "
                f"over https only; for a host of your own network write {name}@{origin}=… there."
            )
        if origin.scheme != "https":
            raise SecretRefused(
                f"The secret {name} would be sent to {origin} unencrypted: secrets go over https only. Give the API's "
                f"https address; for a host of your own network write {name}@{origin}=… in poll.secrets_file."
            )
        if secret is not None:
            bound = f"bound to {', '.join(sorted(map(str, origins)))}" if origins else "bound to no origin"
            raise SecretRefused(
                f"The secret {name} is {bound}, and is not sent to {origin}. If it belongs there, write "
                f"{name}@{','.join(sorted(map(str, origins | {origin})))}=… in poll.secrets_file."
            )


@dataclass(frozen=True, slots=True)
class Echoes:
    """The texts by which an answer may repeat a secret, and their masking."""

    texts: frozenset[str] = field(default=frozenset(), repr=False)
    _pattern: re.Pattern[str] | None = field(init=False, repr=False, compare=False)
    _bytes_pattern: re.Pattern[bytes] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        longest_first = sorted(self.texts, key=lambda one: (-len(one), one))
        pattern = "|".join(_ESCAPE.sub(r"(?i:\g<0>)", re.escape(one)) for one in longest_first)
        object.__setattr__(self, "_pattern", re.compile(pattern) if pattern else None)
        object.__setattr__(self, "_bytes_pattern", re.compile(pattern.encode()) if pattern else None)

    def __bool__(self) -> bool:
        return bool(self.texts)

    def are_in(self, text: str) -> bool:
        return self._pattern is not None and self._pattern.search(text) is not None

    def masked(self, text: str) -> str:
        # Without the letter that is left out of everything we store: the rest would stand together again.
        return self._pattern.sub(MASK, text.replace("\0", "")) if self._pattern else text

    def masked_bytes(self, body: bytes) -> bytes:
        return self._bytes_pattern.sub(MASK.encode(), body) if self._bytes_pattern else body

    def masked_json(self, body: bytes) -> bytes:
        """However its strings are escaped. Text that is no JSON is masked as it stands."""
        try:
            document = orjson.loads(body)
            plain = orjson.dumps(document).replace(b"\\u0000", b"")
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            # What is nested too deeply to be written is no list of items.
            return self.masked_bytes(body)
        # Only where it is needed: written anew, a document loses what is wrong with it.
        return body if self.masked_bytes(plain) == plain else orjson.dumps(self._masked_values(document))

    def _masked_values(self, document: Any) -> Any:
        """Value by value: a key of digits may stand in a number. Without recursion, JSON may be deep."""
        root = [document]
        boxes: list[Any] = [root]
        while boxes:
            box = boxes.pop()
            pairs = list(box.items() if isinstance(box, dict) else enumerate(box))
            if isinstance(box, dict):
                box.clear()
            for name, value in pairs:
                is_box = isinstance(value, dict | list)
                box[self.masked(name) if isinstance(name, str) else name] = value if is_box else self._masked(value)
                if is_box:
                    boxes.append(value)
        return root[0]

    def _masked(self, value: Any) -> Any:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and str(value) in self.texts:
            return MASK
        return self.masked(value) if isinstance(value, str) else value


def echoes_of(secrets: Collection[str], sent: Iterable[str] = ()) -> Echoes:
    """`sent` are whole credentials that were made of secrets, such as those of basic authentication."""
    plain = [value for value in secrets if len(value) >= SHORTEST_MASKED]
    texts = {form for value in plain for form in _spellings(value)} | {one for one in sent if one}
    return Echoes(frozenset(texts))


def _spellings(value: str) -> Iterable[str]:
    yield from {value, escape(value), quote(value, safe=""), quote(value), quote_plus(value), _in_query(value)}
    yield from {orjson.dumps(value).decode()[1:-1], value.replace("/", "\\/")}
    encoded = b64encode(value.encode()).decode()
    yield from {encoded, encoded.rstrip("="), quote(encoded, safe="")}
    yield from {"".join(f"%{octet:{form}}" for octet in value.encode()) for form in ("02X", "02x")}


def _in_query(value: str) -> str:
    """As the URLs that we store spell it in a query."""
    try:
        return canonicalise(f"https://h/?q={quote(value, safe='')}").url.partition("=")[2]
    except UrlRejected:
        return value


def secrets_in(text: str) -> tuple[str, ...]:
    """The names of the secrets a text needs."""
    return tuple(_PLACEHOLDER.findall(text))


def mask_placeholders(text: str) -> str:
    return _PLACEHOLDER.sub(MASK, text)


def fill_placeholders(text: str, secrets: Secrets) -> str:
    """Raises SecretRefused naming a secret that is not set, or that cannot stand in a request."""
    return _PLACEHOLDER.sub(lambda found: _value_of(found[1], secrets), text)


def _where_missing(secrets: Secrets) -> str:
    return "poll.secrets_file has no line for it" if secrets else "poll.secrets_file names no file, or an empty one"


def _value_of(name: str, secrets: Secrets) -> str:
    if name not in secrets:
        raise SecretRefused(
            f"The secret {name} is not set: {_where_missing(secrets)}.",
            fix=f"Write {name}@https://host=value there, or take {{{{SECRET:{name}}}}} out of the mapping.",
        )
    value = secrets[name].value.get_secret_value()
    if not value or not value.isprintable():
        raise SecretRefused(f"The secret {name} is empty or holds a line break or control character.")
    return value
