"""Values of channels.

Written by `make client` from the description of the API: not to be changed by hand.
"""

from typing import TypedDict


class WasteShape(TypedDict):
    """A channel by the polls that brought nothing new; polls and items fade with a half-life of 14 days.

    `polls_per_item`: Null where too few items came to say.
    """

    id: str
    source_id: str
    source: str
    kind: str
    url: str
    interval_seconds: int | None
    polls: float
    vain_polls: float
    new_items: float
    polls_per_item: float | None
    last_polled_at: str | None
    last_new_at: str | None


class WasteList(TypedDict):
    channels: list[WasteShape]
