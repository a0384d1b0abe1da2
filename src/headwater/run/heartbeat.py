"""The heartbeat of a role that works on leases."""

from headwater.database.heartbeat import Heartbeat
from headwater.lease_worker import HEARTBEATS_PER_LEASE
from headwater.services import Services


def heartbeat_of(services: Services, owner: str) -> Heartbeat:
    """A beat that takes longer than the time to the next one is given up."""
    return Heartbeat(services.database, owner, services.settings.lease.duration.total_seconds() / HEARTBEATS_PER_LEASE)
