"""The peer: Scrapy with trafilatura and its disk queue, in a process of its own.

Told what to do in one line of JSON on standard input. It writes one line of JSON for each page, which costs it less
than any database would. Names are answered from memory, and ports stand in the addresses, so that nothing of the
simulated web is on its way.
"""

import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import scrapy
import trafilatura
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Request, Response, TextResponse
from scrapy.resolver import CachingThreadedResolver
from twisted.internet.defer import Deferred, succeed


class Loopback(CachingThreadedResolver):
    """Every name is this machine."""

    def getHostByName(self, name: str, timeout: Sequence[int] = ()) -> "Deferred[str]":  # noqa: N802 - Twisted's name
        return succeed("127.0.0.1")


class Articles(scrapy.Spider):
    name = "articles"

    def __init__(self, addresses: Path, *, is_fast: bool, **given: Any) -> None:
        super().__init__(**given)
        self._addresses = addresses
        self._is_fast = is_fast

    async def start(self) -> AsyncIterator[Request]:
        """No faster than they are fetched: the queue on disk stays as short as it can be."""
        with self._addresses.open() as lines:
            for line in lines:
                if self.crawler.engine.needs_backout():
                    await self.crawler.signals.wait_for(signals.scheduler_empty)
                yield Request(line.strip())

    def parse(self, response: Response) -> Iterator[dict[str, Any]]:
        assert isinstance(response, TextResponse)
        found = trafilatura.bare_extraction(
            response.text, url=response.url, fast=self._is_fast, include_comments=False, with_metadata=True
        )
        yield document_of(response.url, found)


def document_of(url: str, found: Any) -> dict[str, Any]:
    if found is None:
        return {"url": url, "text": ""}
    fields = ("title", "author", "date", "description", "sitename", "categories", "tags", "language", "image", "text")
    return {"url": url} | {name: getattr(found, name) for name in fields}


def settings_of(task: dict[str, Any]) -> dict[str, Any]:
    return {
        "JOBDIR": task["folder"] + "/queue",
        "FEEDS": {task["folder"] + "/documents.jsonl": {"format": "jsonlines"}},
        "USER_AGENT": task["user_agent"],
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": task["concurrency"],
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_DELAY": task["delay"],
        "DOWNLOAD_DELAY_JITTER": 0,
        "TWISTED_DNS_RESOLVER": Loopback,
        "AUTOTHROTTLE_ENABLED": False,
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
    }


def main() -> None:
    task = orjson.loads(sys.stdin.readline())
    process = CrawlerProcess(settings_of(task))
    process.crawl(Articles, addresses=Path(task["addresses"]), is_fast=task["is_fast"])
    process.start()


if __name__ == "__main__":
    main()
