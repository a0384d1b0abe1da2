"""What becomes of hostile links and answers, told in one word each; many at once, for a stage is dear to set up."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from tests.hostile.fetch.ears import Ears, listening, tapped
from tests.integration.fetch.conftest import Path, SmallSite, Unread, opened_path

from headwater.database.listen import Listener
from headwater.frontier.entry import EntryOrigin
from headwater.frontier.submit import FoundUrl, Submitter, submit
from headwater.frontier.verdicts import Dead, Fetched, HostSaysWait, Moved, RetryLater, Unchanged, Verdict
from headwater.frontier.wake import CHANNEL
from headwater.ingest.journey import Finished
from headwater.run.fetching import worker_of
from headwater.run.heartbeat import heartbeat_of
from headwater.simweb.message import Page
from headwater.urls.canonical import canonicalise

PLAIN = Page(b"<html><title>Plain</title><p>" + b"A harmless page. " * 20 + b"</html>")
# Quick retries would only repeat what each row says, seconds later.
QUICKLY = {
    "politeness.delay": "1ms",
    "fetch.retries_in_place": "0",
    "fetch.claim_retry_delay": "50ms",
    "network.dns_timeout": "2s",
}
MOST_ROUNDS = 200
LONGEST_WORK_S = 600


def word_for(verdict: Verdict | None) -> str:
    match verdict:
        case Dead(reason):
            return str(reason)
        case RetryLater("bad_redirect", detail):
            return detail
        case RetryLater(reason):
            return f"failed: {reason}"
        case HostSaysWait(_, _, closure):
            return f"wait: {closure}"
        case Moved():
            return "moved"
        case Fetched():
            return "fetched"
        case Unchanged():
            return "unchanged"
        case other:
            return repr(other)


@dataclass
class Stage:
    path: Path
    ears: Ears
    dialled: set[tuple[str, int]]

    async def submit(self, urls: Iterable[str]) -> dict[str, str]:
        """The word for each URL that is not even queued."""
        found = [FoundUrl(url) for url in urls]
        async with self.path.database.transaction() as connection:
            delay = self.path.services.settings.politeness.delay
            submitter = Submitter(self.path.source, EntryOrigin.MANUAL)
            answers = await submit(connection, submitter, found, default_delay=delay)
        return {answer.url: answer.reason for answer in answers if answer.outcome == "rejected"}

    async def verdicts(self) -> dict[bytes, Verdict | None]:
        """Travel until nothing is due, redirect targets included; by the hash of each entry."""
        found: dict[bytes, Verdict | None] = {}
        for _ in range(MOST_ROUNDS):
            told = await self.path.travel_all(count=100)
            found |= {one.lease.url_hash: one.verdict for one in told}
            if not told and not await self._rest_until_due():
                return found
        raise AssertionError("there is always something due")

    async def _rest_until_due(self) -> bool:
        """Whether any host that is not closed still has a waiting entry; its slot comes in milliseconds."""
        due = "select count(*) from hosts where wake_at < clock_timestamp() + interval '2 seconds'"
        waiting = bool(await self.path.database.fetchval(due))
        if waiting:
            await self.path.services.clock.sleep(0.01)
        return waiting

    def strangers_dialled(self) -> set[tuple[str, int]]:
        """Addresses a connection was tried to, other than the simulated web's own."""
        return {place for place in self.dialled if place != ("127.0.0.1", self.sim_port)}

    @property
    def sim_port(self) -> int:
        assert self.path.sim._server is not None
        return int(self.path.sim._server.sockets[0].getsockname()[1])

    async def work_through(self, count: int) -> list[Finished]:
        """The real worker at all of it at once, until it has told of `count` journeys; of a lost one nobody tells."""
        told: list[Finished] = []
        stop = asyncio.Event()

        def hear(one: Finished) -> None:
            told.append(one)
            if len(told) >= count:
                stop.set()

        services = self.path.services
        async with (
            Listener(services.dsn, [CHANNEL], services.random) as listener,
            heartbeat_of(services, "worker") as heart,
        ):
            worker = worker_of(services, self.path.web, Unread(), listener, heart, hear)
            running = asyncio.create_task(worker.run(stop))
            await asyncio.wait({asyncio.create_task(stop.wait())}, timeout=LONGEST_WORK_S)
            stop.set()
            await running
        return told


def hash_of(url: str) -> bytes:
    return canonicalise(url).url_hash


@asynccontextmanager
async def staged(
    database_url: str, sites: Mapping[str, SmallSite], flags: Mapping[str, str] | None = None
) -> AsyncIterator[Stage]:
    async with listening() as ears:
        settings = {**QUICKLY, "network.ports": f"80,443,{ears.port}", **(flags or {})}
        async with opened_path(database_url, sites, settings) as path:
            with tapped() as dialled:
                yield Stage(path, ears, dialled)
