"""What a channel's row of subscriptions says, and when it is asked for or renewed. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from headwater.chance import Random
from headwater.discover.cadence.hubs import HubRecord, after_lies, after_poll, after_push
from headwater.discover.push.links import NamedHub, Protocol

# What is asked for, and the most that a hub is believed.
LONGEST_LEASE = timedelta(days=14)
# Of a hub that does not say how long.
USUAL_LEASE = timedelta(days=1)
# A lease of seconds would cost more requests than polling does: it lapses, and is asked for again.
SHORTEST_RENEWAL = timedelta(hours=6)
# As many as there are in a day: channels of one hub that were added together do not renew together.
SPREAD = timedelta(days=1)
# A publisher's clock may be ahead of ours: so much later a thing may be dated than the ping that told of it.
CLOCKS_APART = timedelta(minutes=1)
CLOUD_LEASE = timedelta(hours=25)
ASKED_AGAIN_WHEN_DENIED = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class KnownHub:
    """`since`: when it was first verified without a lapse; `until`: when its lease ends."""

    named: NamedHub
    record: HubRecord
    since: datetime | None
    until: datetime | None
    pinged_at: datetime | None = None

    def holds_at(self, now: datetime) -> bool:
        return self.since is not None and self.until is not None and self.until > now

    def is_trusted_at(self, now: datetime) -> bool:
        return self.holds_at(now) and self.record.is_trusted

    def after_poll(
        self, published: Sequence[datetime | None], now: datetime, looked_at: datetime | None, unlisted: int = 0
    ) -> "KnownHub":
        """A poll that a ping asked for finds what the ping spoke of; what was published after it, the poll found."""
        if self.since is None or not self.holds_at(now):
            return replace(self, pinged_at=None)
        record, found = self.record, published
        if self.pinged_at is not None:
            told_until = self.pinged_at + CLOCKS_APART
            record = after_push(
                record, [one for one in published if one is None or one <= told_until], self.pinged_at, self.since
            )
            found = [one for one in published if one is not None and one > told_until]
        record = after_poll(record, found, now, looked_at, self.since)
        return replace(self, record=after_lies(record, unlisted), pinged_at=None)

    def after_push(self, published: Sequence[datetime | None], received_at: datetime) -> "KnownHub":
        if self.since is None or not self.holds_at(received_at):
            return self
        return replace(self, record=after_push(self.record, published, received_at, self.since))


def known_hub_from(row: Any) -> KnownHub:
    return KnownHub(
        NamedHub(Protocol(row["push_protocol"]), row["push_hub"], row["push_topic"]),
        HubRecord(
            row["push_proofs"], row["push_needed"], row["push_pushes"], row["push_missed"], row["push_last_push_at"]
        ),
        row["push_since"],
        row["push_lease_until"],
        row["push_pinged_at"],
    )


def lease_said(seconds: str, protocol: Protocol) -> timedelta:
    """The lease that a hub gives, clamped: ten years are two weeks."""
    if protocol is Protocol.RSSCLOUD:
        return CLOUD_LEASE
    if not (seconds.isascii() and seconds.isdigit()) or len(seconds) > 12:
        return USUAL_LEASE
    return min(timedelta(seconds=int(seconds)), LONGEST_LEASE)


def renewal_after(lease: timedelta, random: Random) -> timedelta:
    """At half of the lease, or up to a day later where it is long."""
    spread = min(SPREAD, lease / 4) * random.random()
    return max(lease / 2 + spread, SHORTEST_RENEWAL)
