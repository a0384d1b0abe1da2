"""`headwater sources test` and `simulate`: what a source's channels answer, without storing any of it."""

from typing import TYPE_CHECKING, Any

from headwater.cli.launch import AsJson, Launch, Launched
from headwater.cli.output import show, show_json, show_table
from headwater.cli.serving import with_services

if TYPE_CHECKING:
    from headwater.discover.trying import Trial
    from headwater.services import Services

PARTLY = 3
SHOWN_ITEMS = 3


def ask_channels(source: str, *, json: AsJson = False, launch: Launched = Launch()) -> int:  # noqa: B008
    """Ask each channel of a source once: status, size, validators, timing. Nothing is stored.

    Parameters
    ----------
    source
        Its id, address, host or name.
    """
    trials = with_services(launch, lambda services: trials_of(services, source))
    told = [answer_of(trial) for trial in trials]
    if json:
        show_json({"channels": told})
    else:
        columns = ("channel", "address", "status", "size", "took", "etag", "last modified", "problem")
        show_table(columns, [tuple(str(one[name] or "") for name in columns) for one in told])
    return PARTLY if any(trial.problem for trial in trials) else 0


def simulate(source: str, *, items: int = SHOWN_ITEMS, json: AsJson = False, launch: Launched = Launch()) -> int:  # noqa: B008
    """Read each channel of a source once and show the first items it would bring. Nothing is stored.

    Parameters
    ----------
    source
        Its id, address, host or name.
    items
        How many to show of each channel.
    """
    trials = with_services(launch, lambda services: trials_of(services, source))
    if json:
        show_json({"channels": [simulated(trial, items) for trial in trials]})
    for trial in [] if json else trials:
        more = f", {trial.further} further answers to ask for" if trial.further > 0 else ""
        show(f"{trial.kind} {trial.url}: {trial.problem or f'{len(trial.items):,} items'}{more}")
        for note in trial.notes:
            show(f"  note: {note}")
        for item in trial.items[:items]:
            dated = f"{item.published_at:%Y-%m-%d %H:%M} " if item.published_at else ""
            show(f"  {dated}{item.title or '(no title)'}")
            show(f"    {item.url}")
    return PARTLY if any(trial.problem for trial in trials) else 0


async def trials_of(services: "Services", source: str) -> "list[Trial]":
    from headwater.discover.trying import try_channels
    from headwater.run.polling import poll_of
    from headwater.sources.store import find_source
    from headwater.web import open_web

    found = await find_source(services.database, source)
    async with open_web(services, "headwater sources test") as web:
        asker = poll_of(services, web).asker
        return [trial async for trial in try_channels(services.database, asker, services.clock, found.id)]


def answer_of(trial: "Trial") -> dict[str, Any]:
    """Never raw headers: only what a person needs."""
    response = trial.response
    return {
        "channel": str(trial.kind),
        "address": trial.url,
        "status": response and response.status,
        "size": response and f"{len(response.body):,} bytes",
        "took": response and f"{response.duration.total_seconds() * 1000:.0f} ms",
        "etag": response and response.validators.etag,
        "last modified": response and response.validators.last_modified,
        "problem": trial.problem,
    }


def simulated(trial: "Trial", most: int) -> dict[str, Any]:
    items = [
        {"url": one.url, "title": one.title, "published_at": one.published_at, "author": one.author, **one.fields}
        for one in trial.items[:most]
    ]
    return {
        "kind": str(trial.kind),
        "url": trial.url,
        "problem": trial.problem,
        "count": len(trial.items),
        "notes": trial.notes,
        "items": items,
    }
