"""Values of templates.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import Any, TypedDict


class LearnedHost(TypedDict):
    """Its fields:

    `pages`: Stored pages that can teach.
    `known`: What the templates in use know.
    """

    host: str
    status: str
    pages: int
    fresh: int
    failures: int
    pages_wanted: int | None
    versions: list[dict[str, Any]]
    known: list[dict[str, Any]]
    events: list[dict[str, Any]]


class LearningHost(TypedDict):
    """A host: how far its learning is, and its templates.

    `pages`: Stored pages that can teach.
    """

    host: str
    status: str
    pages: int
    fresh: int
    failures: int
    pages_wanted: int | None
    versions: list[dict[str, Any]]


class LearningHosts(TypedDict):
    hosts: list[LearningHost]
    cursor: str | None
