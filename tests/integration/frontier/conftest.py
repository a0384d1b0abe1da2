from collections.abc import AsyncIterator

import pytest
from tests.integration.frontier.invariants import broken_invariants, record_status_changes, unlawful_changes
from tests.integration.frontier.stage import Stage, add_source

from headwater.database.pool import Database


@pytest.fixture
async def stage(database: Database) -> AsyncIterator[Stage]:
    """Whatever a test does, the invariants hold at its end and every change of a status was lawful."""
    await record_status_changes(database)
    on_stage = Stage(database, await add_source(database))
    yield on_stage
    assert await broken_invariants(database, on_stage.now) == []
    assert await unlawful_changes(database) == set()
