"""Beside found documents: what they have in common, each a link that finds those alone. Pure."""

from headwater.search.facets import Facet, FacetCounts, Facets
from headwater.serve.console.components import NOTHING, link
from headwater.serve.console.icons import icon
from headwater.serve.console.shown import cut, foreign, number, quantity
from headwater.serve.console.visit import PageQuery
from headwater.serve.pages.markup import Markup, element, joined

HEADINGS = {
    Facet.SOURCE: "Source",
    Facet.HOST: "Host",
    Facet.LANGUAGE: "Language",
    Facet.PAGE_TYPE: "Kind of page",
    Facet.AUTHOR: "Author",
    Facet.MONTH: "Month",
    Facet.DAY: "Day",
}
# Those that have a field of their own are seen there.
WITHOUT_A_FIELD = tuple(str(one) for one in Facet if one not in (Facet.SOURCE, Facet.LANGUAGE))
LONGEST_VALUE = 60


def facets_to_show(query: PageQuery) -> tuple[Facet, ...]:
    """What was chosen need not be counted; the days of a month are, once it is chosen."""
    times = (Facet.DAY,) if query.get("month") else (Facet.MONTH,)
    shown = [one for one in Facet if one not in (Facet.MONTH, Facet.DAY)]
    return tuple(one for one in (*shown, *(() if query.get("day") else times)) if not query.get(one))


def narrowing(query: PageQuery, facets: Facets | None) -> Markup:
    """What was chosen, to be taken back, and what can be chosen."""
    counted = [] if facets is None else [_choices(query, one) for one in facets.counts if _divides(one, facets.counted)]
    parts = [*_chosen(query), *counted]
    if not parts:
        return NOTHING
    told = "" if facets is None or not counted else _told_of(facets)
    return element("nav", *parts, told, class_="narrowing live", id="narrowing", aria_label="Narrow the search")


def _divides(counts: FacetCounts, counted: int) -> bool:
    """Not where all documents have the same value, or none has any."""
    return bool(counts.values) and (len(counts.values) > 1 or counts.values[0].count < counted)


def _chosen(query: PageQuery) -> list[Markup]:
    named = {name: query.get(name) for name in WITHOUT_A_FIELD if query.get(name)}
    if not named:
        return []
    links = [
        element(
            "a",
            foreign(_told(Facet(name), value), LONGEST_VALUE),
            icon("fail"),
            href=query.to(**{name: ""}),
            title=f"{HEADINGS[Facet(name)]}: take it back",
        )
        for name, value in named.items()
    ]
    return [_part("Chosen", links, class_="chosen")]


def _choices(query: PageQuery, counts: FacetCounts) -> Markup:
    links = [
        joined(
            link(foreign(_told(counts.facet, one.name), LONGEST_VALUE), query.to(**{counts.facet: one.value})),
            " ",
            element("span", number(one.count), class_="count"),
        )
        for one in counts.values
    ]
    others = [joined(element("span", "others"), " ", element("span", number(counts.others), class_="count"))]
    return _part(HEADINGS[counts.facet], [*links, *(others if counts.others else [])])


def _part(heading: str, entries: list[Markup], class_: str = "") -> Markup:
    return element(
        "section",
        element("h2", heading),
        element("ul", *(element("li", one) for one in entries)),
        class_=f"facet {class_}".strip(),
    )


def _told(facet: Facet, value: str) -> str:
    return value.replace("_", " ") if facet is Facet.PAGE_TYPE else cut(value, LONGEST_VALUE)


def _told_of(facets: Facets) -> Markup:
    told = "" if facets.is_complete else f"Counted in the newest {quantity(facets.counted, 'match', 'matches')}."
    rough = "" if all(one.is_exact for one in facets.counts) else " Counts are rough: there are very many values."
    return element("p", told, rough, class_="note") if told or rough else NOTHING
