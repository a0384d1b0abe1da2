"""Polls spent on a channel and what they brought, the older the less. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

HALF_LIFE = timedelta(days=14)


@dataclass(frozen=True, slots=True)
class Spending:
    """As of the last poll. A poll that failed is one in vain."""

    polls: float = 0.0
    in_vain: float = 0.0
    new_items: float = 0.0

    def after_poll(self, new_items: int, last_polled_at: datetime | None, now: datetime) -> "Spending":
        left = 0.0 if last_polled_at is None else 0.5 ** (max(now - last_polled_at, timedelta()) / HALF_LIFE)
        return Spending(
            self.polls * left + 1, self.in_vain * left + (new_items == 0), self.new_items * left + new_items
        )
