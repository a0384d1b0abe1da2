"""What a site asks of robots, and how it says so."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Robots:
    is_missing: bool = False
    disallow: tuple[str, ...] = ()
    crawl_delay: float | None = None
    unwelcome: tuple[str, ...] = ()  # agents that may not come at all
    lists_sitemaps: bool = False

    def text(self, sitemap_urls: Sequence[str]) -> str:
        groups = [_group(agent, ("/",), None) for agent in self.unwelcome]
        groups.append(_group("*", self.disallow, self.crawl_delay))
        if self.lists_sitemaps:
            groups.extend(f"Sitemap: {url}\n" for url in sitemap_urls)
        return "\n".join(groups)


def _group(agent: str, disallow: Sequence[str], delay: float | None) -> str:
    rules = [f"Disallow: {path}" for path in disallow] or ["Disallow:"]
    pause = [f"Crawl-delay: {delay:g}"] if delay is not None else []
    return "\n".join([f"User-agent: {agent}", *rules, *pause, ""])
