"""/console/settings/sinks: where documents and vacancies are delivered, and what hinders that."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

from headwater.accounts.role import Role
from headwater.actions.adding_sinks import add_sink
from headwater.actions.delivery import (
    SinkStory,
    check_sink,
    costs_of_rebuild,
    pause_sink,
    rebuild_sink,
    remove_sink,
    resume_sink,
    retry_sink,
    story_of_sink,
    verify_sink,
    view_stories,
)
from headwater.deliver.options import every_kind
from headwater.deliver.store import FailedRecord, FailureGroup, SinkReport
from headwater.errors import HeadwaterError, UsageError
from headwater.reports.sinks import delivery_now, health_of_sink, state_word
from headwater.serve.access.gate import Admin, Operator, Viewer
from headwater.serve.console.components import (
    TableColumn,
    columns,
    empty_state,
    facts,
    folded,
    link,
    notice,
    panel,
    table,
)
from headwater.serve.console.forms import (
    Fields,
    FormFields,
    action_button,
    button,
    check_field,
    choice_field,
    confirm_form,
    error_summary,
    form,
    text_area,
    text_field,
)
from headwater.serve.console.operations import see_operation
from headwater.serve.console.places import settings_tabs
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import NOTHING, cut, due, foreign, moment, number, quantity, state
from headwater.serve.console.visit import PageVisit, Visited, see_other
from headwater.serve.operations import Progress
from headwater.serve.pages.markup import Markup, element, joined
from headwater.serve.shared import LongWork
from headwater.serve.topics import Topic
from headwater.shapes.sinks import verification_as_dict

router = APIRouter(include_in_schema=False)

PATH = "/console/settings/sinks"


@router.get(PATH)
async def sinks_page(caller: Viewer, visit: Visited) -> HTMLResponse:
    """List the sinks and how far each is."""
    now = await delivery_now(visit.services.database)
    made = [
        TableColumn[SinkReport]("Sink", lambda one: joined(link(one.name, f"{PATH}/{one.name}"), _under(one)), "main"),
        TableColumn[SinkReport]("Health", lambda one: state(health_of_sink(one))),
        TableColumn[SinkReport]("State", lambda one: state(state_word(one))),
        TableColumn[SinkReport]("Behind", lambda one: number(one.behind), "number"),
        TableColumn[SinkReport]("Oldest waits", lambda one: moment(one.behind_since, visit.now, never="none")),
        TableColumn[SinkReport]("Parked", lambda one: number(one.parked), "number"),
        TableColumn[SinkReport]("Sent", lambda one: number(one.sent), "number"),
        TableColumn[SinkReport]("Last success", lambda one: moment(one.last_success_at, visit.now)),
        TableColumn[SinkReport]("Last error", lambda one: foreign(one.last_error, 120) if one.last_error else NOTHING),
    ]
    add = link("Add a sink", f"{PATH}/add", class_="button primary") if visit.may(Role.ADMIN) else Markup("")
    empty = empty_state("Nothing is delivered yet: search, the API and exports read the archive.", add)
    listed = table(made, list(now.sinks), "Sinks", empty=empty, id_="sinks")
    position = element("p", f"The log of changes is at position {now.position:,}.", class_="note")
    body = joined(settings_tabs(PATH), listed, position)
    lead = "Every change of a document or vacancy, in order, at least once."
    return await visit.page(PageBody("Sinks", body, lead, add, (Topic.CHANGES, Topic.STATS)))


def _under(one: SinkReport) -> Markup:
    return element(
        "span", cut(one.type, 40), f", view {cut(one.view_name, 63)}" if one.view_name else "", class_="under"
    )


@router.get(f"{PATH}/add")
async def adding_sink_page(caller: Admin, visit: Visited) -> HTMLResponse:
    """Ask what is delivered, and where."""
    return await visit.page(PageBody("Add a sink", await _form(visit, FormFields([]))))


async def _form(visit: PageVisit, given: FormFields, *errors: str) -> Markup:
    kinds = [(one.name, one.name) for one in every_kind()]
    views = [("", "Everything"), *((one.view.name, one.view.name) for one in await view_stories(visit.services))]
    hint = "One a line, as name = value. A secret is named as env:NAME or file:/path, never written here."
    asked = form(
        f"{PATH}/add",
        visit.csrf_token,
        error_summary(*errors) if errors else "",
        text_field("name", "Name", given.get("name"), required="required", hint="Small letters, digits, - and _."),
        choice_field("type", "Type", kinds, given.get("type")),
        text_area("options", "Options", given.get("options"), rows=5, hint=hint),
        choice_field("view", "View", views, given.get("view")),
        check_field("from_archive", "Fill it from the archive", is_set=given.has("from_archive")),
        element("div", button("Add and try it", kind="primary"), class_="buttons"),
        class_="form",
    )
    told = [
        folded(
            one.name,
            element("p", cut(one.summary, 400)),
            facts((cut(option.name, 60), cut(option.says, 300)) for option in one.options),
        )
        for one in every_kind()
    ]
    return columns(asked, panel("Types and their options", *told))


@router.post(f"{PATH}/add")
async def add_sink_by_form(caller: Admin, visit: Visited, fields: Fields) -> Response:
    """Deliver to a sink; one that does not answer is added all the same."""
    name = fields.get("name")
    try:
        added = await add_sink(
            visit.services,
            name,
            fields.get("type"),
            options_in(fields.get("options")),
            view=fields.get("view") or None,
            from_archive=fields.has("from_archive"),
            is_remote=True,
        )
    except HeadwaterError as error:
        body = await _form(visit, fields, f"{error.what} {error.fix}")
        return await visit.page(PageBody("Add a sink", body), status=422)
    trouble = f" It does not answer yet: {added.trouble.what}" if added.trouble else f" {added.answer}"
    return see_other(f"{PATH}/{name}", f"The sink {name} is added.{trouble}")


def options_in(text: str) -> dict[str, str]:
    """Raises UsageError. Pure."""
    found = {}
    for line in filter(None, map(str.strip, text.split("\n"))):
        name, sign, value = line.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"{cut(line, 60)!r} is no option.", fix="Write each as name = value.")
        found[name.strip()] = value.strip()
    return found


@router.get(f"{PATH}/{{name}}")
async def sink_page(caller: Viewer, visit: Visited, name: str) -> HTMLResponse:
    """Show a sink: its state, what it refused and why, how far it is filled."""
    story = await story_of_sink(visit.services, name)
    body = joined(
        settings_tabs(PATH),
        _told_state(story.sink),
        columns(_now(visit, story), _options(story)),
        _failures(visit, story),
    )
    actions = _actions(visit, story.sink) if visit.may(Role.OPERATOR) else Markup("")
    return await visit.page(
        PageBody(f"Sink {cut(name, 63)}", body, actions=actions, topics=(Topic.CHANGES, Topic.STATS))
    )


def _told_state(sink: SinkReport) -> Markup:
    if sink.state_reason:
        by = f", by {cut(sink.set_by, 60)}" if sink.set_by else ""
        return notice("paused", f"{cut(sink.state)}{by}: {cut(sink.state_reason, 300)}")
    return notice("warn", f"It is down: {cut(sink.last_error or '', 300)}") if sink.failures else Markup("")


def _now(visit: PageVisit, story: SinkStory) -> Markup:
    one, now = story.sink, visit.now
    filled = f"{one.backfill_share:.0%}, because {cut(one.backfill_reason)}" if one.backfill_share is not None else ""
    told = [
        ("Health", state(health_of_sink(one))),
        ("State", state(state_word(one))),
        ("Position", f"{one.position:,} of {one.log_position:,}"),
        (
            "Behind",
            joined(quantity(one.behind, "change"), ", the oldest of ", moment(one.behind_since, now, never="none")),
        ),
        ("Being filled", Markup(cut(filled))) if filled else ("Being filled", NOTHING),
        ("Parked", number(one.parked)),
        ("Tried again later", number(one.retrying)),
        ("Sent", number(one.sent)),
        ("Last success", moment(one.last_success_at, now)),
        ("Last error", joined(foreign(one.last_error or "none", 300), " ", moment(one.last_error_at, now, never=""))),
        ("Next try", due(one.retry_at, now) if one.failures else NOTHING),
        ("Worked by", foreign(one.owner or "nobody now", 80)),
    ]
    return panel("Now", facts(told), id_="sink-now")


def _options(story: SinkStory) -> Markup:
    told: list[tuple[str, str]] = [
        ("Type", foreign(story.sink.type, 60)),
        ("View", foreign(story.sink.view_name or "everything", 63)),
    ]
    told += [(cut(name, 60), foreign(value, 300)) for name, value in story.sink.options.items()]
    forgets = story.kind.forgets_not if story.kind else None
    return panel("Options", facts(told), element("p", cut(forgets, 300), class_="note") if forgets else "")


def _failures(visit: PageVisit, story: SinkStory) -> Markup:
    if not story.failures:
        return Markup("")
    made = [
        TableColumn[FailedRecord]("Record", lambda one: foreign(f"{one.kind} {one.hash.hex()[:16]}…", 60), "main"),
        TableColumn[FailedRecord]("Version", lambda one: number(one.version), "number"),
        TableColumn[FailedRecord]("Tries", lambda one: number(one.attempts), "number"),
        TableColumn[FailedRecord](
            "Next try", lambda one: due(one.next_try_at, visit.now) if one.next_try_at else state("parked", tone="fail")
        ),
        TableColumn[FailedRecord]("What the sink said", lambda one: foreign(one.error, 300)),
    ]
    by_error = [
        TableColumn[FailureGroup]("What the sink said", lambda one: foreign(one.error, 200), "main"),
        TableColumn[FailureGroup]("Records", lambda one: number(one.records), "number"),
        TableColumn[FailureGroup]("Parked", lambda one: number(one.parked), "number"),
        TableColumn[FailureGroup]("Last", lambda one: moment(one.last_at, visit.now)),
    ]
    if visit.may(Role.OPERATOR):
        by_error.append(TableColumn[FailureGroup]("", lambda one: _retry_group(visit, story.sink.name, one)))
    groups = table(by_error, list(story.groups), "Refused records by error", id_="refused-by-error")
    whole = story.sink.parked + story.sink.retrying
    note = f"{len(story.failures):,} of {whole:,}"
    listed = folded("Record by record", table(made, list(story.failures), "Records that it refused"))
    return panel("Refused", groups, listed, note=note, id_="refused")


def _retry_group(visit: PageVisit, name: str, one: FailureGroup) -> Markup:
    path = f"{PATH}/{name}/retry"
    return action_button(path, visit.csrf_token, "Retry", {"error": one.error}, about=cut(one.error, 60))


def _actions(visit: PageVisit, sink: SinkReport) -> Markup:
    path = f"{PATH}/{sink.name}"

    def post(verb: str, told: str, kind: str = "") -> Markup:
        return action_button(f"{path}/{verb}", visit.csrf_token, told, kind=kind)

    toggle = post("pause", "Pause") if sink.state == "active" else post("resume", "Resume", "primary")
    retry = post("retry", "Retry refused") if sink.parked or sink.retrying else ""
    remove = post("remove", "Remove", "danger") if visit.may(Role.ADMIN) else ""
    return joined(
        post("test", "Test"), toggle, retry, post("verify", "Verify"), post("rebuild", "Rebuild", "danger"), remove
    )


@router.post(f"{PATH}/{{name}}/test")
async def try_sink_by_form(caller: Operator, visit: Visited, name: str, fields: Fields) -> Response:
    """Try a sink once, without sending a record."""
    try:
        told = await check_sink(visit.services, name)
    except HeadwaterError as error:
        told = f"It failed: {error.what} {error.fix}"
    return see_other(f"{PATH}/{name}", told)


@router.post(f"{PATH}/{{name}}/pause")
async def pause_sink_by_form(caller: Operator, visit: Visited, name: str, fields: Fields) -> Response:
    """Send nothing until it is resumed."""
    await pause_sink(visit.services, name, f"paused by {caller.name}")
    return see_other(f"{PATH}/{name}", "It is paused, and goes on where it stood.")


@router.post(f"{PATH}/{{name}}/resume")
async def resume_sink_by_form(caller: Operator, visit: Visited, name: str, fields: Fields) -> Response:
    """Let a sink go on."""
    await resume_sink(visit.services, name)
    return see_other(f"{PATH}/{name}", "It goes on.")


@router.post(f"{PATH}/{{name}}/retry")
async def retry_refused(caller: Operator, visit: Visited, name: str, fields: Fields) -> Response:
    """Try refused records again, parked ones too; or those of one error."""
    _, count = await retry_sink(visit.services, name, fields.get("error") or None)
    return see_other(f"{PATH}/{name}", f"{quantity(count, 'record')} will be tried again.")


@router.post(f"{PATH}/{{name}}/rebuild")
async def rebuild_sink_by_form(caller: Operator, visit: Visited, name: str, fields: Fields) -> Response:
    """Send everything anew, in the background."""
    sink = (await story_of_sink(visit.services, name)).sink
    if not fields.is_confirmed:
        costs = costs_of_rebuild(sink)
        asked = confirm_form(
            f"{PATH}/{name}/rebuild", visit.csrf_token, [], f"Everything is sent to {cut(name, 63)} anew.", *costs,
            "Changes are delivered meanwhile.", verb="Rebuild it", back=f"{PATH}/{name}",
        )  # fmt: skip
        return await visit.page(PageBody(f"Rebuild {cut(name, 63)}?", asked))
    await rebuild_sink(visit.services, name)
    return see_other(f"{PATH}/{name}", "It is filled from the archive anew.")


@router.post(f"{PATH}/{{name}}/verify")
async def verify_sink_by_form(caller: Operator, visit: Visited, work: LongWork, name: str, fields: Fields) -> Response:
    """Compare a sink with the archive."""

    async def verify(_: Progress) -> Mapping[str, Any]:
        return verification_as_dict(name, await verify_sink(visit.services, name, mends=False))

    return see_operation(await work.begin("sinks.verify", caller.name, verify))


@router.post(f"{PATH}/{{name}}/remove")
async def remove_sink_by_form(caller: Admin, visit: Visited, name: str, fields: Fields) -> Response:
    """Deliver to a sink no longer."""
    await story_of_sink(visit.services, name)
    if not fields.is_confirmed:
        fact = "What it holds stays there, also what a takedown asks for later."
        asked = confirm_form(
            f"{PATH}/{name}/remove", visit.csrf_token, [], fact, verb="Remove it", back=f"{PATH}/{name}"
        )
        return await visit.page(PageBody(f"Remove the sink {cut(name, 63)}?", asked))
    await remove_sink(visit.services, name)
    return see_other(PATH, f"The sink {cut(name, 63)} is removed.")
