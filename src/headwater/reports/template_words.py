"""Short words of templates as people say them; unknown ones are shown as they are. Pure."""

import re

from headwater.extraction.plugins import PRODUCER

REASONS = {
    "feature_missing": "lacks a mark that every page it learned from had",
    "live_blog": "says that it is a live blog",
    "soft_404": "says that nothing is here",
    "no_container": "has no text where the host's articles have theirs",
    "too_many_containers": "has several texts where the host's articles have one",
    "too_short": "is far shorter than the host's articles",
    "too_long": "is far longer than the host's articles",
    "unseen_paths": "has much of its text, or a table, in elements never seen before",
    "too_little_kept": "keeps far less of its text than the host's articles",
    "too_many_links": "is made of links more than the host's articles",
    "text_outside": "has much text beside the place where the host's articles have theirs",
    "chopped": "is cut into far smaller pieces than the host's articles",
    "listing": "looks like a list of articles: links stand above its paragraphs",
    "teasers": "looks like a list of articles: its paragraphs begin with links",
    "said_twice": "says its text twice",
    "said_elsewhere": "shares much of its text with other pages of the host",
    "off_its_title": "says nothing of what its title says",
    "consent_wall": "asks for consent instead of telling its story",
    "paywall": "sells the rest of its story",
    "disagrees": "reads quite differently by the general extractor",
}
NOT_LEARNED = {
    "too_few_pages": "too few of its pages are articles",
    "no_container": "its texts stand in no common place",
    "disagrees_with_teachers": "no common layout reads them well",
}
READERS = {
    "selectors": "its source's selectors",
    "structured": "the page's own structured data",
    "trafilatura": "the general extractor",
    "trafilatura_thorough": "the general extractor, thoroughly, as a quick reading found little",
    "trafilatura_joined": "the general extractor, from all parts of the page that hold paragraphs",
    "scripted": "the page's scripts, which hold its text",
    "trafilatura_cropped": "the general extractor in a hurry, from the densest part of the page",
    "feed": "the text its feed brought",
    "feed_only": "its feed alone: the page itself is refused",
}
FEATURES = {
    "og:article": "og:type says article",
    "linked:article": "its linked data holds one article",
    "og:story": "og:url names a story",
    "published": "it says when it was published",
}
PLACES = {"h1": "the first <h1>", "title": "<title>", "time": "the first <time>", "": "read as on any page"}
RANGES = {
    "shortest": "shortest text in letters",
    "longest": "longest text in letters",
    "least_kept": "least share kept of a container",
    "most_linked": "most of the text in links",
    "most_linked_around": "most of a container in links",
    "outside": "letters of paragraphs outside",
    "shortest_blocks": "shortest mean paragraph in letters",
    "announced": "paragraphs below a link, as a share",
    "teasers": "paragraphs that begin with a link",
    "copied": "share of the text said twice",
    "hosted": "share of the text that other pages say, too",
    "least_named": "least of the title's words in the text",
}
_KINDS = {"meta": "<meta> {}", "linked": "{} in the linked data", "block": "the first {}"}
_TEMPLATE = re.compile(r"template(?:/(?P<section>.+))?@(?P<version>\d+)")


def reason_in_words(reason: str) -> str:
    """Goes on from "the page"."""
    return REASONS.get(reason, reason.replace("_", " "))


def outcome_in_words(outcome: str) -> str:
    """Of a training, as its end noted it."""
    said, colon, why = outcome.partition(": ")
    return f"{said}{colon}{NOT_LEARNED.get(why, why)}"


def reader_in_words(produced_by: str) -> str:
    """Who read a document: `template/sport@3` is its host's template for /sport, version 3."""
    if produced_by.startswith(PRODUCER):
        return f"the extractor of {produced_by.removeprefix(PRODUCER)}"
    learned = _TEMPLATE.fullmatch(produced_by)
    if learned is None:
        return READERS.get(produced_by, produced_by)
    where = f" for /{learned['section']}" if learned["section"] else ""
    return f"its host's template{where}, version {learned['version']}"


def feature_in_words(name: str) -> str:
    return FEATURES.get(name, name)


def range_in_words(name: str) -> str:
    return RANGES.get(name, name.replace("_", " "))


def place_in_words(place: str) -> str:
    kind, _, name = place.partition(":")
    return _KINDS[kind].format(name) if kind in _KINDS else PLACES.get(place, place)
