"""`headwater sinks list` and `show`: how sinks stand."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headwater.cli.launch import AsJson, Called, Launch, Launched, with_services
from headwater.cli.output import say, show, show_json, show_table
from headwater.cli.words import inert, length_of, quantity, relative, shorten

if TYPE_CHECKING:
    from headwater.actions.delivery import SinkStory
    from headwater.deliver.store import SinkReport
    from headwater.reports.sinks import DeliveryNow
    from headwater.services import Services


WIDEST_ERROR = 200


def list_all(*, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """List the sinks: state, how far behind, what is parked, the last success."""

    async def work(services: "Services") -> "DeliveryNow":
        from headwater.reports.sinks import delivery_now

        return await delivery_now(services.database)

    found = with_services(launch, work)
    if json:
        from headwater.shapes.sinks import sink_as_dict

        show_json({"sinks": [sink_as_dict(one) for one in found.sinks], "log_position": found.position})
        return
    if not found.sinks:
        say("There is no sink yet: nothing is delivered. `headwater sinks types` lists what there is. For example:")
        say("headwater sinks add changes --type jsonl")
        return
    show_table(
        ("name", "state", "behind", "parked", "last success", "type", "view"),
        [sink_row(one, found.now) for one in found.sinks],
        spare=("view", "last success"),
        whole=("name",),
    )


def sink_row(one: "SinkReport", now: datetime) -> tuple[str, ...]:
    return (
        one.name,
        state_of(one),
        behind_of(one, now),
        f"{one.parked:,}",
        relative(one.last_success_at, now),
        one.type,
        one.view_name or "everything",
    )


def state_of(one: "SinkReport") -> str:
    from headwater.reports.sinks import state_word

    word = state_word(one)
    share = one.backfill_share
    return f"{word} {share:.0%}" if word == "filling" and share is not None else word


def behind_of(one: "SinkReport", now: datetime) -> str:
    if one.backfill_reason:
        return f"{one.behind:,} and the archive"
    if not one.behind:
        return "0"
    return f"{one.behind:,}, for {length_of(now - one.behind_since)}" if one.behind_since else f"{one.behind:,}"


def show_sink(name: Called, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Show a sink: its state, its options without secrets, what it refused and why, how far it is filled."""

    async def work(services: "Services") -> "tuple[SinkStory, datetime]":
        from headwater.actions.delivery import story_of_sink
        from headwater.reports.discovery import time_now

        return await story_of_sink(services, name), await time_now(services.database)

    story, now = with_services(launch, work)
    if json:
        from headwater.shapes.sinks import sink_story_as_dict

        show_json(sink_story_as_dict(story))
        return
    for line in story_in_words(story, now):
        show(line)
    show_failures(story, now)


def story_in_words(story: "SinkStory", now: datetime) -> list[str]:
    one = story.sink
    reason = f": {inert(one.state_reason)}" if one.state_reason else ""
    lines = [f"{one.name}: {state_of(one)}{reason if one.state != 'active' else ''}"]
    told = [
        ("type", one.type if story.kind else f"{one.type}, which is not installed here"),
        ("delivers", f"the view {one.view_name}" if one.view_name else "everything"),
        ("options", ", ".join(f"{name}={inert(value)}" for name, value in one.options.items())),
        ("set by", f"{one.set_by}, which it follows at each start" if one.set_by else ""),
        ("position", f"{one.position:,} of {one.log_position:,} in the log, behind by {behind_of(one, now)}"),
        ("sent", f"{quantity(one.sent, 'record')}, the last {relative(one.last_success_at, now)}"),
        ("worked by", _worked_by(one, now) if one.is_worked else ""),
        ("filling", _filling(one)),
        ("down", _down(one, now)),
        ("refused", f"{one.parked:,} parked, {one.retrying:,} to be tried again" if one.parked or one.retrying else ""),
        ("cannot forget", (story.kind.forgets_not or "") if story.kind else ""),
    ]
    return lines + [f"  {label + ':':15} {words}" for label, words in told if words]


def _worked_by(one: "SinkReport", now: datetime) -> str:
    return f"{inert(one.owner or '?')}; were it killed, another process goes on {relative(one.leased_until, now)}"


def _filling(one: "SinkReport") -> str:
    if not one.backfill_reason:
        return ""
    share = f"about {one.backfill_share:.0%}, " if one.backfill_share is not None else ""
    return f"{share}{quantity(one.backfill_done or 0, 'record')} looked at; because {inert(one.backfill_reason)}"


def _down(one: "SinkReport", now: datetime) -> str:
    if not one.failures:
        return ""
    tries = quantity(one.failures, "failure")
    when = f"tried again {relative(one.retry_at, now)}" if one.retry_at > datetime.min.replace(tzinfo=UTC) else ""
    return f"{inert(one.last_error or 'no answer')} ({tries} in a row{', ' * bool(when)}{when})"


def show_failures(story: "SinkStory", now: datetime) -> None:
    if not story.failures:
        return
    show_table(
        ("records", "parked", "the sink's words"),
        [(f"{one.records:,}", f"{one.parked:,}", shorten(one.error, WIDEST_ERROR)) for one in story.groups],
    )
    show_table(
        ("record", "version", "tries", "next try", "the sink's words"),
        [
            (
                f"{one.kind} {one.hash.hex()[:12]}",
                str(one.version),
                str(one.attempts),
                relative(one.next_try_at, now) if one.next_try_at else "parked",
                shorten(one.error, WIDEST_ERROR),
            )
            for one in story.failures
        ],
    )
    rest = story.sink.parked + story.sink.retrying - len(story.failures)
    say(f"{f'{rest:,} more. ' if rest > 0 else ''}Try them again: headwater sinks retry {story.sink.name}")
