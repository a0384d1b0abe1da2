"""The end of a request that is no entry's, as a poll settles it."""

from datetime import timedelta

from headwater.frontier.verdicts import bounded_wait
from headwater.politeness.slots import Settlement, Slot, Visit


def slot_settlement(
    slot: Slot, verdict: str, visit: Visit, *, close_for: timedelta | None = None, reason: str | None = None
) -> Settlement:
    """For a request that is no entry's: its slot is given back and it is noted in the log.

    `close_for` is what a 429 or 503 asked for; none at all is a wait of zero, and still a reason to slow down.
    """
    is_content = visit.status is not None and visit.status < 400
    return Settlement(
        bucket=slot.bucket,
        token=slot.token,
        host=slot.host,
        verdict=verdict,
        reason=reason,
        http_status=visit.status,
        body_bytes=visit.body_bytes,
        started_after=visit.started_after,
        duration_ms=round(visit.duration.total_seconds() * 1000) if visit.duration is not None else None,
        close_for=None if close_for is None else bounded_wait(close_for),
        close_reason=None if close_for is None else "retry_after",
        host_feedback=1 if close_for is not None else -1 if is_content else 0,
        address=visit.address,
    )
