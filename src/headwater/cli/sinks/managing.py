"""`headwater sinks test`, `pause`, `resume`, `retry`, `rebuild` and `rm`: a sink that is there."""

from typing import TYPE_CHECKING

from headwater.cli.consent import Yes, require_consent
from headwater.cli.launch import AsJson, Called, Launch, Launched, with_quiet_log, with_services
from headwater.cli.output import say, show, show_json
from headwater.cli.words import inert, quantity

if TYPE_CHECKING:
    from headwater.deliver.store import SinkReport
    from headwater.services import Services


def check(name: Called, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Try a sink once, without sending a record."""

    from headwater.actions.delivery import check_sink

    answer = with_services(with_quiet_log(launch), lambda services: check_sink(services, name))
    if json:
        show_json({"name": name, "answer": answer})
        return
    show(f"{name}: {inert(answer)}")


def pause(name: Called, *, reason: str = "", json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Send nothing to a sink until it is resumed; it goes on where it stood.

    Parameters
    ----------
    reason
        Why; `show` says it.
    """

    from headwater.actions.delivery import pause_sink

    with_services(launch, lambda services: pause_sink(services, name, reason))
    tell_state(name, "paused", f"{name} is paused. Let it go on: headwater sinks resume {name}", as_json=json)


def resume(name: Called, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Let a sink go on that was paused, or that asked to be sent nothing; one that is down is tried at once."""

    from headwater.actions.delivery import resume_sink

    sink = with_services(launch, lambda services: resume_sink(services, name))
    waits = f"{quantity(sink.behind, 'change')} to send" if sink.behind else "nothing to send"
    if sink.backfill_reason:
        waits = "the archive to send"
    tell_state(name, "active", f"{name} goes on, with {waits}.", as_json=json)


def tell_state(name: str, state: str, says: str, *, as_json: bool) -> None:
    if as_json:
        show_json({"name": name, "state": state})
    else:
        show(says)


def retry(name: Called, *, error: str | None = None, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Try the records again that a sink refused, parked ones too.

    Parameters
    ----------
    error
        Only those of this group, as `headwater sinks show` names it.
    """

    from headwater.actions.delivery import retry_sink

    sink, count = with_services(launch, lambda services: retry_sink(services, name, error))
    if json:
        show_json({"name": name, "retried": count, "state": sink.state})
        return
    if not count:
        say(f"{name} refused nothing: there is nothing to try again.")
        return
    show(f"{quantity(count, 'record')} will be tried again, in order of their changes.")
    if sink.state != "active":
        say(f"The sink is {sink.state}. Let it go on: headwater sinks resume {name}")


def rebuild(
    name: Called,
    *,
    yes: Yes = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Send a sink everything anew, in the background; changes are delivered meanwhile. Parked records are sent, too."""
    if not yes:
        costs = with_services(launch, lambda services: _costs(services, name))
        require_consent(" ".join([f"Send everything to {name} anew?", *costs]), is_given=False)

    from headwater.actions.delivery import rebuild_sink

    sink = with_services(launch, lambda services: rebuild_sink(services, name))
    if json:
        show_json({"name": name, "is_filled": True, "state": sink.state})
        return
    show(f"{name} is filled anew by `headwater up` or `headwater run deliver`. Watch it: headwater sinks show {name}")


async def _costs(services: "Services", name: str) -> list[str]:
    from headwater.actions.delivery import costs_of_rebuild
    from headwater.deliver.store import sink_named

    return costs_of_rebuild(await sink_named(services.database, name))


def remove(
    name: Called,
    *,
    yes: Yes = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Deliver to a sink no longer. What it holds stays there."""

    async def look(services: "Services") -> "SinkReport":
        from headwater.deliver.store import sink_named

        return await sink_named(services.database, name)

    if not yes:
        with_services(launch, look)
        question = "What it holds stays there, and nobody will remove it when a takedown asks for it."
        require_consent(f"Remove the sink {name}? {question}", is_given=False)

    from headwater.actions.delivery import remove_sink

    sink = with_services(launch, lambda services: remove_sink(services, name))
    if json:
        show_json({"name": name, "is_removed": True, "set_by": sink.set_by})
        return
    show(f"{name} is removed. Nothing was deleted there: it holds what it was sent.")
    if sink.set_by:
        say(f"It was made by the setting {sink.set_by}: unset it, or the next start makes the sink again.")
