"""How long to wait after a failure. Pure."""

from dataclasses import dataclass
from datetime import timedelta

from headwater.chance import Random

# Beyond this the cap has long been reached; a larger power would only cost time and memory.
LARGEST_EXPONENT = 30


@dataclass(frozen=True, slots=True)
class Backoff:
    first_wait: timedelta = timedelta(minutes=2)
    longest_wait: timedelta = timedelta(hours=24)
    jitter: float = 0.1


def wait_before_retry(
    attempt: int, policy: Backoff, random: Random, asked_by_server: timedelta = timedelta()
) -> timedelta:
    """Wait after failed attempt number `attempt`, counted from 1."""
    exponent = min(max(attempt - 1, 0), LARGEST_EXPONENT)
    ours = min(policy.first_wait * 2**exponent, policy.longest_wait)
    # Retry-After may exceed our own cap: the server knows better than our schedule.
    return stretch(max(ours, asked_by_server), policy.jitter, random)


def stretch(wait: timedelta, jitter: float, random: Random) -> timedelta:
    """Jitter only lengthens, so that we are never early."""
    return wait * (1 + jitter * random.random())
