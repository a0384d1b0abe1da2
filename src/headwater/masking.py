"""Errors as `service.mode` lets them be told. Pure.

`prod`: an unforeseen error by its type and its place in our code; PostgreSQL's without the name of the statement and
the lines that quote rows. `dev`: with traceback and names. Secrets are told in neither.
"""

import re
import traceback
from pathlib import Path
from typing import Literal

from headwater.errors import HeadwaterError, QueryFailed

Mode = Literal["dev", "prod"]

_OURS = Path(__file__).parent
# PostgreSQL's further lines: they quote rows and statements.
_DETAILS = re.compile(r"\n\s*(?:DETAIL|HINT|CONTEXT|QUERY|STATEMENT|WHERE):.*", re.DOTALL)
# Bounded, as all that is looked for in texts of others.
_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s\"'<>]{1,1000}|(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9A-Fa-f:.]{2,45}\]|[0-9A-Fa-f]{0,4}(?:::?[0-9A-Fa-f]{1,4}){2,7})(?![\w.]\w)"
)
INTERNAL = "(internal address)"


def fault_in_words(error: BaseException, mode: Mode) -> str:
    """An error that nobody foresaw."""
    if mode == "dev":
        return "".join(traceback.format_exception(error)).rstrip()
    place = place_of(error)
    return f"{type(error).__name__} at {place}" if place else type(error).__name__


def place_of(error: BaseException) -> str:
    """File and line of the last step in our code; never the message, which may quote a page or a row."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).is_relative_to(_OURS)
    ]
    return f"{Path(frames[-1].filename).relative_to(_OURS)}:{frames[-1].lineno}" if frames else ""


def error_in_words(error: HeadwaterError, mode: Mode) -> str:
    """An error that was foreseen: its own sentence."""
    if not isinstance(error, QueryFailed):
        return error.what
    return masked(error.what, error.query) if mode == "prod" else f"{error.what} ({error.sqlstate or 'no SQLSTATE'})"


def masked(what: str, query: str = "") -> str:
    """A sentence of PostgreSQL's for `prod`."""
    named = what.replace(query, "a statement", 1) if query else what
    return without_details(named)


def without_details(text: str) -> str:
    return _DETAILS.sub("", text)


def without_addresses(text: str) -> str:
    """Without addresses of machines that are not public, unless in a URL: the operator or a page wrote that one."""
    return _ADDRESS.sub(lambda found: INTERNAL if _is_internal(found[0].strip("[]")) else found[0], text)


def _is_internal(text: str) -> bool:
    import ipaddress

    try:
        return not ipaddress.ip_address(text).is_global
    except ValueError:
        return False
