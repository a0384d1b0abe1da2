"""A live pool and a live listener while their server goes away and comes back."""

import asyncio
import os
import signal
from pathlib import Path

import asyncpg
import pytest

from headwater.chance import random_from
from headwater.database.embedded import EmbeddedServer
from headwater.database.listen import Listener
from headwater.database.pool import Database
from headwater.errors import DatabaseDown, OutOfConnections


async def until_gone(server: EmbeddedServer) -> None:
    while (await server.status()).running_pid:
        pass


async def use_until_it_fails(database: Database) -> None:
    """The processes behind the connections may outlive a killed server for a moment."""
    while True:
        await database.fetchval("select 1")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["fast restart", "kill -9"])
async def test_pool_and_listener_come_back_with_the_server(server: EmbeddedServer, how: signal.Signals) -> None:
    dsn = await server.start()
    async with await Database.connect(dsn, size=4) as database, Listener(dsn, ["x"], random_from(1)) as listener:
        await database.execute("create table kept as select 7 as a")
        await asyncio.gather(*(database.fetchval("select pg_sleep(0.05)") for _ in range(4)))
        assert await listener.wait(60) == {"x"}
        pid = (await server.status()).running_pid
        assert pid
        os.kill(pid, how)
        await until_gone(server)
        with pytest.raises(DatabaseDown):
            await use_until_it_fails(database)
        await server.start()
        assert await asyncio.gather(*(database.fetchval("select a from kept") for _ in range(8))) == [7] * 8
        assert await listener.wait(60) == {"x"}
        await database.execute("notify x")
        assert await listener.wait(60) == {"x"}


async def test_a_server_without_free_connections_is_down_until_one_is_free(open_folder: Path) -> None:
    settings = {"fsync": "off", "shared_buffers": "16MB", "max_connections": "8", "autovacuum": "off"}
    async with EmbeddedServer(open_folder / "pg", settings=settings) as dsn:
        crowd = [await asyncpg.connect(dsn) for _ in range(8)]
        with pytest.raises(OutOfConnections, match=r"no connection left for us: .*too many clients") as caught:
            await Database.connect(dsn)
        assert "max_connections of the server" in caught.value.fix
        assert "database.pool_size" in caught.value.fix
        second = EmbeddedServer(open_folder / "pg", settings=settings)
        assert await second.start() == dsn
        await second.stop()
        await asyncio.gather(*(one.close() for one in crowd))
        async with await Database.connect(dsn, size=2) as database:
            assert await database.fetchval("select 1") == 1
