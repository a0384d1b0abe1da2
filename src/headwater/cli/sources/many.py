"""`headwater sources change`: one thing done to many sources, those named or all that match."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.consent import Yes, require_consent
from headwater.cli.launch import ACTOR, AsJson, Launch, Launched, with_services
from headwater.cli.output import say, show, show_json, show_table
from headwater.cli.progress import counting
from headwater.cli.words import quantity, shorten
from headwater.errors import UsageError

if TYPE_CHECKING:
    from headwater.actions.many_sources import BulkOutcome, BulkWish
    from headwater.reports.discovery import SourceFilter
    from headwater.services import Services

PARTLY = 3
COUNTED_TO = 10_000
MOST_SHOWN = 20


def change(
    action: str,
    *sources: str,
    status: str | None = None,
    kind: str | None = None,
    tag: str | None = None,
    name: str | None = None,
    everything: Annotated[bool, Parameter("--all", negative="", help="All sources that match the filters.")] = False,
    interval: str | None = None,
    policy: str | None = None,
    add_tags: str | None = None,
    reason: str = "",
    yes: Yes = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Do one thing to many sources: those named, or all that match the filters; each has its outcome.

    Parameters
    ----------
    action
        run, pause, resume, set_interval, set_policy, tag, clear_errors or delete.
    sources
        Ids, addresses, hosts or names.
    status
        active, paused, blocked, failing, silent, overdue or idle.
    kind
        news, jobs or docs.
    tag
        Only with this tag.
    name
        Only names that begin so.
    interval
        For set_interval, such as 15m; without it the rhythm is learned again.
    policy
        For set_policy: adaptive, tiers, frequency or fixed; without it the usual one.
    add_tags
        For tag: added to those that a source has, with commas.
    reason
        For pause and delete; shown with the source.
    """
    is_filtered = any(one is not None for one in (status, kind, tag, name))
    if bool(sources) == (is_filtered or everything):
        raise UsageError("Which sources are meant is not said, or said twice.", fix="Name some, or give a filter.")
    wish = _wish(action, interval, policy, add_tags, reason)
    chosen: SourceFilter | tuple[str, ...] = sources or _filter(status, kind, tag, name)
    if action == "delete":
        _require_agreed(chosen, launch, is_everything=everything and not is_filtered, is_given=yes)
    done = _changed(wish, chosen, launch, is_shown=not json)
    if json:
        show_json({"action": action, **done.counts, "outcomes": [asdict(one) for one in done.told]})
    else:
        show_outcome(done)
    return PARTLY if done.counts["failed"] else 0


def _require_agreed(
    chosen: "SourceFilter | tuple[str, ...]", launch: Launch, *, is_everything: bool, is_given: bool
) -> None:
    if is_everything:
        raise UsageError("This would delete every source.", fix="Name some, or give filters.")
    count = with_services(launch, lambda services: _count(services, chosen))
    require_consent(f"Delete {count}? Their vacancies expire; documents and history stay.", is_given=is_given)


def _changed(
    wish: "BulkWish", chosen: "SourceFilter | tuple[str, ...]", launch: Launch, *, is_shown: bool
) -> "BulkOutcome":
    async def work(services: "Services") -> "BulkOutcome":
        from headwater.actions.many_sources import change_many

        with counting(str(wish.action), None, is_shown=is_shown) as progress:
            return await change_many(services, wish, chosen, lambda _done: progress(1))

    return with_services(launch, work)


def show_outcome(done: "BulkOutcome") -> None:
    counts = done.counts
    show(f"{quantity(counts['done'], 'source')} done, {counts['skipped']:,} skipped, {counts['failed']:,} failed")
    others = [one for one in done.told if one.outcome != "done"]
    if others:
        rows = [(shorten(one.name or one.named, 40), one.outcome, one.detail) for one in others[:MOST_SHOWN]]
        show_table(("source", "outcome", "why"), rows)
    if len(others) > MOST_SHOWN:
        say(f"{len(others) - MOST_SHOWN:,} more: --json tells all of them.")


def _wish(action: str, interval: str | None, policy: str | None, tags: str | None, reason: str) -> "BulkWish":
    from headwater.actions.many_sources import BulkAction, BulkWish
    from headwater.cli.filters import word_of
    from headwater.settings.durations import parse_duration
    from headwater.sources.source import Policy, tags_from

    chosen = word_of("action", BulkAction, action)
    assert chosen is not None
    try:
        wait = parse_duration(interval) if interval else None
        added = tags_from(tags or "")
    except ValueError as error:
        raise UsageError(f"{action} {error}.") from error
    if chosen is BulkAction.TAG and not added:
        raise UsageError("No tag was given.", fix="Give --add-tags.")
    return BulkWish(chosen, ACTOR, reason, wait, added, word_of("policy", Policy, policy))


def _filter(status: str | None, kind: str | None, tag: str | None, name: str | None) -> "SourceFilter":
    from headwater.cli.filters import word_of
    from headwater.reports.discovery import SourceFilter
    from headwater.reports.paging import status_named
    from headwater.sources.source import SourceKind

    stored, health = status_named(status)
    if health is not None:
        raise UsageError(
            f"{health} is judged source by source, and cannot choose sources for this.",
            fix="Choose by failing, silent, overdue or idle, or name the sources.",
        )
    return SourceFilter(stored, word_of("kind", SourceKind, kind), tag, name)


async def _count(services: "Services", chosen: "SourceFilter | tuple[str, ...]") -> str:
    from headwater.reports.discovery import SourceFilter, sources_that_match

    if not isinstance(chosen, SourceFilter):
        return quantity(len(chosen), "source")
    found = len(await sources_that_match(services.database, chosen, COUNTED_TO))
    return quantity(found, "source") if found < COUNTED_TO else f"{COUNTED_TO:,} sources or more"
