"""The identity of a vacancy: two sightings with one hash are one."""

from hashlib import sha256

from headwater.errors import UrlRejected
from headwater.extraction.jobs.vocabulary import words_of
from headwater.urls.canonical import canonicalise
from headwater.urls.domains import registrable_domain
from headwater.urls.rules import DEFAULT_RULES


def canonical_hash(apply_url: str, title: str, org: str, location: str, listing_url: str = "") -> bytes:
    """The hash of the apply URL's canonical key. Many vacancies behind one listing page are told apart by their words,
    which only count within the listing's domain: two employers may look for the same.
    """
    key = url_key(apply_url)
    if key and key != url_key(listing_url):
        return sha256(key.encode()).digest()
    said = "|".join(" ".join(words_of(part)) for part in (title, org, location))
    return sha256(f"{_domain_of(listing_url or apply_url)}|{said}".encode()).digest()


def _domain_of(url: str) -> str:
    try:
        return registrable_domain(canonicalise(url).host)
    except UrlRejected:
        return ""


def url_key(url: str) -> str:
    """The canonical key, or nothing for what is no web address."""
    try:
        # By no host's exceptions: vacancies are not keyed anew when those change.
        return canonicalise(url, rules=DEFAULT_RULES).key
    except UrlRejected:
        return ""


def absolute(link: str, base_url: str) -> str:
    """Where a link leads, or nothing if that is no web address."""
    try:
        return canonicalise(link.strip(), base=base_url).url
    except UrlRejected:
        return ""
