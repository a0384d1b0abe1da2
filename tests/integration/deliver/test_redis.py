"""The sink for Redis, on a real server."""

import asyncio
import json
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as Broken
from tests.integration.deliver.made import fence, made_key, removal, sink_context, upsert

from headwater.deliver.sink import Accepted, Delivery, LeaseEnded, RecordRefused, SinkDown
from headwater.deliver.sinks.redis import KIND, RedisOptions, RedisSink
from headwater.record_kind import RecordKind

pytestmark = pytest.mark.redis


class Server:
    """A redis-server that keeps nothing on disk, at a socket and at a free port."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._folder = folder
        self._arguments = arguments
        self._process: asyncio.subprocess.Process | None = None
        self.url = f"unix://{folder}/s"
        self.asking = Redis(unix_socket_path=f"{folder}/s", decode_responses=True)

    async def start(self) -> None:
        quiet = ("--save", "", "--appendonly", "no", "--dir", str(self._folder), "--logfile", "log")
        self._process = await asyncio.create_subprocess_exec(
            "redis-server", "--port", "0", "--unixsocket", f"{self._folder}/s", *quiet, *self._arguments
        )
        async with asyncio.timeout(20):
            while True:
                with suppress(Broken):
                    if await self.asking.ping():
                        return
                await asyncio.sleep(0.02)

    async def stop(self) -> None:
        assert self._process
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
        await self._process.wait()

    def freeze(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGSTOP)


@asynccontextmanager
async def serving(*arguments: str) -> AsyncIterator[Server]:
    # A socket's path has at most a hundred characters, which those of pytest exceed.
    folder = Path(tempfile.mkdtemp(prefix="headwater-redis-"))
    server = Server(folder, *arguments)
    try:
        await server.start()
        yield server
    finally:
        await server.asking.aclose()
        await server.stop()
        shutil.rmtree(folder)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as found:
        yield found


@asynccontextmanager
async def opened(url: str, secrets: dict[str, str] | None = None, **options: Any) -> AsyncIterator[RedisSink]:
    async with sink_context(secrets) as context:
        sink = KIND.make(RedisOptions(url=url, **options), context)
        assert isinstance(sink, RedisSink)
        try:
            await sink.prepare(fence())
            yield sink
        finally:
            await sink.close()


def placed(sink: RedisSink, *batch: Any) -> list[Delivery]:
    """Upserts with the places that the sink itself names, as the loop gives them."""
    return [upsert_.__class__(upsert_.record, upsert_.position, sink.place_of(upsert_.record)) for upsert_ in batch]


async def entries(server: Server, name: str) -> list[dict[str, Any]]:
    found: Any = await server.asking.xrange(name)
    return [{**fields, "payload": json.loads(fields["payload"])} for _, fields in found]


async def test_changes_are_added_to_streams_named_by_fields(server: Server) -> None:
    async with opened(server.url, name="jobs:type:{contract_type}") as sink:
        batch = placed(
            sink,
            upsert("driver", 5, RecordKind.JOB),
            upsert("nurse", 6, RecordKind.JOB, contract_type=None),
            upsert("cook", 7, RecordKind.JOB),
        )
        assert await sink.send(batch, fence()) == [Accepted()] * 3
    full_time = await entries(server, "jobs:type:full_time")
    assert [(one["position"], one["op"]) for one in full_time] == [("5", "upsert"), ("7", "upsert")]
    assert full_time[0]["payload"]["record"]["title"] == "About driver"
    assert full_time[0]["payload"] | {"record": None} == {
        "position": 5,
        "op": "upsert",
        "kind": "job",
        "id": made_key("driver", RecordKind.JOB).id,
        "version": 1,
        "record": None,
    }
    assert len(await entries(server, "jobs:type:unknown")) == 1


async def test_a_removal_goes_where_the_record_went(server: Server) -> None:
    async with opened(server.url, name="jobs:type:{contract_type}") as sink:
        await sink.send([removal("driver", 9, RecordKind.JOB, place="jobs:type:full_time")], fence())
    (told,) = await entries(server, "jobs:type:full_time")
    assert told["op"] == "remove"
    assert "record" not in told["payload"]


async def test_what_is_sent_again_is_known_by_its_position(server: Server) -> None:
    async with opened(server.url) as sink:
        for _ in range(2):
            await sink.send(placed(sink, upsert("a", 5)), fence())
    first, second = await entries(server, "content:document")
    assert (first["position"], first["id"]) == (second["position"], second["id"])


async def test_text_is_sent_on_request_only(server: Server) -> None:
    for include_text in (False, True):
        async with opened(server.url, include_text=include_text) as sink:
            await sink.send(placed(sink, upsert("a", 5)), fence())
    without, whole = await entries(server, "content:document")
    assert "text" not in without["payload"]["record"]
    assert whole["payload"]["record"]["text"]


async def test_a_stream_is_kept_to_its_length(server: Server) -> None:
    await server.asking.config_set("stream-node-max-entries", 10)
    async with opened(server.url, max_length=50) as sink:
        await sink.send(placed(sink, *(upsert(str(number), number) for number in range(500))), fence())
    assert 50 <= await server.asking.xlen("content:document") <= 60


async def test_large_batches_go_in_pieces_and_all_arrive(server: Server) -> None:
    async with opened(server.url, include_text=True) as sink:
        batch = placed(sink, *(upsert(str(number), number, text="x" * 300_000) for number in range(40)))
        assert await sink.send(batch, fence()) == [Accepted()] * 40
    assert [one["position"] for one in await entries(server, "content:document")] == [str(n) for n in range(40)]


async def test_publishing_reaches_those_who_listen(server: Server) -> None:
    async with opened(server.url, mode="publish", name="content:{kind}") as sink:
        assert "0 subscribers" in await sink.describe(fence())
        async with server.asking.pubsub() as listener:
            await listener.subscribe("content:document")
            assert await listener.get_message(timeout=5)
            said = await sink.describe(fence())
            assert "1 subscribers listen on channels named content:*" in said
            assert "while nobody listens is lost" in said
            await sink.send([*placed(sink, upsert("a", 5)), removal("b", 6, place="content:document")], fence())
            heard = [await listener.get_message(timeout=5) for _ in range(2)]
    assert [json.loads(one["data"])["op"] for one in heard if one] == ["upsert", "remove"]


async def test_a_try_says_what_a_stream_keeps(server: Server) -> None:
    async with sink_context() as context:
        sink = KIND.make(RedisOptions(url=server.url), context)
        assert KIND.test
        said = await KIND.test(sink, fence())
        await sink.close()
    assert "content:* keeps about 100,000 messages" in said


async def test_a_full_server_is_down_and_forgets_nothing(server: Server) -> None:
    async with opened(server.url) as sink:
        await server.asking.config_set("maxmemory", "1")
        with pytest.raises(SinkDown, match="maxmemory") as caught:
            await sink.send(placed(sink, upsert("a", 5)), fence())
        assert "maxmemory" in caught.value.fix
        await server.asking.config_set("maxmemory", "0")
        assert await sink.send(placed(sink, upsert("a", 5)), fence()) == [Accepted()]


async def test_a_replica_is_down(server: Server) -> None:
    async with opened(server.url) as sink:
        await server.asking.replicaof("127.0.0.1", 1)
        with pytest.raises(SinkDown, match="read only replica") as caught:
            await sink.send(placed(sink, upsert("a", 5)), fence())
        assert "primary" in caught.value.fix


async def test_a_name_that_is_taken_fails_alone_where_names_differ(server: Server) -> None:
    await server.asking.set("jobs:type:full_time", "a text")
    async with opened(server.url, name="jobs:type:{contract_type}") as sink:
        outcomes = await sink.send(
            placed(
                sink,
                upsert("driver", 5, RecordKind.JOB),
                upsert("nurse", 6, RecordKind.JOB, contract_type="part_time"),
            ),
            fence(),
        )
    assert isinstance(outcomes[0], RecordRefused)
    assert outcomes[1] == Accepted()
    async with opened(server.url, name="jobs:type:full_time") as sink:
        with pytest.raises(SinkDown, match="WRONGTYPE"):
            await sink.send(placed(sink, upsert("driver", 5, RecordKind.JOB)), fence())


async def test_a_server_that_wants_a_password_gets_it_from_a_secret() -> None:
    async with serving() as server:
        await server.asking.config_set("requirepass", "sesame")
        with pytest.raises(SinkDown, match="uthentication") as caught:
            async with opened(server.url):
                pass
        assert "env:NAME" in caught.value.fix
        path = server.url.removeprefix("unix://")
        with pytest.raises(SinkDown) as caught:
            async with opened("env:REDIS", {"env:REDIS": f"unix://:wrong@{path}"}):
                pass
        assert "wrong" not in caught.value.what
        async with opened("env:REDIS", {"env:REDIS": f"unix://:sesame@{path}"}) as sink:
            assert await sink.send(placed(sink, upsert("a", 5)), fence()) == [Accepted()]


async def test_a_server_that_hangs_is_down_in_time(server: Server) -> None:
    async with opened(server.url) as sink:
        sink.timeout = 0.3
        server.freeze()
        with pytest.raises(SinkDown, match="in time") as caught:
            await sink.send(placed(sink, upsert("a", 5)), fence())
        assert caught.value.outcomes == ()


async def test_a_server_that_restarts_is_found_again(server: Server) -> None:
    async with opened(server.url) as sink:
        await server.stop()
        with pytest.raises(SinkDown):
            await sink.send(placed(sink, upsert("a", 5)), fence())
    with pytest.raises(SinkDown):
        async with opened(server.url):
            pass
    await server.start()
    async with opened(server.url) as sink:
        assert await sink.send(placed(sink, upsert("a", 5)), fence()) == [Accepted()]


async def test_a_server_that_still_loads_is_down() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(10_000):
            writer.write(b"-LOADING Redis is loading the dataset in memory\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        with pytest.raises(SinkDown, match="loading"):
            async with opened(f"redis://127.0.0.1:{port}"):
                pass


async def test_after_a_lost_answer_nothing_is_sent_again_by_itself() -> None:
    heard = b""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal heard
        while said := await reader.read(10_000):
            heard += said
            if b"XADD" in said:
                break
            writer.write(b"+PONG\r\n" if b"PING" in said else b"+OK\r\n" * said.count(b"*"))
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        async with opened(f"redis://127.0.0.1:{port}") as sink:
            with pytest.raises(SinkDown) as caught:
                await sink.send(placed(sink, upsert("a", 5)), fence())
    assert caught.value.outcomes == ()
    assert heard.count(b"XADD") == 1


async def test_no_message_is_sent_that_the_lease_would_not_outlast(server: Server) -> None:
    async with opened(server.url) as sink:
        with pytest.raises(LeaseEnded):
            await sink.send(placed(sink, upsert("a", 5)), fence(seconds=5))
    assert await server.asking.exists("content:document") == 0


async def test_a_name_is_looked_up_and_every_address_tried() -> None:
    async with serving() as server:
        await server.asking.config_set("bind", "127.0.0.1")
        port = await free_port()
        await server.asking.config_set("port", port)
        async with opened(f"redis://localhost:{port}/1") as sink:
            assert await sink.send(placed(sink, upsert("a", 5)), fence()) == [Accepted()]


async def free_port() -> int:
    async with await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0) as listener:
        return int(listener.sockets[0].getsockname()[1])
