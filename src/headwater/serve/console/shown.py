"""Values as people read them: numbers, times, durations, states, and texts and links of others made harmless. Pure."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from headwater.phrases import size_in_words, spelt_out
from headwater.serve.console.icons import icon
from headwater.serve.pages.markup import Markup, element, joined

LONGEST_TEXT = 300
LONGEST_ADDRESS = 120
NOTHING = element("span", "–", class_="nothing")
# Controls, and marks that let a text pose as another one.
UNSHOWN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
UNITS = (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1))
# The words of `headwater.sources.health`, of runs, entries and sinks: each with its colour and its sign.
OK, WARN, FAIL, CALM, BLOCKED, UNKNOWN = "ok", "warn", "fail", "paused", "blocked", "unknown"
TONES: Mapping[str, str] = {
    **dict.fromkeys(("ok", "active", "up to date", "fetched", "open", "running", "alive"), OK),
    **dict.fromkeys(("warning", "warn", "silent", "failed", "behind", "filling"), WARN),
    **dict.fromkeys(("overdue", "waiting_retry", "retrying"), WARN),
    **dict.fromkeys(("error", "fail", "struggling", "failing", "down", "silent process", "disabled"), FAIL),
    **dict.fromkeys(("paused", "deleted", "resting", "unchanged", "stopped"), CALM),
    **dict.fromkeys(("blocked", "dead", "refused", "taken down"), BLOCKED),
}


def number(count: float | None) -> Markup:
    return NOTHING if count is None else Markup(f"{count:,}")


def number_up_to(count: int, cap: int) -> str:
    """Counted no further than the cap."""
    return f"{cap:,}+" if count >= cap else f"{count:,}"


def quantity(count: int, noun: str, plural: str = "") -> str:
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def percent(part: int, whole: int) -> str:
    """One sign behind the point, and never 0 % of what happened."""
    if not whole:
        return "–"
    share = 100 * part / whole
    return f"{share:.1f} %" if share >= 0.1 or not part else "< 0.1 %"


def size(count: float | None) -> Markup:
    return NOTHING if count is None else Markup(size_in_words(count).replace(" ", "\N{NO-BREAK SPACE}"))


def duration(span: timedelta | None) -> Markup:
    """The two largest units: `1d 4h`, `12m 30s`; below ten seconds with tenths, below one in milliseconds."""
    if span is None:
        return NOTHING
    seconds = span.total_seconds()
    if 0 < seconds < 1:
        return Markup(f"{seconds * 1000:.0f}\N{NO-BREAK SPACE}ms")
    if 0 < seconds < 10 and seconds != int(seconds):
        return Markup(f"{seconds:.1f}\N{NO-BREAK SPACE}s")
    left = max(0, round(seconds))
    parts: list[str] = []
    for unit, length in UNITS:
        count, left = divmod(left, length)
        if parts or count:
            parts.append(f"{count}{unit}")
    return Markup("\N{NO-BREAK SPACE}".join(part for part in parts[:2] if not part.startswith("0")) or "0s")


def milliseconds(count: float | None) -> Markup:
    return duration(None if count is None else timedelta(milliseconds=count))


def moment(at: datetime | None, now: datetime, *, never: str = "never") -> Markup:
    """Against now by the second, with the exact one on hover."""
    if at is None:
        return element("span", never, class_="nothing")
    space, away = "\N{NO-BREAK SPACE}", timedelta(seconds=round((at - now).total_seconds()))
    if not away:
        return exact(at, f"just{space}now")
    told = f"in{space}{duration(away)}" if away > timedelta() else f"{duration(-away)}{space}ago"
    return exact(at, Markup(told))


def due(at: datetime | None, now: datetime) -> Markup:
    """When something planned happens; late by more than a moment is said."""
    if at is None:
        return NOTHING
    if timedelta(seconds=-1) < at - now < timedelta(seconds=1):
        return exact(at, "now")
    if at > now:
        return moment(at, now)
    return exact(at, joined("overdue ", duration(now - at)))


def exact(at: datetime, told: str = "") -> Markup:
    written = f"{at:%Y-%m-%d %H:%M:%S} {at.tzname() or 'UTC'}"
    return element("time", told or written, datetime=at.isoformat(timespec="seconds"), title=written)


def state(word: str, told: str = "", *, tone: str = "") -> Markup:
    """A state: its sign, and its word. `told` replaces the word that is stored."""
    chosen = tone or TONES.get(word, UNKNOWN)
    return element("span", icon(chosen), spelt_out(told or word), class_=f"state {chosen}")


def foreign(text: object, most: int = LONGEST_TEXT) -> Markup:
    """A text that somebody else wrote: on one line, bounded, without controls, its direction its own affair."""
    return element("bdi", cut(text, most), class_="foreign")


def cut(text: object, most: int = LONGEST_TEXT) -> str:
    """For titles and attributes: no markup of its own."""
    whole = str(text)
    shown = " ".join(UNSHOWN.sub(" ", whole[: most * 4]).split())
    return shown if len(shown) <= most and len(whole) <= most * 4 else f"{shown[: most - 1]}…"


def foreign_lines(text: object, most: int) -> Markup:
    """A longer text of others with its lines: nothing of it is markup."""
    whole = str(text)
    shown = "\n".join(UNSHOWN.sub(" ", line) for line in whole[:most].splitlines())
    more = element("p", f"Cut after {most:,} of {len(whole):,} characters.", class_="note") if len(whole) > most else ""
    box = {"tabindex": "0", "role": "region", "aria_label": "Text", "dir": "auto"}
    return joined(element("div", shown, class_="foreign-lines", **box), more)


def foreign_paragraphs(text: object, most: int) -> Markup:
    """A text of others to be read: each of its lines a paragraph, in its own direction."""
    whole = str(text)
    shown = (" ".join(UNSHOWN.sub(" ", line).split()) for line in whole[:most].splitlines())
    told = (element("p", line, dir="auto") for line in shown if line)
    more = element("p", f"Cut after {most:,} of {len(whole):,} characters.", class_="note") if len(whole) > most else ""
    return joined(element("div", *told, class_="foreign-paragraphs"), more)


def foreign_link(url: object, told: object = "") -> Markup:
    """A link to a place of others, with its host in the letters of DNS; as plain text if it is none."""
    address = str(url)
    place = place_in(address)
    shown = foreign(told, LONGEST_TEXT) if told else foreign(place or address, LONGEST_ADDRESS)
    if not place:
        return shown
    return element("a", shown, icon("out"), href=place, rel="noopener noreferrer nofollow", class_="out")


def place_in(address: str) -> str:
    """The address as it may stand in a link; empty where it is none of the web, or hides something."""
    if len(address) > 2_083 or UNSHOWN.search(address) or any(sign.isspace() for sign in address):
        return ""
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").encode("idna").decode()
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not host or parts.username is not None:
        return ""
    host = f"[{host}]" if ":" in host else host
    return parts._replace(netloc=host + port).geturl()


def host_and_path(url: str) -> Markup:
    """An address in a table: its host calm, its path in full strength, both cut."""
    _, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return element("bdi", element("span", cut(host, 60), class_="calm"), cut(slash + path, 80), class_="address")
