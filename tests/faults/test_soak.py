"""The judges of the soak see what they are there to see."""

from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from tests.faults.soak.__main__ import NOTHING, is_well
from tests.faults.soak.judging import entries
from tests.faults.soak.town import FORBIDDEN, Manners, Town, article, title_of
from tests.faults.world import workbench
from tests.integration.archive.shelf import LONG, Shelf

from headwater.clock import SystemClock
from headwater.database.pool import Database
from headwater.simweb.message import Request
from headwater.simweb.visits import Visit

VISIT = Visit(1, 1, 10.0, 10.0, "a.test", "GET", "/1", "", "", "", "", "", "", "", False, False, status=200)
WELL = {**dict.fromkeys(NOTHING, 0), "sink_equal": True}
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def asked(path: str, host: str = "a.test") -> Request:
    return Request("GET", host, path, "", {})


def test_what_comes_too_close_is_forbidden_or_comes_again_is_counted() -> None:
    manners = Manners()
    manners.fold([VISIT, replace(VISIT, arrived=10.4, path="/2"), replace(VISIT, arrived=10.2, host="b.test")])
    manners.fold([replace(VISIT, arrived=11.0), replace(VISIT, arrived=12.0, path=f"{FORBIDDEN}1")])
    told = manners.told(0.5)
    assert (told["requests"], told["hosts"], told["asked_again"]) == (5, 2, 1)
    assert told["delays_broken_at"] == [("a.test", 0.4)]
    assert told["disallowed_at"] == [f"a.test{FORBIDDEN}1"]
    assert manners.told(0.4)["delays_broken"] == 0


def test_who_was_turned_away_and_comes_back_too_early_is_counted() -> None:
    town = Town(SystemClock())
    town.turns_away["a.test"] = 3_600.0
    first = town.page(asked("/1"), NOW)
    assert first is not None
    assert (first.status, first.headers, town.came_too_early) == (429, (("Retry-After", "3600"),), 0)
    town.page(asked("/1", "b.test"), NOW)
    assert town.came_too_early == 0
    second = town.page(asked("/1"), NOW)
    assert second is not None
    assert (second.status, town.came_too_early) == (200, 1)


def test_every_address_has_a_title_and_a_text_of_its_own() -> None:
    addresses = [f"{host}.test/page-{number}" for host in ("large-1", "small-404") for number in range(500)]
    assert len({title_of(one) for one in addresses}) == len({article(one) for one in addresses}) == len(addresses)


@pytest.mark.parametrize("name", NOTHING)
def test_one_of_anything_that_must_not_be_is_not_well(name: str) -> None:
    assert is_well(WELL)
    assert not is_well({**WELL, name: 1})
    assert not is_well({**WELL, "sink_equal": False})


async def test_lost_addresses_and_missing_and_foreign_documents_are_found(database: Database) -> None:
    urls = [f"http://a.test/page-{number}" for number in range(4)]
    async with workbench(database, {}) as bench:
        await bench.queue(*urls[1:])
    await database.execute("update url_frontier set status = 'dead', reason = 'poison' where url = $1", urls[3])
    await Shelf(database).keep(urls[1], LONG, title="Of another page")
    queue: Any = SimpleNamespace(accepted=set(urls), forbidden=set())
    found = await entries(database, queue)
    assert (found["lost_are"], found["documents_missing"], found["documents_wrong_are"]) == ([urls[0]], 2, [urls[1]])
    assert (found["poisoned"], found["poisoned_by_one_death"]) == (1, 1)
