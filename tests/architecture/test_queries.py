import asyncpg
import pytest

from headwater.database.queries import all_query_files, load_queries


@pytest.mark.parametrize("package", all_query_files())
async def test_every_query_is_valid_for_the_current_schema(package: str, database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    wrong = []
    for query in load_queries(package):
        try:
            await connection.prepare(query.sql)
        except asyncpg.PostgresError as error:
            wrong.append(f"{query.name}: {error}")
    await connection.close()
    assert not wrong, f"queries.sql of {package}"


@pytest.mark.parametrize("package", all_query_files())
def test_every_query_says_what_it_is_for(package: str) -> None:
    silent = [query.name for query in load_queries(package) if not query.purpose]
    assert not silent, f"queries.sql of {package}: no purpose line"
