"""Times, counts and other people's texts as they are shown."""

from datetime import datetime, timedelta
from unicodedata import combining, east_asian_width

from headwater.cli.output import UNPRINTABLE
from headwater.phrases import spelt_out

_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))


def length_of(span: timedelta) -> str:
    """The two largest units: `1d 4h`, `12m 30s`, `0s`."""
    left = max(0, round(span.total_seconds()))
    parts: list[str] = []
    for unit, seconds in _UNITS:
        count, left = divmod(left, seconds)
        if parts or count:
            parts.append(f"{count}{unit}" if count else "")
    return " ".join(filter(None, parts[:2])) or "0s"


def go_length_of(span: timedelta) -> str:
    """`1h0m0s`: every unit below the largest is written."""
    seconds = max(0, round(span.total_seconds()))
    hours, rest = divmod(seconds, 3_600)
    minutes, seconds = divmod(rest, 60)
    if hours:
        return f"{hours}h{minutes}m{seconds}s"
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"


def relative(moment: datetime | None, now: datetime) -> str:
    """`in 12m`, `4m ago`, `never`."""
    if moment is None:
        return "never"
    if moment >= now:
        return f"in {length_of(moment - now)}"
    return f"{length_of(now - moment)} ago"


def due(moment: datetime, now: datetime) -> str:
    """When something planned happens: `in 12m`, `now`, `overdue 4m`."""
    seconds = round((moment - now).total_seconds())
    if seconds == 0:
        return "now"
    return f"in {length_of(moment - now)}" if seconds > 0 else f"overdue {length_of(now - moment)}"


def seconds(span: timedelta) -> str:
    """Of a pace: `0.5 s`, `4 s`, `2m`."""
    return length_of(span) if span >= timedelta(minutes=1) else f"{span.total_seconds():g} s"


def seconds_of(milliseconds: int) -> str:
    return seconds(timedelta(milliseconds=milliseconds))


def quantity(count: int, noun: str, plural: str = "") -> str:
    """`1 source`, `2,000 sources`; `2 entries` where the plural is named."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def in_words(text: object) -> str:
    """Inert, and without the names that only our code uses: `dns_not_found: x` is `there is no such name: x`."""
    return spelt_out(inert(text))


def inert(text: object) -> str:
    """Foreign text on one line, without anything that a terminal would obey."""
    return " ".join(UNPRINTABLE.sub(" ", str(text)).split())


def shorten(text: object, columns: int) -> str:
    """Inert, and no wider than so many columns of a terminal."""
    return shorten_line(inert(text), columns)


def shorten_line(shown: str, columns: int) -> str:
    """With the spaces it has."""
    if columns_of(shown) <= columns:
        return shown
    while columns_of(shown) >= columns:
        shown = shown[:-1]
    return f"{shown}…"


def shorten_word(word: str, columns: int) -> str:
    """Without its middle where it is too wide: of an address, its beginning and its end tell most."""
    if columns_of(word) <= columns:
        return word
    start = shorten_line(word, columns - columns // 3)
    end = word[-(columns // 3) :] if columns >= 3 else ""
    while columns_of(start + end) > columns:
        end = end[1:]
    return start + end


def pad(text: object, columns: int) -> str:
    """Exactly so many columns wide, also where letters are two columns wide."""
    return pad_line(shorten(text, columns), columns)


def pad_line(shown: str, columns: int) -> str:
    """At least so many columns wide."""
    return shown + " " * (columns - columns_of(shown))


def columns_of(text: str) -> int:
    """Of a terminal."""
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)
