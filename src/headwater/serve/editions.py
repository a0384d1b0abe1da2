"""`If-Match`: a change says which edition of a thing it was made from, and is refused, 412, over a newer one.

The tag of an answer is `W/"EDITION.BODY"`: what people can set, and the whole answer. Polls change the second alone, so
that a source which was polled meanwhile can still be saved.
"""

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, Request, Response

from headwater.editions import KnownEditions
from headwater.errors import UsageError

HEADER = "if-match"
LONGEST, MOST = 2_000, 20


def editions_in(text: str) -> KnownEditions:
    """Of the header; a star is any edition. Weak tags count: compressed or not, the settings are the same. Pure."""
    if text.strip() == "*":
        return None
    tags = [one.strip().removeprefix("W/").strip('"') for one in text.split(",")[:MOST]]
    return frozenset(tag.partition(".")[0] for tag in tags if tag)


def _known_editions(request: Request) -> KnownEditions:
    text = request.headers.get(HEADER)
    if text is not None and len(text) > LONGEST:
        raise UsageError("This If-Match is too long.", fix="Give the ETag of one answer.")
    return None if text is None else editions_in(text)


IfMatch = Annotated[KnownEditions, Depends(_known_editions)]


def tagged(response: Response, edition: str) -> None:
    """The answer tells its edition; of a read the whole tag is made when its body is known."""
    response.headers["etag"] = f'W/"{edition}"'


def edition_in(headers: Mapping[str, str]) -> str:
    """Of an answer that tells it; empty otherwise. Pure."""
    return headers.get("etag", "").removeprefix("W/").strip('"').partition(".")[0]
