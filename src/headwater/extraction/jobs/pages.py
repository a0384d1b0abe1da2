"""Vacancies in an HTML page: structured data, else the source's selector, known ones, tables by their heads, links."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from headwater.extraction.hidden import remove_hidden
from headwater.extraction.jobs.identity import absolute, url_key
from headwater.extraction.jobs.labels import deadline_in_prose, heads_vacancies
from headwater.extraction.jobs.linked_data import postings_in
from headwater.extraction.jobs.listing_items import (
    NO_FIELDS,
    cells_of,
    form_in,
    is_telling,
    labelled_facts,
    selected_facts,
    vacancy_at,
)
from headwater.extraction.jobs.text import node_text
from headwater.extraction.jobs.vacancy import FoundBy, RawVacancy

KNOWN_SELECTORS = (
    *(".job-listing", ".job-item", ".career-item", ".position", "article.job", "div.vacancy", "tr.job-row", "li.job"),
)
MOST_VACANCIES = 500
MOST_LINKS = 50
MOST_LINKS_LOOKED_AT = 5_000
# An element with so many vacancies in it is the list, whatever its class says.
_LINKS_OF_A_LIST = 3
_LEVELS_ABOVE = 20

# English, French, German, Spanish, Portuguese, Italian, Dutch.
_WORDS = "|".join((
    *("jobs?", "vacanc(?:y|ies)", "positions?", "careers?", "openings?", "emplois?", "recrutements?"),
    *("stellenangebote?", "stellenausschreibung(?:en)?", "karriere", "empleos?", "vacantes?", "vagas?", "empregos?"),
    *("vacatures?",),
))  # fmt: skip
# Of vacancies as the first word of a part of a path; elsewhere a theatre's stage, a bargain, or the stars of a hotel.
_PARTS = "offres?|postes?|stages?|stellen?|ofertas?|offert[ae]|lavor[oi]|posizion[ei]"
_STARTS = "stages? (?:en|de|dans|chez|au|à)|offres? de (?:stage|poste)|stellen? als|offert[ae] di lavoro"
_LEADS_TO_ONE = re.compile(
    rf"(?:(?:^|[/_.-])(?:{_WORDS})|/(?:{_PARTS}))(?:[/_.-][^/?]|\?\w)|[?&](?:{_WORDS}|{_PARTS})(?:_?id)?=\w",
    re.IGNORECASE,
)
_SPEAKS_OF_ONE = re.compile(rf"\b(?:{_WORDS}|{_STARTS})\b", re.IGNORECASE)
_MOST_TABLES = 50
_FURNITURE_BLOCKS = "nav, header nav, footer, aside, form, script, style, noscript, template"
_CONTENT = ("main", "[role=main]", "article", "#content", "body")
_FURNITURE = "nav a, header a, footer a, aside a, a[rel~=next], a[rel~=prev]"


def vacancies_in(
    html: str | bytes, base_url: str, parser_hint: str = "", fields: Mapping[str, str] = NO_FIELDS
) -> tuple[RawVacancy, ...]:
    """Everything that looks like a vacancy; whether it is one is decided when it is normalised. `fields` are the
    source's selectors for the facts of one item."""
    tree = LexborHTMLParser(html)
    remove_hidden(tree)
    return _with_language(_found_in(tree, base_url, parser_hint, fields), tree)


def _found_in(
    tree: LexborHTMLParser, base_url: str, parser_hint: str, fields: Mapping[str, str]
) -> tuple[RawVacancy, ...]:
    base = _base_of(tree, base_url)
    if postings := postings_in(tree, base, MOST_VACANCIES):
        return _with_page_facts(postings, tree)
    for selector, found_by in ((parser_hint, FoundBy.HINT), *((one, FoundBy.SELECTOR) for one in KNOWN_SELECTORS)):
        if found := _selected(tree, selector, base, found_by, fields):
            return found
    return _tabled(tree, base, fields) or tuple(_linked(tree, base, fields))


def vacancies_of_page(html: str | bytes, url: str, title: str, parser_hint: str = "") -> tuple[RawVacancy, ...]:
    """Those of a page that a list named as the page of one vacancy, under this title: its structured data, else what
    its text says. Its links lead to other vacancies, and tell nothing of this one."""
    tree = LexborHTMLParser(html)
    remove_hidden(tree)
    return _with_language(_told_by(tree, url, title, parser_hint), tree)


def _told_by(tree: LexborHTMLParser, url: str, title: str, parser_hint: str) -> tuple[RawVacancy, ...]:
    if postings := postings_in(tree, _base_of(tree, url), MOST_VACANCIES):
        return _with_page_facts(postings, tree)
    hinted = tree.css_first(parser_hint) if is_selector(parser_hint) else None
    for furniture in tree.css(_FURNITURE_BLOCKS):
        furniture.decompose()
    content = hinted or next(filter(None, map(tree.css_first, _CONTENT)), None)
    if content is None:
        return ()
    facts = {name: said for name, said in labelled_facts(content).items() if name not in {"title", "url"}}
    if form := form_in(content, _base_of(tree, url)):
        facts.setdefault("application_form", form)
    text = node_text(content)
    heading = node_text(tree.css_first("h1"))
    described = facts.pop("description", "") or (text.partition(heading)[2] if heading else "") or text
    _add_deadline(facts, text)
    return (RawVacancy(title, url, FoundBy.PAGE, described.strip(" -–—|"), facts),)


def _add_deadline(facts: dict[str, str], text: str) -> None:
    if "deadline" not in facts and (deadline := deadline_in_prose(text)):
        facts["deadline"] = deadline


def has_reached_limit(found: Sequence[RawVacancy]) -> bool:
    """Whether a page may name more than were taken from it."""
    most = MOST_LINKS if found and found[0].found_by is FoundBy.LINK else MOST_VACANCIES
    return len(found) >= most


def is_selector(hint: str) -> bool:
    """Whether a parser hint can be used at all; one that cannot finds nothing."""
    try:
        LexborHTMLParser("<p></p>").css(hint)
    except (SelectolaxError, ValueError):
        return False
    return bool(hint.strip())


def _base_of(tree: LexborHTMLParser, url: str) -> str:
    element = tree.css_first("base[href]")
    href = element.attributes.get("href") if element is not None else None
    return (absolute(href, url) if href else "") or url


def _with_language(found: tuple[RawVacancy, ...], tree: LexborHTMLParser) -> tuple[RawVacancy, ...]:
    """The page's language stands behind that of the vacancy itself."""
    root = tree.css_first("html[lang]")
    declared = (root.attributes.get("lang") if root is not None else "") or ""
    return tuple(replace(one, languages=(*one.languages, declared)) for one in found)


def _with_page_facts(postings: tuple[RawVacancy, ...], tree: LexborHTMLParser) -> tuple[RawVacancy, ...]:
    """A page about one vacancy often says more in its text than in its data; the data has the last word."""
    if len(postings) != 1:
        return postings
    said = labelled_facts(tree)
    extra: Mapping[str, str] = {name: value for name, value in said.items() if name not in {"title", "url"}}
    only = postings[0]
    return (replace(only, facts={**extra, **only.facts}),)


def _selected(
    tree: LexborHTMLParser, selector: str, base: str, found_by: FoundBy, fields: Mapping[str, str]
) -> tuple[RawVacancy, ...]:
    if not is_selector(selector):
        return ()
    nodes = _outermost(tree.css(selector))[:MOST_VACANCIES]
    if found_by is FoundBy.SELECTOR:
        nodes = [node for node in nodes if not _is_whole_list(node, base)]
    return tuple(vacancy for node in nodes if (vacancy := vacancy_at(node, base, found_by, fields)).title)


def _outermost(nodes: list[LexborNode]) -> list[LexborNode]:
    """Without those inside another: a part of an item may share its class, and a bomb nests it without end."""
    matched = {node.mem_id for node in nodes}
    return [node for node in nodes if not any(above in matched for above in _ids_above(node))]


def _ids_above(node: LexborNode) -> Iterator[int]:
    return (above.mem_id for above in islice(_above(node), _LEVELS_ABOVE))


def _above(node: LexborNode) -> Iterator[LexborNode]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def _is_whole_list(node: LexborNode, base: str) -> bool:
    seen: set[str] = set()
    for link in node.css("a[href]"):
        target = absolute(link.attributes.get("href") or "", base)
        if _leads_to_one(target, base) and is_telling(node_text(link)):
            seen.add(target)
        if len(seen) >= _LINKS_OF_A_LIST:
            return True
    return False


def _tabled(tree: LexborHTMLParser, base: str, fields: Mapping[str, str]) -> tuple[RawVacancy, ...]:
    """Rows of tables whose head announces vacancies, wherever they link to."""
    rows = [row for table in tree.css("table")[:_MOST_TABLES] for row in _rows_of_vacancies(table)]
    found = (vacancy_at(row, base, FoundBy.SELECTOR, fields) for row in _outermost(rows)[:MOST_VACANCIES])
    return tuple(one for one in found if one.title and not _is_above(one.url, base))


def _rows_of_vacancies(table: LexborNode) -> list[LexborNode]:
    first = table.css_first("tr")
    if first is None or not heads_vacancies(list(map(node_text, cells_of(first)))):
        return []
    return [row for row in table.css("tr")[1 : MOST_VACANCIES + 1] if row.css_first("a[href]") is not None]


def _linked(tree: LexborHTMLParser, base: str, fields: Mapping[str, str]) -> Iterator[RawVacancy]:
    furniture = {link.mem_id for link in tree.css(_FURNITURE)}
    found: dict[str, tuple[str, LexborNode]] = {}
    for link in tree.css("a[href]")[:MOST_LINKS_LOOKED_AT]:
        url = absolute(link.attributes.get("href") or "", base)
        if link.mem_id in furniture or url in found or not url:
            continue
        title = node_text(link)
        if is_telling(title) and (_leads_to_one(url, base) or _speaks_of_one(title, url, base)):
            found[url] = title, link
        if len(found) == MOST_LINKS:
            break
    items = _items_around([link for _, link in found.values()]) if fields else [None] * len(found)
    for (url, (title, _)), item in zip(found.items(), items, strict=True):
        facts = selected_facts(item, fields) if item is not None else {}
        named, described = facts.pop("title", title), facts.pop("description", "")
        yield RawVacancy(named, url, FoundBy.LINK, described, facts)


def _items_around(links: Sequence[LexborNode]) -> list[LexborNode | None]:
    """Around each link the largest element without another of them."""
    above = [list(islice(_above(link), _LEVELS_ABOVE)) for link in links]
    held = Counter(node.mem_id for nodes in above for node in nodes)
    alone = (list(takewhile(lambda node: held[node.mem_id] == 1 and node.tag != "body", nodes)) for nodes in above)
    return [nodes[-1] if nodes else None for nodes in alone]


def _leads_to_one(url: str, base: str) -> bool:
    return bool(url) and not _is_above(url, base) and bool(_LEADS_TO_ONE.search(_target_of(url)))


def _speaks_of_one(title: str, url: str, base: str) -> bool:
    return not _is_above(url, base) and len(title.split()) > 1 and bool(_SPEAKS_OF_ONE.search(title))


def _is_above(url: str, base: str) -> bool:
    """The listing itself, another page of it, or a page that leads to it."""
    there, here = urlsplit(url_key(url)), urlsplit(url_key(base))
    return there.netloc == here.netloc and (f"{here.path}/".startswith(f"{there.path.rstrip('/')}/"))


def _target_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path
