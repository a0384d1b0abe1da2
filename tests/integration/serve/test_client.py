"""The client against the real server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

import pytest
from tests.integration.serve.callers import ApiCaller

import headwater
from headwater.chance import new_id
from headwater.client import Client, ServerProblem
from headwater.client.problems import ChangedMeanwhile, NotOnServer, RequestNotUnderstood, ServerAway
from headwater.database.pool import Database
from headwater.errors import Busy

T = TypeVar("T")


@pytest.fixture
async def client(api: ApiCaller) -> AsyncIterator[Client]:
    with Client(api.address) as made:
        yield made


async def in_thread(work: Callable[[], T]) -> T:
    """The client waits for its answers, and the server is in this event loop."""
    return await asyncio.to_thread(work)


async def test_a_view_through_the_client(client: Client) -> None:
    def work() -> None:
        added = client.add_view(name="boats", query="ferry", languages=["en"])
        assert client.list_views() == {"views": [added]}
        assert client.change_view("boats", languages=[])["languages"] == []
        assert client.preview_view("boats", limit=5)["records"] == []
        client.remove_view("boats")
        assert client.list_views()["views"] == []

    await in_thread(work)


async def test_problems_are_errors_of_the_one_tree_with_what_and_fix(client: Client) -> None:
    def work() -> None:
        with pytest.raises(headwater.NotFound) as missing:
            client.show_view("none")
        assert isinstance(missing.value, NotOnServer)
        assert (missing.value.what, missing.value.status) == ("There is no view 'none'.", 404)
        assert missing.value.fix
        assert missing.value.request_id
        with pytest.raises(headwater.UsageError) as wrong:
            client.add_view(name="boats", min_quality=200)
        assert isinstance(wrong.value, RequestNotUnderstood)
        assert [one["field"] for one in wrong.value.fields] == ["body.min_quality"]

    await in_thread(work)


async def test_who_changes_what_another_changed_is_told_so_by_an_error_of_its_own(client: Client) -> None:
    def work() -> None:
        edition = client.add_view(name="boats", query="ferry")["edition"]
        client.change_view("boats", query="sail")
        with pytest.raises(ChangedMeanwhile) as late:
            client.change_view("boats", query="oar", if_match=edition)
        assert (late.value.status, late.value.code) == (412, "outdated")
        assert client.show_view("boats")["query"] == "sail"

    await in_thread(work)


@pytest.mark.parametrize("name", ["a/b", "../operations", "a?b#c", "ü ", "%2e%2e"])
async def test_a_name_stays_one_part_of_the_path(client: Client, name: str) -> None:
    def work() -> None:
        with pytest.raises(ServerProblem) as missing:
            client.show_view(name)
        assert missing.value.status == 404

    await in_thread(work)


async def test_an_iterator_meets_each_row_once(client: Client, database: Database) -> None:
    await database.execute(
        "insert into operations (id, kind, actor) select gen_random_uuid(), 'x', 'ann' from generate_series(1, 7)"
    )
    seen = await in_thread(lambda: [one["id"] for one in client.iter_operations(limit=3)])
    assert len(seen) == len(set(seen)) == 7


async def test_long_work_is_waited_for(client: Client, database: Database) -> None:
    done, failed, stuck = new_id(), new_id(), new_id()
    add = "insert into operations (id, kind, actor, state, problem) values ($1, 'x', 'ann', $2, $3)"
    await database.execute(add, done, "done", None)
    await database.execute(
        add, failed, "failed", {"detail": "It cannot be.", "fix": "Do another thing.", "status": 403}
    )
    await database.execute(add, stuck, "running", None)

    def work() -> None:
        assert client.wait_for_operation(str(done))["state"] == "done"
        with pytest.raises(ServerProblem, match="It cannot be") as why:
            client.wait_for_operation(str(failed))
        assert (why.value.fix, why.value.status) == ("Do another thing.", 403)
        with pytest.raises(Busy, match="still runs"):
            client.wait_for_operation(str(stuck), within=0.1)

    await in_thread(work)


async def test_threads_share_a_client(client: Client) -> None:
    await asyncio.gather(*(in_thread(lambda name=f"v{n}": client.add_view(name=name)) for n in range(20)))  # type: ignore[misc]
    listed = await in_thread(client.list_views)
    assert len(listed["views"]) == 20


def test_a_server_that_is_away_is_told_so(unused_tcp_port_factory: Callable[[], int]) -> None:
    client = Client(f"http://127.0.0.1:{unused_tcp_port_factory()}", retry_for=0.0)
    with pytest.raises(ServerAway, match="does not answer"):
        client.list_views()


@pytest.mark.parametrize(
    "address", ["", "localhost:8080", "ftp://x", "http://", "http://a:b@x", "http://x:99999", "http://x/?q"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(headwater.UsageError, match="not the address"):
        Client(address)
