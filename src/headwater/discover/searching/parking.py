"""Domains that nobody publishes on: their page only offers them for sale. Pure."""

import re

# Where such pages say so; a long page is a paper that may write of anything.
_LOOKED_AT = 65_536
_TAGS = re.compile(r"<[^<>]*>|\s+")
_PHRASES = (
    *("domain is for sale", "domain may be for sale", "domain name is for sale", "buy this domain"),
    *("domain has expired", "domain is parked", "parked free, courtesy of", "domain parking"),
    *("domain steht zum verkauf", "domain ist zu verkaufen", "domain zu verkaufen"),
    *("domaine est à vendre", "dominio está en venta", "dominio está a la venta", "domínio está à venda"),
    *("dominio è in vendita", "domein is te koop", "домен продается", "домен продаётся"),
)
# Hosts that serve such pages for others.
_PROVIDERS = re.compile(
    r"//[\w.-]*\b(?:sedoparking\.com|parkingcrew\.net|bodis\.com|hugedomains\.com|parklogic\.com|above\.com/"
    r"|dan\.com/buy-domain|afternic\.com/forsale|godaddy\.com/forsale|domainmarket\.com/buynow)"
)


def is_parked(body: bytes, url: str) -> bool:
    """Whether a page without any feed only offers its domain for sale."""
    page = body[:_LOOKED_AT].decode("utf-8", "replace").lower()
    if _PROVIDERS.search(page) or _PROVIDERS.search(url.lower()):
        return True
    text = _TAGS.sub(" ", page)
    return any(phrase in " ".join(text.split()) for phrase in _PHRASES)
