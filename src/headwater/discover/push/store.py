"""A channel's subscription after a poll or a push, in the transaction that ends it."""

from datetime import datetime

from headwater.database.pool import Connection
from headwater.database.queries import load_queries
from headwater.discover.polls.ending import RunEnding
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.run_state import FirstAnswer
from headwater.discover.push.subscription import KnownHub
from headwater.urls.canonical import canonicalise

queries = load_queries("headwater.discover.push")


async def note_hub(connection: Connection, channel: Leased, first: FirstAnswer, ending: RunEnding) -> None:
    """The hub that its answer names, and the record of the one it has."""
    known = channel.hub and channel.hub.named
    if not first.tells_hub or first.hub == known:
        if (ending.hub and ending.hub != channel.hub) or ending.quiet_until:
            assert ending.hub is not None
            await note_record(connection, channel, ending.hub, ending.quiet_until)
    elif first.hub is None:
        await connection.execute(queries.forget_hub, channel.id)
    else:
        named = first.hub
        place = canonicalise(named.hub).host
        await connection.execute(
            *queries.name_hub(
                channel_id=channel.id, protocol=named.protocol, hub=named.hub, hub_host=place, topic=named.topic
            )
        )
        await connection.execute(queries.forget_callbacks, channel.id)


async def note_record(connection: Connection, channel: Leased, hub: KnownHub, quiet_until: datetime | None) -> None:
    record = hub.record
    await connection.execute(
        *queries.note_record(
            channel_id=channel.id,
            proofs=record.proofs,
            needed=record.needed,
            pushes=record.pushes,
            missed=record.missed,
            last_push_at=record.last_push_at,
            pinged_at=hub.pinged_at,
            quiet_until=quiet_until,
        )
    )
