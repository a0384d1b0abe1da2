"""Every named statement has an entry in the table of calls, with as many values as it asks for."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import asyncpg
from tests.growth.statements import NEW, NOBODY, Sample, calls

from headwater.database.queries import all_query_files, load_queries

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LEASE = {"bucket": 1, "token": NOBODY, "host": "a.example", "url_hash": NEW}
VALUES: dict[str, Any] = {
    **dict.fromkeys(("now", "log_since", "runs_since"), NOW),
    **dict.fromkeys(("source", "channel", "leased_channel", "channel_token", "job_id", "slot_token"), UUID(int=7)),
    **dict.fromkeys(("sink", "sink_token", "view"), UUID(int=7)),
    "log_position": 100,
    **dict.fromkeys(("host", "url"), "a.example"),
    **dict.fromkeys(("host_bucket", "bucket", "job_bucket", "slot_bucket", "last_event"), 1),
    **dict.fromkeys(("hash", "address", "job_hash"), NEW),
    **{key: [1] for key in ("buckets", "host_buckets")},
    **{key: [NEW] for key in ("hashes", "item_hashes")},
    **{key: [NOBODY] for key in ("sources", "channels", "runs")},
    "hosts": ["a.example"],
    "leases": [LEASE, LEASE],
}
ANYTHING = Sample(**VALUES)


async def test_every_statement_has_calls_with_its_number_of_values(database_url: str) -> None:
    made = calls(ANYTHING)
    wrong = []
    connection = await asyncpg.connect(database_url)
    for package in all_query_files():
        for query in load_queries(package):
            name = f"{package.removeprefix('headwater.')}.{query.name}"
            asked = len((await connection.prepare(query.sql)).get_parameters())
            if not made.get(name) or any(len(values) != asked for values in made[name]):
                wrong.append(f"{name} asks for {asked} values")
            made.pop(name, None)
    await connection.close()
    assert not wrong, f"give each an entry in tests/growth/statements.py: {wrong}"
    assert not made, "these are no more"
