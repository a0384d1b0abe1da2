"""Answers that say why a request was not carried out, as errors."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import orjson

from headwater.errors import Busy, DependencyDown, HeadwaterError, NotFound, Outdated, Refused, UsageError

PROBLEM, JSON = "application/problem+json", "application/json"
BAD_REQUEST, FAULT = 400, 500


class ServerProblem(HeadwaterError):
    """The server said no. `status` is that of HTTP, `code` a stable word, `fields` the fields it did not understand;
    `request_id` finds it in the log of the server.
    """

    def __init__(self, status: int, told: Mapping[str, Any]) -> None:
        super().__init__(
            str(told.get("detail") or f"The server answered with status {status}."), fix=str(told.get("fix") or "")
        )
        self.status = status
        self.code = str((told.get("error") or {}).get("code") or "")
        self.fields: list[Mapping[str, str]] = list(told.get("fields") or ())
        self.request_id = str(told.get("request_id") or "")


class RequestNotUnderstood(ServerProblem, UsageError):
    """Status 400, 413, 422 and the like: the same request will never be carried out."""


class NotOnServer(ServerProblem, NotFound):
    """Status 404, and 410 for a place in the log that it no longer reaches back to."""


class NotAllowed(ServerProblem, Refused):
    """Status 401 and 403: the token, its role, or a policy."""


class ChangedMeanwhile(ServerProblem, Outdated):
    """Status 412: with `if_match`, somebody else has changed it since it was read. Read it again, and decide anew."""


class ServerBusy(ServerProblem, Busy):
    """Status 409 and 429: later, perhaps."""


class ServerInTrouble(ServerProblem, DependencyDown):
    """Status 502 to 504: its database, or a proxy before it."""


class ServerAway(DependencyDown):
    """No answer. A request that changes something may have been carried out all the same."""


KINDS: Mapping[int, type[ServerProblem]] = {
    401: NotAllowed,
    403: NotAllowed,
    404: NotOnServer,
    409: ServerBusy,
    410: NotOnServer,
    412: ChangedMeanwhile,
    429: ServerBusy,
    500: ServerProblem,
    502: ServerInTrouble,
    503: ServerInTrouble,
    504: ServerInTrouble,
}


def problem_from(status: int, headers: Mapping[str, str], body: bytes) -> ServerProblem:
    """Also of an answer that some proxy made, and that is no problem+json."""
    kind = KINDS.get(status, RequestNotUnderstood if status < FAULT else ServerProblem)
    if headers.get("location") and status < BAD_REQUEST:
        moved = {"detail": f"The server redirects to {headers['location']}.", "fix": "Give the client that address."}
        return kind(status, moved)
    told: Any = None
    if headers.get("content-type", "").startswith((PROBLEM, JSON)):
        with suppress(orjson.JSONDecodeError):
            told = orjson.loads(body)
    return kind(status, told if isinstance(told, dict) else {})
