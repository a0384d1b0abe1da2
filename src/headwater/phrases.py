"""Words of our code, the log and the database, and sizes, as people say them."""

import re

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
