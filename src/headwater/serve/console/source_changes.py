"""What is done to chosen sources, or to all that match the filters: at once, after a question, or as an operation."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from headwater.actions.exchange import export_sources
from headwater.actions.many_sources import BulkAction, BulkOutcome, BulkWish, change_many
from headwater.errors import NotFound, UsageError
from headwater.reports.discovery import SourceFilter, count_in_states
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.access.visits import visit_of
from headwater.serve.api.source_exchange import MEDIA_TYPES, PIECES_AT_ONCE
from headwater.serve.console.components import link
from headwater.serve.console.forms import (
    CONFIRMED,
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
from headwater.serve.console.operations import see_operation
from headwater.serve.console.shell import PageBody
from headwater.serve.console.shown import cut, quantity
from headwater.serve.console.source_list import (
    CHANGE,
    COUNTED_TO,
    EXPORT,
    FORMATS,
    SOURCES,
    SourceSelection,
    query_sent,
    selection_in,
    told_total,
    total_of,
)
from headwater.serve.console.visit import PageQuery, PageVisit, Visited, local_path, see_other
from headwater.serve.operations import OperationRunner, Progress
from headwater.serve.pages.markup import Markup, element
from headwater.serve.shared import LongWork
from headwater.services import Services
from headwater.settings.durations import parse_duration
from headwater.sources.exchange.fields import Row
from headwater.sources.exchange.reading import ListFormat
from headwater.sources.exchange.writing import SUFFIXES, write_sources
from headwater.sources.finding import find_source
from headwater.sources.source import Policy, tags_from

router = APIRouter(include_in_schema=False)

MOST_CHOSEN = 900
USUAL, LEARNED = "usual", "learn"
# What the buttons say, and the sentence about what was done.
DONE: Mapping[str, str] = {
    "run": "asked for a poll now",
    "pause": "paused",
    "resume": "resumed",
    "clear_errors": "asked as if nothing had gone wrong",
    "settings": "changed",
    "tag": "tagged",
    "delete": "deleted",
}
VERBS: Mapping[str, str] = {
    "run": "Run now",
    "pause": "Pause",
    "resume": "Resume",
    "clear_errors": "Clear errors of",
    "settings": "Change",
    "tag": "Tag",
    "delete": "Delete",
}
WHAT_IT_MEANS: Mapping[str, str] = {
    "run": "Each is polled as soon as its hosts allow.",
    "pause": "They are polled no more until somebody resumes them; their waiting URLs are set aside.",
    "resume": "They are polled again, and their counts of errors begin at zero.",
    "clear_errors": "Their channels are asked soon, as if nothing had gone wrong. Paused and blocked ones stay so.",
    "delete": "They are no longer polled or fetched, and their vacancies expire. Documents and history stay.",
}
COUNTED = "counted"
ASKING = frozenset({"settings", "tag", "delete"})


@router.post(CHANGE)
async def change_chosen(caller: Operator, visit: Visited, work: LongWork, fields: Fields) -> Response:
    """Do one thing to chosen sources."""
    verb, query = fields.get("do"), query_sent(fields.get("query"))
    chosen = list(dict.fromkeys(fields.all("chosen")))[:MOST_CHOSEN]
    is_all = fields.get("all_matching") == "yes"
    back = local_path(fields.get("next"), query.to(cursor=query.get("cursor")))
    if not chosen and not is_all:
        return see_other(back, "No source was chosen: nothing was done.")
    selection = selection_in(query)
    if verb.startswith("export-"):
        return await _exported(visit, verb.removeprefix("export-"), selection.wanted if is_all else chosen)
    if verb not in VERBS:
        raise UsageError("Nothing was asked for.", fix="Choose one of the buttons.")
    if is_all:
        _require_countable(selection)
    wishes, wrong = _wishes(fields, caller.name)
    count = await _count(visit, selection) if is_all else quantity(len(chosen), "source")
    # Others match by now than those that somebody agreed to.
    is_other = is_all and fields.get(COUNTED, count) != count
    if wrong or is_other or ((is_all or verb in ASKING) and not fields.is_confirmed):
        asked = _question(visit, fields, verb, count, back, wrong if fields.is_confirmed else ())
        return await visit.page(PageBody(f"{VERBS[verb]} {count}?", asked), status=422 if fields.is_confirmed else 200)
    if is_all:
        return see_operation(await _begin(visit, work, caller.name, wishes, selection.wanted))
    outcomes = [await change_many(visit.services, wish, chosen) for wish in wishes]
    return see_other(back, "; ".join(told_outcome(one, DONE[verb]) for one in outcomes))


def _require_countable(selection: SourceSelection) -> None:
    if selection.health is not None:
        raise UsageError(
            f"{selection.health} is judged source by source, and cannot choose all that match.",
            fix="Choose the rows of a page, or one of the other states.",
        )


async def _count(visit: PageVisit, selection: SourceSelection) -> str:
    counts = await count_in_states(visit.services.database, selection.wanted, COUNTED_TO)
    if selection.counted is not None and selection.counted not in counts:
        return "all sources that match"
    total = total_of(counts, selection.counted)
    return "1 source" if total == 1 else f"{told_total(total)} sources"


def told_outcome(outcome: BulkOutcome, done: str) -> str:
    """A sentence: how many, and why not the others. Pure."""
    counts = outcome.counts
    told = f"{quantity(counts['done'], 'source')} {done}"
    for word, name in (("skipped", "left as they were"), ("failed", "not")):
        first = next((one for one in outcome.told if one.outcome == word), None)
        if first is not None:
            told += f", {counts[word]:,} {name}: {cut(first.name or first.named, 60)}: {cut(first.detail, 160)}"
    return f"{told.rstrip('.')}."


def _wishes(fields: FormFields, actor: str) -> tuple[list[BulkWish], tuple[str, ...]]:
    """And what is wrong with the answers to a question."""
    verb = fields.get("do")
    if verb == "tag":
        try:
            tags = tags_from(fields.get("tags"))
        except ValueError as error:
            return [], (f"Tags: {error}.",)
        return [BulkWish(BulkAction.TAG, actor, tags=tags)], () if tags else ("No tag was given.",)
    if verb == "settings":
        return _set_wishes(fields, actor)
    return [BulkWish(BulkAction(verb), actor)], ()


def _set_wishes(fields: FormFields, actor: str) -> tuple[list[BulkWish], tuple[str, ...]]:
    interval, policy = fields.get("interval"), fields.get("policy")
    wishes: list[BulkWish] = []
    try:
        if interval:
            wait = None if interval == LEARNED else parse_duration(interval)
            wishes.append(BulkWish(BulkAction.SET_INTERVAL, actor, interval=wait))
        if policy:
            chosen = None if policy == USUAL else Policy(policy)
            wishes.append(BulkWish(BulkAction.SET_POLICY, actor, policy=chosen))
    except ValueError as error:
        return [], (f"Interval: {error}.",)
    return wishes, () if wishes else ("Nothing was asked for: give an interval, or choose a policy.",)


def _question(visit: PageVisit, fields: FormFields, verb: str, count: str, back: str, wrong: Sequence[str]) -> Markup:
    if verb not in ("settings", "tag"):
        told = f"{VERBS[verb]} {count}"
        again = [*(one for one in fields.again() if one[0] != COUNTED), (COUNTED, count)]
        return confirm_form(CHANGE, visit.csrf_token, again, count, WHAT_IT_MEANS[verb], verb=told, back=back)
    asked = (
        (text_field("tags", "Tags", fields.get("tags"), hint="Added to those they have; commas between them."),)
        if verb == "tag"
        else _set_fields(fields)
    )
    kept = [(name, value) for name, value in fields.again() if name not in ("tags", "interval", "policy", COUNTED)]
    kept.append((COUNTED, count))
    return form(
        CHANGE,
        visit.csrf_token,
        error_summary(*wrong) if wrong else "",
        *asked,
        *(hidden(name, value) for name, value in kept),
        hidden(CONFIRMED, "yes"),
        element("div", button(f"{VERBS[verb]} {count}", kind="primary"), link("Cancel", back), class_="buttons"),
        class_="confirm",
    )


def _set_fields(fields: FormFields) -> tuple[Markup, ...]:
    policies = [("", "As it is"), (USUAL, "The usual one"), *((str(one), str(one)) for one in Policy)]
    hint = f"Such as 15m, 6h or 1d. Empty leaves it as it is; {LEARNED} finds its rhythm again."
    return (
        text_field("interval", "Interval of polls", fields.get("interval"), hint=hint),
        choice_field("policy", "Policy", policies, fields.get("policy"), hint="How the interval follows what comes."),
    )


async def _begin(
    visit: PageVisit, work: OperationRunner, actor: str, wishes: Sequence[BulkWish], wanted: SourceFilter
) -> Any:
    services = visit.services

    async def change(progress: Progress) -> Mapping[str, Any]:
        told: dict[str, Any] = {}
        for wish in wishes:
            done = await change_many(services, wish, wanted, progress)
            # With two wishes each source is gone through twice: the last one is told.
            told = {**done.counts, "outcomes": [asdict(one) for one in done.told]}
        return told

    counts = await count_in_states(services.database, wanted, COUNTED_TO)
    total = total_of(counts, wanted.status) if wanted.status is None or wanted.status in counts else None
    return await work.begin(f"sources.{wishes[0].action}", actor, change, total)


@router.get(f"{EXPORT}/{{word}}")
async def export_matching(caller: Viewer, visit: Visited, word: str) -> Response:
    """Write the sources that match the filters, as a file."""
    query = PageQuery(SOURCES, visit.query.values)
    selection = selection_in(query)
    _require_countable(selection)
    return await _exported(visit, word, selection.wanted)


async def _exported(visit: PageVisit, word: str, chosen: SourceFilter | Sequence[str]) -> Response:
    """A file of those chosen; it changes nothing, however it was asked for."""
    if word not in FORMATS:
        raise UsageError(f"There is no format {cut(word, 40)!r}.", fix=f"One of: {', '.join(FORMATS)}.")
    visit_of(visit.request).only_reads = True
    wanted = chosen if isinstance(chosen, SourceFilter) else SourceFilter(ids=await _ids(visit.services, chosen))
    as_format = ListFormat(word)
    named = {"content-disposition": f'attachment; filename="sources.{SUFFIXES[as_format]}"'}
    pieces = pieces_of(await export_sources(visit.services, wanted), as_format)
    return StreamingResponse(pieces, 200, named, MEDIA_TYPES[as_format])


async def _ids(services: Services, named: Sequence[str]) -> list[Any]:
    found = []
    for one in named:
        try:
            found.append((await find_source(services.database, one)).id)
        except NotFound:
            continue
    return found


def pieces_of(rows: Sequence[Row], as_format: ListFormat) -> Any:
    part: list[str] = []
    for piece in write_sources(rows, as_format):
        part.append(piece)
        if len(part) >= PIECES_AT_ONCE:
            yield "".join(part)
            part.clear()
    yield "".join(part)
