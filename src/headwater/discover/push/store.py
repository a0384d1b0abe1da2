"""A channel's subscription after a poll or a push, in the transaction that ends it."""

from datetime import datetime

from headwater.database.pool import Connection
from headwater.database.queries import load_queries
from headwater.discover.items import FoundItems
from headwater.discover.polls.ending import RunEnding
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.run_state import FirstAnswer, RunState
from headwater.discover.polls.submit_items import distinct_items
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


async def count_unlisted(connection: Connection, channel: Leased, run_state: RunState, found_items: FoundItems) -> int:
    """Items that were pushed since the last poll and that this one should list, but does not.

    Only dated ones that are younger than something it lists: a busy feed has left the others behind. A channel that has
    not changed lists none of them.
    """
    dated = [one.published_at for one in found_items.items if one.published_at]
    looked_at, hub = channel.past.last_ok_at, channel.hub
    pushed_at = hub and hub.record.last_push_at
    is_whole = run_state.is_last_step and not run_state.is_partial and not run_state.is_cut
    can_tell = is_whole and (run_state.is_unchanged or dated)
    if not (can_tell and looked_at and pushed_at and pushed_at > looked_at):
        return 0
    oldest = None if run_state.is_unchanged else min(dated)
    listed = [one.url.url_hash for one in distinct_items(found_items.items)[0]]
    counted = (channel.id, looked_at, oldest, listed, channel.now)
    return int(await connection.fetchval(queries.count_unlisted, *counted))


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
