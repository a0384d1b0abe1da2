from __future__ import annotations

import asyncio
import socket
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from headwater.chance import random_from
from headwater.clock import SystemClock
from headwater.errors import Busy
from headwater.simweb.message import Page, Request
from headwater.simweb.mischief.pace import SlowStart, StallAt
from headwater.simweb.server import SimWeb

if TYPE_CHECKING:
    from tests.integration.simweb.conftest import Farm

GET = b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"
LAST = b"GET /robots.txt HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"


async def test_a_page_comes_with_its_headers_and_the_simulated_date(farm: Farm) -> None:
    reply = await farm.ask("a.test/")
    assert reply.status == 200
    assert reply.headers["Date"] == "Sun, 01 Mar 2026 12:00:00 GMT"
    assert reply.headers["Last-Modified"] == "Thu, 01 Jan 2026 00:00:00 GMT"
    assert reply.headers["Content-Length"] == str(len(reply.body))
    farm.clock.move(timedelta(hours=1))
    assert (await farm.ask("a.test/")).headers["Date"] == "Sun, 01 Mar 2026 13:00:00 GMT"


async def test_a_page_asked_again_with_its_tag_is_a_304(farm: Farm) -> None:
    first = await farm.ask("a.test/")
    again = await farm.ask("a.test/", if_none_match=first.headers["ETag"])
    assert (again.status, again.body) == (304, b"")


async def test_unknown_paths_and_unknown_hosts_are_404_and_say_which(farm: Farm) -> None:
    path, host = await farm.ask("a.test/nowhere"), await farm.ask("nobody.test/")
    assert (path.status, host.status) == (404, 404)
    assert b"no such page" in path.body
    assert b"no such host" in host.body


async def test_pipelined_requests_are_answered_in_order_on_one_connection(farm: Farm) -> None:
    wire = await farm.wire(GET * 5 + LAST)
    assert wire.count(b"HTTP/1.1 200 OK") == 6
    assert wire.endswith(b"Disallow: /members/\n")
    assert {visit.connection for visit in farm.web.visits.all()} == {1}


async def test_requests_waiting_behind_a_large_answer_or_a_script_keep_their_turn(farm: Farm) -> None:
    farm.web.script("a.test", SlowStart(delay_ms=20), path_prefix="/$")
    wire = await farm.wire(GET + b"GET /large HTTP/1.1\r\nHost: a.test\r\n\r\n" + LAST)
    assert wire.count(b"HTTP/1.1 200 OK") == 3
    assert [visit.path for visit in farm.web.visits.all()] == ["/", "/large", "/robots.txt"]
    assert wire.endswith(b"Disallow: /members/\n")


async def test_what_is_no_request_gets_a_400_and_the_connection_ends(farm: Farm) -> None:
    assert (await farm.wire(b"nonsense\r\n\r\n")).startswith(b"HTTP/1.1 400 ")
    assert (await farm.wire(b"GET / HTTP/1.1\r\nHost: a.test\r\nX: " + b"y" * 70_000)).startswith(b"HTTP/1.1 431 ")
    assert farm.web.visits.all() == []


async def test_a_refusal_is_readable_though_the_client_is_still_sending(farm: Farm) -> None:
    assert (await farm.wire(b"nonsense\r\n\r\n" + b"x" * 5_000_000)).startswith(b"HTTP/1.1 400 ")


async def test_nothing_is_answered_after_the_request_that_closes(farm: Farm) -> None:
    assert (await farm.wire(LAST + GET)).count(b"HTTP/1.1 200 OK") == 1


async def test_head_and_post_reach_the_site(farm: Farm) -> None:
    assert (await farm.ask("a.test/", "HEAD")).body == b""
    await farm.ask("a.test/", "POST", body=b"x" * 1000)
    assert [request.method for request, _ in farm.site.asked] == ["HEAD", "POST"]


async def test_a_client_that_only_stopped_sending_still_gets_the_whole_answer(farm: Farm) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", farm.port)
    writer.write(b"GET /large HTTP/1.1\r\nHost: a.test\r\n\r\n")
    writer.write_eof()
    assert len(await reader.read()) > 20_000_000
    writer.close()


async def test_a_visit_ends_when_the_last_byte_is_handed_over(farm: Farm) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", farm.port)
    writer.write(b"GET /large HTTP/1.1\r\nHost: a.test\r\n\r\n")
    (visit,) = await farm.web.visits.until(lambda visits: len(visits) == 1)
    assert visit.ended is None
    await reader.readexactly(20_000_000)
    await farm.web.visits.until(lambda visits: visits[0].ended is not None)
    assert not visit.is_aborted
    writer.close()


async def test_a_client_that_leaves_early_is_noted_as_aborted(farm: Farm) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", farm.port)
    writer.write(b"GET /large HTTP/1.1\r\nHost: a.test\r\n\r\n")
    await farm.web.visits.until(lambda visits: len(visits) == 1)
    writer.transport.abort()
    (visit,) = await farm.web.visits.until(lambda visits: visits[0].ended is not None)
    assert visit.is_aborted


async def test_visits_carry_what_a_crawler_promises_to_send(farm: Farm) -> None:
    await farm.ask(
        "a.test/?q=1",
        user_agent="HeadwaterBot/1",
        x_headwater_worker="w7",
        authorization="Basic secret",
        cookie="a=1",
        From="ops@example.test",
    )
    (visit,) = farm.web.visits.all()
    assert (visit.user_agent, visit.worker, visit.target) == ("HeadwaterBot/1", "w7", "/?q=1")
    assert visit.sender == "ops@example.test"
    assert visit.is_authorized
    assert visit.has_cookie
    assert "secret" not in repr(visit)
    assert (visit.status, visit.got_validators) == (200, True)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says when bytes arrived")
async def test_a_visit_arrived_when_it_was_sent_however_late_a_busy_server_reads_it(farm: Farm) -> None:
    now, two_ticks = SystemClock().monotonic, 0.02
    with socket.create_connection(("127.0.0.1", farm.port)) as client:
        before = now()
        client.sendall(GET)
        after = now()
        while now() < after + 0.2:
            pass  # the server's loop is this one
        (visit,) = await farm.web.visits.until(lambda visits: len(visits) == 1)
    assert visit.started >= after + 0.2
    assert before - two_ticks <= visit.arrived <= after + two_ticks


async def test_a_taken_port_is_told_in_a_sentence(farm: Farm) -> None:
    clock = SystemClock()
    second = SimWeb({}, clock=clock, real=clock, random=random_from(1))
    with pytest.raises(Busy, match=f"Port {farm.port} .* is in use"):
        await second.start(port=farm.port)


async def test_thousands_of_hosts_share_the_port(farm: Farm) -> None:
    class Named:
        def page(self, request: Request, now: datetime) -> Page:
            return Page(request.host.encode())

    clock = SystemClock()
    web = SimWeb({f"h{n}.test": Named() for n in range(3000)}, clock=clock, real=clock, random=random_from(1))
    farm.port = await web.start()
    replies = [await farm.ask(f"h{n}.test/") for n in range(0, 3000, 100)]
    assert [reply.body for reply in replies] == [b"h%d.test" % n for n in range(0, 3000, 100)]
    await web.stop()


async def test_stopping_drops_clients_in_mid_answer(farm: Farm) -> None:
    farm.web.script("a.test", StallAt("head"))
    reader, writer = await asyncio.open_connection("127.0.0.1", farm.port)
    writer.write(GET)
    await reader.readuntil(b"\r\n\r\n")
    await farm.web.stop()
    with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    writer.close()
    assert farm.web.visits.all()[0].is_aborted


async def test_the_simulated_moment_reaches_the_site(farm: Farm) -> None:
    farm.clock.move(timedelta(days=2))
    await farm.ask("a.test/")
    assert [now for _, now in farm.site.asked] == [datetime(2026, 3, 3, 12, tzinfo=UTC)]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere loopback has one address")
async def test_several_addresses_share_one_port() -> None:
    clock = SystemClock()
    web = SimWeb({}, clock=clock, real=clock, random=random_from(1))
    port = await web.start(("127.0.0.1", "127.0.0.9"))
    for address in ("127.0.0.1", "127.0.0.9"):
        reader, writer = await asyncio.open_connection(address, port)
        writer.write(b"GET / HTTP/1.1\r\nHost: nobody.test\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 404")
        writer.close()
    await web.stop()
