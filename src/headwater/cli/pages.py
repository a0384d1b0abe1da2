"""Pages of lists that follow one another, all told in one way."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from headwater.cli.output import say, say_more, show_json, show_table

if TYPE_CHECKING:
    from headwater.reports.paging import ListPage

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PageTable(Generic[T]):
    """`name` is the list's in JSON; `whole` and `below` are those of `show_table`."""

    name: str
    as_dict: Callable[[T], object]
    columns: Sequence[str]
    row_of: Callable[[T], Sequence[str]]
    if_empty: str
    whole: Sequence[str] = ()
    below: Sequence[str] = ()


def show_page(page: "ListPage[T]", table: PageTable[T], *, as_json: bool) -> None:
    if as_json:
        show_json({table.name: [table.as_dict(one) for one in page.items], "cursor": page.cursor})
    elif not page.items:
        say(table.if_empty)
    else:
        show_table(table.columns, [table.row_of(one) for one in page.items], whole=table.whole, below=table.below)
        say_more(page.cursor)
