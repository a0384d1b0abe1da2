"""Trying again on the spot: only what is safe and short; anything longer goes back to the queue. Pure."""

from datetime import timedelta

from headwater.chance import Random
from headwater.net.problems import FetchProblem

JITTER = 0.1
LONGEST_WAIT = timedelta(seconds=8)


def wait_before_trying_again(attempt: int, random: Random) -> timedelta:
    """Attempt 1 waits a second, then two, four, eight, ten per cent more or less."""
    wait = timedelta(seconds=2 ** min(max(attempt - 1, 0), 3))
    return min(wait, LONGEST_WAIT) * (1 + JITTER * (2 * random.random() - 1))


def is_worth_another_try(problem: FetchProblem, attempt: int, most: int) -> bool:
    """A GET may be repeated; a problem that time does not heal is not tried again."""
    return attempt <= most and problem.is_transient
