"""Hosts that show what another host wrote."""

import re
from dataclasses import dataclass, replace
from datetime import datetime

from headwater.simweb.message import Page, Request, Site

TEXTUAL = ("text/", "application/rss", "application/atom", "application/rdf", "application/feed", "application/xml")
FIRST_PARAGRAPH = re.compile(rb"<p>([^<]{80,})</p>")


@dataclass(frozen=True, slots=True)
class Mirror:
    """Every page of the original at the same path, pretending to be the original."""

    original: Site
    original_host: str
    host: str

    def page(self, request: Request, now: datetime) -> Page | None:
        page = self.original.page(replace(request, host=self.original_host), now)
        if page is None or not page.content_type.startswith(TEXTUAL):
            return page
        body = page.body.replace(f"//{self.original_host}".encode(), f"//{self.host}".encode())
        return replace(page, body=body)


@dataclass(frozen=True, slots=True)
class NearCopy:
    """A mirror whose editor added one sentence of their own."""

    mirror: Mirror

    def page(self, request: Request, now: datetime) -> Page | None:
        page = self.mirror.page(request, now)
        if page is None or not page.content_type.startswith("text/html"):
            return page
        body = FIRST_PARAGRAPH.sub(rb"<p>\1 Our readers knew it first.</p>", page.body, count=1)
        return replace(page, body=body)
