import re

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


async def test_nothing_is_compared_with_a_time_that_changes_within_a_statement(database_url: str) -> None:
    """clock_timestamp() is volatile: asked for each row anew, by no index and in every partition.

    statement_timestamp() is as good; in a function, a variable.
    """
    texts = {f"{package}: {query.name}": query.sql for package in all_query_files() for query in load_queries(package)}
    connection = await asyncpg.connect(database_url)
    functions = await connection.fetch(
        "select proname, prosrc from pg_proc where pronamespace = current_schema::regnamespace"
    )
    await connection.close()
    texts |= {f"function {row['proname']}": row["prosrc"] for row in functions}
    volatile = re.compile(r"[<>]=?\s*(coalesce\([^()]*)?clock_timestamp\(\)", re.IGNORECASE)
    found = [name for name, text in texts.items() if volatile.search(text)]
    # Sessions are in no table, and have no index.
    assert found == ["function is_owner_alive"]


MOST_WITHOUT_NAMES = 6


@pytest.mark.parametrize("package", all_query_files())
def test_more_values_than_a_reader_counts_have_names(package: str) -> None:
    numbers = {
        query.name: {*re.findall(r"\$(\d+)", query.sql)} for query in load_queries(package) if not query.parameters
    }
    nameless = [name for name, found in numbers.items() if len(found) > MOST_WITHOUT_NAMES]
    assert not nameless, f"queries.sql of {package}: write :name instead of $1"
