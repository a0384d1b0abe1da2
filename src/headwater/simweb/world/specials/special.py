"""A special host is an ordinary small news site with a door to something unusual."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from headwater.simweb.message import Page, Request, Site
from headwater.simweb.world.markup import in_html

Room = Callable[[Request], Page | None]


def nothing(_: Request) -> Page | None:
    return None


@dataclass(frozen=True, slots=True)
class Special:
    site: Site
    door: str = ""  # HTML shown on the home page, the way in
    room: Room = nothing  # asked first, for every path

    def page(self, request: Request, now: datetime) -> Page | None:
        if (found := self.room(request)) is not None:
            return found
        page = self.site.page(request, now)
        if page is None or request.path != "/":
            return page
        return replace(page, body=page.body.replace(b"</main>", self.door.encode() + b"</main>"))


def simple_page(title: str, body: str, *, head: str = "", headers: tuple[tuple[str, str], ...] = ()) -> Page:
    text = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{in_html(title)}</title>{head}</head>
<body><main><h1>{in_html(title)}</h1>
{body}
</main></body></html>"""
    return Page(text.encode(), headers=headers)


def links(addresses: list[tuple[str, str]]) -> str:
    return "\n".join(f'<li><a href="{in_html(to)}">{in_html(said)}</a></li>' for to, said in addresses)
