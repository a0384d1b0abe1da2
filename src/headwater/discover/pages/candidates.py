"""Candidates for channels: feeds and sitemaps that a page names, and the places where they usually are."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from selectolax.lexbor import LexborHTMLParser

from headwater.discover.pages.listing import Html, attribute, base_of, link_to, parse_page, shorten, text_of
from headwater.net.media_type import media_type
from headwater.sources.kinds import ChannelKind

CandidateEvidence = Literal["link", "anchor", "robots", "guess"]

MOST_CANDIDATES = 30
_MOST_LINKS = 2_000

_FEED_TYPES = frozenset(
    {
        *("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"),
        *("text/rss+xml", "text/rss", "application/rss", "application/atom"),
    }
)
# Said of feeds, and of much else.
_LOOSE_TYPES = frozenset({"application/xml", "text/xml", "application/json"})
_FEED_PATH = re.compile(r"(?:^|[/._-])(?:feeds?|rss2?|atom|rdf)(?:[/._-]|$)|/(?:index|feed)\.(?:xml|json)$")
_FEED_QUERY = re.compile(r"(?:^|&)(?:feed|format|type|alt|output)=(?:rss2?|atom|rdf|feed|json_?feed)(?:&|$)")
_FEED_NAME = re.compile(r"\b(?:rss|atom|feeds?|newsfeed|xml-feed)\b", re.IGNORECASE)
_SITEMAP = re.compile(r"sitemap[^/]*\.xml(?:\.gz)?$")
_OF_COMMENTS = re.compile(r"\b(?:comments?|kommentare?|commentaires?|comentarios|replies)\b", re.IGNORECASE)
_GUESSES = tuple((path, kind) for kind in ChannelKind for path in kind.traits.usual_places)
_RANK_OF_EVIDENCE: dict[CandidateEvidence, int] = {"link": 0, "anchor": 1, "robots": 1, "guess": 2}
_RANK_OF_KIND = {kind: rank for rank, kind in enumerate(ChannelKind)}


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something to try as a channel, and why we think so."""

    url: str
    kind: ChannelKind
    title: str
    evidence: CandidateEvidence


def candidates_in(html: Html, base_url: str) -> tuple[Candidate, ...]:
    """Best first."""
    tree = parse_page(html)
    named = _named(tree, base_of(tree, base_url)) if tree else ()
    return rank([*named, *_guessed(base_url)])


def sitemaps_named(urls: Iterable[str], base_url: str) -> tuple[Candidate, ...]:
    """Candidates from the Sitemap lines of robots.txt."""
    places = (link_to(url, base_url) for url in urls)
    return tuple(Candidate(url.url, ChannelKind.SITEMAP, "", "robots") for url in places if url)


def rank(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Those a page names before guesses, comments last; each URL once, under its best evidence."""
    best: dict[str, Candidate] = {}
    for candidate in sorted(candidates, key=_rank):
        place = link_to(candidate.url, candidate.url)
        best.setdefault(place.key if place else candidate.url, candidate)
    return tuple(best.values())[:MOST_CANDIDATES]


def _rank(candidate: Candidate) -> tuple[bool, int, int]:
    about_comments = _OF_COMMENTS.search(f"{candidate.title} {candidate.url}") is not None
    return about_comments, _RANK_OF_EVIDENCE[candidate.evidence], _RANK_OF_KIND[candidate.kind]


def _named(tree: LexborHTMLParser, base: str) -> Iterator[Candidate]:
    for node in tree.css("link[href]")[:_MOST_LINKS]:
        kind = _declared_kind(attribute(node, "rel"), attribute(node, "type"), attribute(node, "href"))
        place = link_to(attribute(node, "href"), base) if kind else None
        if kind and place:
            yield Candidate(place.url, kind, shorten(attribute(node, "title")), "link")
    for node in tree.css("a[href]")[-_MOST_LINKS:]:
        place = link_to(attribute(node, "href"), base)
        kind = _kind_of_link(place.path.lower(), place.query.lower(), text_of(node)) if place else None
        if kind and place:
            yield Candidate(place.url, kind, text_of(node) or shorten(attribute(node, "title")), "anchor")


def _declared_kind(rel: str, declared: str, href: str) -> ChannelKind | None:
    roles = rel.lower().split()
    if "sitemap" in roles:
        return ChannelKind.SITEMAP
    essence = media_type(declared)
    is_feed = essence in _FEED_TYPES or (essence in _LOOSE_TYPES and _FEED_PATH.search(href.lower()) is not None)
    return ChannelKind.FEED if is_feed and not {"alternate", "feed"}.isdisjoint(roles) else None


def _kind_of_link(path: str, query: str, text: str) -> ChannelKind | None:
    if _SITEMAP.search(path):
        return ChannelKind.SITEMAP
    # A path alone may be an article about feeds; what ends in .xml or is called RSS is one.
    is_feed = _FEED_PATH.search(path) and (path.endswith((".xml", ".rdf", ".rss", ".atom")) or _ends_as_feed(path))
    is_called_feed = _FEED_NAME.search(text) and _FEED_PATH.search(path)
    return ChannelKind.FEED if is_feed or is_called_feed or _FEED_QUERY.search(query) else None


def _ends_as_feed(path: str) -> bool:
    return path.rstrip("/").rpartition("/")[2] in ("feed", "feeds", "rss", "atom", "rss2", "feed.json")


def _guessed(base_url: str) -> Iterator[Candidate]:
    for path, kind in _GUESSES:
        place = link_to(path, base_url)
        if place:
            yield Candidate(place.url, kind, "", "guess")
