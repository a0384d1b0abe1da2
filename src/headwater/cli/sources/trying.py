"""`headwater sources test` and `simulate`: the answers of a source's channels, without storing any of them."""

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headwater.cli.launch import AsJson, Launch, Launched, Limit, with_quiet_log, with_services
from headwater.cli.output import say, show, show_json, show_table
from headwater.cli.pollers import warn_while_paused
from headwater.cli.words import inert, quantity, shorten
from headwater.shapes.trials import answer_as_dict, reading_as_dict, simulation_as_dict

if TYPE_CHECKING:
    from headwater.actions.trying import Simulation
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
    trials = with_services(with_quiet_log(launch), lambda services: trials_of(services, source))
    if json:
        show_json({"channels": [answer_as_dict(trial) for trial in trials]})
    elif trials:
        columns = ("channel", "address", "status", "size", "took", "etag", "last modified", "problem")
        show_table(columns, [_row(trial) for trial in trials], spare=("etag", "last modified"), below=("address",))
    else:
        say("It has no channel to ask.")
    return PARTLY if any(trial.problem for trial in trials) else 0


def simulate(
    source: str,
    *,
    items: Limit = SHOWN_ITEMS,
    pages: Annotated[bool, Parameter(negative="", help="Also fetch and read the first items' pages.")] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Read each channel of a source once and show the items it would bring, and by which rule. Nothing is stored.

    Parameters
    ----------
    source
        Its id, address, host or name.
    items
        How many to show of each channel.
    """

    async def work(services: "Services") -> "Simulation":
        from headwater.actions.trying import simulate_source

        await warn_while_paused(services)
        return await simulate_source(services, source, items, reads_pages=pages)

    simulation = with_services(with_quiet_log(launch), work)
    trials, read = simulation.trials, [reading_as_dict(page) for page in simulation.pages]
    if json:
        show_json(simulation_as_dict(simulation, items))
    for trial in [] if json else trials:
        tell(trial, items)
    for page in [] if json else read:
        show(f"  {inert(line_of(page))}")
        show(f"    {inert(page['url'])}")
    if not trials and not json:
        say("It has no channel to ask.")
    return PARTLY if any(trial.problem for trial in trials) else 0


def tell(trial: "Trial", most: int) -> None:
    show(f"{trial.kind} {trial.url}: {inert(trial.problem) or brings(trial)}")
    for note in trial.notes:
        show(f"  note: {inert(note)}")
    for vacancy in trial.vacancies[:most]:
        place = inert(vacancy.country_iso or vacancy.location_raw or "place unknown")
        until = f", until {vacancy.deadline}" if vacancy.deadline else ""
        where = f"{shorten(vacancy.org_name, 60)}, {place}" if vacancy.org_name else place
        show(f"  vacancy: {shorten(vacancy.title, 80)} ({where}{until}; by {vacancy.data_provenance})")
        show(f"    {inert(vacancy.apply_url)}")
    for why in trial.left_out[:most]:
        show(f"  left out, {inert(why)}")
    # The pages of vacancies are said with them.
    for item in () if trial.vacancies else trial.items[:most]:
        dated = f"{item.published_at:%Y-%m-%d %H:%M} " if item.published_at else ""
        if dated or item.title:
            show(f"  {dated}{shorten(item.title or '(no title)', 100)}")
        show(f"    {inert(item.url)}")


def brings(trial: "Trial") -> str:
    """An index has no items of its own: a run reads the sitemaps it names."""
    is_sitemap = str(trial.kind) == "sitemap"
    if is_sitemap and trial.further and not trial.items:
        return f"an index, {quantity(trial.further, 'sitemap')} to ask for"
    more = f", {quantity(trial.further, 'further answer')} to ask for" if trial.further else ""
    if trial.vacancies or trial.left_out:
        count = len(trial.vacancies)
        return f"{count:,} {'vacancy' if count == 1 else 'vacancies'}{more}"
    return f"{quantity(len(trial.items), 'item')}{more}"


async def trials_of(services: "Services", source: str) -> "list[Trial]":
    from headwater.actions.trying import try_source

    await warn_while_paused(services)
    return await try_source(services, source)


def line_of(told: dict[str, Any]) -> str:
    if "problem" in told:
        return f"page: {told['problem']}"
    quality = told["quality"]["score"]
    dated = f", {told['published_at']:%Y-%m-%d %H:%M}" if told["published_at"] else ", no date"
    made = f"{told['words']} words by {told['produced_by']}, {told['language'] or 'language unknown'}{dated}"
    return f"page: {shorten(told['title'], 60)} ({made}, quality {quality})"


def _row(trial: "Trial") -> tuple[str, ...]:
    told = answer_as_dict(trial)
    size, took = told["size_bytes"], told["took_ms"]
    return (
        str(trial.kind),
        trial.url,
        str(told["status"] or "–"),
        "–" if size is None else quantity(size, "byte"),
        "–" if took is None else f"{took} ms",
        shorten(told["etag"] or "–", 24),
        shorten(told["last_modified"] or "–", 30),
        shorten(trial.problem, 100),
    )
