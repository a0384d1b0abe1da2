"""Durations, counts and sizes, and words of our code, the log and the database, as people say them. Pure."""

import re
from datetime import date, timedelta
from math import exp

# Words of the log and the database that their letters alone do not explain; of others the underscores go.
_SAID = {
    "allow_all": "everything is allowed",
    "blocked_address": "its address may not be visited",
    "breaker": "it failed too often",
    "connect_failed": "no connection",
    "connect_refused": "the connection was refused",
    "connect_timeout": "nobody answered in time",
    "dns_failed": "its name could not be looked up",
    "dns_not_found": "there is no such name",
    "extract_failed": "it could not be read",
    "host_says_wait": "its host asked us to wait",
    "killed": "a person killed it",
    "max_retries": "every try failed",
    "no_host": "it names no host",
    "retry_after": "it asked us to wait",
    "retry_later": "to be tried again",
    "robots_blocked": "robots.txt forbids it",
    "robots_unreachable": "its robots.txt cannot be had",
    "went_on": "a step on the way",
}
# Standing alone: a part of an address or of a setting's name is as it is typed.
_INNER = re.compile(r"(?<![\w./?&=@%#-])[a-z]+(?:_[a-z0-9]+)+(?![\w/=@%-]|\.\w)")


def as_stored(text: str) -> str:
    """The word that `spelt_out` made a phrase of; other words as they are."""
    return {phrase: word for word, phrase in _SAID.items()}.get(text) or text.strip().replace(" ", "_")


def spelt_out(text: str) -> str:
    """Without the names that only our code uses; all else stays as it is."""
    return _SAID.get(text) or _INNER.sub(lambda found: _SAID.get(found[0], found[0].replace("_", " ")), text)


def size_in_words(count: float) -> str:
    """`0 bytes`, `12 kB`, `3.4 MB`, `1.2 GB`, `5.6 TB`."""
    for unit, length in (("TB", 1024**4), ("GB", 1024**3), ("MB", 1024**2)):
        if count >= length:
            return f"{count / length:,.1f} {unit}"
    return f"{count / 1024:,.0f} kB" if count >= 1024 else f"{count:,.0f} bytes"


_SURE = 1.5  # items; below it a likelihood says more
_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def in_words(wait: timedelta) -> str:
    """Two figures at most: `36 h`, `2.5 h`, `14 min`."""
    seconds = max(wait.total_seconds(), 0.0)
    for unit, size in _UNITS:
        if seconds >= 2 * size or (seconds >= size and unit != "d"):
            return f"{seconds / size:.2g} {unit}" if seconds / size < 10 else f"{seconds / size:.0f} {unit}"
    return f"{seconds:.1f} s"


def quantity(count: int, noun: str) -> str:
    """`1 item`, `2,000 items`, `3 addresses`, `4 vacancies`."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("cy"):
        return f"{count:,} {noun.removesuffix('y')}ies"
    return f"{count:,} {noun}{'es' if noun.endswith('s') else 's'}"


def likely(expected: float) -> str:
    """The expected number of items, in words for a person who waits for one."""
    if expected >= _SURE:
        return f"by its rhythm: about {quantity(round(expected), 'new item')} by then"
    percent = 100 * (1 - exp(-max(expected, 0.0)))
    likelihood = f"{percent:.0f} % likely" if percent >= 1 else "less than 1 % likely"
    return f"by its rhythm: a new item is {likelihood} by then"


def iso_of(at: date) -> str:
    """A day or an instant as every answer, export and message writes it: UTC ends in Z."""
    return at.isoformat().replace("+00:00", "Z")
