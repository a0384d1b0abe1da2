"""What a simulated site is asked and what it says, before HTTP dresses it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    host: str  # lower-case, without port
    path: str  # as sent, percent-encoding and all
    query: str  # without the question mark
    headers: Mapping[str, str]  # names lower-case
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Page:
    """The resource itself. Validators, encodings, ranges and HEAD are the server's business."""

    body: bytes
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    last_modified: datetime | None = None
    cache_control: str = ""


class Site(Protocol):
    """One host of the simulated web."""

    def page(self, request: Request, now: datetime) -> Page | None:
        """What this path holds at this simulated moment; None is a 404."""
        ...
