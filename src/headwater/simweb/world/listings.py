"""Home, section and archive pages: teasers in three layouts, with the ways to the next page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from headwater.simweb.world.markup import in_html
from headwater.simweb.world.templates.clutter import Teaser
from headwater.simweb.world.templates.frame import Look, document

PER_PAGE = 20


@dataclass(frozen=True, slots=True)
class Listing:
    heading: str
    path: str
    page: int
    pages: int
    teasers: tuple[Teaser, ...]

    def address(self, page: int, style: str) -> str:
        if page == 1:
            return self.path
        return f"{self.path}?page={page}" if style == "query" else f"{self.path.rstrip('/')}/page/{page}/"


def listing_page(look: Look, listing: Listing) -> str:
    publisher = look.publisher
    shown = LAYOUTS[publisher.listing_style](look, listing.teasers)
    body = f"<main><h1>{in_html(listing.heading)}</h1>\n{shown}\n{_pager(look, listing)}</main>"
    title = f"{listing.heading} – {publisher.name}"
    return document(look, title, body, head=_relations(look, listing), body_class="archive")


def _relations(look: Look, listing: Listing) -> str:
    style = look.publisher.pagination
    if style != "rel_next" or listing.page >= listing.pages:
        return ""
    return f'<link rel="next" href="{listing.address(listing.page + 1, style)}">'


def _pager(look: Look, listing: Listing) -> str:
    style = look.publisher.pagination
    ways = [("previous", listing.page - 1), ("next", listing.page + 1)]
    links = [
        f'<a class="{name}" href="{listing.address(page, style)}">{look.label(name)}</a>'
        for name, page in ways
        if 1 <= page <= listing.pages
    ]
    return f'<nav class="pagination">{" ".join(links)} <span>{listing.page} / {listing.pages}</span></nav>'


def _cards(look: Look, teasers: Sequence[Teaser]) -> str:
    cards = "\n".join(
        f"""<article class="article-card"><h2><a href="{in_html(t.path)}">{in_html(t.title)}</a></h2>
<p>{in_html(t.lead)} <a class="more" href="{in_html(t.path)}">{look.label("more")}</a></p></article>"""
        for t in teasers
    )
    return f'<div class="articles">\n{cards}\n</div>'


def _list(_: Look, teasers: Sequence[Teaser]) -> str:
    rows = "\n".join(f'<li><a href="{in_html(t.path)}">{in_html(t.title)}</a></li>' for t in teasers)
    return f'<ul class="article-list">\n{rows}\n</ul>'


def _rows(_: Look, teasers: Sequence[Teaser]) -> str:
    rows = "\n".join(
        f'<tr><td><a href="{in_html(t.path)}"><b>{in_html(t.title)}</b></a><br>{in_html(t.lead)}' for t in teasers
    )
    return f'<table class="news" cellpadding="4">\n{rows}\n</table>'


LAYOUTS: Mapping[str, Callable[[Look, Sequence[Teaser]], str]] = {"cards": _cards, "list": _list, "rows": _rows}
