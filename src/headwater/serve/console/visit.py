"""A person's visit of a page: who it is, what the address asks for, and the answer with all that every page shows."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Request
from starlette.responses import HTMLResponse, RedirectResponse

from headwater.accounts.role import Role
from headwater.frontier.pause import read_pause
from headwater.reports.discovery import time_now
from headwater.serve.access.caller import Caller
from headwater.serve.access.visits import visit_of
from headwater.serve.console.shell import PAGE_HEADERS, PageBody, PageFrame, page_in
from headwater.serve.console.strip import totals_lately
from headwater.serve.shared import parts_of
from headwater.services import Services

SAID_COOKIE, THEME_COOKIE = "headwater-said", "headwater-theme"
THEMES = ("light", "dark")
LONGEST_SAID = 600
SAID_SECONDS = 60
MOST_PARAMETERS = 100
SEE_OTHER = 303


@dataclass(frozen=True, slots=True)
class PageQuery:
    """The address of a page: filters, order and cursor stand in it, so that it can be shared and gone back to."""

    path: str
    values: Mapping[str, str]

    def get(self, name: str, otherwise: str = "") -> str:
        return self.values.get(name, otherwise)

    def to(self, **changes: str) -> str:
        """The same with these values; an empty one is left out. A change of anything begins the list anew."""
        kept = {**{name: value for name, value in self.values.items() if name != "cursor"}, **changes}
        said = urlencode({name: value for name, value in kept.items() if value})
        return f"{self.path}?{said}" if said else self.path


@dataclass(frozen=True, slots=True)
class PageVisit:
    """`said` is what the request before this one had to say: it is told once."""

    services: Services
    caller: Caller
    query: PageQuery
    now: datetime
    request: Request
    said: str

    @property
    def csrf_token(self) -> str:
        """Empty where no session can be abused: in development mode, and behind a proxy."""
        return self.caller.session.csrf_token if self.caller.session else ""

    def may(self, role: Role) -> bool:
        return self.caller.role.includes(role)

    async def page(self, body: PageBody, *, status: int = 200) -> HTMLResponse:
        """A page that answers a form has changed nothing, and asks again: a change is answered by `see_other`."""
        visit_of(self.request).only_reads = True
        frame = PageFrame(
            self.query.path,
            self.query.to(cursor=self.query.get("cursor")),
            await totals_lately(self.request.app, self.services.database),
            await read_pause(self.services.database),
            self.now,
            self.caller,
            self.csrf_token,
            theme_of(self.request),
            self.said,
        )
        answer = HTMLResponse(page_in(frame, body), status, dict(PAGE_HEADERS))
        if self.said:
            answer.delete_cookie(SAID_COOKIE)
        return answer

    def note_change(self) -> None:
        """For a page that answers a change, since it tells what is told once: it has its line in the audit log."""
        visit_of(self.request).only_reads = False


async def page_visit(request: Request) -> PageVisit:
    services = parts_of(request).services
    return PageVisit(
        services,
        visit_of(request).require_caller(),
        query_of(request),
        await time_now(services.database),
        request,
        said_in(request),
    )


Visited = Annotated[PageVisit, Depends(page_visit)]


def query_of(request: Request) -> PageQuery:
    """Of a name that is given twice the last holds; an empty value is none."""
    given = list(request.query_params.multi_items())[:MOST_PARAMETERS]
    return PageQuery(request.url.path, {name: value for name, value in given if value})


def theme_of(request: Request) -> str:
    theme = request.cookies.get(THEME_COOKIE, "")
    return theme if theme in THEMES else ""


def said_in(request: Request) -> str:
    try:
        return urlsafe_b64decode(request.cookies.get(SAID_COOKIE, "")[: 4 * LONGEST_SAID]).decode()[:LONGEST_SAID]
    except ValueError:
        return ""


def see_other(path: str, said: str = "") -> RedirectResponse:
    """After a change: the page that shows it, with a sentence that says what was done. `path` is one of ours."""
    answer = RedirectResponse(path, SEE_OTHER)
    if said:
        kept = urlsafe_b64encode(said[:LONGEST_SAID].encode(errors="replace")).decode()
        answer.set_cookie(SAID_COOKIE, kept, SAID_SECONDS, httponly=True, samesite="strict")
    return answer


def local_path(wanted: str, otherwise: str) -> str:
    """A path of this server; another site, however it is spelled, is none. Pure."""
    is_local = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if is_local and "\\" not in wanted and len(wanted) <= 2_000 else otherwise
