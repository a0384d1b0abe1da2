"""`{{SECRET:NAME}}` in a mapping: a secret's name is stored, its value is put in when a request is made."""

import re

from headwater.discover.api.secrets import MASK, Secrets
from headwater.errors import UsageError

_PLACEHOLDER = re.compile(r"\{\{\s*SECRET:([A-Za-z][A-Za-z0-9_]{0,63})\s*\}\}")


def secrets_in(text: str) -> tuple[str, ...]:
    """The names of the secrets a text needs."""
    return tuple(_PLACEHOLDER.findall(text))


def mask_placeholders(text: str) -> str:
    return _PLACEHOLDER.sub(MASK, text)


def fill_placeholders(text: str, secrets: Secrets) -> str:
    """Raises UsageError naming a secret that is not set, or that cannot stand in a request."""
    return _PLACEHOLDER.sub(lambda found: _value_of(found[1], secrets), text)


def _where_missing(secrets: Secrets) -> str:
    return "poll.secrets_file has no line for it" if secrets else "poll.secrets_file names no file, or an empty one"


def _value_of(name: str, secrets: Secrets) -> str:
    if name not in secrets:
        raise UsageError(
            f"The secret {name} is not set: {_where_missing(secrets)}.",
            fix=f"Write {name}@https://host=value there, or take {{{{SECRET:{name}}}}} out of the mapping.",
        )
    value = secrets[name].value.get_secret_value()
    if not value or not value.isprintable():
        raise UsageError(f"The secret {name} is empty or holds a line break or control character.")
    return value
