"""Values of audit.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any, TypedDict


class AuditLineShape(TypedDict):
    """Its fields:

    `actor`: A user, `token:` and its name, `developer`, or `command line`.
    `role`: At that time; nothing for a login that was refused.
    `proof`: session, token, proxy, development, command line, or none.
    `target`: The path that was asked for.
    `status`: Of the answer.
    `details`: What was asked for, cut and without secrets.
    """

    id: int
    at: str
    actor: str
    role: str | None
    proof: str
    action: str
    target: str
    status: int
    request_id: str
    address: str
    details: dict[str, Any]


class AuditList(TypedDict):
    audit: list[AuditLineShape]
    cursor: str | None
