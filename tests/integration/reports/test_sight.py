"""`doctor` says what our role cannot see, and what to type so that it can."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from os import getpid

import pytest

from headwater.database.pool import Database
from headwater.reports.doctor import check_sight


@asynccontextmanager
async def as_plain_role(database_url: str, database: Database, role: str) -> AsyncIterator[Database]:
    await database.execute(f'create role "{role}" login')
    try:
        async with await Database.connect(database_url, size=1) as plain:
            await plain.execute(f'set session authorization "{role}"')
            yield plain
    finally:
        await database.execute(f'drop role "{role}"')


@pytest.mark.parametrize("right", ["pg_read_all_stats", "pg_monitor"])
async def test_a_plain_role_is_told_which_right_it_lacks(database_url: str, database: Database, right: str) -> None:
    role = f"Plain-{getpid()}-{right}"
    async with as_plain_role(database_url, database, role) as plain:
        check = await check_sight(plain)
        assert (check.level, f'GRANT pg_read_all_stats TO "{role}";' in check.fix) == ("warning", True)
        await database.execute(f'grant {right} to "{role}"')
        assert (await check_sight(plain)).level == "ok"


async def test_a_superuser_sees_everything(database: Database) -> None:
    assert (await check_sight(database)).level == "ok"
