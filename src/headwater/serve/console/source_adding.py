"""/console/sources/add: an address is looked at, then a person chooses of what was found, and it is followed."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.actions.described import add_described, look_at_described
from headwater.discover.searching.following import NotFollowed
from headwater.errors import HeadwaterError, NotFound, QueryFailed, UsageError
from headwater.serve.access.gate import Operator
from headwater.serve.console.components import TableColumn, empty_state, folded, link, notice, panel, table
from headwater.serve.console.forms import (
    Fields,
    FormFields,
    button,
    choice_field,
    error_summary,
    form,
    hidden,
    text_field,
)
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import cut, foreign, foreign_link, quantity
from headwater.serve.console.source_fields import ADVANCED, field_of, problems_by_field, said_in
from headwater.serve.console.source_list import ADD, KINDS, SOURCES, source_path
from headwater.serve.console.source_looks import SHOWN_ITEMS, as_it_goes, begin_look, looking, trouble_of
from headwater.serve.console.visit import PageVisit, Visited, see_other
from headwater.serve.operations import StoredOperation, read_operation
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.shared import LongWork
from headwater.serve.topics import Topic
from headwater.services import Services
from headwater.shapes.trials import added_as_dict
from headwater.sources.exchange.described import row_described

router = APIRouter(include_in_schema=False)

LOOK = "sources.look"
MOST_FOUND = 20
KIND_HINTS = {"news": "news: articles", "jobs": "jobs: vacancies", "docs": "docs: a manual, page by page"}
LEAD = "Give the address of a site, of its feed or of its sitemap. What it has is found, and you choose."


@router.get(ADD)
async def adding_page(caller: Operator, visit: Visited) -> HTMLResponse:
    """Ask for an address."""
    return await visit.page(PageBody("Add a source", _address_form(visit, visit.query.get("url"), ""), LEAD))


def _address_form(visit: PageVisit, url: str, kind: str, error: str = "") -> Markup:
    asked = form(
        ADD,
        visit.csrf_token,
        text_field(
            "url", "Address", url, error=error, required="required", placeholder="https://harbour.example",
            autofocus="autofocus", inputmode="url",
        ),
        choice_field("kind", "Type", list(KIND_HINTS.items()), kind),
        element("div", button("Look at it", kind="primary", name="do", value="look"),
                button("Add without looking", name="do", value="add"), link("Import a list", f"{SOURCES}/import"),
                class_="buttons"),
        class_="form",
    )  # fmt: skip
    return panel("1. The site", asked, note="nothing is stored yet")


@router.post(ADD)
async def add_or_look(caller: Operator, visit: Visited, work: LongWork, fields: Fields) -> Response:
    """Look at an address, or follow what was chosen of it."""
    said = said_in(fields, ("url", "kind", *CHOSEN, *ADVANCED))
    if fields.get("do") == "look":
        try:
            row_described(said)
        except UsageError as error:
            body = _address_form(visit, said["url"], said.get("kind", ""), f"{error.what} {error.fix}".strip())
            return await visit.page(PageBody("Add a source", body, LEAD), status=422)
        asked = {name: said[name] for name in ("url", "kind") if said.get(name)}
        begun = await begin_look(work, LOOK, caller.name, lambda: _seen(visit.services, asked, caller.name))
        return see_other(f"{ADD}/{begun.id}")
    try:
        source_id = await add_described(visit.services, said, caller.name)
    except QueryFailed:
        raise
    except HeadwaterError as error:
        return await _refused(visit, fields, said, error)
    return see_other(source_path(source_id), "It is followed, and is polled as soon as its hosts allow.")


CHOSEN = ("name", "feed_url", "sitemap_url", "more_sitemaps", "ingestion_mode")


async def _seen(services: Services, asked: Mapping[str, Any], actor: str) -> Mapping[str, Any]:
    seen = await look_at_described(services, asked, actor, is_dry=True)
    if isinstance(seen, NotFollowed):
        return {"asked": asked, "followed": False, "against": seen.against, "reason": seen.what}
    wanted = seen.wanted
    chosen = {
        "feed_url": next(iter(wanted.feeds), ""),
        "sitemap_url": next(iter(wanted.sitemaps), ""),
        "ingestion_mode": wanted.mode or ("feed" if wanted.feeds or wanted.sitemaps else "spider"),
    }
    return {"asked": asked, "followed": True, "chosen": chosen, **added_as_dict(seen, SHOWN_ITEMS, is_dry=True)}


@router.get(f"{ADD}/{{look_id}}")
async def choosing_page(caller: Operator, visit: Visited, look_id: UUID) -> HTMLResponse:
    """Show what a site has, and ask what of it is followed."""
    found = await look_of(visit, look_id, LOOK)
    if found.state == "running":
        return await visit.page(
            PageBody("Add a source", as_it_goes(looking(visit, found)), LEAD, topics=(Topic.STATS,))
        )
    if not found.result:
        body = as_it_goes(trouble_of(found), _address_form(visit, "", ""))
        return await visit.page(PageBody("Add a source", body, LEAD))
    seen = found.result
    if not seen["followed"]:
        body = as_it_goes(
            _against(visit, seen), _address_form(visit, seen["asked"]["url"], seen["asked"].get("kind", ""))
        )
        return await visit.page(PageBody("Add a source", body, LEAD))
    return await visit.page(PageBody("Add a source", as_it_goes(_choice(visit, seen)), LEAD))


async def look_of(visit: PageVisit, look_id: UUID, kind: str) -> StoredOperation:
    """Raises NotFound for an operation that is another thing."""
    found = await read_operation(visit.services.database, look_id)
    if found.kind != kind:
        raise NotFound("There is no such look.", fix="Begin it again.")
    return found


def _against(visit: PageVisit, seen: Mapping[str, Any]) -> Markup:
    anyway = form(
        ADD,
        visit.csrf_token,
        *(hidden(name, value) for name, value in seen["asked"].items()),
        button("Follow it anyway", name="do", value="add"),
        class_="one-button",
    )
    return joined(
        notice("warn", foreign(seen["reason"], 400)),
        panel("Not followed", element("p", "It may be right all the same: a poller keeps trying."), anyway),
    )


def _choice(visit: PageVisit, seen: Mapping[str, Any]) -> Markup:
    told = [(one, element("span", _described(one))) for one in seen["found"][:MOST_FOUND]]
    feeds = [(one["url"], text) for one, text in told if one["kind"] == "feed"]
    sitemaps = [(one["url"], text) for one, text in told if one["kind"] == "sitemap"]
    chosen = seen["chosen"]
    why = notice("warn", foreign(seen["reason"], 400)) if seen.get("reason") else ""
    asked = form(
        ADD,
        visit.csrf_token,
        *(hidden(name, value) for name, value in seen["asked"].items() if name != "url"),
        hidden("url", seen.get("url") or seen["asked"]["url"]),
        hidden("do", "add"),
        text_field("name", "Name", cut(seen.get("name") or "", 200), maxlength="200"),
        field_of("ingestion_mode", {"ingestion_mode": chosen["ingestion_mode"]}, {}),
        radios("feed_url", "Feed", feeds, chosen["feed_url"], "No feed"),
        radios("sitemap_url", "Sitemap", sitemaps, chosen["sitemap_url"], "No sitemap"),
        folded("Advanced", element("div", *(field_of(name, {}, {}) for name in ADVANCED), class_="form")),
        element("div", button("Follow it", kind="primary"), link("Another address", ADD), class_="buttons"),
        class_="form",
    )
    return joined(why, panel("2. What is followed", asked, note="nothing is stored yet"), _previews(seen["channels"]))


def _described(one: Mapping[str, Any]) -> Markup:
    items = quantity(one["items"], "item") if one.get("items") is not None else ""
    title = foreign(one["title"], 80) if one.get("title") else ""
    parts = [part for part in (title, items) if part]
    return joined(foreign(one["url"], 120), element("span", joined(*_between(parts)), class_="under"))


def _between(parts: Sequence[str]) -> list[str]:
    return [piece for part in parts for piece in (", ", part)][1:]


def radios(
    name: str, label: str, choices: Sequence[tuple[str, Markup]], chosen: str, none: str, hint: str = ""
) -> Markup:
    """One of several that are longer than a word. The first in order is none of them."""
    made = [
        element(
            "label",
            element(
                "input",
                type="radio",
                name=name,
                # An empty value would be left out, and the browser send "on".
                value=value or "-",
                checked="checked" if value == chosen else "",
            ),
            told,
            class_="check",
        )
        for value, told in [*choices, ("", element("span", none))]
    ]
    told = element("p", hint, class_="hint") if hint else ""
    return element("fieldset", element("legend", label), *made, told, class_="choice wide")


def _previews(channels: Sequence[Mapping[str, Any]]) -> Markup:
    """The first items of each channel."""
    return joined(*(channel_preview(one) for one in channels))


def channel_preview(one: Mapping[str, Any]) -> Markup:
    if one.get("problem"):
        inside: Markup = notice("fail", foreign(one["problem"], 400))
    else:
        columns = [
            TableColumn[Mapping[str, Any]](
                "Title", lambda item: foreign_link(item["url"], item.get("title") or item["url"]), "main"
            ),
            TableColumn[Mapping[str, Any]]("Published", lambda item: foreign(item.get("published_at") or "–", 40)),
            TableColumn[Mapping[str, Any]]("By", lambda item: foreign(item.get("author") or "–", 60)),
        ]
        listed = one.get("vacancies") or one["items"]
        shown = [item | {"title": item.get("title") or ""} for item in listed]
        inside = table(columns, shown, f"First items of the {one['kind']}", empty=empty_state("It lists no items."))
    notes = [element("p", foreign(note, 300), class_="note") for note in one.get("notes", ())[:5]]
    note = f"{min(len(one['items']), SHOWN_ITEMS)} of {quantity(one['count'], 'item')}"
    return panel(
        str(one["kind"]).capitalize(), element("p", foreign_link(one["url"]), class_="note"), inside, *notes, note=note
    )


async def _refused(visit: PageVisit, fields: FormFields, said: Mapping[str, str], error: HeadwaterError) -> Response:
    """With all that was said, to be mended."""
    wrong = problems_by_field(said)
    names = ("name", "feed_url", "sitemap_url", "ingestion_mode")
    asked = form(
        ADD,
        visit.csrf_token,
        error_summary(cut(f"{error.what} {error.fix}".strip(), 600)),
        hidden("do", "add"),
        text_field("url", "Address", said.get("url", ""), error=wrong.get("url", "")),
        choice_field("kind", "Type", [(one, one) for one in KINDS], said.get("kind", "")),
        *(field_of(name, said, wrong) for name in (*names, *ADVANCED)),
        element("div", button("Follow it", kind="primary"), link("Another address", ADD), class_="buttons"),
        class_="form",
    )
    return await visit.page(PageBody("Add a source", panel("2. What is followed", asked), LEAD), status=422)
