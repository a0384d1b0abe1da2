"""The wait of a channel after errors. Pure."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from headwater.sources.causes import BORNE

# Beyond this every cap has long been reached; a larger power would only cost time and memory.
LARGEST_EXPONENT = 30
LONGEST_BACKOFF = timedelta(hours=24)
LOUD_AFTER = 10


class ErrorClass(StrEnum):
    RATE_LIMITED = "rate_limited"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    GONE = "gone"
    UPSTREAM = "upstream"
    NETWORK = "network"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Patience:
    """How many errors of a class in a row are borne, and how long the channel then rests."""

    errors: int
    rest: timedelta


# An answer that ends the process which reads it costs more than other errors: it is not asked for at its usual pace.
# Not a day at once: a time limit may have been met because this machine was busy.
_DEADLY_FIRST = timedelta(hours=1)
_RATE_LIMITED_FIRST = timedelta(minutes=5)
_RATE_LIMITED_LONGEST = timedelta(hours=8)
# A single 410 may be a slip of the publisher's; the second one, this much later, is believed.
_UNTIL_GONE_IS_CONFIRMED = timedelta(minutes=15)

_SAID_OF = {
    ErrorClass.RATE_LIMITED: "asked too often",
    ErrorClass.FORBIDDEN: "forbidden",
    ErrorClass.NOT_FOUND: "not found",
    ErrorClass.GONE: "gone",
    ErrorClass.UPSTREAM: "its server failed",
    ErrorClass.NETWORK: "no answer",
    ErrorClass.UNREADABLE: "unreadable",
}

_RESTS = {
    ErrorClass.FORBIDDEN: timedelta(hours=24),
    ErrorClass.NOT_FOUND: timedelta(hours=48),
    ErrorClass.GONE: timedelta(hours=72),
    ErrorClass.UPSTREAM: timedelta(hours=6),
    ErrorClass.NETWORK: timedelta(hours=12),
    ErrorClass.UNREADABLE: timedelta(hours=24),
}
PATIENCE = {error: Patience(BORNE[error], rest) for error, rest in _RESTS.items()}


@dataclass(frozen=True, slots=True)
class Rest:
    wait: timedelta
    is_disabled_for_now: bool  # it is tried again after the rest all the same
    is_loud: bool  # ten in a row: worth a line at error level
    reason: str


def rest_after(
    error: ErrorClass,
    consecutive: int,
    backoff: timedelta,
    *,
    of_this_class: int | None = None,
    is_deadly: bool = False,
    status: int | None = None,
) -> Rest:
    """`consecutive` counts this error too; `backoff` is what the channel's policy waits while we are still patient."""
    in_class = consecutive if of_this_class is None else of_this_class
    is_loud = consecutive >= LOUD_AFTER
    named = f"after {errors_in_words(in_class)} ({_said_of(error, status)})"
    if error is ErrorClass.RATE_LIMITED:
        return Rest(double_wait(_RATE_LIMITED_FIRST, in_class, _RATE_LIMITED_LONGEST), False, is_loud, named)
    patience = PATIENCE[error]
    if in_class >= patience.errors:
        return Rest(patience.rest, True, is_loud, f"rests {named}, then it is tried again")
    if is_deadly:
        wait = double_wait(_DEADLY_FIRST, in_class - 1, LONGEST_BACKOFF)
        return Rest(
            max(wait, backoff), True, is_loud, f"rests {named}: it ended a process of ours; then it is tried again"
        )
    if error is ErrorClass.GONE:
        return Rest(_UNTIL_GONE_IS_CONFIRMED, False, is_loud, "it is said to be gone: asked once more to be sure")
    return Rest(backoff, False, is_loud, named)


def _said_of(error: ErrorClass, status: int | None) -> str:
    """A server that answers with a redirect or a refusal has not failed."""
    if error is ErrorClass.UPSTREAM and status is not None and status < 500:
        return "its redirects lead nowhere" if 300 <= status < 400 else f"its answer is HTTP {status}"
    return _SAID_OF[error]


def backoff_after(interval: timedelta, consecutive: int) -> timedelta:
    """Doubled by every error in a row, never beyond a day unless the interval is longer itself."""
    return double_wait(interval, consecutive, max(interval, LONGEST_BACKOFF))


def double_wait(wait: timedelta, times: int, longest: timedelta) -> timedelta:
    factor: int = 2 ** min(max(times, 0), LARGEST_EXPONENT)
    # Compared before multiplying: a long wait doubled thirty times is more than a timedelta holds.
    return longest if wait >= longest / factor else wait * factor


def errors_in_words(errors: int) -> str:
    return "an error" if errors == 1 else f"{errors:,} errors in a row"
