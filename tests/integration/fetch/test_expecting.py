"""A claim reads ahead what is known of its pages; where that fails, its leases are worked on all the same."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from tests.integration.fetch.conftest import Path, Unread

from headwater.clock import SystemClock
from headwater.database.listen import Listener
from headwater.errors import QueryFailed
from headwater.frontier.claim import Claimer, Shares
from headwater.frontier.entry import Lease
from headwater.frontier.wake import CHANNEL, Sleeper
from headwater.ingest.journey import Fetching, Finished

URL = "http://a.test/one"


class Forgetful(Unread):
    def __init__(self) -> None:
        self.expected: list[str] = []
        self.forgotten: list[str] = []

    async def expect(self, leases: Sequence[Lease]) -> None:
        self.expected += [lease.url for lease in leases]
        raise QueryFailed("canceling statement due to statement timeout", sqlstate="57014")

    def forget(self, lease: Lease) -> None:
        self.forgotten.append(lease.url)


async def test_leases_are_worked_on_though_nothing_could_be_read_ahead(path: Path) -> None:
    await path.queue(URL)
    page_reader, on_finished, minute = Forgetful(), list[Finished](), timedelta(seconds=60)
    async with Listener(path.services.dsn, [CHANNEL], path.services.random) as listener:
        fetching = Fetching(
            database=path.database,
            claimer=Claimer(path.database, SystemClock(), "w", minute),
            sleeper=Sleeper(path.database, listener, "w", minute),
            journey=replace(path.journey(), page_reader=page_reader),
            shares=Shares(10),
            on_finished=on_finished.append,
        )
        [lease], _ = await fetching.claim(5)
        assert page_reader.expected == [URL]
        await fetching.work(lease)
    assert [one.lease.url for one in on_finished] == [URL]
    assert page_reader.forgotten == [URL]
