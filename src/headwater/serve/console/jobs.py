"""/console/jobs: vacancies searched and read."""

from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.actions.searching import JobWish, jobs_wished
from headwater.actions.vacancies import remove_vacancy
from headwater.errors import HeadwaterError
from headwater.reports.archive import DetailedHit
from headwater.reports.vacancies import VacancyRow, find_vacancy
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.console.components import (
    TableColumn,
    columns,
    empty_state,
    facts,
    filter_bar,
    link,
    notice,
    pager,
    panel,
    table,
    way_on,
)
from headwater.serve.console.documents import export_links, nothing_found, told_of, view_path
from headwater.serve.console.forms import Fields, choice_field, confirm_form, text_field
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import NOTHING, cut, foreign, foreign_link, foreign_paragraphs, moment, state
from headwater.serve.console.visit import PageQuery, PageVisit, Visited, see_other
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.problems import status_of_page
from headwater.serve.topics import Topic

router = APIRouter(include_in_schema=False)

PATH = "/console/jobs"
ROWS = 50
LONGEST_TEXT = 10_000
LEVELS = ("intern", "junior", "mid", "senior", "lead", "executive")
MODALITIES = ("onsite", "field", "remote", "hybrid", "home_based", "flexible")
FACTS = ("org_type", "location_raw", "country", "city", "level_norm", "work_modality", "career_type", "contract_type")


@router.get(PATH)
async def jobs_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """List the newest open vacancies, or search them."""
    query, services = visit.query, visit.services
    try:
        answer = await jobs_wished(services, query.get("q"), wish_in(query), ROWS, query.get("cursor") or None)
    except HeadwaterError as error:
        body = joined(_filters(query), notice("fail", cut(error.what), " ", way_on(error.fix)))
        return await visit.page(PageBody("Jobs", body), status=status_of_page(error))
    made = [
        TableColumn[DetailedHit](
            "Title", lambda one: link(foreign(one.hit.title, 160), f"{PATH}/{one.about['id']}"), "main"
        ),
        TableColumn[DetailedHit]("Organisation", lambda one: foreign(one.about["org_name"] or "", 80)),
        TableColumn[DetailedHit]("Place", lambda one: foreign(one.about["location_raw"] or "", 80)),
        TableColumn[DetailedHit]("Level", lambda one: foreign(one.about["level_norm"] or "", 20), "tight"),
        TableColumn[DetailedHit]("Deadline", lambda one: Markup(str(one.about["deadline"] or "–")), "tight"),
        TableColumn[DetailedHit]("Found", lambda one: moment(one.about["created_at"], visit.now)),
        TableColumn[DetailedHit]("Source", lambda one: foreign(one.about["source"] or "removed", 60)),
    ]
    empty = empty_state(*nothing_found(query, "No vacancies yet. Add a career page as a source of kind jobs."))
    main = joined(
        _filters(query),
        element("p", told_of(answer), class_="note"),
        table(made, answer.found, "Vacancies", empty=empty, id_="jobs"),
        pager(query, len(answer.found), answer.cursor),
        export_links("jobs", query),
    )
    view = (
        link("Make a view of this", view_path(query, "job"), class_="button")
        if visit.may(Role.OPERATOR)
        else Markup("")
    )
    return await visit.page(PageBody("Jobs", main, "Open vacancies.", view, (Topic.CHANGES,)))


def wish_in(query: PageQuery) -> JobWish:
    """Raises UsageError for a word that no vocabulary knows."""
    names = ("source", "language", "since", "view", "country", "level", "modality", "career", "contract", "mission")
    return JobWish(**{name: query.get(name) for name in names if query.get(name)})  # type: ignore[arg-type]


def _filters(query: PageQuery) -> Markup:
    return filter_bar(
        query,
        text_field("q", "Words", query.get("q"), type="search"),
        text_field("country", "Country", query.get("country")),
        choice_field("level", "Level", [("", "Any"), *((one, one) for one in LEVELS)], query.get("level")),
        choice_field("modality", "Where", [("", "Any"), *((one, one) for one in MODALITIES)], query.get("modality")),
        text_field("source", "Source", query.get("source")),
        text_field("since", "Since", query.get("since"), placeholder="7d"),
        verb="Search",
    )


@router.get(f"{PATH}/{{named}}")
async def job_page(caller: Viewer, visit: Visited, named: str) -> HTMLResponse:
    """Show a vacancy, the places that name it, and its end."""
    found = await find_vacancy(visit.services.database, named)
    about = found.about
    main = joined(
        _ending(visit, found),
        columns(_facts(visit, about), _words(about)),
        _sightings(visit, found),
    )
    remove = link("Take it out", f"{PATH}/{about['id']}/remove", class_="button danger")
    actions = remove if visit.may(Role.OPERATOR) and about["status"] == "active" else Markup("")
    return await visit.page(PageBody(cut(about["title"], 200), main, cut(about["org_name"] or "", 120), actions))


def _ending(visit: PageVisit, found: VacancyRow) -> Markup:
    if not found.ending:
        return Markup("")
    return notice(
        "paused", f"{cut(found.about['status'])}, ", moment(found.ending.at, visit.now), f": {cut(found.ending.why)}"
    )


def _facts(visit: PageVisit, about: dict[str, Any]) -> Markup:
    told = [
        ("State", state(about["status"])),
        ("Apply", foreign_link(about["apply_url"])),
        *(
            (name.removesuffix("_norm").removesuffix("_raw").replace("_", " ").capitalize(), _value(about.get(name)))
            for name in FACTS
        ),
        ("Missions", _value(", ".join(about.get("mission_tags") or ()))),
        ("Deadline", _value(about["deadline"])),
        ("Found", moment(about["created_at"], visit.now)),
        ("Last seen", moment(about["last_seen_at"], visit.now)),
    ]
    return panel("Facts", facts(told))


def _value(value: object) -> Markup:
    return foreign(value, 200) if value not in (None, "") else NOTHING


def _words(about: dict[str, Any]) -> Markup:
    return panel(
        "Description", foreign_paragraphs(about.get("description_snippet") or "Nothing was said.", LONGEST_TEXT)
    )


def _sightings(visit: PageVisit, found: VacancyRow) -> Markup:
    if not found.sightings:
        return Markup("")
    made = [
        TableColumn[dict[str, Any]]("Where", lambda one: foreign_link(one["url"]), "main"),
        TableColumn[dict[str, Any]]("Last seen", lambda one: moment(one["last_seen_at"], visit.now)),
    ]
    return panel(
        "Named elsewhere", table(made, list(found.sightings), "Places that name it"), note="without a say in it"
    )


@router.get(f"{PATH}/{{named}}/remove")
async def removing_page(caller: Operator, visit: Visited, named: str) -> HTMLResponse:
    """Ask why a vacancy is taken out for good."""
    return await _asked(visit, await find_vacancy(visit.services.database, named))


async def _asked(visit: PageVisit, found: VacancyRow, error: str = "") -> HTMLResponse:
    about = found.about
    path = f"{PATH}/{about['id']}"
    why = text_field("reason", "Why", required="required", hint="It is shown with the vacancy.", error=error)
    asked = confirm_form(
        f"{path}/remove", visit.csrf_token, [], cut(about["title"], 200),
        "It leaves search and every sink, and stays out however often it is listed again.", why,
        verb="Take it out", back=path,
    )  # fmt: skip
    return await visit.page(PageBody("Take this vacancy out?", asked), status=422 if error else 200)


@router.post(f"{PATH}/{{named}}/remove")
async def remove_job_by_form(caller: Operator, visit: Visited, named: str, fields: Fields) -> Response:
    """Take a vacancy out for good."""
    found = await find_vacancy(visit.services.database, named)
    if not fields.get("reason"):
        return await _asked(visit, found, "Say why.")
    await remove_vacancy(visit.services, str(found.about["id"]), caller.name, fields.get("reason")[:2_000])
    return see_other(f"{PATH}/{found.about['id']}", "The vacancy is out.")
