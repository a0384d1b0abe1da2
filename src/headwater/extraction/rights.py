"""A page's own statements about its use: tdm- and noai words of its head, and licences that it links."""

from collections.abc import Iterable, Sequence

from headwater.extraction.elements import Elements, attribute
from headwater.extraction.links import absolute
from headwater.extraction.robots import words_in_page
from headwater.rights.headers import is_rsl_link, licence_statement, noai_statements, tdm_statement
from headwater.rights.preferences import preferences_in
from headwater.rights.record import Convention, StatedIn, UseStatement

_MOST_LINKS = 500
_MOST_STATEMENTS = 16


def statements_in(
    elements: Elements, metas: Sequence[tuple[str, str]], base: str, robots_name: str
) -> tuple[UseStatement, ...]:
    """`metas` are names and contents of the page's <meta> elements."""
    said = dict(reversed(metas))
    usage = [content for name, content in metas if name == "content-usage"]
    told = [
        tdm_statement(StatedIn.PAGE, said.get("tdm-reservation", ""), absolute(said.get("tdm-policy", ""), base) or ""),
        *(preferences_in(Convention.CONTENT_USAGE, StatedIn.PAGE, one) for one in usage[:_MOST_STATEMENTS]),
        *noai_statements(StatedIn.PAGE, words_in_page(metas, robots_name)),
        *(licence_statement(StatedIn.PAGE, f"licence {one}", one) for one in _licences(elements, base)),
    ]
    return tuple(one for one in told if one is not None)[:_MOST_STATEMENTS]


def _licences(elements: Elements, base: str) -> Iterable[str]:
    links = elements.named("link")[:_MOST_LINKS]
    found = (one for one in links if is_rsl_link(attribute(one, "rel"), attribute(one, "type")))
    addresses = (absolute(attribute(one, "href"), base) for one in found)
    return list(dict.fromkeys(one for one in addresses if one))[:_MOST_STATEMENTS]
