"""Well-framed answers that are not what was asked for: statuses, throttling, headers and content types."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field

from headwater.simweb.dressing import answer
from headwater.simweb.message import Page
from headwater.simweb.mischief.stage import Mischief, OtherPage, Scene, Send, Steps
from headwater.simweb.negotiation import http_date

Code = Annotated[int, Field(ge=200, le=999)]
NamedValues = tuple[tuple[str, str], ...]


def message_page(status: int, text: str, headers: NamedValues = ()) -> Page:
    return Page(f"<!doctype html><title>{status}</title><p>{text}</p>".encode(), status=status, headers=headers)


@dataclass(frozen=True, slots=True)
class Status(OtherPage):
    """Any status with any headers."""

    code: Code = 500
    headers: NamedValues = ()

    def page(self, scene: Scene) -> Page:
        return message_page(self.code, f"The site answers {self.code}.", self.headers)


@dataclass(frozen=True, slots=True)
class Throttle(OtherPage):
    """Too many requests, come back in `seconds`: told in seconds, as a date, or in `words` of any kind."""

    seconds: float = 60
    told_as: Literal["seconds", "date", "words", "nothing"] = "seconds"
    words: str = "soon"
    code: Code = 429

    def page(self, scene: Scene) -> Page:
        return message_page(self.code, "Slow down.", self._headers(scene))

    def _headers(self, scene: Scene) -> NamedValues:
        match self.told_as:
            case "seconds":
                return (("Retry-After", f"{self.seconds:.0f}"),)
            case "date":
                return (("Retry-After", http_date(scene.now + timedelta(seconds=self.seconds))),)
            case "words":
                return (("Retry-After", self.words),)
            case "nothing":
                return ()


@dataclass(frozen=True, slots=True)
class Flapping(OtherPage):
    """The statuses of `pattern` in turn, over and over; 200 is the page as it should be."""

    pattern: Annotated[tuple[Code, ...], Field(min_length=1)] = (503, 503, 200)

    def page(self, scene: Scene) -> Page:
        code = self.pattern[scene.nth % len(self.pattern)]
        return scene.page if code == 200 else message_page(code, "Now and then.")


@dataclass(frozen=True, slots=True)
class SoftMissing(OtherPage):
    """A friendly 200 to anything, though there is nothing."""

    text: str = "Sorry, we could not find that page. Here is our home page instead."

    def page(self, scene: Scene) -> Page:
        return message_page(200, self.text)


@dataclass(frozen=True, slots=True)
class ExtraHeaders(OtherPage):
    """The right page with further headers: X-Robots-Tag, Refresh, Link, Age, a 1 MB ETag …"""

    headers: NamedValues = (("X-Robots-Tag", "noindex"),)

    def page(self, scene: Scene) -> Page:
        return replace(scene.page, headers=(*scene.page.headers, *self.headers))


@dataclass(frozen=True, slots=True)
class WithoutHeaders(Mischief):
    """The right page lacking some headers, such as its validators."""

    names: tuple[str, ...] = ("etag", "last-modified")

    def play(self, scene: Scene) -> Steps:
        unwanted = {name.lower() for name in self.names} | {"content-length"}
        full = scene.answer
        kept = tuple(pair for pair in full.headers if pair[0].lower() not in unwanted)
        yield Send(answer(full.status, kept, full.body).wire(scene.date))


@dataclass(frozen=True, slots=True)
class StuckValidators(OtherPage):
    """The right page under one ETag for ever, so that whoever names it is told of no change."""

    etag: str = '"for-ever"'

    def page(self, scene: Scene) -> Page:
        kept = tuple(pair for pair in scene.page.headers if pair[0].lower() != "etag")
        return replace(scene.page, headers=(*kept, ("ETag", self.etag)), last_modified=None)


@dataclass(frozen=True, slots=True)
class ContentType(OtherPage):
    """The right bytes under another content type, or (`sample`) other bytes under the right one."""

    says: str = ""
    sample: Literal["", "png", "elf", "zip", "pdf"] = ""

    def page(self, scene: Scene) -> Page:
        page = replace(scene.page, content_type=self.says) if self.says else scene.page
        return replace(page, body=_SAMPLES[self.sample] * 64) if self.sample else page


_SAMPLES = {
    "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "elf": b"\x7fELF\x02\x01\x01\0",
    "zip": b"PK\x03\x04\x14\0\0\0",
    "pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
}


@dataclass(frozen=True, slots=True)
class Charset(OtherPage):
    """The page's text written in one charset and declared as another (any word: no codec need exist)."""

    declared: str = "utf-8"
    really: Literal["utf-8", "iso-8859-1", "windows-1251", "utf-16-le", "utf-7", "invalid", "nul"] = "iso-8859-1"

    def page(self, scene: Scene) -> Page:
        kind = scene.page.content_type.partition(";")[0]
        return replace(scene.page, body=self._body(scene), content_type=f"{kind}; charset={self.declared}")

    def _body(self, scene: Scene) -> bytes:
        if self.really == "invalid":
            return scene.page.body + b"\xff\xfe\xed\xa0\x80\xc0\xaf" * 1000
        if self.really == "nul":
            return scene.page.body.replace(b" ", b" \0")
        # The added word cannot be written in plain ASCII, so the lie always shows.
        return (scene.page.body.decode("utf-8", "replace") + "<p>é</p>").encode(self.really, "replace")


KINDS = (Status, Throttle, Flapping, SoftMissing, ExtraHeaders, WithoutHeaders, StuckValidators, ContentType, Charset)
