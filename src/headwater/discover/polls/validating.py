"""What a whole answer says of the validators that an overdue channel was asked without. Pure."""

from datetime import datetime
from typing import Any

from headwater.discover.cadence.distrust import DISTRUSTED_FOR, WholeBecause, is_lie, whole_because
from headwater.discover.cadence.wording import quantity
from headwater.discover.polls.lease import Leased
from headwater.discover.polls.run_state import RunState
from headwater.net.validators import Validators
from headwater.sources.store import Event, Level

DISTRUSTED = "validators_distrusted"


def validators_after(channel: Leased, run_state: RunState, now: datetime) -> tuple[dict[str, Any], list[Event]]:
    """As a patch of the channel's row, and what its trail says of it."""
    past = channel.past
    if whole_because(past.validator_record, run_state.began_at or channel.now) is not WholeBecause.OVERDUE:
        return {}, []
    checked = {"validators_checked_at": now}
    sent = Validators(channel.etag, channel.last_modified)
    news = run_state.dates if run_state.tally.inserted else ()
    if not is_lie(sent, run_state.first.validators, news, past.last_ok_at):
        return checked, []
    until, news_in_words = now + DISTRUSTED_FOR, quantity(run_state.tally.inserted, "new item")
    message = (
        f"{channel.url.url} said that it was not modified, and had {news_in_words} when it was asked without its "
        f"validators: it is asked without them until {until:%Y-%m-%d}"
    )
    event = Event(DISTRUSTED, message, channel.source_id, channel.id, level=Level.WARN)
    return checked | {"validators_distrusted_until": until}, [event]
