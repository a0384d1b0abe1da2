"""Statements in the header of an answer: Content-Usage, TDMRep, RSL, and noai in X-Robots-Tag."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urljoin

from headwater.rights.preferences import preferences_in
from headwater.rights.record import Convention, PageUse, StatedIn, UseStatement, statement

MOST_HEADERS = 50
_LONGEST_HEADER = 4_096
RSL_TYPE = "application/rsl+xml"
_NAMES = frozenset({"content-usage", "tdm-reservation", "tdm-policy", "link", "www-authenticate"})
_LINK = re.compile(r"<([^<>]{1,2083})>([^<]*)")
_REL = re.compile(r";\s*rel\s*=\s*\"?([^\";,]*)", re.IGNORECASE)
_TYPE = re.compile(r";\s*type\s*=\s*\"?([^\";,\s]*)", re.IGNORECASE)
_RESERVED, _FREE = "1", "0"
_NOAI = {"noai": (PageUse.TRAIN, PageUse.IMAGES), "noimageai": (PageUse.IMAGES,)}


class CrawlerPrice(NamedTuple):
    """What a publisher asks of crawlers; we never pay."""

    price: str = ""
    licence: str = ""

    def __str__(self) -> str:
        told = (f"crawler-price {self.price}" if self.price else "", f"licence {self.licence}" if self.licence else "")
        return ", ".join(filter(None, told))


def header_statements(headers: Iterable[tuple[str, str]], url: str, robots_words: Iterable[str]) -> list[UseStatement]:
    """`robots_words` are those of X-Robots-Tag that are for us."""
    relevant = _relevant(headers)
    told = [_preferences(value) for name, value in relevant if name == "content-usage"]
    reservation = next((value for name, value in relevant if name == "tdm-reservation"), "")
    policy = next((value for name, value in relevant if name == "tdm-policy"), "")
    told.append(tdm_statement(StatedIn.HEADER, reservation, urljoin_or_nothing(url, policy)))
    told += [licence_statement(StatedIn.HEADER, f"Link: {one}", one) for one in rsl_links(relevant, url)]
    told += [_asked_for_licence(value) for name, value in relevant if name == "www-authenticate"]
    return [one for one in (*told, *noai_statements(StatedIn.HEADER, robots_words)) if one is not None]


def price_in(headers: Iterable[tuple[str, str]], url: str) -> CrawlerPrice:
    several = list(headers)[: MOST_HEADERS * 10]
    price = next((value for name, value in several if name.lower() == "crawler-price"), "")
    licences = rsl_links(_relevant(several), url)
    return CrawlerPrice(" ".join(price.split())[:60], licences[0] if licences else "")


def tdm_statement(place: StatedIn, reservation: str, policy: str) -> UseStatement | None:
    """None where it does not say 0 or 1: an unknown word reserves nothing and frees nothing."""
    word = reservation.strip()
    if word not in (_RESERVED, _FREE):
        return None
    said = f"tdm-reservation: {word}" + (f", tdm-policy: {policy}" if policy else "")
    uses = (PageUse.TDM,)
    no, yes = (uses, ()) if word == _RESERVED else ((), uses)
    return statement(Convention.TDMREP, place, said, refused=no, allowed=yes, licence=policy)


def licence_statement(place: StatedIn, said: str, licence: str) -> UseStatement | None:
    """A licence that is named and not read: it says under which terms, and so neither yes nor no."""
    told = statement(Convention.RSL, place, said, licence=licence)
    return told if told.licence else None


def noai_statements(place: StatedIn, words: Iterable[str]) -> Iterator[UseStatement]:
    for word in dict.fromkeys(words):
        if refused := _NOAI.get(word):
            yield statement(Convention.NOAI, place, word, refused=refused)


def rsl_links(headers: Sequence[tuple[str, str]], url: str) -> list[str]:
    """Addresses of RSL licences in Link headers."""
    found = (link for name, value in headers if name == "link" for link in _LINK.finditer(value))
    return [
        address
        for link in found
        if is_rsl_link(_first(_REL, link[2]), _first(_TYPE, link[2])) and (address := urljoin_or_nothing(url, link[1]))
    ]


def is_rsl_link(rel: str, kind: str) -> bool:
    return "license" in rel.lower().split() and kind.lower() == RSL_TYPE


def urljoin_or_nothing(base: str, written: str) -> str:
    try:
        return urljoin(base, written.strip()) if written.strip() else ""
    except ValueError:
        return ""


def _preferences(value: str) -> UseStatement | None:
    return preferences_in(Convention.CONTENT_USAGE, StatedIn.HEADER, value)


def _asked_for_licence(value: str) -> UseStatement | None:
    scheme = value.split(None, 1)[:1]
    if [one.lower().rstrip(",") for one in scheme] != ["license"]:
        return None
    return statement(Convention.RSL, StatedIn.HEADER, f"WWW-Authenticate: {value}")


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""


def _relevant(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    named = ((name.lower(), value) for name, value in headers)
    return [(name, value[:_LONGEST_HEADER]) for name, value in named if name in _NAMES][:MOST_HEADERS]
