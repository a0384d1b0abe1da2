"""Extraction once more, by today's rules, over the bodies that were kept: nothing is fetched."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice, zip_longest
from typing import Any
from uuid import UUID

from multidict import CIMultiDict

from headwater.archive.document import TRACKED, NewDocument, Stored
from headwater.archive.documents import keep_document
from headwater.archive.outlinks import keep_outlinks
from headwater.archive.raw import KeptBody, newest_bodies_of
from headwater.archive.reads import Document, read_document
from headwater.archive.storable import storable
from headwater.database.pool import Connection, Database
from headwater.database.queries import load_queries
from headwater.errors import UsageError
from headwater.extract.article import Article, NotAnArticle
from headwater.extract.children import Done
from headwater.extract.lessons import sent_task
from headwater.extract.templates.guide import PRODUCER
from headwater.frontier.entry import Lease, Origin
from headwater.frontier.verdicts import Dead, Fetched, RetryLater, Verdict
from headwater.ingest.keeping import WITHDRAWN_BY, Leaves
from headwater.ingest.reading import Read, Reader, Unreadable, page_of
from headwater.ingest.study import Acquainted, Study
from headwater.net.body import Complete
from headwater.net.transport import Response
from headwater.politeness.takedown import takedowns_for
from headwater.politeness.window import Window
from headwater.sources.source import Kind
from headwater.sources.store import read_source
from headwater.urls.canonical import canonicalise

queries = load_queries("headwater.ingest")
reports = load_queries("headwater.reports")

# Beside what makes a new version: shown with it, since rules are judged by it.
SHOWN = (*TRACKED, "word_count", "quality", "produced_by")
SHOWN_LINES = 3
# Two texts that share fewer of their words are shown line by line; a page may have a hundred thousand lines.
ALIKE = 0.95
MOST_ROWS = 200
NOBODYS = UUID(int=0)


class Outcome(StrEnum):
    CHANGED = "changed"
    NEW = "new"  # a page that yielded nothing before
    SAME = "same"
    LOST = "lost"  # nothing found any more: what stands is left as it is
    NOTHING = "nothing"  # neither before nor now
    LEFT = "left"  # not ours to touch


class Answer(StrEnum):
    """What a host's template had to say about a page."""

    SERVED = "served"
    REFUSED = "refused"
    UNASKED = "unasked"  # there is none, or something else came first
    NOTHING = "nothing"  # no article, however it is read


@dataclass(frozen=True, slots=True)
class Difference:
    """What would change. `likeness`: how much of the two texts' words they share, 0 to 1, in whatever order."""

    fields: Mapping[str, tuple[Any, Any]]
    likeness: float = 1.0
    lines_gone: tuple[str, ...] = ()
    lines_come: tuple[str, ...] = ()
    is_change: bool = False


@dataclass(frozen=True, slots=True)
class Replayed:
    url: str
    outcome: Outcome
    why: str = ""
    difference: Difference | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A page read both ways. `why`: why it was refused or not asked, or the template's name.

    `rows` are the lines only one of the two has, the general extractor's first, each beside its like.
    """

    url: str
    answer: Answer
    why: str
    likeness: float
    general_words: int
    template_words: int
    rows: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Explained:
    """How a page is read today; `lines` say it block by block, in the template's words."""

    template: str
    answer: Answer
    why: str
    lines: tuple[str, ...]


class ChangedMeanwhile(Exception):
    """Somebody stored the document between our look at it and our lock: what they have is newer."""


def difference(old: Document, new: NewDocument) -> Difference:
    """By the rule of the archive: where it would write nothing, nothing is different."""
    before, after = ({name: storable(getattr(one, name)) for name in SHOWN} for one in (old, new))
    is_text_changed = old.content_hash != new.content_hash
    if not is_text_changed and all(before[name] == after[name] for name in TRACKED):
        return Difference({})
    fields = {name: (before[name], after[name]) for name in SHOWN if before[name] != after[name]}
    if not is_text_changed:
        return Difference(fields, is_change=True)
    then, now = old.text, storable(new.text)
    return Difference(fields, likeness(then, now), only_in(then, now), only_in(now, then), is_change=True)


def likeness(one: str, other: str) -> float:
    """Linear in their lengths, which an alignment would not be: a page may have a hundred thousand words."""
    words, others = Counter(one.split()), Counter(other.split())
    return 2 * (words & others).total() / max(1, words.total() + others.total())


def only_in(text: str, other: str) -> tuple[str, ...]:
    """The first lines of a text that the other one lacks."""
    known = {line.strip() for line in other.splitlines()}
    return tuple(line.strip() for line in text.splitlines() if line.strip() not in known)[:SHOWN_LINES]


def side_by_side(one: str, other: str) -> tuple[tuple[str, str], ...]:
    """Lines that only one text has, beside those that stand in the same place of the other; linear, as `likeness`."""
    lines, others = ([line.strip() for line in text.splitlines() if line.strip()] for text in (one, other))
    shared = {*lines} & {*others}
    ours, theirs = _by_place(lines, shared), _by_place(others, shared)
    rows = (row for place in ours for row in zip_longest(ours[place], theirs[place], fillvalue=""))
    return tuple(islice(rows, MOST_ROWS))


def _by_place(lines: Iterable[str], shared: set[str]) -> dict[str, list[str]]:
    """What a text has alone, by the shared line before it; with every shared line, so that its order is known."""
    before = ""
    found: dict[str, list[str]] = {before: []}
    for line in lines:
        if line in shared:
            before = line
            found.setdefault(line, [])
        else:
            found[before].append(line)
    return found


def answer_of(read: Read) -> tuple[Answer, str]:
    """What became of a template on a page that was read with one."""
    match read:
        case Article() | NotAnArticle() if read.guided and read.guided.refused:
            return Answer.REFUSED, read.guided.refused
        case Article(produced_by=name):
            return Answer.SERVED if name.startswith(PRODUCER) else Answer.UNASKED, name
        case NotAnArticle(reason=reason):
            return Answer.NOTHING, reason
        case Unreadable(how=how):
            return Answer.NOTHING, how
    return Answer.NOTHING, "vacancies"


@dataclass(frozen=True, slots=True)
class Inspection:
    """What hosts' templates make of stored pages; nothing is stored."""

    database: Database
    context: Acquainted
    reader: Reader
    at_once: int

    async def compare(self, source_id: UUID, *, limit: int | None = None) -> AsyncIterator[Compared]:
        """Page by page, with what the general extractor makes of it."""
        await require_articles(self.database, source_id)
        async for bodies in batches_of(self.database, source_id, self.at_once, limit):
            for one in await asyncio.gather(*map(self._compared, bodies)):
                yield one

    async def explain(self, body: KeptBody) -> Explained | None:
        """None where no template would be asked."""
        response, known = response_of(body), await self.context.known_of(lease_of(body))
        if known.guide is None:
            return None
        task = sent_task("explain", [page_of(response, known, self.reader.product_token)], body.at)
        read, told = await asyncio.gather(
            self.reader.read(response, known, response.at), self.reader.children.run(task)
        )
        # A page may have taken its child over: what comes back is believed only if it has the right form.
        lines = told.value if isinstance(told, Done) and isinstance(told.value, list) else []
        return Explained(known.guide.name, *answer_of(read), tuple(map(str, lines)))

    async def _compared(self, body: KeptBody) -> Compared:
        response, known = response_of(body), await self.context.known_of(lease_of(body))
        ways = (known, replace(known, guide=None))
        guided, general = await asyncio.gather(*(self.reader.read(response, way, response.at) for way in ways))
        answer, why = answer_of(guided)
        one, other = (read.text if isinstance(read, Article) else "" for read in (general, guided))
        alike = likeness(one, other) if one or other else 1.0
        return Compared(
            url=body.raw.url,
            answer=answer,
            why=why if known.guide else "no template",
            likeness=alike,
            general_words=len(one.split()),
            template_words=len(other.split()),
            rows=side_by_side(one, other) if alike < ALIKE else (),
        )


@dataclass(frozen=True, slots=True)
class Replay:
    database: Database
    study: Study
    at_once: int

    async def over(self, source_id: UUID, *, limit: int | None = None, stores: bool = True) -> AsyncIterator[Replayed]:
        """Page by page; each is stored in a transaction of its own before it is told of."""
        await require_articles(self.database, source_id)
        began: datetime = await self.database.fetchval(queries.now)
        async for bodies in batches_of(self.database, source_id, self.at_once, limit):
            for body, (verdict, leaves) in zip(bodies, await self._studied(bodies), strict=True):
                yield await self._ended(body, verdict, leaves, began, stores=stores)

    async def _studied(self, bodies: Sequence[KeptBody]) -> list[tuple[Verdict, Leaves]]:
        """As a fetch would: the same function reads and judges."""
        return await asyncio.gather(*(self.study.read(lease_of(one), Fetched(), response_of(one)) for one in bodies))

    async def _ended(
        self, body: KeptBody, verdict: Verdict, leaves: Leaves, began: datetime, *, stores: bool
    ) -> Replayed:
        url, new = body.raw.url, leaves.document
        if new is None:
            standing = await read_document(self.database, body.raw.key)
            is_lost = standing is not None and standing.deleted_at is None
            return Replayed(url, Outcome.LOST if is_lost else Outcome.NOTHING, why_nothing(verdict, leaves))
        try:
            async with self.database.transaction() as connection:
                standing = await read_document(connection, new.key)
                if why := why_not_ours(body, standing, began) or await why_closed(connection, body):
                    return Replayed(url, Outcome.LEFT, why)
                told = compared(url, standing, new)
                if stores and told.outcome in (Outcome.CHANGED, Outcome.NEW):
                    await store(connection, new, leaves, standing)
                return told
        except ChangedMeanwhile:
            return Replayed(url, Outcome.LEFT, "was stored anew meanwhile")


async def require_articles(database: Database, source_id: UUID) -> None:
    source = await read_source(database, source_id)
    if source.profile.kind is Kind.JOBS:
        raise UsageError(f"{source.name} offers vacancies.", fix="They are read again whenever it is polled.")


async def batches_of(
    database: Database, source_id: UUID, at_once: int, limit: int | None
) -> AsyncIterator[list[KeptBody]]:
    batch: list[KeptBody] = []
    count = 0
    async for body in newest_bodies_of(database, source_id):
        if count == limit:
            break
        count += 1
        batch.append(body)
        if len(batch) == at_once:
            yield batch
            batch = []
    if batch:
        yield batch


def compared(url: str, standing: Document | None, new: NewDocument) -> Replayed:
    if standing is None:
        return Replayed(url, Outcome.NEW, f"{new.title} ({new.word_count} words)")
    found = difference(standing, new)
    return Replayed(url, Outcome.CHANGED, "", found) if found.is_change else Replayed(url, Outcome.SAME)


async def store(connection: Connection, new: NewDocument, leaves: Leaves, standing: Document | None) -> None:
    kept = await keep_document(connection, new, await connection.fetchval(queries.now))
    # Its lock is ours only now: whoever stored it since we looked had a newer page than we have.
    if kept.version != (standing.version if standing else 0) + 1:
        raise ChangedMeanwhile
    if isinstance(kept, Stored):
        await keep_outlinks(connection, new.key, leaves.outlinks)


def why_not_ours(body: KeptBody, standing: Document | None, began: datetime) -> str:
    """Two pages may call one address canonical: the one that was stored last speaks for it, or they would alternate."""
    if standing is None:
        return ""
    if standing.deleted_at is not None:
        return f"was deleted: {standing.deleted_reason}"
    if standing.source_id != body.raw.source_id or standing.url != body.raw.url:
        return f"stands as read from {standing.url}"
    return "was stored anew meanwhile" if standing.changed_at > began else ""


async def why_closed(connection: Connection, body: KeptBody) -> str:
    """A page that is gone, or that we were asked to leave alone, does not come back through the cellar."""
    address = canonicalise(body.raw.url)
    if (await takedowns_for(connection, [address.host])).covers(address):
        return "taken down"
    reason = await connection.fetchval(reports.why_page_ended, *body.raw.key)
    return f"ended: {reason}" if reason in WITHDRAWN_BY else ""


def why_nothing(verdict: Verdict, leaves: Leaves) -> str:
    if leaves.withdraws:
        return f"asks not to be kept: {leaves.withdraws}"
    if isinstance(verdict, Dead | RetryLater):
        return f"{verdict.reason}: {verdict.detail}"
    return "no article"


def lease_of(body: KeptBody) -> Lease:
    """Nobody granted it: reading a page asks a lease for names only, and none of it is settled."""
    raw, address = body.raw, canonicalise(body.raw.url)
    return Lease(
        token=NOBODYS,
        bucket=raw.key.bucket,
        url_hash=raw.key.url_hash,
        host=address.host,
        url=raw.url,
        source_id=raw.source_id,
        origin=Origin.MANUAL,
        depth=0,
        priority=1,
        retry_count=0,
        fetch_count=0,
        hops=0,
        resume_url=None,
        etag=None,
        last_modified=None,
        content_hash=None,
        window=Window(0.0, 0.0, 0.0),
    )


def response_of(body: KeptBody) -> Response:
    """As it was answered then: what a page may claim of its dates is bounded by that day, not by this one."""
    raw = body.raw
    return Response(
        url=canonicalise(raw.url),
        status=raw.status,
        headers=CIMultiDict(raw.headers),
        raw_headers=[(name.encode(), value.encode("latin-1", "replace")) for name, value in raw.headers.items()],
        content=Complete(raw.body),
        duration=timedelta(),
        is_reused=False,
        address=None,
        at=body.at,
    )
