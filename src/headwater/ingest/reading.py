"""A fetched page read in a child: whatever it does to the parser, it costs one child and one entry."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from typing import Any

from headwater.errors import UsageError
from headwater.extraction.article import Article, NotAnArticle
from headwater.extraction.jobs.answers import harvest_from
from headwater.extraction.jobs.normalise import Harvest
from headwater.extraction.page import Page, Selectors
from headwater.extraction.plugins import failed, plugin_for
from headwater.extraction.pool.extraction_pool import Crashed, Done, ExtractionPool, Outcome, OutOfMemory
from headwater.extraction.selectors import fields_of_items, selectors_from
from headwater.extraction.wire import answer_from, encode_page
from headwater.ingest.page_context import PageContext
from headwater.log import Logger
from headwater.net.charset import CharsetKind, Decoded, Evidence, charset_parameter, decode
from headwater.net.charset_labels import CODECS
from headwater.net.transport import Response
from headwater.urls.domains import registrable_domain

# Where a document says its charset; the child decodes the rest.
HEAD_BYTES = 1024
SAID = frozenset({Evidence.BYTE_ORDER_MARK, Evidence.HTTP, Evidence.DOCUMENT})


@dataclass(frozen=True, slots=True)
class UnreadablePage:
    """The child that read it died, hung or grew too large."""

    how: str


Read = Article | NotAnArticle | Harvest | UnreadablePage


@dataclass(frozen=True, slots=True)
class Reader:
    """Where more seconds of work are waiting than `hurry_after`, pages are read at the least cost."""

    pool: ExtractionPool
    product_token: str
    hurry_after: float = inf
    log: Logger | None = None

    async def read(self, response: Response, known: PageContext, now: datetime) -> Read:
        page = page_of(response, known, self.product_token)
        share = registrable_domain(response.url.host)
        if self.pool.backlog_of(share) > self.hurry_after:
            page = replace(page, is_hurried=True)
        read = await self._read_page(page, share, now)
        plugin = plugin_for(page.url) if isinstance(read, UnreadablePage) else None
        if isinstance(read, UnreadablePage) and plugin is not None:
            # The child died over the page or over the plug-in: our own reading tells which.
            own = await self._read_page(replace(page, asks_plugins=False), share, now)
            if isinstance(own, Article | NotAnArticle):
                own = replace(own, plugin_failure=failed(plugin, read.how).failure)
            read = own
        if isinstance(read, Article | NotAnArticle) and read.plugin_failure and self.log:
            self.log.warning("extractor_failed", url=page.url, why=read.plugin_failure)
        return read

    async def _read_page(self, page: Page, share: str, now: datetime) -> Read:
        return self._answered(await self.pool.run(encode_page(page, now), share), answer_from)

    async def read_feed(self, url: str, known: PageContext, now: datetime) -> Read:
        """What a channel said of a page, as if the page were empty."""
        page = Page(url=url, body=b"", timezone=zone_of(known), hints=known.hints, asks_plugins=False)
        return self._answered(await self.pool.run(encode_page(page, now)), answer_from)

    async def harvest(self, response: Response, known: PageContext, now: datetime) -> Read:
        """The vacancies of a page of a job source."""
        assert known.source is not None
        employer = {"org_name": known.source.name, "org_type": known.source.org_type or ""}
        task = {
            "html": text_of(response).text,
            "url": response.url.url,
            "now": now.isoformat(),
            "parser_hint": known.source.parser_hint or "",
            "employer": {**employer, "listing_url": known.source.url},
            "fields": fields_of_items(known.source.selectors),
            "listed_as": known.hints.title,
        }
        return self._answered(await self.pool.run(task, registrable_domain(response.url.host)), harvest_from)

    def _answered(self, outcome: Outcome, read: Callable[[Any], Read]) -> Read:
        match outcome:
            case Done(value):
                try:
                    return read(value)
                except (UsageError, KeyError, TypeError, ValueError):
                    # A page may have taken its child over: what comes back is believed only if it has the right form.
                    return UnreadablePage("its child answered with something else")
            case Crashed(how, where):
                return UnreadablePage(f"{how} {where}".strip())
            case OutOfMemory():
                return UnreadablePage("out of memory")
            case _:
                return UnreadablePage("took too long")


def text_of(response: Response) -> Decoded:
    return decode(response.body, CharsetKind.HTML, charset_parameter(response.headers.get("Content-Type", "")))


def charset_of(response: Response) -> str:
    """By the first bytes where they or the header say it; else all of the body has to be looked at."""
    beginning = decode(
        response.body[:HEAD_BYTES], CharsetKind.HTML, charset_parameter(response.headers.get("Content-Type", ""))
    )
    return beginning.charset if beginning.evidence in SAID else text_of(response).charset


def page_of(response: Response, known: PageContext, product_token: str) -> Page:
    source = known.source
    return Page(
        url=response.url.url,
        body=response.body,
        codec=CODECS[charset_of(response)],
        robots_headers=robots_headers(response),
        robots_name=product_token,
        timezone=zone_of(known),
        hints=known.hints,
        selectors=selectors_from(source.selectors) if source else Selectors(),
        guide=known.guide,
    )


def zone_of(known: PageContext) -> str:
    return (known.source.timezone if known.source else None) or "UTC"


def robots_headers(response: Response) -> tuple[str, ...]:
    return tuple(value.decode("latin-1") for name, value in response.raw_headers if name.lower() == b"x-robots-tag")
