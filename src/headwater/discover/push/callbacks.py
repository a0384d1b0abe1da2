"""The web role's side of subscriptions: a hub confirms or denies them at addresses that nobody else knows."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from headwater.chance import Random
from headwater.database.pool import Database
from headwater.database.queries import load_queries
from headwater.discover.push.links import Protocol
from headwater.discover.push.subscription import ASKED_AGAIN_WHEN_DENIED, lease_said, renewal_after
from headwater.storable import one_line

queries = load_queries("headwater.discover.push")

# Below `web.public_url`. Only hubs know the rest of such an address.
PLACE = "/push/"
LONGEST_TOKEN = 100
LONGEST_CHALLENGE = 4_096
LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class Callback:
    """`secret` is what its pushes are signed with; it is shown nowhere."""

    token: str
    channel_id: UUID
    protocol: Protocol
    topic: str
    secret: str
    is_verified: bool
    is_followed: bool  # its channel is polled

    def __repr__(self) -> str:
        return f"Callback({self.channel_id})"


def callback_address(public_url: str, token: str) -> str:
    return f"{public_url.rstrip('/')}{PLACE}{token}"


@dataclass(frozen=True, slots=True)
class Callbacks:
    database: Database
    random: Random

    async def named(self, token: str) -> Callback | None:
        if len(token) > LONGEST_TOKEN or not token.isascii():
            return None
        row = await self.database.fetchrow(queries.callback_named, token)
        if row is None:
            return None
        protocol = Protocol(row["protocol"])
        is_verified = row["verified_at"] is not None
        return Callback(token, row["channel_id"], protocol, row["topic"], row["secret"], is_verified, row["is_active"])

    async def confirm(self, token: str, said: Mapping[str, str]) -> str | None:
        """What a hub asks with GET, and what it is answered; None is 404. Only what is pending is confirmed."""
        callback = await self.named(token)
        if callback is None:
            return None
        if callback.protocol is Protocol.RSSCLOUD:
            asked, mode, challenge = said.get("url", ""), "subscribe", said.get("challenge", "")
        else:
            asked, mode = said.get("hub.topic", ""), said.get("hub.mode", "")
            challenge = said.get("hub.challenge", "")
        if asked != callback.topic:
            return None
        if mode == "denied":
            await self._deny(callback, said.get("hub.reason", ""))
            return ""
        if not 0 < len(challenge) <= LONGEST_CHALLENGE:
            return None
        if mode == "unsubscribe" and callback.is_verified and not callback.is_followed:
            await self.database.execute(queries.end_callback, token)
            return challenge
        if mode != "subscribe" or callback.is_verified or not callback.is_followed:
            return None
        return challenge if await self._begin(callback, said.get("hub.lease_seconds", "")) else None

    async def _begin(self, callback: Callback, seconds: str) -> bool:
        """False where another answer was faster."""
        lease = lease_said(seconds, callback.protocol)
        async with self.database.transaction() as connection:
            await connection.execute(queries.hold_subscription, callback.channel_id)
            if await connection.fetchval(queries.confirm_callback, callback.token) is None:
                return False
            renewal = renewal_after(lease, self.random)
            await connection.execute(queries.begin_lease, callback.channel_id, lease, renewal)
            await connection.execute(queries.drop_replaced, callback.channel_id, callback.token)
        return True

    async def _deny(self, callback: Callback, reason: str) -> None:
        async with self.database.transaction() as connection:
            told = one_line(reason, LONGEST_REASON) or None
            await connection.execute(queries.note_denied, callback.channel_id, told, ASKED_AGAIN_WHEN_DENIED)
            await connection.execute(queries.forget_callbacks, callback.channel_id)
