"""Processes of roles as a person sees them: listed, drained, and let work again."""

from collections.abc import Sequence
from uuid import UUID

from headwater.database.queries import load_queries
from headwater.errors import NotFound, Refused, UsageError
from headwater.reports.operations import RoleProcess, processes_seen
from headwater.run.presence import DELIVER, FETCH, POLL
from headwater.services import Services
from headwater.sources.store import Event, record

queries = load_queries("headwater.database")

# What takes on work that another process could take as well.
DRAINED = frozenset({POLL, FETCH, DELIVER})
FEWEST_SIGNS = 4


async def list_workers(services: Services) -> Sequence[RoleProcess]:
    """The latest first; also those that ended without a word in the last day."""
    return await processes_seen(services.database)


async def drain_worker(services: Services, named: str, actor: str) -> RoleProcess:
    """It hears so with its next heartbeat, takes on nothing more, and ends what it has in hand; it keeps running.

    Raises NotFound, and Refused where it is silent or has nothing that others could do.
    """
    found = worker_named(await list_workers(services), named)
    if not found.is_alive:
        raise Refused(f"The process {found.pid} on {found.host} is silent: nobody would hear it.")
    if not DRAINED & set(found.does):
        raise Refused(
            f"A process that does {', '.join(found.does) or 'nothing of its own'} takes on no leased work.",
            fix="End it by its own signal: it finishes what it does.",
        )
    return await _change(services, found, actor, is_drained=True)


async def resume_worker(services: Services, named: str, actor: str) -> RoleProcess:
    """It takes on work again from its next heartbeat on. Raises NotFound."""
    found = worker_named(await list_workers(services), named)
    return await _change(services, found, actor, is_drained=False)


async def _change(services: Services, found: RoleProcess, actor: str, *, is_drained: bool) -> RoleProcess:
    database = services.database
    async with database.transaction() as connection:
        is_changed = await connection.fetchval(queries.ask_to_drain, found.id, actor if is_drained else None)
        if is_changed:
            name, told = ("worker_drained", "takes on no more") if is_drained else ("worker_resumed", "works again")
            said = f"the process {found.pid} on {found.host} ({found.role}) {told}"
            await record(connection, Event(name, said, actor=actor))
    return worker_named(await list_workers(services), str(found.id))


def worker_named(processes: Sequence[RoleProcess], named: str) -> RoleProcess:
    """By its id, the beginning of it, or its process number. Pure; raises NotFound, and UsageError for several."""
    wanted = named.strip().lower()
    if _is_id(wanted):
        found = [one for one in processes if str(one.id) == str(UUID(wanted))]
    else:
        found = [one for one in processes if str(one.pid) == wanted]
        if not found and len(wanted) >= FEWEST_SIGNS:
            found = [one for one in processes if str(one.id).startswith(wanted)]
    if len(found) > 1:
        raise UsageError(f"{len(found)} processes are meant by {named!r}.", fix="Give more of its id.")
    if not found:
        raise NotFound(f"There is no process {named!r}.", fix="`headwater workers list` shows those there are.")
    return found[0]


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
