"""What an ordinary client meets when the simulated web misbehaves."""

from __future__ import annotations

import asyncio
import zlib
from typing import TYPE_CHECKING

import aiohttp
import pytest

from headwater.simweb.mischief.bombs import Bomb
from headwater.simweb.mischief.framing import (
    BadChunk,
    HalfBody,
    HeaderFlood,
    HttpZeroNine,
    InterimFlood,
    LyingEncoding,
    ResetAt,
    StatusLine,
    TruncatedGzip,
    Unasked,
    WrongLength,
)
from headwater.simweb.mischief.pace import EndlessBody, SlowDrip, SlowStart, StallAt, TinyChunks
from headwater.simweb.mischief.redirects import RedirectChain, RedirectLoop
from headwater.simweb.mischief.registry import KINDS, mischief_from_json
from headwater.simweb.mischief.replies import (
    ExtraHeaders,
    Flapping,
    Status,
    StuckValidators,
    Throttle,
    WithoutHeaders,
)
from headwater.simweb.mischief.stage import Mischief, Scene, Send, Steps

if TYPE_CHECKING:
    from tests.integration.simweb.conftest import Farm

PATIENCE_S = 0.15
LAST = b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"


async def fetch(farm: Farm, mischief: Mischief) -> tuple[int, bytes]:
    farm.web.script("a.test", mischief)
    async with farm.session() as session, session.get("http://a.test/") as response:
        return response.status, await response.read()


@pytest.mark.parametrize(
    "mischief",
    [
        HalfBody(),
        WrongLength("too_long"),
        WrongLength("negative"),
        WrongLength("garbage"),
        WrongLength("two"),
        BadChunk("size"),
        BadChunk("missing_last"),
        BadChunk("end"),
        ResetAt("head"),
        ResetAt("body"),
        LyingEncoding("gzip", "identity"),
        StatusLine("SPAM/7 yes please"),
        HttpZeroNine(),
        HeaderFlood("long", 1_000_000),
        HeaderFlood("nul", 1),
        HeaderFlood("many", 10_000),
    ],
    ids=repr,
)
async def test_a_broken_answer_is_an_error_to_a_sound_client(farm: Farm, mischief: Mischief) -> None:
    with pytest.raises(aiohttp.ClientError):
        await fetch(farm, mischief)


@pytest.mark.parametrize(
    "mischief",
    [StallAt("connect"), StallAt("head"), StallAt("body"), SlowStart(60_000), SlowDrip(1, 50), EndlessBody(8, 10)],
    ids=repr,
)
async def test_slowness_ends_only_by_the_clients_own_patience(farm: Farm, mischief: Mischief) -> None:
    asking = asyncio.create_task(fetch(farm, mischief))
    (visit,) = await farm.web.visits.until(lambda visits: len(visits) == 1)
    ended, _ = await asyncio.wait({asking}, timeout=PATIENCE_S)
    assert not ended
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await farm.web.visits.until(lambda _: visit.ended is not None)
    assert visit.is_aborted


@pytest.mark.parametrize(
    "mischief",
    [
        SlowStart(10),
        SlowDrip(500, 1),
        SlowDrip(50, 1, "head"),
        TinyChunks(),
        InterimFlood(200),
        WithoutHeaders(),
        StuckValidators(),
        ExtraHeaders(),
    ],
    ids=repr,
)
async def test_odd_but_legal_answers_arrive_whole(farm: Farm, mischief: Mischief) -> None:
    status, body = await fetch(farm, mischief)
    assert (status, body) == (200, farm.site.pages["/"].body)


async def test_gzip_cut_short_loses_text_though_the_framing_is_whole(farm: Farm) -> None:
    farm.web.script("a.test", TruncatedGzip())
    async with farm.session() as session, session.get("http://a.test/", auto_decompress=False) as response:
        packed = await response.read()
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert farm.site.pages["/"].body.startswith(unpacker.decompress(packed))
    assert not unpacker.eof


async def test_unasked_statuses_are_sent_as_scripted(farm: Farm) -> None:
    assert (await fetch(farm, Unasked(304)))[0] == 304
    status, body = await fetch(farm, Unasked(206))
    assert status == 206
    assert 0 < len(body) < len(farm.site.pages["/"].body)


async def test_a_bomb_grows_a_thousandfold_in_the_client(farm: Farm) -> None:
    farm.web.script("a.test", Bomb("gzip", 4))
    assert len((await farm.ask("a.test/")).body) < 8000
    assert len((await fetch(farm, Bomb("gzip", 4)))[1]) == 4 * 1024 * 1024


async def test_a_client_that_leaves_an_endless_body_ends_it(farm: Farm) -> None:
    farm.web.script("a.test", EndlessBody())
    async with farm.session() as session, session.get("http://a.test/") as response:
        await response.content.readexactly(1_000_000)
        response.close()
    (visit,) = await farm.web.visits.until(lambda visits: visits[0].ended is not None)
    assert visit.is_aborted


async def test_other_hosts_are_served_while_one_is_endless(farm: Farm) -> None:
    farm.web.script("a.test", EndlessBody())
    async with farm.session() as session, session.get("http://a.test/") as endless:
        assert endless.status == 200
        assert (await farm.ask("b.test/")).status == 200
        endless.close()


async def test_no_more_is_made_than_the_client_reads(farm: Farm) -> None:
    made = 0

    class Counting(Mischief):
        def play(self, scene: Scene) -> Steps:
            nonlocal made
            for _ in range(200):
                made += 1
                yield Send(bytes(1_000_000))

    farm.web.script("a.test", Counting())
    _, writer = await asyncio.open_connection("127.0.0.1", farm.port, limit=1000)
    writer.write(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
    for _ in range(100):
        await farm.ask("b.test/")
    assert 1 <= made < 30
    writer.transport.abort()


async def test_redirects_that_never_end_exhaust_the_client(farm: Farm) -> None:
    for mischief in (RedirectChain(), RedirectLoop(2)):
        with pytest.raises(aiohttp.TooManyRedirects):
            await fetch(farm, mischief)
    assert (await fetch(farm, RedirectChain(3)))[0] == 200


async def test_first_times_then_normal_and_only_below_the_prefix(farm: Farm) -> None:
    farm.web.script("a.test", Throttle(30), path_prefix="/$", times=2)
    codes = [(await farm.ask("a.test/")).status for _ in range(3)]
    assert codes == [429, 429, 200]
    farm.web.script("a.test", Status(503), path_prefix="/robots.txt")
    assert [(await farm.ask(f"a.test{path}")).status for path in ("/robots.txt", "/")] == [503, 200]


async def test_flapping_counts_requests_of_every_client(farm: Farm) -> None:
    farm.web.script("a.test", Flapping((500, 200)))
    assert [(await farm.ask("a.test/")).status for _ in range(4)] == [500, 200, 500, 200]


async def test_the_log_notes_the_status_a_script_sent_and_that_a_planned_close_is_no_abort(farm: Farm) -> None:
    for mischief in (Status(503), HalfBody(), ResetAt("body")):
        farm.web.script("a.test", mischief, times=1)
        try:
            await farm.wire(LAST)
        except ConnectionResetError:
            assert isinstance(mischief, ResetAt)
    visits = await farm.web.visits.until(lambda visits: all(visit.ended is not None for visit in visits))
    assert [visit.status for visit in visits] == [503, 200, 200]
    assert [visit.is_aborted for visit in visits] == [False] * 3


@pytest.mark.parametrize("closing", [b"", b"Connection: close\r\n"])
async def test_a_reset_is_a_reset_and_comes_after_the_bytes_before_it(farm: Farm, closing: bytes) -> None:
    farm.web.script("a.test", ResetAt("body"))
    reader, writer = await asyncio.open_connection("127.0.0.1", farm.port)
    writer.write(b"GET / HTTP/1.1\r\nHost: a.test\r\n%b\r\n" % closing)
    await reader.readuntil(b"\r\n\r\n")
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"in_turn", "sometimes"}))
async def test_after_any_mischief_the_next_client_is_served(farm: Farm, kind: str) -> None:
    farm.web.script("a.test", mischief_from_json({"kind": kind}), times=1)
    _, writer = await asyncio.open_connection("127.0.0.1", farm.port)
    writer.write(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
    await farm.web.visits.until(lambda visits: len(visits) == 1)
    writer.transport.abort()
    assert (await farm.ask("a.test/")).status == 200
    visits = await farm.web.visits.until(lambda visits: all(visit.ended is not None for visit in visits))
    assert len(visits) == 2
