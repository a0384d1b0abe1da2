"""What an answer's head says that matters for the next poll. Pure."""

from collections.abc import Iterator
from typing import Any

from headwater.net.caching import freshness, max_age
from headwater.net.transport import Response
from headwater.net.validators import Validators
from headwater.settings.groups import PollSettings
from headwater.urls.canonical import CanonicalUrl


def hints_of(
    response: Response, validators: Validators, moved_to: CanonicalUrl | None, settings: PollSettings
) -> dict[str, Any]:
    """Fit for JSON. Validators only where there are some: a 304 need not repeat them."""
    told: dict[str, Any] = {"status": response.status}
    told |= {"etag": validators.etag} if validators.etag else {}
    told |= {"last_modified": validators.last_modified} if validators.last_modified else {}
    if moved_to is not None:
        told["moved_to"] = moved_to.url
    if settings.respect_cache_control:
        declared = max_age(response.headers.get("Cache-Control", ""))
        told["max_age"] = None if declared is None else declared.total_seconds()
        told["fresh_for"] = freshness(_pairs(response), response.at).total_seconds()
    return told


def _pairs(response: Response) -> Iterator[tuple[str, str]]:
    return ((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers)
