"""The wishes of a page to robots, in its head and in X-Robots-Tag: for all, or for us by name."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo

from headwater.extraction.dates import moment_from

_LONGEST_HEADER = 4_096
_UNAVAILABLE_AFTER = "unavailable_after"
# Directives with a value are not agents' names, though both are followed by a colon.
_VALUED = frozenset({_UNAVAILABLE_AFTER, "max-snippet", "max-image-preview", "max-video-preview"})


@dataclass(frozen=True, slots=True)
class PageRobots:
    """`noindex`: no document may be made of it. `nofollow`: its links are not ours to follow."""

    noindex: bool = False
    nofollow: bool = False
    unavailable_after: datetime | None = None


def robots_of(
    metas: Iterable[tuple[str, str]], headers: Iterable[str], token: str, zone: tzinfo, now: datetime
) -> PageRobots:
    """`metas` are names and contents of the page's <meta> elements. The strictest word wins."""
    said = words_in_page(metas, token)
    said += words_for_us(headers, token)
    after = _unavailable_after(said, zone)
    return PageRobots(
        noindex=not {"noindex", "none"}.isdisjoint(said) or bool(after and after <= now),
        nofollow=not {"nofollow", "none"}.isdisjoint(said),
        unavailable_after=after,
    )


def words_for_us(headers: Iterable[str], token: str) -> list[str]:
    """The words of X-Robots-Tag that are for everyone or for us by name."""
    return [word for header in headers for word in _for_us(header, token.lower())]


def words_in_page(metas: Iterable[tuple[str, str]], token: str) -> list[str]:
    ours = ("robots", token.lower())
    return [word for name, content in metas if name in ours for word in _words(content)]


def _words(content: str) -> list[str]:
    return [word.strip().lower() for word in content[:_LONGEST_HEADER].split(",")]


def _for_us(header: str, token: str) -> Iterator[str]:
    """An agent's name holds until the next one: `otherbot: noindex, nofollow, headwater: none`."""
    agent = ""
    for word in _words(header):
        name, colon, rest = word.partition(":")
        if colon and name.strip() not in _VALUED and name.strip().replace("-", "").replace("_", "").isalnum():
            agent, directive = name.strip(), rest.strip()
        else:
            directive = word
        if agent in ("", "*", token):
            yield directive


def _unavailable_after(words: list[str], zone: tzinfo) -> datetime | None:
    for place, word in enumerate(words):
        name, _, written = word.partition(":")
        if name.strip() == _UNAVAILABLE_AFTER:
            # A date may hold a comma itself ("Wed, 21 Oct 2026 …"), which split it in two.
            rest = ", ".join([written, *words[place + 1 : place + 2]])
            return moment_from(written, zone) or moment_from(rest, zone)
    return None
