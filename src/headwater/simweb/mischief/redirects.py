"""Redirects that lead nowhere good."""

from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import parse_qs

from pydantic import Field

from headwater.simweb.message import Page
from headwater.simweb.mischief.replies import NamedValues, message_page
from headwater.simweb.mischief.stage import OtherPage, Scene

RedirectCode = Literal[301, 302, 303, 307, 308]


@dataclass(frozen=True, slots=True)
class Redirect(OtherPage):
    """To any address at all, or with a Location that is absent, empty, double or far too long."""

    to: str = "/"
    code: RedirectCode = 302
    location: Literal["plain", "absent", "empty", "two", "huge"] = "plain"

    def page(self, scene: Scene) -> Page:
        return message_page(self.code, "Moved.", self._locations())

    def _locations(self) -> NamedValues:
        match self.location:
            case "plain":
                return (("Location", self.to),)
            case "absent":
                return ()
            case "empty":
                return (("Location", ""),)
            case "two":
                return (("Location", self.to), ("Location", self.to + "?second"))
            case "huge":
                return (("Location", "/" + "x" * 100_000),)


@dataclass(frozen=True, slots=True)
class RedirectChain(OtherPage):
    """`hops` redirects and then the page; without `hops` it never ends."""

    hops: Annotated[int, Field(ge=0)] | None = None
    code: RedirectCode = 302

    def page(self, scene: Scene) -> Page:
        hop = hop_of(scene)
        if self.hops is not None and hop >= self.hops:
            return scene.page
        return message_page(self.code, "Further on.", (("Location", f"{scene.request.path}?hop={hop + 1}"),))


@dataclass(frozen=True, slots=True)
class RedirectLoop(OtherPage):
    """A circle of `length` addresses; a length of 1 points at itself."""

    length: Annotated[int, Field(gt=0)] = 2
    code: RedirectCode = 302

    def page(self, scene: Scene) -> Page:
        following = (hop_of(scene) + 1) % self.length
        target = scene.request.path + (f"?hop={following}" if following else "")
        return message_page(self.code, "Round and round.", (("Location", target),))


def hop_of(scene: Scene) -> int:
    """The hop number our own Location carried; anything else is hop 0."""
    written = parse_qs(scene.request.query).get("hop", ["0"])[0]
    return int(written) if written.isascii() and written.isdigit() and len(written) < 10 else 0


KINDS = (Redirect, RedirectChain, RedirectLoop)
