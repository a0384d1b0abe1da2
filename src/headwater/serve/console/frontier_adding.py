"""/console/frontier/add: URLs queued by hand, after a look at what would become of them."""

from collections import Counter
from collections.abc import Sequence

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.actions.urls import QueuedUrl, queue_urls
from headwater.errors import HeadwaterError
from headwater.serve.access.gate import Operator
from headwater.serve.console.components import TableColumn, panel, table
from headwater.serve.console.forms import Fields, button, error_summary, form, text_area, text_field
from headwater.serve.console.frontier_places import PATH, frontier_tabs, story_path
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import foreign, quantity, state
from headwater.serve.console.visit import PageVisit, Visited, see_other
from headwater.serve.pages.markup import Markup, element, joined

router = APIRouter(include_in_schema=False)

ROWS, MOST_ADDED = 50, 10_000
MEANINGS = {
    "queued": "is new, and queued",
    "duplicate": "is known already: nothing is changed",
    "raised": "is known already: it is fetched earlier",
    "revisit": "is known already: it is fetched again",
    "taken_over": "is known already: it belongs to this source from then on",
}


@router.get(f"{PATH}/add")
async def adding_urls_page(caller: Operator, visit: Visited) -> HTMLResponse:
    """Ask for URLs to be queued by hand."""
    return await visit.page(
        PageBody(
            "Add URLs", joined(frontier_tabs(visit, f"{PATH}/add"), _adding_form(visit, "", visit.query.get("source")))
        )
    )


def _adding_form(visit: PageVisit, urls: str, source: str, *above: Markup) -> Markup:
    return form(
        f"{PATH}/add",
        visit.csrf_token,
        *above,
        text_area("urls", "URLs, one a line", urls, rows=10, takes_file=".txt,.csv", hint="Up to 10,000."),
        text_field("source", "Source", source, hint="Its name or address; empty: that of all that is added by hand."),
        element(
            "div",
            button("Look first", name="do", value="look"),
            button("Queue them", kind="primary", name="do", value="add"),
            class_="buttons",
        ),
        class_="form",
    )


@router.post(f"{PATH}/add")
async def add_urls_by_form(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Queue URLs by hand; `look` says what would become of them and changes nothing."""
    urls = [one.strip() for one in fields.get("urls").split("\n") if one.strip()]
    text, source = fields.get("urls"), fields.get("source")
    wrong = (
        "Give at least one URL." if not urls else f"Up to {MOST_ADDED:,} at a time." if len(urls) > MOST_ADDED else ""
    )
    if wrong:
        body = _adding_form(visit, text, source, error_summary(wrong))
        return await visit.page(PageBody("Add URLs", body), status=422)
    is_dry = fields.get("do") == "look"
    try:
        queued = await queue_urls(visit.services, urls, source or None, is_dry=is_dry)
    except HeadwaterError as error:
        body = _adding_form(visit, text, source, error_summary(f"{error.what} {error.fix}"))
        return await visit.page(PageBody("Add URLs", body), status=422)
    if is_dry:
        above = panel("What would become of them", _outcomes(queued), note="nothing was changed")
        return await visit.page(PageBody("Add URLs", _adding_form(visit, text, source, above)))
    counts = Counter(str(one.outcome) for one in queued)
    told_counts = ", ".join(f"{count:,} {outcome.replace('_', ' ')}" for outcome, count in counts.items())
    if len(queued) == 1 and queued[0].id is not None:
        return see_other(story_path(queued[0].url), f"{told_counts}.")
    return see_other(PATH, f"{told_counts}.")


def _outcomes(told: Sequence[QueuedUrl]) -> Markup:
    """Those that are refused first."""
    shown = sorted(told, key=lambda one: not one.reason)[:ROWS]
    made = [
        TableColumn[QueuedUrl]("URL", lambda one: foreign(one.url, 120), "main"),
        TableColumn[QueuedUrl]("", _outcome),
    ]
    taken = sum(not one.reason for one in told)
    count = element(
        "p", f"{taken:,} of {quantity(len(told), 'URL')} can be queued; {len(shown):,} shown.", class_="note"
    )
    return joined(count, table(made, shown, "URLs that were given"))


def _outcome(one: QueuedUrl) -> Markup:
    if one.reason:
        return state("refused", one.reason)
    if one.has_effects:
        return state("warn", "looks as if fetching it did something: log out, delete, buy")
    return state("ok" if one.outcome == "queued" else "unchanged", MEANINGS.get(one.outcome, one.outcome))
