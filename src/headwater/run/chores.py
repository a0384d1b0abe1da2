"""Chores: small pieces of work, each repeated for ever as a supervised task of its own."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from headwater.chance import Random
from headwater.errors import DatabaseDown, OutOfResources, QueryFailed, StoreDown
from headwater.politeness.backoff import stretch
from headwater.supervisor import Supervisor

JITTER = 0.1
# After a failed round: doubled up to the time between two rounds, or up to this.
FIRST_WAIT, LEAST_LONGEST_WAIT = timedelta(seconds=1), timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Chore:
    name: str
    every: timedelta
    work: Callable[[], Awaitable[object]]


def start_chores(chores: Iterable[Chore], supervisor: Supervisor, random: Random) -> None:
    """Whatever ends one of them ends no other."""
    for chore in chores:
        supervisor.keep(chore.name, partial(_repeat, chore, supervisor, random))


async def _repeat(chore: Chore, supervisor: Supervisor, random: Random) -> None:
    """Until cancelled; a database that is away is no reason to stop."""
    failures = 0
    while True:
        try:
            await chore.work()
            supervisor.note_success(chore.name)
            failures = 0
        except (DatabaseDown, OutOfResources, QueryFailed, StoreDown) as error:
            supervisor.note_failure(chore.name, error.what)
            failures += 1
        wait = wait_before_next(chore.every, failures)
        await supervisor.clock.sleep(stretch(wait, JITTER, random).total_seconds())


def wait_before_next(every: timedelta, failures: int) -> timedelta:
    """After failures in a row: sooner than a rare chore is done, and not as often as a frequent one."""
    if not failures:
        return every
    return min(FIRST_WAIT * float(2 ** min(failures - 1, 16)), max(every, LEAST_LONGEST_WAIT))
