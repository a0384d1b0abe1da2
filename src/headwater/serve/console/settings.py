"""/console/settings: whether the installation is well, and how it is set."""

from collections.abc import Iterable

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from headwater.reports.doctor import Check, examine
from headwater.serve.access.gate import Admin, Viewer
from headwater.serve.console.components import TableColumn, panel, table
from headwater.serve.console.places import SETTINGS, settings_tabs
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import cut, foreign, quantity, state
from headwater.serve.console.visit import Visited
from headwater.serve.pages.markup import Markup, element, joined, prose
from headwater.services import data_folder
from headwater.settings import Settings
from headwater.settings.groups import Setting, every_setting
from headwater.settings.written import as_written

router = APIRouter(include_in_schema=False)

TONES = {"ok": "ok", "warning": "warn", "failure": "fail"}


@router.get(SETTINGS)
async def health_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """Show what `headwater doctor` finds, the worst first."""
    services = visit.services
    settings = services.settings
    found = [one async for one in examine(settings, data_folder(settings), services.database, services.clock)]
    order = list(reversed(TONES))
    listed = [_check(one) for one in sorted(found, key=lambda one: order.index(one.level))]
    main = joined(settings_tabs(SETTINGS), panel("Checks", element("ul", *listed, class_="checks"), note=_count(found)))
    lead = prose("The machine, the database and what hinders the work: the checks of `headwater doctor`.")
    return await visit.page(PageBody("Health", main, lead))


def _count(found: Iterable[Check]) -> str:
    levels: list[str] = [one.level for one in found]
    counts = [(level, levels.count(level)) for level in TONES]
    return ", ".join(quantity(count, level) if level != "ok" else f"{count} ok" for level, count in counts if count)


def _check(one: Check) -> Markup:
    fix = element("p", "Fix: ", element("code", cut(one.fix, 400)), class_="note") if one.fix else ""
    details = element("ul", *(element("li", foreign(line, 300)) for line in one.details[:20])) if one.details else ""
    return element("li", state(cut(one.says, 400), tone=TONES[one.level]), fix, details)


@router.get(f"{SETTINGS}/configuration")
async def configuration_page(caller: Admin, visit: Visited) -> HTMLResponse:
    """Show every setting as it holds in this process; secrets are masked."""
    path, settings = f"{SETTINGS}/configuration", visit.services.settings
    wanted = visit.query.get("text").lower()
    rows = [one for one in every_setting() if wanted in one.path.lower()]
    made = [
        TableColumn[Setting]("Setting", lambda one: element("code", one.path), "main"),
        TableColumn[Setting]("Value", lambda one: foreign(_value(settings, one) or "–", 200)),
        TableColumn[Setting]("", lambda one: state("set", tone="ok") if _is_set(settings, one) else Markup("default")),
        TableColumn[Setting]("What it does", lambda one: foreign(one.field.description or "", 300)),
    ]
    note = "Set in the settings file, by HEADWATER_GROUP__NAME in the environment, or by --set. This page changes none."
    main = joined(settings_tabs(path), table(made, rows, "Settings", id_="settings"))
    return await visit.page(PageBody("Configuration", main, note))


def _value(settings: Settings, one: Setting) -> str:
    return as_written(getattr(getattr(settings, one.path.partition(".")[0]), one.attribute))


def _is_set(settings: Settings, one: Setting) -> bool:
    return one.attribute in getattr(settings, one.path.partition(".")[0]).model_fields_set
