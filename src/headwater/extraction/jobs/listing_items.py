"""One element of a listing as a vacancy: its title and link, and whatever it labels."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.extraction.jobs.countries import place_in
from headwater.extraction.jobs.identity import absolute
from headwater.extraction.jobs.labels import column_named, deadline_in_prose, fact_named
from headwater.extraction.jobs.prose import facts_in_text
from headwater.extraction.jobs.text import node_text, text_lines
from headwater.extraction.jobs.vacancy import LONGEST_FACT, FoundBy, RawVacancy
from headwater.extraction.jobs.vocabulary import Vocabulary
from headwater.extraction.markup_cost import is_costly

NO_FIELDS: Mapping[str, str] = {}
HEADINGS = "h1, h2, h3, h4, h5, h6"
LONGEST_MARKUP = 100_000
# Of one item; a page may nest what it likes.
MOST_PARTS = 200

# What links say when they do not say where they lead.
GENERIC = Vocabulary(
    {
        "yes": (
            *(
                "apply",
                "apply now",
                "apply here",
                "apply online",
                "read more",
                "more",
                "view",
                "details",
                "more details",
            ),
            *("view details", "view job", "view vacancy", "see details", "learn more", "more info", "download", "pdf"),
            *("job", "jobs", "career", "careers", "vacancy", "vacancies", "position", "positions", "openings", "home"),
            *(
                "all jobs",
                "view all",
                "view all jobs",
                "see all jobs",
                "all vacancies",
                "open positions",
                "job openings",
            ),
            *("current vacancies", "current openings", "more vacancies", "more jobs", "our vacancies", "job search"),
            *("search jobs", "job alerts", "next", "previous", "back", "share", "save", "save job", "sign in", "login"),
            *(
                "offres d'emploi",
                "nos offres",
                "toutes les offres",
                "voir l'offre",
                "voir toutes les offres",
                "postuler",
            ),
            *("en savoir plus", "lire la suite", "emploi", "emplois", "recrutement", "carrières", "nous rejoindre"),
            *("stellenangebote", "offene stellen", "alle stellen", "karriere", "mehr erfahren", "jetzt bewerben"),
            *("empleo", "empleos", "ofertas de empleo", "ver oferta", "ver más", "vacantes", "todas las ofertas"),
            *("vagas", "todas as vagas", "ver vaga", "saiba mais", "lavora con noi", "posizioni aperte", "candidati"),
            *("vacature", "vacatures", "alle vacatures", "bekijk vacature", "solliciteer", "lees meer"),
            *("working at", "work with us", "join us", "career opportunities", "job opportunities", "back to jobs"),
        )
    }
)


def vacancy_at(node: LexborNode, base_url: str, found_by: FoundBy, fields: Mapping[str, str] = NO_FIELDS) -> RawVacancy:
    """`fields` are the source's own selectors, by fact: what they find stands before all else."""
    links = [node] if node.tag == "a" else node.css("a[href]")
    heading = node.css_first(HEADINGS)
    titled = heading or next((link for link in links if is_telling(node_text(link))), None)
    facts = _facts_of(node) | selected_facts(node, fields)
    title = facts.pop("title", "") or node_text(titled)
    rest = node_text(node).replace(title, " ", 1) if title else node_text(node)
    _add_from_prose(facts, rest)
    own_page = heading is not None and heading.tag == "h1"
    url = base_url if own_page else _link(links, heading, title, base_url)
    if form := _form(links, base_url):
        facts.setdefault("application_form", form)
    described = facts.pop("description", "") or rest.strip(" -–—|")
    return RawVacancy(title, url or base_url, found_by, described, facts)


def is_telling(text: str) -> bool:
    """Whether a link's text could be the title of a vacancy."""
    return len(text) > 3 and not GENERIC.exactly(text)


def labelled_facts(tree: LexborHTMLParser | LexborNode) -> dict[str, str]:
    """Facts of lists of terms, of rows with a head, and of `Label: value` lines."""
    found: dict[str, str] = {}
    for label, value in (*_terms(tree), *_headed_rows(tree)):
        if (name := fact_named(label)) and value:
            found.setdefault(name, value[:LONGEST_FACT])
    for name, value in facts_in_text(text_lines(tree.html or "")).items():
        found.setdefault(name, value)
    for label, value in _lines(tree):
        if (name := fact_named(label)) and value:
            found.setdefault(name, value[:LONGEST_FACT])
    return found


def labelled_facts_in(html: str) -> dict[str, str]:
    """The same of markup that a feed or an API carries, or of its text."""
    if "<" not in html or is_costly(html[:LONGEST_MARKUP]):
        return facts_in_text(text_lines(html))
    return labelled_facts(LexborHTMLParser(html[:LONGEST_MARKUP]))


def _facts_of(node: LexborNode) -> dict[str, str]:
    by_class = dict(_by_class(node))
    # A class named `title` or `link` is as often decoration.
    by_class.pop("url", None)
    facts = dict(_columns(node)) | labelled_facts(node) | by_class
    facts.pop("url", None)
    return facts


def selected_facts(node: LexborNode, fields: Mapping[str, str]) -> dict[str, str]:
    """Facts that a source's own selectors find in one item; a label in front is no part of them."""
    facts: dict[str, str] = {}
    for fact, css in fields.items():
        found = node.css_first(css)
        said = (found.attributes.get("datetime") or node_text(found)) if found is not None else ""
        if said:
            facts[fact] = _unlabelled(fact, said) if fact == "description" else _unlabelled(fact, said)[:LONGEST_FACT]
    return facts


def _unlabelled(fact: str, said: str) -> str:
    label, colon, value = said.partition(":")
    return value.strip() if colon and fact_named(label) == fact else said


def _by_class(node: LexborNode) -> Iterator[tuple[str, str]]:
    for inner in node.css("[class], [itemprop]")[:MOST_PARTS]:
        names = f"{inner.attributes.get('class') or ''} {inner.attributes.get('itemprop') or ''}".split()
        fact = next(filter(None, map(fact_named, names)), "")
        if not fact:
            continue
        # "Location: Nairobi" inside its own element: the label is no part of it.
        said = _unlabelled(fact, inner.attributes.get("datetime") or node_text(inner))
        if said:
            yield fact, said if fact == "description" else said[:LONGEST_FACT]


def _columns(row: LexborNode) -> Iterator[tuple[str, str]]:
    if row.tag != "tr":
        return
    heads = [node_text(head) for head in _head_of(row)]
    cells = [node_text(cell) for cell in cells_of(row)]
    for head, cell in zip(heads, cells, strict=False):
        if (fact := column_named(head)) and cell:
            yield fact, cell[:LONGEST_FACT]


def _head_of(row: LexborNode) -> list[LexborNode]:
    table = row.parent
    while table is not None and table.tag != "table":
        table = table.parent
    first = table.css_first("tr") if table is not None else None
    return cells_of(first) if first is not None else []


def cells_of(row: LexborNode) -> list[LexborNode]:
    """Its own, not those of a table inside of it."""
    return list(islice((cell for cell in row.iter() if cell.tag in {"td", "th"}), MOST_PARTS))


def _terms(tree: LexborHTMLParser | LexborNode) -> Iterator[tuple[str, str]]:
    for term in tree.css("dt"):
        value = term.next
        while value is not None and value.tag not in {"dd", "dt"}:
            value = value.next
        if value is not None and value.tag == "dd":
            yield node_text(term), node_text(value)


def _headed_rows(tree: LexborHTMLParser | LexborNode) -> Iterator[tuple[str, str]]:
    for head in tree.css("tr > th:first-child"):
        cell = head.next
        while cell is not None and cell.tag not in {"td", "th"}:
            cell = cell.next
        if cell is not None and cell.tag == "td":
            yield node_text(head), node_text(cell)


def _lines(tree: LexborHTMLParser | LexborNode) -> Iterator[tuple[str, str]]:
    for line in tree.css("li, p, span, td, div > strong, div > b, p > strong, p > b")[:MOST_PARTS]:
        holder = line.parent if line.tag in {"strong", "b"} and line.parent is not None else line
        label, colon, value = node_text(holder)[:LONGEST_FACT].partition(":")
        if colon:
            yield label, value.strip()


def _add_from_prose(facts: dict[str, str], text: str) -> None:
    if "location" not in facts and (place := place_in(text)):
        facts["location"] = place
    if "deadline" not in facts and (deadline := deadline_in_prose(text)):
        facts["deadline"] = deadline


def form_in(node: LexborNode, base_url: str) -> str:
    """Where a page sends those who want to apply."""
    return _form(node.css("a[href]"), base_url)


def _link(links: list[LexborNode], heading: LexborNode | None, title: str, base_url: str) -> str:
    in_heading = heading.css("a[href]") if heading is not None else []
    titled = [link for link in links if title and node_text(link) == title]
    telling = [link for link in links if is_telling(node_text(link))]
    return next(filter(None, (_target(link, base_url) for link in (*in_heading, *titled, *telling, *links))), "")


def _form(links: list[LexborNode], base_url: str) -> str:
    applying = (link for link in links if re.match(r"apply\b", node_text(link), re.IGNORECASE))
    return next(filter(None, (_target(link, base_url) for link in applying)), "")


def _target(link: LexborNode, base_url: str) -> str:
    attributes: Mapping[str, str | None] = link.attributes
    return absolute(attributes.get("href") or "", base_url)
