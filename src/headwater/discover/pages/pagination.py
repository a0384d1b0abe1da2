"""Where a listing goes on: at most one next page, never off the source's scope and never back."""

import re
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from datetime import date
from itertools import chain, count
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from headwater.discover.pages.listing import Html, attribute, base_of, followable, link_to, parse_page, text_of
from headwater.urls.articles import is_article_url
from headwater.urls.canonical import CanonicalUrl
from headwater.urls.scope import Placement, Scope, placement_of
from headwater.urls.traps import trap_in

# Pagers stand at the end of a page.
_LAST_LINKS = 2_000
_LONGEST_NAME = 40

_WORDS = frozenset(
    {
        *(
            "next",
            "next page",
            "older",
            "older posts",
            "older entries",
            "older articles",
            "older stories",
            "more results",
        ),
        *("weiter", "nächste", "nächste seite", "ältere", "ältere beiträge", "ältere artikel"),
        *("suivant", "suivante", "page suivante", "articles plus anciens", "siguiente", "página siguiente"),
        *("entradas antiguas", "próxima", "próximo", "próxima página", "seguinte", "página seguinte"),
        *("successivo", "successiva", "avanti", "pagina successiva", "volgende", "volgende pagina"),
        *("nästa", "nästa sida", "næste", "neste", "seuraava", "następna", "dalej", "další", "sonraki", "következő"),
        *(
            "далее",
            "следующая",
            "вперёд",
            "вперед",
            "наступна",
            "次へ",
            "次のページ",
            "下一页",
            "下一頁",
            "다음",
            "التالي",
        ),
    }
)
# They stand under teasers and sections too: only where the list itself is asked for more of it they mean a page.
_MORE_WORDS = frozenset(
    {
        *("more", "load more", "show more", "view more", "see more", "more jobs", "more vacancies", "more positions"),
        *("load more jobs", "show more jobs", "more articles", "more stories", "more posts", "more news"),
        *("load more posts", "load more articles", "load more stories", "show more results", "load more results"),
        *("mehr", "mehr laden", "mehr anzeigen", "weitere laden", "weitere anzeigen", "mehr ergebnisse"),
        *("charger plus", "voir plus", "afficher plus", "plus de résultats", "cargar más", "ver más", "mostrar más"),
        *("carregar mais", "ver mais", "mostrar mais", "carica altro", "mostra altri", "meer laden", "toon meer"),
        *("läs in fler", "visa fler", "vis mere", "załaduj więcej", "pokaż więcej", "показать ещё", "загрузить ещё"),
    }
)
_ARROWS = frozenset({"→", "›", ">", "▶", "⟩"})
# Where both stand, the double one means the last page.
_DOUBLE_ARROWS = frozenset({"»", ">>", "››"})
_AROUND = " \t\n→›»>«‹.…:|▶"

_PAGE_PARAMS = ("page", "paged", "p", "pg", "pageno", "page_no", "pagenum", "seite", "pagina", "strana", "sida")
_PAGE_PATH = re.compile(r"/(page|seite|pagina)/(\d{1,6})(?=/|$)")
_NUMBER = re.compile(r"\d{1,6}", re.ASCII)


def next_page(
    html: Html, current_url: str, seen: AbstractSet[str], *, scope: Scope, today: date, max_pages: int = 10
) -> str | None:
    """None once `max_pages` are seen, this one included. A link of the page beats a number that we count up."""
    tree, current = parse_page(html), link_to(current_url, current_url)
    if tree is None or current is None:
        return None
    known = {page.key for url in (*seen, current_url) if (page := link_to(url, current_url))}
    if len(known) >= max_pages:
        return None
    ahead = (
        url.url
        for url in _candidates(tree, current)
        if url.key not in known
        and placement_of(url, scope) is Placement.INSIDE
        and not _goes_back(url, current)
        and trap_in(url, today=today) is None
    )
    return next(ahead, None)


def _candidates(tree: LexborHTMLParser, current: CanonicalUrl) -> Iterator[CanonicalUrl]:
    base = base_of(tree, current.url)
    links = tree.css("a[href]")[-_LAST_LINKS:]
    declared = (node for node in chain(tree.css("link[href]"), links) if _is_next(node))
    yield from _places(declared, base)
    for names in (_WORDS, _ARROWS, _DOUBLE_ARROWS):
        named = (node for node in links if not names.isdisjoint(_names(node)))
        yield from (url for url in _places(named, base) if _continues(url, current))
    yield from _counted_up(links, base, current)
    yield from _labelled_next(links, base, current)
    more = (node for node in links if not _MORE_WORDS.isdisjoint(_names(node)))
    yield from (url for url in _places(more, base) if _is_of_list(url, current))


def beside_list(urls: Iterable[str], html: Html, current_url: str) -> list[str]:
    """Those that are no other page of the list at `current_url`: its pages are asked in their order, one by one."""
    tree, current = parse_page(html), link_to(current_url, current_url)
    if tree is None or current is None:
        return list(urls)
    base, links = base_of(tree, current.url), tree.css("a[href]")[-_LAST_LINKS:]
    of_list = {url.key for url in _labelled(links, base, current).values()}
    of_list |= {url.key for url in _places(filter(_is_neighbour, chain(tree.css("link[href]"), links)), base)}
    named = (node for node in links if not (_WORDS | _MORE_WORDS).isdisjoint(_names(node)))
    of_list |= {url.key for url in _places(named, base) if _is_of_list(url, current)}
    places = ((url, link_to(url, current_url)) for url in urls)
    return [url for url, place in places if place and place.key not in of_list and not _is_numbered(place, current)]


def _is_neighbour(node: LexborNode) -> bool:
    return not {"next", "prev"}.isdisjoint(attribute(node, "rel").lower().split())


def _is_numbered(url: CanonicalUrl, current: CanonicalUrl) -> bool:
    return _number_in(url) is not None and _without_number(url) == _without_number(current)


def _is_of_list(url: CanonicalUrl, current: CanonicalUrl) -> bool:
    return url.path == current.path or _is_numbered(url, current)


def _labelled(links: list[LexborNode], base: str, current: CanonicalUrl) -> dict[int, CanonicalUrl]:
    """Pages of this list by the numbers that their links show, however their addresses count: `?start=20`."""
    found: dict[int, CanonicalUrl] = {}
    for node in links:
        label = text_of(node)
        url = followable(node, base) if _NUMBER.fullmatch(label) else None
        if url and url.path == current.path and _chosen(url) == _chosen(current):
            found.setdefault(int(label), url)
    return found


def _chosen(url: CanonicalUrl) -> set[tuple[str, str]]:
    """The parameters of a query beside its counters: another search is another list."""
    return {pair for pair in parse_qsl(url.query) if not _NUMBER.fullmatch(pair[1])}


def _labelled_next(links: list[LexborNode], base: str, current: CanonicalUrl) -> Iterator[CanonicalUrl]:
    """The page after this one; this one is the link to itself, or the number that is missing from the row."""
    labelled = _labelled(links, base, current)
    own = next((number for number, url in labelled.items() if url.key == current.key), None)
    here = own or next(number for number in count(1) if number not in labelled)
    if here + 1 in labelled:
        yield labelled[here + 1]


def _is_next(node: LexborNode) -> bool:
    return "next" in attribute(node, "rel").lower().split()


def _places(nodes: Iterable[LexborNode], base: str) -> Iterator[CanonicalUrl]:
    return (url for node in nodes if (url := followable(node, base)))


def _names(link: LexborNode) -> set[str]:
    said = (text_of(link), attribute(link, "aria-label"), attribute(link, "title"))
    short = [name.lower() for name in said if 0 < len(name) <= _LONGEST_NAME]
    return {*short, *(name.strip(_AROUND) for name in short)}


def _continues(url: CanonicalUrl, current: CanonicalUrl) -> bool:
    """`weiter` and `далее` also stand under a teaser, where they lead to the article."""
    return _number_in(url) is not None or url.path == current.path or not is_article_url(url)


def _goes_back(url: CanonicalUrl, current: CanonicalUrl) -> bool:
    number = _number_in(url)
    return (
        number is not None and _without_number(url) == _without_number(current) and number <= (_number_in(current) or 0)
    )


def _counted_up(links: list[LexborNode], base: str, current: CanonicalUrl) -> Iterator[CanonicalUrl]:
    """The page after this one, where the page links to numbered pages of the same listing beyond it."""
    here = _without_number(current)
    numbered = [
        (number, url, text_of(node))
        for node in links
        if (url := followable(node, base)) and (number := _number_in(url)) is not None and _without_number(url) == here
    ]
    # Without a number this is page 1, or page 0 where the link called `2` leads to 1.
    counts_from_zero = any(number == 0 or (number == 1 and text == "2") for number, _, text in numbered)
    now = _number_in(current)
    wanted = (0 if counts_from_zero else 1) + 1 if now is None else now + 1
    model = next((url for number, url, _ in numbered if number >= wanted), None)
    following = link_to(_with_number(model.url, wanted), base) if model else None
    if following:
        yield following


def _number_in(url: CanonicalUrl) -> int | None:
    for name, value in parse_qsl(url.query):
        if name.lower() in _PAGE_PARAMS and _NUMBER.fullmatch(value):
            return int(value)
    found = _PAGE_PATH.search(url.path.lower())
    return int(found[2]) if found else None


def _without_number(url: CanonicalUrl) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    rest = ((name, value) for name, value in parse_qsl(url.query) if name.lower() not in _PAGE_PARAMS)
    return url.site, _PAGE_PATH.sub("", url.path.lower()).rstrip("/"), tuple(rest)


def _with_number(url: str, number: int) -> str:
    parts = urlsplit(url)
    pairs = [
        (name, str(number) if name.lower() in _PAGE_PARAMS else value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    ]
    path = re.sub(_PAGE_PATH.pattern, rf"/\g<1>/{number}", parts.path, flags=re.IGNORECASE)
    return urlunsplit(parts._replace(path=path, query=urlencode(pairs)))
