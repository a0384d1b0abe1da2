"""`headwater db search-engine`: who answers searches, and PostgreSQL's search columns switched off and on."""

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal

from headwater.cli.launch import AsJson, Launch, Launched, with_services
from headwater.cli.output import say, show, show_json
from headwater.cli.words import quantity
from headwater.errors import UsageError

if TYPE_CHECKING:
    from headwater.cli.progress import Progress
    from headwater.deliver.engine_standing import EngineStanding
    from headwater.services import Services

COLUMNS_IN_WORDS = {
    "kept": "kept: every page that is stored is written into them",
    "emptying": "being emptied: nothing is written into them any more",
    "away": "switched off: nothing is written into them",
    "filling": "being filled: every page that is stored is written into them",
}


def search_engine(
    engine: Literal["postgresql", "opensearch"] | None = None,
    *,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Say who answers searches, or give them to the server of a sink, and take them back. Ctrl-C, and go on later.

    `opensearch` first compares the sink of the layout `search` with the archive; where it holds all, PostgreSQL's
    search columns are emptied and their indexes dropped: about four fifths of what is written for a page. `postgresql`
    fills them, builds the indexes, and answers from then on. Pages are stored meanwhile, and searches answered.

    Parameters
    ----------
    engine
        Who answers from now on; without one, how it stands is told.
    """
    if engine is not None and json:
        raise UsageError("--json tells how it stands.", fix="Leave out the engine: headwater db search-engine --json")
    if engine is None:
        _tell(launch, is_json=json)
    elif engine == "opensearch":
        _give_away(launch)
    else:
        _take_back(launch)


def _tell(launch: Launch, *, is_json: bool) -> None:
    async def work(services: "Services") -> "EngineStanding":
        from headwater.actions.search_engine import engine_standing

        return await engine_standing(services)

    standing = with_services(launch, work)
    if is_json:
        show_json(_as_dict(standing))
        return
    who = f", from the sink '{standing.sink.name}' ({standing.sink.behind:,} behind)" if standing.sink else ""
    show(f"Searches are answered by {standing.answers}{who}.")
    if standing.server:
        show(standing.server)
    show(f"PostgreSQL's search columns are {COLUMNS_IN_WORDS[standing.column.state]}.")
    for one in standing.hindrances:
        show(f"{one.what.rstrip('.')}.")
        show(f"    fix: {one.fix}")


def _as_dict(standing: "EngineStanding") -> dict[str, Any]:
    return {
        "answers": standing.answers,
        "columns": str(standing.column.state),
        "rows_looked_at": standing.column.done,
        "changed_at": standing.column.changed_at,
        "sink": standing.sink.name if standing.sink else None,
        "behind": standing.sink.behind if standing.sink else None,
        "server": standing.server,
        "hindrances": [{"what": one.what, "fix": one.fix} for one in standing.hindrances],
    }


def _give_away(launch: Launch) -> None:
    async def work(services: "Services") -> None:
        from headwater.actions.search_engine import give_searches_away

        with Steps() as steps:
            found = await give_searches_away(services, steps)
        if found is not None:
            say(f"The sink holds {quantity(found.held, 'record')}, as the archive does.")

    with_services(launch, work)
    say("OpenSearch answers searches; PostgreSQL's search columns are empty and their indexes dropped.")
    say("Back again: headwater db search-engine postgresql")


def _take_back(launch: Launch) -> None:
    async def work(services: "Services") -> bool:
        from headwater.actions.search_engine import take_searches_back

        with Steps() as steps:
            await take_searches_back(services, steps)
        return services.settings.search.engine == "postgresql"

    if with_services(launch, work):
        say("PostgreSQL answers searches.")
    else:
        say("PostgreSQL could answer searches again; by the setting `search.engine` OpenSearch does.")
        say("Take that setting away wherever it is made, and start those roles again.")


class Steps(ExitStack):
    """Each step is said once, and its rows are counted."""

    def __init__(self) -> None:
        super().__init__()
        self._step = ""
        self._rows: Progress | None = None

    def __call__(self, step: str, rows: int) -> None:
        from headwater.cli.progress import counting

        if step != self._step:
            self._step, self._rows = step, None
            say(f"{step} …")
        if rows:
            self._rows = self._rows or self.enter_context(counting(step, None))
            self._rows(rows)
