from pathlib import Path

import pytest

from headwater.database.migrate import migrate
from headwater.database.pool import Database
from headwater.database.schema_page import PAGE, schema_in_words

DOCS = Path(__file__).parents[3] / "docs"


async def test_the_page_of_the_schema_shows_what_the_migrations_make(empty_database_url: str) -> None:
    async with await Database.connect(empty_database_url, size=1) as database:
        if await database.fetchval("select current_setting('server_version_num')::integer") < 160000:
            pytest.skip("PostgreSQL 15 spells views with the names of tables before all columns")
        await migrate(database)
        async with database.transaction(readonly=True) as connection:
            shown = await schema_in_words(connection)
    assert (DOCS / PAGE).read_text("utf-8") == shown, "run: make schema"
