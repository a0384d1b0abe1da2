"""Addresses we were asked to leave alone: domains with all that lies below, one port of a host, URLs by prefix."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import UrlRejected, UsageError
from headwater.urls.canonical import CanonicalUrl, canonicalise, site_named
from headwater.urls.domains import is_listed_suffix
from headwater.urls.scope import without_www

queries = load_queries("headwater.politeness")

_WHOLE_SITE = re.compile(r"https?://[^/]+/")
_WITH_PORT = re.compile(r"(?:https?://)?[^/]*?:\d+/?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Takedown:
    """`key_prefix` None takes down the domain, all its subdomains and all their ports; else only keys that begin so."""

    name: str
    domain: str
    key_prefix: str | None = None

    @property
    def is_of_whole_site(self) -> bool:
        """A domain or a port; not some of its pages."""
        return self.key_prefix is None or _WHOLE_SITE.fullmatch(self.key_prefix) is not None

    def covers(self, url: CanonicalUrl) -> bool:
        if self.key_prefix is None:
            return self.domain in domains_above(url.host)
        return without_www(url.host) == self.domain and is_below(key_without_www(url.usual_key), self.key_prefix)


@dataclass(frozen=True, slots=True)
class Takedowns:
    known: tuple[Takedown, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.known)

    def covers(self, url: CanonicalUrl) -> bool:
        return any(takedown.covers(url) for takedown in self.known)


def is_below(key: str, prefix: str) -> bool:
    """Whole segments and parameters: `/a` covers `/a`, `/a/b` and `/a?x`, not `/ab`; `/a?x` covers `/a?x&y`."""
    return key == prefix or key.startswith(tuple(prefix.rstrip("/") + mark for mark in "/?&"))


def key_without_www(key: str) -> str:
    """A page is the same with and without it: a takedown of one means both."""
    return key.replace("://www.", "://", 1)


def domains_above(host: str) -> Iterator[str]:
    """The host itself and every domain it lies in."""
    while host:
        yield host
        host = host.partition(".")[2]


def taken_down_in_words(rows: Iterable[Any], url: CanonicalUrl) -> str:
    """By which of these rows of takedowns a URL is covered, and since when; empty if by none."""
    for row in rows:
        if Takedown(row["domain_or_url"], row["domain"], row["key_prefix"]).covers(url):
            because = f": {row['reason']}" if row["reason"] else ""
            state = "" if row["swept_at"] else ", still being applied"
            return f"taken down with {row['domain_or_url']} since {row['created_at']:%Y-%m-%d}{state}{because}"
    return ""


def parse_takedown(text: str) -> Takedown:
    """`example.org` is a domain, `example.org:8080` what that port answers, anything with a path a URL prefix."""
    wanted = text.strip()
    try:
        if "/" not in wanted:
            url = site_named(wanted)
        else:
            url = canonicalise(wanted if "://" in wanted else f"https://{wanted}")
    except UrlRejected as error:
        raise UsageError(f"{wanted!r} is neither a domain nor a URL: {error.what}") from error
    has_port = _WITH_PORT.fullmatch(wanted) is not None
    if is_listed_suffix(url.host):
        raise UsageError(f"All sites of {url.host} would be withdrawn.", fix="Name the domain of one owner.")
    if url.path == "/" and not url.query and not has_port:
        return Takedown(url.host, url.host)
    prefix = key_without_www(url.usual_key)
    return Takedown(_name_of_port(url) if has_port else prefix, without_www(url.host), prefix)


def _name_of_port(url: CanonicalUrl) -> str:
    """The usual port is written out: without it the name would be that of the whole domain."""
    site = without_www(url.site)
    return f"{site}:443" if url.site == url.host else site


async def takedowns_for(connection: Connection, hosts: Collection[str]) -> Takedowns:
    """Only those that could cover one of these hosts; they hold for what this transaction stores."""
    domains = sorted({domain for host in hosts for domain in domains_above(host)})
    if not domains:
        return Takedowns()
    rows = await connection.fetch(queries.takedowns_over, domains)
    return Takedowns(tuple(Takedown(row["domain_or_url"], row["domain"], row["key_prefix"]) for row in rows))


async def list_takedowns(database: Database, limit: int, after: str = "") -> list[Any]:
    """By name; `after` is the last one of the page before."""
    return await database.fetch(queries.list_takedowns, after, limit)
