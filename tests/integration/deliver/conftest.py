import pytest
from tests.integration.archive.shelf import Shelf
from tests.integration.deliver.memory_sink import Delivering

from headwater.database.pool import Database


@pytest.fixture
def shelf(database: Database) -> Shelf:
    return Shelf(database)


@pytest.fixture
def delivering(database: Database) -> Delivering:
    return Delivering(database)
