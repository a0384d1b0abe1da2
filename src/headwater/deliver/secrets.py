"""Secrets of sinks: options name them, and only the name is stored.

`env:NAME` is a variable of the environment, `file:/path` the first line of a file, `setting:group.name` a setting.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, SecretStr

from headwater.errors import SettingError
from headwater.settings import Settings

_NAMED = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|file:.+|setting:[a-z_]+\.[a-z_]+")

_USUAL_PORTS = {"http": 80, "https": 443, "redis": 6379, "rediss": 6379}


def is_secret_name(text: str) -> bool:
    return _NAMED.fullmatch(text) is not None


def _secret_name(value: str) -> str:
    if value and not is_secret_name(value):
        # Never the value itself: it may be the secret.
        raise ValueError("names a secret as env:NAME or file:/path; the secret itself is never stored")
    return value


def _server_address(value: str) -> str:
    if is_secret_name(value):
        return value
    parts = urlsplit(value)
    if parts.username or parts.password:
        raise ValueError("holds a password: give file:/path or env:NAME, where the whole address stands")
    if parts.scheme not in ("http", "https") or not parts.netloc or not has_port_in_range(parts):
        raise ValueError(
            "should be an address such as http://localhost:9200, or file:/path or env:NAME where one stands"
        )
    return value


def has_port_in_range(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False


SecretName = Annotated[str, AfterValidator(_secret_name)]
ServerAddress = Annotated[str, AfterValidator(_server_address)]


def whole_address(given: str, secret: Callable[[str], str]) -> str:
    """Of a server, with its password where it has one: as given, or as it stands in the secret that was named."""
    return secret(given) if is_secret_name(given) else given


def comparable_address(given: str) -> str:
    """One spelling for the spellings of an address, as far as can be told without asking; a secret's name as it is."""
    if is_secret_name(given):
        return given
    parts = urlsplit(given)
    host = "127.0.0.1" if parts.hostname in ("localhost", "::1") else parts.hostname or ""
    name = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port not in (None, _USUAL_PORTS.get(parts.scheme)) else ""
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{name}{port}{parts.path.rstrip('/')}{query}"


def read_secret(name: str, environment: Mapping[str, str], settings: Settings) -> str:
    """Raises SettingError with the name, never with a value."""
    place, _, rest = name.partition(":")
    if place == "env":
        found = environment.get(rest, "")
    elif place == "file":
        found = _first_line(Path(rest))
    else:
        group, _, field = rest.partition(".")
        value = getattr(getattr(settings, group, None), field, None)
        found = value.get_secret_value() if isinstance(value, SecretStr) else str(value or "")
    if not found:
        raise SettingError(f"The secret {name} is not there.", fix=f"Set it, or name another one: {name} is empty.")
    if not found.isprintable():
        raise SettingError(f"The secret {name} holds a control character.", fix="Write it on one line.")
    return found


def _first_line(file: Path) -> str:
    try:
        if file.stat().st_mode & 0o077:
            raise SettingError(f"Others may read the secret in {file}.", fix=f"Say: chmod 600 {file}")
        return file.read_text("utf-8").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SettingError(f"The secret file:{file} cannot be read: {why}.") from error
