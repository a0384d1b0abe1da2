"""A journey that a fault of ours ends: it counts, and the request that was made keeps its distance to the next."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from io import StringIO

import orjson
import pytest
from tests.integration.fetch.conftest import Path, Unread

from headwater.clock import SystemClock
from headwater.errors import DatabaseDown, OutOfResources, QueryFailed
from headwater.frontier.claim import Claimer
from headwater.frontier.entry import DeadReason, Lease
from headwater.frontier.verdicts import Fetched, RetryLater, Verdict
from headwater.ingest.journey import Finished
from headwater.ingest.page_store import PageEffects
from headwater.log import make_logger
from headwater.net.transport import Response
from headwater.rights.record import UseStatement
from headwater.simweb.questions import smallest_gaps

PAGES = ("http://a.test/one", "http://a.test/two")


@dataclass
class Breaking(Unread):
    error: Exception

    async def read(
        self, lease: Lease, fetched: Fetched, response: Response, outside: Sequence[UseStatement] = ()
    ) -> tuple[Verdict, PageEffects]:
        raise self.error


async def travel(path: Path, error: Exception) -> Finished:
    (lease,) = (await Claimer(path.database, SystemClock(), "w", timedelta(seconds=60)).claim(1)).leases
    journey = replace(path.journey(), page_reader=Breaking(error))
    journey.settling.patience = timedelta(seconds=1)
    return await journey.travel(lease)


async def test_a_fault_of_ours_counts_as_an_attempt_and_quotes_nothing_of_the_page(path: Path) -> None:
    await path.queue(PAGES[0])
    told = await travel(path, RuntimeError("secret words of the page"))
    assert isinstance(told.verdict, RetryLater)
    assert told.verdict.gives_up_as is DeadReason.POISON
    row = await path.database.fetchrow("select status, reason, retry_count, last_error from url_frontier")
    assert row is not None
    assert (row["status"], row["reason"], row["retry_count"]) == ("failed", "broken", 1)
    assert "RuntimeError" in row["last_error"]
    assert "secret" not in row["last_error"]


async def test_a_statement_that_is_refused_for_what_it_holds_is_the_pages_own_fault(path: Path) -> None:
    await path.queue(PAGES[0])
    told = await travel(path, QueryFailed("invalid byte sequence", sqlstate="22021"))
    assert isinstance(told.verdict, RetryLater)


async def test_a_refused_statement_is_one_line_of_the_log(path: Path) -> None:
    log = StringIO()
    await path.queue(PAGES[0])
    (lease,) = (await Claimer(path.database, SystemClock(), "w", timedelta(seconds=60)).claim(1)).leases
    error = QueryFailed("invalid byte sequence", sqlstate="22021", query="archive.keep_page")
    journey = replace(
        path.journey(), page_reader=Breaking(error), log=make_logger("info", "json", stream=log, mode="dev")
    )
    await journey.travel(lease)
    (line,) = [orjson.loads(line) for line in log.getvalue().splitlines()]
    assert (line["event"], line["sqlstate"], line["query"]) == ("journey_broke", "22021", "archive.keep_page")
    assert line["error"] == "invalid byte sequence"
    assert "exception" not in line


async def test_the_next_request_keeps_its_distance_to_one_that_broke_off(path: Path) -> None:
    await path.queue(*PAGES)
    await travel(path, RuntimeError("broken"))
    await path.services.clock.sleep(path.services.settings.politeness.delay.total_seconds() * 1.7)
    await travel(path, RuntimeError("broken"))
    assert len(path.visits()) == 3
    assert smallest_gaps(path.visits())["a.test"] >= 0.045
    assert await path.database.fetchval("select count(*) from fetch_log where started_at is null") == 0


@pytest.mark.parametrize(
    "error",
    [
        DatabaseDown("The database does not answer."),
        QueryFailed("No space left on device", sqlstate="53100"),
        QueryFailed("deadlock detected", sqlstate="40P01"),
        OutOfResources("There is no file descriptor left."),
    ],
)
async def test_trouble_that_blames_nobody_leaves_the_entry_as_it_was(path: Path, error: Exception) -> None:
    await path.queue(PAGES[0])
    with pytest.raises(type(error)):
        await travel(path, error)
    assert await path.database.fetchval("select status from url_frontier where retry_count = 0") == "fetching"
