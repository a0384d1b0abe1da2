"""The strip of totals on top of every page: each a link to what it counts, each with its window."""

from fastapi import FastAPI

from headwater.database.pool import Database
from headwater.reports.totals import MOST_COUNTED, StripTotals, totals_now
from headwater.serve.console.keeping import lately
from headwater.serve.console.shown import duration, moment, number, number_up_to, percent
from headwater.serve.pages.markup import Markup, element, joined

# For so long all pages of a process show the same totals.
KEPT_SECONDS = 2.0


async def totals_lately(app: FastAPI, database: Database) -> StripTotals:
    return await lately(app, "totals", KEPT_SECONDS, lambda: totals_now(database))


def strip(totals: StripTotals) -> Markup:
    """Pure."""
    found = totals
    ended = found.fetched + found.failed
    next_in = joined("next in ", duration(found.hosts.next_in)) if found.hosts.next_in is not None else "none"
    return element(
        "dl",
        _total("Fetched", number(found.fetched), "24 h", "/console/crawl"),
        _total(
            "Failed",
            number(found.failed),
            joined(f"{percent(found.failed, ended)}, 24 h"),
            "/console/frontier?status=failed",
        ),
        _total("In flight", number(found.hosts.busy), "hosts, now", "/console/crawl"),
        _total("Open", number(found.hosts.open), "hosts, now", "/console/hosts"),
        _total("Polite waits", number(found.hosts.waiting), next_in, "/console/hosts"),
        _total("Queued", number(found.waiting), "URLs, now", "/console/frontier?status=pending"),
        _total("Dead", number(found.dead), "URLs, kept", "/console/frontier?status=dead"),
        _total(
            "Overdue",
            number_up_to(found.overdue, MOST_COUNTED),
            "channels, 15 m late",
            "/console/crawl",
            "warn" if found.overdue else "",
        ),
        _total(
            "Newest document",
            moment(found.newest_document_at, found.now, never="none yet"),
            joined(number(found.documents), " in 24 h"),
            "/console/documents",
        ),
        class_="strip live",
        id="strip",
    )


def _total(name: str, told: str, window: str, href: str, tone: str = "") -> Markup:
    value = element("a", told, href=href, class_=f"figure {tone}".strip())
    return element("div", element("dt", name), element("dd", value, element("span", window, class_="window")))
