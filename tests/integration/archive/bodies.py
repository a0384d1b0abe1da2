"""A raw body without the page that it belongs to."""

from datetime import datetime

from headwater.archive.raw import PlacedBody, RawBody, body_row, packed_body
from headwater.database.pool import Connection


async def keep_body(connection: Connection, raw: RawBody, now: datetime) -> None:
    """One row a fetch; `now` must lie in a day that maintenance has made."""
    await connection.execute(
        "SELECT keep_body($1::new_body, $2::timestamptz)", body_row(PlacedBody(raw, packed_body(raw))), now
    )
