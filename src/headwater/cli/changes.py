"""`headwater changes`: the log of changes, as every sink reads it."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from headwater.cli.launch import Launch, Launched, Limit, with_services
from headwater.cli.output import say, show, show_json
from headwater.cli.words import inert, shorten
from headwater.errors import DatabaseDown, QueryFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.deliver.pulling import ChangePage, PulledChange
    from headwater.search.views import View
    from headwater.services import Services

WIDEST_TITLE = 80
ROWS_AT_ONCE = 500
DOWN_SECONDS = 2.0


def changes(
    *,
    after: Annotated[
        int | None, Parameter(validator=Number(gte=0), help="Behind this position; otherwise the newest ones.")
    ] = None,
    view: Annotated[
        str | None, Parameter(help="As a reader of this view sees it: all that is not in it is removed.")
    ] = None,
    limit: Limit = 20,
    follow: Annotated[bool, Parameter(negative="", help="Keep printing new changes until Ctrl-C.")] = False,
    text: Annotated[bool, Parameter(negative="", help="With --json: the text of documents, too.")] = False,
    json: Annotated[bool, Parameter(negative="", help="One JSON object a line, with the record as it is now.")] = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Print the log of changes: position, time, record, and whether it is to be kept or removed.

    Positions grow without gaps, and none is ever given out late: who remembers the last one misses nothing.

    Parameters
    ----------
    limit
        How many changes, before new ones are followed.
    """

    def tell(page: "ChangePage") -> None:
        from headwater.deliver.pulling import change_as_dict

        for change in page.changes:
            if json:
                show_json(change_as_dict(change, with_text=text))
            else:
                show(line_of(change))

    async def work(services: "Services") -> None:
        from headwater.deliver.pulling import newest_position
        from headwater.search.views import view_named

        wanted = await view_named(services.database, view) if view else None
        start = await newest_position(services.database, limit) if after is None else after
        reached, is_more = await tell_some(services, start, limit, wanted, tell)
        if follow:
            await keep_telling(services, reached, wanted, tell)
        elif reached == start:
            say_nothing(start)
        elif is_more:
            say(f"More: add --after {reached}")

    with_services(launch, work)


def say_nothing(position: int) -> None:
    say(f"Nothing has changed after position {position}." if position else "Nothing has changed yet: the log is empty.")
    say(
        "`headwater up` and `headwater run deliver` move changes into the log. Wait for one: headwater changes --follow"
    )


async def tell_some(
    services: "Services", after: int, limit: int, view: "View | None", tell: "Callable[[ChangePage], None]"
) -> tuple[int, bool]:
    """The position that was reached, and whether there is more. One page is in memory at a time."""
    from headwater.deliver.pulling import pull_changes

    left, is_more = limit, True
    while left and is_more:
        page = await pull_changes(services.database, after, min(left, ROWS_AT_ONCE), view)
        tell(page)
        after, is_more = page.next, page.more
        left -= len(page.changes)
    return after, is_more


async def keep_telling(
    services: "Services", after: int, view: "View | None", tell: "Callable[[ChangePage], None]"
) -> None:
    from headwater.deliver.log import READERS
    from headwater.deliver.pulling import follow_changes

    reader = f"changes {services.random.getrandbits(64):016x}"
    async with services.listeners.on(READERS) as listener:
        while True:
            try:
                async for page in follow_changes(services.database, listener, reader, after, view):
                    tell(page)
                    after = page.next
            except (DatabaseDown, QueryFailed) as error:
                say(f"{error.what} Looking again.")
                await services.clock.sleep(DOWN_SECONDS)


def line_of(change: "PulledChange") -> str:
    entry = change.entry
    head = f"{entry.position:>10}  {entry.at:%Y-%m-%d %H:%M:%S}  {entry.key.kind:8}  {change.op:6}"
    if change.record is None:
        return f"{head}  {entry.key.id}"
    fields = change.record.fields
    address = inert(fields.get("url") or fields.get("apply_url") or "")
    return f"{head}  v{change.version}  {shorten(fields['title'], WIDEST_TITLE) or '(no title)'}  {address}"
