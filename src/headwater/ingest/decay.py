"""Extraction that falls off says so by itself: what a source's last pages gave, against what its pages gave before."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from math import comb
from typing import Any
from uuid import UUID

from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.sources.store import Event, Level, record

queries = load_queries("headwater.reports")

RECENT_PAGES = 50
RECENT_DAYS = timedelta(days=7)
PAST_PAGES = 250
PAST_DAYS = 28
# With fewer nothing is said: a new source never alarms. A share that collapses shows in few pages, a median does not.
FEWEST_PAGES = (10, 30)
FEWEST_DOCUMENTS = (30, 50)

LEAST_FALL = 0.25
# Thousands of sources are looked at every hour: what happens once in a thousand looks would ring all day.
BY_CHANCE = 1e-6
FEWER_WORDS = 0.5
LOWER_QUALITY = 15
# It has recovered when this much of its fall is made good: else one page more or less would ring it on and off.
MADE_GOOD = 0.5

SOURCES_AT_ONCE = 100
PATIENCE_SECONDS = 60
DECAYED, RECOVERED = "extraction_decayed", "extraction_recovered"
NOBODY = UUID(int=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayFigures:
    """Medians; `…_low` is the lowest decile: nine of ten have more."""

    pages: int = 0
    documents: int = 0
    dated: int = 0
    titled: int = 0
    words: float = 0.0
    words_low: float = 0.0
    quality: float = 0.0
    quality_low: float = 0.0


NONE = DecayFigures()


@dataclass(frozen=True, slots=True)
class GoodShare:
    """Some of all; `what` is what the rest lacks."""

    what: str
    some: int
    all: int

    @property
    def value(self) -> float:
        return self.some / self.all if self.all else 0.0


@dataclass(frozen=True, slots=True)
class Decayed:
    """`before` is what it is measured by until it has recovered: its past would soon be the decay itself."""

    sentence: str
    before: DecayFigures


@dataclass(frozen=True, slots=True)
class Recovered:
    sentence: str


def judge_decay(recent: DecayFigures, past: DecayFigures, alarm: DecayFigures | None) -> Decayed | Recovered | None:
    """`alarm`: what it was before the decay that is already known; None while all is well."""
    if alarm is None:
        fallen = list(falls(recent, past))
        return Decayed("; ".join(fallen), past) if fallen else None
    if recent.pages < FEWEST_PAGES[0] or any(lags(recent, alarm)):
        return None
    return Recovered(f"{_percent(_yield(recent))} of the last {recent.pages} pages yield a document, as before")


def falls(recent: DecayFigures, past: DecayFigures) -> Iterator[str]:
    """Each fall in words: far enough to matter, and further than chance would carry it."""
    for now, before in zip(_shares(recent), _shares(past), strict=True):
        if has_fallen(now, before):
            yield f"{_percent(now)} {now.what}, before {_percent(before)}"
    if not _are_enough(recent.documents, past.documents, FEWEST_DOCUMENTS):
        return
    # Half of the last are below nine tenths of those before: no accident, however mixed a site's lengths are.
    if recent.words <= FEWER_WORDS * past.words and recent.words < past.words_low:
        yield f"the median text has {recent.words:.0f} words, before {past.words:.0f}"
    if recent.quality <= past.quality - LOWER_QUALITY and recent.quality < past.quality_low:
        yield f"the median quality is {recent.quality:.0f}, before {past.quality:.0f}"


def has_fallen(now: GoodShare, before: GoodShare) -> bool:
    if not _are_enough(now.all, before.all, FEWEST_PAGES):
        return False
    return before.value - now.value >= LEAST_FALL and chance_of(now, before) < BY_CHANCE


def chance_of(now: GoodShare, before: GoodShare) -> float:
    """That so few of so many happen at the rate of before: exact, since the usual approximation is wrong by orders
    of magnitude where pages are few and nearly all of them were good.
    """
    rate = (before.some + 1) / (before.all + 2)
    return sum(comb(now.all, n) * rate**n * (1 - rate) ** (now.all - n) for n in range(now.some + 1))


def lags(recent: DecayFigures, before: DecayFigures) -> Iterator[bool]:
    """Whether each figure is still far from what it was."""
    for now, then in zip(_shares(recent), _shares(before), strict=True):
        yield then.value - now.value > MADE_GOOD * LEAST_FALL
    yield recent.words < (1 - MADE_GOOD * FEWER_WORDS) * before.words and recent.words < before.words_low
    yield recent.quality < before.quality - MADE_GOOD * LOWER_QUALITY and recent.quality < before.quality_low


def _shares(figures: DecayFigures) -> tuple[GoodShare, ...]:
    return (
        _yield(figures),
        GoodShare("of its documents have a date", figures.dated, figures.documents),
        GoodShare("of its documents have a title", figures.titled, figures.documents),
    )


def _yield(figures: DecayFigures) -> GoodShare:
    return GoodShare(f"of its last {figures.pages} pages yield a document", figures.documents, figures.pages)


def _are_enough(recent: int, past: int, fewest: tuple[int, int]) -> bool:
    return recent >= fewest[0] and past >= fewest[1]


def _percent(share: GoodShare) -> str:
    return f"{share.value * 100:.0f} %"


async def watch_decay(database: Database, now: datetime | None = None) -> list[Event]:
    """One event when a source's extraction falls off, one when it is back; told are those of this round."""
    told: list[Event] = []
    after: UUID | None = NOBODY
    while after is not None:
        async with database.transaction(patience=PATIENCE_SECONDS) as connection:
            # Two watchers at once would tell everything twice.
            if not await connection.fetchval(queries.watch_alone):
                return told
            sources = await connection.fetch(queries.watched_sources, after, SOURCES_AT_ONCE)
            events = await _events_of(connection, sources, now)
            await record(connection, *events)
        told += events
        after = sources[-1]["id"] if len(sources) == SOURCES_AT_ONCE else None
    return told


async def _events_of(connection: Connection, sources: Sequence[Any], now: datetime | None) -> list[Event]:
    figures = await _figures(connection, [source["id"] for source in sources], now)
    events = []
    for source in sources:
        recent, past = (figures.get((source["id"], is_recent), NONE) for is_recent in (True, False))
        alarm = DecayFigures(**source["details"]["before"]) if source["alarm"] == DECAYED else None
        match judge_decay(recent, past, alarm):
            case Decayed(sentence, before):
                message = f"{source['name']} is read worse than before: {sentence}"
                details = {"before": asdict(before), "after": asdict(recent)}
                events.append(Event(DECAYED, message, source["id"], level=Level.WARN, details=details))
            case Recovered(sentence):
                message = f"{source['name']} is read well again: {sentence}"
                events.append(Event(RECOVERED, message, source["id"], details={"after": asdict(recent)}))
    return events


async def _figures(
    connection: Connection, sources: Sequence[UUID], now: datetime | None
) -> dict[tuple[UUID, bool], DecayFigures]:
    bounds = (now, RECENT_PAGES, PAST_PAGES, RECENT_DAYS, PAST_DAYS)
    rows = await connection.fetch(queries.extraction_of_sources, sources, *bounds, timeout=PATIENCE_SECONDS)
    return {(row["source_id"], row["is_recent"]): _figures_in(row) for row in rows}


def _figures_in(row: Any) -> DecayFigures:
    words, words_low = row["words"] or (0.0, 0.0)
    quality, quality_low = row["quality"] or (0.0, 0.0)
    return DecayFigures(
        pages=row["pages"],
        documents=row["documents"],
        dated=row["dated"],
        titled=row["titled"],
        words=words,
        words_low=words_low,
        quality=quality,
        quality_low=quality_low,
    )
