"""/console/views: named filters over the archive, which sinks and feeds deliver."""

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.actions.delivery import (
    ViewStory,
    ViewWish,
    delete_view,
    edit_view,
    make_view,
    preview_view,
    view_stories,
)
from headwater.editions import edition_of
from headwater.errors import HeadwaterError, Outdated
from headwater.reports.archive import DetailedHit
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.console.components import TableColumn, empty_state, facts, link, panel, table
from headwater.serve.console.documents import document_path
from headwater.serve.console.forms import (
    Fields,
    FormFields,
    button,
    choice_field,
    confirm_form,
    error_summary,
    form,
    hidden,
    text_field,
)
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import cut, foreign, moment, number, quantity
from headwater.serve.console.visit import PageVisit, Visited, see_other
from headwater.serve.pages.markup import Markup, element, joined

router = APIRouter(include_in_schema=False)

PATH = "/console/views"
PREVIEWED = 20
LISTS = ("sources", "tags", "languages", "countries")
HINTS = {
    "sources": "Names, addresses or ids, with commas.",
    "tags": "Tags of sources, with commas.",
    "languages": "By two letters, with commas: en, da.",
    "countries": "Names or two letters, with commas.",
}
FIELDS = ("query", "kinds", *LISTS, "min_quality")
NAME_HINT = "Small letters, digits, - and _."


@router.get(PATH)
async def views_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """List the views and the sinks that deliver them."""
    found = await view_stories(visit.services)
    made = [
        TableColumn[ViewStory]("View", lambda one: link(one.view.name, f"{PATH}/{one.view.name}"), "main"),
        TableColumn[ViewStory]("In it", lambda one: foreign(in_words(one), 200)),
        TableColumn[ViewStory]("Sinks", lambda one: foreign(", ".join(one.sinks) or "none", 120)),
    ]
    empty = empty_state(
        "No views yet. Search for documents, and make a view of the search.", link("Documents", "/console/documents")
    )
    add = link("Add a view", f"{PATH}/add", class_="button primary") if visit.may(Role.OPERATOR) else Markup("")
    lead = "A view names what of the archive a sink delivers, a feed shows, or a search looks at."
    return await visit.page(PageBody("Views", table(made, found, "Views", empty=empty, id_="views"), lead, add))


def in_words(story: ViewStory) -> str:
    """Pure."""
    view = story.view
    parts = [
        f"“{view.query}”" if view.query else "",
        " and ".join(f"{kind}s" for kind in view.kinds),
        f"of {', '.join(story.sources)}" if story.sources else "",
        f"tagged {', '.join(view.tags)}" if view.tags else "",
        f"in {', '.join(view.languages)}" if view.languages else "",
        f"from {', '.join(view.countries)}" if view.countries else "",
        f"of quality {view.min_quality} at least" if view.min_quality is not None else "",
    ]
    return "; ".join(filter(None, parts)) or "everything"


@router.get(f"{PATH}/add")
async def adding_view_page(caller: Operator, visit: Visited) -> HTMLResponse:
    """Ask what is in a new view; a search fills it in."""
    given = FormFields(list(visit.query.values.items()))
    return await visit.page(PageBody("Add a view", _form(visit, f"{PATH}/add", given, names=True)))


def _form(visit: PageVisit, action: str, given: FormFields, *errors: str, names: bool) -> Markup:
    kinds = [("", "Documents and vacancies"), ("document", "Documents"), ("job", "Vacancies")]
    return form(
        action,
        visit.csrf_token,
        error_summary(*errors) if errors else "",
        hidden("edition", given.get("edition")) if given.get("edition") else "",
        text_field("name", "Name", given.get("name"), hint=NAME_HINT, required="required", maxlength="63")
        if names
        else "",
        text_field("query", "Words", given.get("query"), hint="As a search takes them; empty: any."),
        choice_field("kinds", "Records", kinds, given.get("kinds")),
        *(text_field(one, one.capitalize(), given.get(one), hint=HINTS[one]) for one in LISTS),
        text_field("min_quality", "Quality at least", given.get("min_quality"), inputmode="numeric", hint="0 to 100."),
        element("div", button("Save", kind="primary"), class_="buttons"),
        class_="form",
    )


def wish_of(fields: FormFields) -> ViewWish:
    """All of a form: what is empty filters nothing. Raises ValueError for a quality that is no number."""
    lists = {name: [one.strip() for one in fields.get(name).split(",") if one.strip()] for name in LISTS}
    quality = fields.get("min_quality")
    return ViewWish(
        query=fields.get("query"),
        kinds=[fields.get("kinds")] if fields.get("kinds") else [],
        min_quality=int(quality) if quality else None,
        **lists,
    )


@router.post(f"{PATH}/add")
async def add_view_by_form(caller: Operator, visit: Visited, fields: Fields) -> Response:
    """Name a filter over the archive."""
    try:
        view = await make_view(visit.services, fields.get("name"), wish_of(fields))
    except ValueError:
        body = _form(visit, f"{PATH}/add", fields, "The quality is no number of 0 to 100.", names=True)
        return await visit.page(PageBody("Add a view", body), status=422)
    except HeadwaterError as error:
        body = _form(visit, f"{PATH}/add", fields, f"{error.what} {error.fix}", names=True)
        return await visit.page(PageBody("Add a view", body), status=422)
    return see_other(f"{PATH}/{view.name}", f"The view {view.name} is there.")


@router.get(f"{PATH}/{{name}}")
async def view_page(caller: Viewer, visit: Visited, name: str) -> HTMLResponse:
    """Show what is in a view now, and who delivers it."""
    (story,) = await view_stories(visit.services, name)
    preview = await preview_view(visit.services, name, PREVIEWED)
    counts = [
        (
            f"{one.kind.capitalize()}s",
            joined(number(one.found), f" of the newest {one.looked:,}" if not one.is_all else ""),
        )
        for one in preview.counts
    ]
    told = facts(
        [("In it", foreign(in_words(story), 400)), *counts, ("Sinks", foreign(", ".join(story.sinks) or "none", 200))]
    )
    made = [
        TableColumn[DetailedHit]("Title", lambda one: link(foreign(one.hit.title, 160), _place(one)), "main"),
        TableColumn[DetailedHit]("Kind", lambda one: Markup(str(one.hit.kind))),
        TableColumn[DetailedHit]("Found", lambda one: moment(one.hit.first_seen_at, visit.now)),
    ]
    listed = table(made, list(preview.found), "Records in the view", empty=empty_state("Nothing is in it now."))
    edit = (
        panel("Change it", _form(visit, f"{PATH}/{name}", _fields(story), names=False))
        if visit.may(Role.OPERATOR)
        else ""
    )
    actions = (
        link("Remove", f"{PATH}/{name}/remove", class_="button danger") if visit.may(Role.OPERATOR) else Markup("")
    )
    main = joined(panel("View", told), panel("Newest", listed, note=f"{PREVIEWED} at most"), edit)
    return await visit.page(PageBody(f"View {cut(name, 63)}", main, actions=actions))


def _place(one: DetailedHit) -> str:
    return document_path(one.hit.hash) if one.hit.kind == "document" else f"/console/jobs/{one.about['id']}"


def _fields(story: ViewStory) -> FormFields:
    view = story.view
    lists = {"sources": story.sources, "tags": view.tags, "languages": view.languages, "countries": view.countries}
    quality = "" if view.min_quality is None else str(view.min_quality)
    kinds = view.kinds[0] if len(view.kinds) == 1 else ""
    plain = {"query": view.query, "kinds": str(kinds), "min_quality": quality, "edition": edition_of(view)}
    return FormFields([*plain.items(), *((name, ", ".join(values)) for name, values in lists.items())])


@router.post(f"{PATH}/{{name}}")
async def change_view_by_form(caller: Operator, visit: Visited, name: str, fields: Fields) -> Response:
    """Change what is in a view: its sinks look at the whole archive again."""
    try:
        known = {fields.get("edition")} if fields.get("edition") else None
        _, sinks = await edit_view(visit.services, name, wish_of(fields), known)
    except Outdated as error:
        (story,) = await view_stories(visit.services, name)
        told = f"{error.what} It is now: {in_words(story)[:400]}. Save again to put what you typed in its place."
        typed = FormFields([*((key, fields.get(key)) for key in FIELDS), ("edition", edition_of(story.view))])
        body = _form(visit, f"{PATH}/{name}", typed, told, names=False)
        return await visit.page(PageBody(f"View {cut(name, 63)}", body), status=409)
    except (ValueError, HeadwaterError) as error:
        told = f"{error.what} {error.fix}" if isinstance(error, HeadwaterError) else "The quality is no number."
        body = _form(visit, f"{PATH}/{name}", fields, told, names=False)
        return await visit.page(PageBody(f"View {cut(name, 63)}", body), status=422)
    again = f" {quantity(len(sinks), 'sink')} look at the archive again." if sinks else ""
    return see_other(f"{PATH}/{name}", f"The view is changed.{again}")


@router.get(f"{PATH}/{{name}}/remove")
async def removing_view_page(caller: Operator, visit: Visited, name: str) -> HTMLResponse:
    """Ask before a view is removed."""
    (story,) = await view_stories(visit.services, name)
    asked = confirm_form(
        f"{PATH}/{name}/remove", visit.csrf_token, [], in_words(story)[:300], "Documents stay where they are.",
        verb="Remove the view", back=f"{PATH}/{name}",
    )  # fmt: skip
    return await visit.page(PageBody(f"Remove the view {cut(name, 63)}?", asked))


@router.post(f"{PATH}/{{name}}/remove")
async def remove_view_by_form(caller: Operator, visit: Visited, name: str, fields: Fields) -> Response:
    """Remove a view; refused while a sink delivers it."""
    await delete_view(visit.services, name)
    return see_other(PATH, f"The view {cut(name, 63)} is removed.")
