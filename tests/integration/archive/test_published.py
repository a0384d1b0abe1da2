"""The guard over what others are told finds what it is there for."""

import pytest
from tests.integration.archive.shelf import Shelf
from tests.integration.archive.test_jobs import job, keep

from headwater.errors import QueryFailed


@pytest.mark.parametrize("change", ["title = 'X'", "last_seen_at = now()", "title = 'X', version = version + 1"])
async def test_a_vacancy_that_changes_without_a_word_is_found(shelf: Shelf, change: str) -> None:
    await keep(shelf, job())
    with pytest.raises(QueryFailed, match="published columns of jobs"):
        await shelf.database.execute(f"UPDATE jobs SET {change}")
    await shelf.database.execute("UPDATE jobs SET listed_at = now()")


async def test_a_document_that_changes_without_a_word_is_found(shelf: Shelf) -> None:
    await shelf.keep("https://a.example/1")
    with pytest.raises(QueryFailed, match="published columns of documents"):
        await shelf.database.execute("UPDATE documents SET title = 'Other'")
