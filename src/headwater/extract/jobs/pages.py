"""Vacancies in an HTML page: structured data, else the source's selector, else known ones, else links."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from headwater.extract.hidden import remove_hidden
from headwater.extract.jobs.identity import absolute, url_key
from headwater.extract.jobs.labels import deadline_in_prose
from headwater.extract.jobs.linked_data import postings_in
from headwater.extract.jobs.listing_items import NO_FIELDS, form_in, is_telling, labelled_facts, vacancy_at
from headwater.extract.jobs.text import node_text
from headwater.extract.jobs.vacancy import FoundBy, RawVacancy

KNOWN_SELECTORS = (
    *(".job-listing", ".job-item", ".career-item", ".position", "article.job", "div.vacancy", "tr.job-row", "li.job"),
)
MOST_VACANCIES = 500
MOST_LINKS = 50
MOST_LINKS_LOOKED_AT = 5_000
# An element with so many vacancies in it is the list, whatever its class says.
_LINKS_OF_A_LIST = 3
_LEVELS_ABOVE = 20

_WORDS = r"(?:jobs?|vacanc(?:y|ies)|positions?|careers?|openings?)"
_LEADS_TO_ONE = re.compile(rf"(?:^|[/_.-]){_WORDS}(?:[/_.-][^/?]|\?\w)|[?&]{_WORDS}(?:_?id)?=\w", re.IGNORECASE)
_SPEAKS_OF_ONE = re.compile(rf"\b{_WORDS}\b", re.IGNORECASE)
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
    return tuple(_linked(tree, base))


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
    above = node.parent
    for _ in range(_LEVELS_ABOVE):
        if above is None:
            return
        yield above.mem_id
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


def _linked(tree: LexborHTMLParser, base: str) -> Iterator[RawVacancy]:
    furniture = {link.mem_id for link in tree.css(_FURNITURE)}
    found: dict[str, str] = {}
    for link in tree.css("a[href]")[:MOST_LINKS_LOOKED_AT]:
        url = absolute(link.attributes.get("href") or "", base)
        if link.mem_id in furniture or url in found or not url:
            continue
        title = node_text(link)
        if is_telling(title) and (_leads_to_one(url, base) or _speaks_of_one(title, url, base)):
            found[url] = title
        if len(found) == MOST_LINKS:
            break
    return (RawVacancy(title, url, FoundBy.LINK) for url, title in found.items())


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
