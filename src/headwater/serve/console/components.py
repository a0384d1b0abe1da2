"""Parts of which pages are made: tables, filters, segments, tabs, panels, and what stands for nothing. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from headwater.serve.console.forms import hidden
from headwater.serve.console.icons import icon
from headwater.serve.console.shown import cut, quantity
from headwater.serve.console.visit import PageQuery
from headwater.serve.pages.markup import Markup, element, joined, prose
from headwater.serve.ways import page_way

T = TypeVar("T")
NOTHING = Markup("")


# Without slots: with them `TableColumn[Row](…)` could not be said.
@dataclass(frozen=True)
class TableColumn(Generic[T]):
    """`kind`: `main` names the row, `number` is aligned to the right. `order`: its word in the address, where the
    list can be sorted by it both ways; `ways`: the words of those that it can be sorted by, the first is offered first.
    """

    heading: str
    cell: Callable[[T], str]
    kind: Literal["", "main", "number", "tight"] = ""
    order: str = ""
    ways: tuple[str, ...] = ()

    @property
    def orders(self) -> tuple[str, ...]:
        return self.ways or ((self.order, f"-{self.order}") if self.order else ())


def table(
    columns: Sequence[TableColumn[T]],
    rows: Sequence[T],
    caption: str,
    *,
    query: PageQuery | None = None,
    chosen_by: Callable[[T], str] | None = None,
    empty: Markup = NOTHING,
    id_: str = "",
) -> Markup:
    """`chosen_by` gives rows a box, with this value, of a form that stands around the table (`bulk_bar`)."""
    if not rows:
        return element("div", empty or empty_state("Nothing here."), class_="table-frame live", id=id_)
    heads = [_box("all", "all", "Choose all rows")] if chosen_by else []
    heads += [_head(one, query) for one in columns]
    body = [_row(columns, one, chosen_by(one) if chosen_by else "") for one in rows]
    made = element(
        "table",
        element("caption", caption, class_="unseen"),
        element("thead", element("tr", *heads)),
        element("tbody", *body),
    )
    # What is wider than a page can be scrolled, by keys as well.
    return element(
        "div", made, class_="table-frame live", id=id_, tabindex="0", role="region", aria_label=cut(caption, 80)
    )


def _head(column: TableColumn[T], query: PageQuery | None) -> Markup:
    told: str = column.heading
    sorted_ = ""
    if query and column.orders:
        now, orders = query.get("order"), column.orders
        is_down = now.startswith("-")
        sorted_ = ("descending" if is_down else "ascending") if now in orders else ""
        sign = icon("down" if is_down else "up") if sorted_ else NOTHING
        following = orders[(orders.index(now) + 1) % len(orders)] if sorted_ else orders[0]
        told = element("a", column.heading, sign, href=query.to(order=following))
    return element("th", told, scope="col", class_=column.kind, aria_sort=sorted_)


def _row(columns: Sequence[TableColumn[T]], row: T, chosen: str) -> Markup:
    cells = [_box(chosen, "chosen", "Choose this row")] if chosen else []
    for column in columns:
        attributes = {"class_": column.kind, "data_label": column.heading}
        if column.kind == "main":
            cells.append(element("th", column.cell(row), scope="row", **attributes))
        else:
            cells.append(element("td", column.cell(row), **attributes))
    return element("tr", *cells)


def _box(value: str, name: str, label: str) -> Markup:
    is_all = name == "all"
    box = element(
        "input",
        type="checkbox",
        name="" if is_all else name,
        value=value,
        aria_label=label,
        class_="choose-all" if is_all else "",
    )
    # Without the script the box for all does nothing, and is not shown.
    return element(
        "th" if is_all else "td", box, class_="box scripted" if is_all else "box", scope="col" if is_all else ""
    )


def pager(query: PageQuery, shown: int, cursor: str | None, total: int | None = None, told_total: str = "") -> Markup:
    """Each list says its cut. `told_total` where it was not counted to the end. Of an empty list its words say it."""
    if not shown and not cursor and not query.get("cursor"):
        return NOTHING
    of = f" of {told_total or f'{total:,}'}" if told_total or total is not None else ""
    first = element("a", "First page", href=query.to()) if query.get("cursor") else NOTHING
    following = element("a", "Next page", icon("more"), href=query.to(cursor=cursor), rel="next") if cursor else NOTHING
    return element(
        "nav", element("span", f"{shown:,}{of} shown"), first, following, class_="pager", aria_label="Pages of the list"
    )


def segments(
    query: PageQuery,
    name: str,
    choices: Iterable[tuple[str, str, int | str | None]],
    label: str = "State",
    *,
    otherwise: str = "",
) -> Markup:
    """Links that set one filter: value, word and count of each. The count follows the other filters.

    `otherwise` holds where the address says nothing.
    """
    chosen = query.get(name) or otherwise
    made = [
        element(
            "a",
            word,
            NOTHING
            if count is None
            else element("span", count if isinstance(count, str) else f"{count:,}", class_="count"),
            href=query.to(**{name: value}),
            aria_current="true" if value == chosen else "",
        )
        for value, word, count in choices
    ]
    return element("nav", *made, class_="segments", aria_label=label)


def filter_bar(
    query: PageQuery, *fields: Markup, keeps: Sequence[str] = (), keeps_order: bool = True, verb: str = "Filter"
) -> Markup:
    """Filters stand in the address. `keeps`: values of it that are set elsewhere, such as by segments; the order, too,
    unless one of the fields sets it.
    """
    names = (*keeps, "order") if keeps_order else keeps
    kept = [hidden(name, query.get(name)) for name in names if query.get(name)]
    is_set = set(query.values) - {"cursor", "order", *keeps}
    clear = element("a", "Clear", href=query.path, class_="clear") if is_set else NOTHING
    apply = element("button", verb, type="submit")
    return element(
        "form", *kept, *fields, apply, clear, method="get", action=query.path, class_="filters", role="search"
    )


def bulk_bar(total: int, told_total: str, *verbs: Markup) -> Markup:
    """Inside of the form around a table with boxes: what is done to chosen rows, or to all that match the filters.

    The box `all_matching` sends `all_matching=yes`; then the server takes the filters of the address, which the form
    sends as `query`, and not the rows.
    """
    box = element("input", type="checkbox", name="all_matching", value="yes")
    every = element("label", box, f" All {told_total or f'{total:,}'} that match", class_="every")
    chosen = element("output", "0 chosen", class_="chosen scripted", aria_live="polite")
    return element("div", chosen, every, *verbs, class_="bulk")


def tabs(entries: Iterable[tuple[str, str]], path: str, label: str) -> Markup:
    """Name and path of each; they are pages of their own."""
    made = [element("a", name, href=href, aria_current="page" if href == path else "") for name, href in entries]
    return element("nav", *made, class_="tabs", aria_label=label)


def panel(
    title: str, *inside: str, note: str = "", actions: Markup = NOTHING, id_: str = "", class_: str = ""
) -> Markup:
    """A part of a page with a heading. `note`: its window, or what it counts."""
    told = element("span", note, class_="window") if note else NOTHING
    head = element("header", element("h2", title, id=f"{id_}-title" if id_ else ""), told, actions)
    kind = f"panel live {class_}" if id_ else f"panel {class_}"
    return element("section", head, *inside, class_=kind.strip(), id=id_, aria_labelledby=f"{id_}-title" if id_ else "")


def columns(*parts: Markup) -> Markup:
    """Panels beside each other where there is room."""
    return element("div", *parts, class_="columns")


def facts(entries: Iterable[tuple[str, str]]) -> Markup:
    """Names and values of one thing."""
    made = [element("div", element("dt", name), element("dd", told)) for name, told in entries]
    return element("dl", *made, class_="facts")


def folded(summary: str, *inside: str, is_open: bool = False) -> Markup:
    """Shown when somebody asks for it: what is advanced, long, or rarely wanted."""
    return element("details", element("summary", summary), *inside, open="open" if is_open else "")


def empty_state(says: str, *ways: Markup) -> Markup:
    """Where there is nothing: why, and what to do."""
    return element("div", element("p", says), element("p", *ways, class_="ways") if ways else NOTHING, class_="empty")


def link(told: str, href: str, *, class_: str = "") -> Markup:
    """To a page of ours."""
    return element("a", told, href=href, class_=class_)


def way_on(told: str, most: int = 400) -> Markup:
    """What to do about something, said for a terminal: where a page of ours does it, that page."""
    way = page_way(told)
    return joined(prose(way.before), link(cut(way.told, most), way.href)) if way else prose(cut(told, most))


def cut_note(shown: int, total: int, noun: str, href: str = "") -> Markup:
    """Below a short list: how many there are, and where."""
    if shown >= total:
        return NOTHING
    told = f"{shown:,} of {quantity(total, noun)}"
    return element("p", element("a", told, href=href) if href else told, class_="note")


def notice(tone: str, *told: str) -> Markup:
    """A sentence that somebody has to see: `ok`, `warn`, `fail`, `paused`."""
    return element("p", icon(tone), element("span", joined(*told)), class_=f"banner {tone}")
