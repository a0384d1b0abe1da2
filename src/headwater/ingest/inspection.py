"""Stored pages read by their hosts' templates, beside the general extractor."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from statistics import mean
from uuid import UUID

from headwater.archive.raw import KeptBody
from headwater.archive.stores.known import NO_STORES, BodyStores
from headwater.database.pool import Database
from headwater.extraction.arbiter import TriedReading
from headwater.extraction.article import Article, NotAnArticle
from headwater.extraction.pool.extraction_pool import Done
from headwater.extraction.templates.explain import TemplateExplanation
from headwater.extraction.templates.guide import PRODUCER, agreement
from headwater.extraction.training import encode_task, explanation_from
from headwater.ingest.difference import likeness, side_by_side
from headwater.ingest.judge import ReadPage, UnreadablePage
from headwater.ingest.page_reader import ChildReader, ContextSource, page_of
from headwater.ingest.stored_pages import batches_of, lease_of, require_articles, response_of

# Two texts that share fewer of their words or of their lines are shown line by line.
ALIKE = 0.95


class InspectionAnswer(StrEnum):
    """The answer of a host's template to a page."""

    SERVED = "served"
    REFUSED = "refused"
    UNASKED = "unasked"  # there is none, or something else came first
    NOTHING = "nothing"  # no article, however it is read


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """A page read both ways. `why`: why it was refused or not asked, or the template's name.

    `rows` are the lines only one of the two has, the general extractor's first, each beside its like.
    """

    url: str
    answer: InspectionAnswer
    why: str
    likeness: float
    general_words: int
    template_words: int
    rows: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TemplateComparison:
    """All pages of a comparison in figures; by reason, how many were refused and how many no template was asked."""

    pages: int
    served: int
    refused: Counter[str]
    unasked: Counter[str]
    nothing: int
    mean_likeness: float | None
    differ: int


def summary_of(pages: Sequence[Compared]) -> TemplateComparison:
    served = [one.likeness for one in pages if one.answer is InspectionAnswer.SERVED]
    return TemplateComparison(
        pages=len(pages),
        served=len(served),
        refused=Counter(one.why for one in pages if one.answer is InspectionAnswer.REFUSED),
        unasked=Counter(one.why for one in pages if one.answer is InspectionAnswer.UNASKED),
        nothing=sum(one.answer is InspectionAnswer.NOTHING for one in pages),
        mean_likeness=round(mean(served), 4) if served else None,
        differ=sum(one < ALIKE for one in served),
    )


@dataclass(frozen=True, slots=True)
class Explained:
    """How a page is read today, and what its host's template makes of each block."""

    template: str
    answer: InspectionAnswer
    why: str
    explanation: TemplateExplanation


@dataclass(frozen=True, slots=True)
class InspectedPage:
    """The readings of a page, in turn, and whose text was chosen; `why` there is none."""

    url: str
    chosen: str
    why: str
    readings: Sequence[TriedReading]


def answer_of(read: ReadPage) -> tuple[InspectionAnswer, str]:
    """The answer of a template, from a page that was read with one."""
    match read:
        case Article() | NotAnArticle() if read.guided and read.guided.refused:
            return InspectionAnswer.REFUSED, read.guided.refused
        case Article(produced_by=name):
            return InspectionAnswer.SERVED if name.startswith(PRODUCER) else InspectionAnswer.UNASKED, name
        case NotAnArticle(reason=reason):
            return InspectionAnswer.NOTHING, reason
        case UnreadablePage(how=how):
            return InspectionAnswer.NOTHING, how
    return InspectionAnswer.NOTHING, "vacancies"


@dataclass(frozen=True, slots=True)
class Inspection:
    """Reads stored pages by their hosts' templates; nothing is stored."""

    database: Database
    context: ContextSource
    reader: ChildReader
    at_once: int
    stores: BodyStores = NO_STORES

    async def compare(self, source_id: UUID, *, limit: int | None = None) -> AsyncIterator[Compared]:
        """Page by page, with what the general extractor makes of it."""
        await require_articles(self.database, source_id)
        async for bodies in batches_of(self.database, source_id, self.at_once, limit, self.stores):
            for one in await asyncio.gather(*map(self._compared, bodies)):
                yield one

    async def explain(self, body: KeptBody) -> Explained | None:
        """None where no template would be asked."""
        response, known = response_of(body), await self.context.context_of(lease_of(body))
        if known.guide is None:
            return None
        task = encode_task("explain", [page_of(response, known, self.reader.product_token)], body.at)
        read, told = await asyncio.gather(self.reader.read(response, known, response.at), self.reader.pool.run(task))
        explanation = explanation_from(told.value) if isinstance(told, Done) else TemplateExplanation()
        return Explained(known.guide.name, *answer_of(read), explanation)

    async def readings_of(self, body: KeptBody) -> InspectedPage:
        """How its text would be chosen today."""
        response, known = response_of(body), await self.context.context_of(lease_of(body))
        read = await self.reader.read(response, known, response.at)
        if isinstance(read, Article):
            return InspectedPage(body.raw.url, read.produced_by, "", read.readings)
        _, why = answer_of(read)
        return InspectedPage(body.raw.url, "", why, read.readings if isinstance(read, NotAnArticle) else ())

    async def _compared(self, body: KeptBody) -> Compared:
        response, known = response_of(body), await self.context.context_of(lease_of(body))
        ways = (known, replace(known, guide=None))
        guided, general = await asyncio.gather(*(self.reader.read(response, way, response.at) for way in ways))
        answer, why = answer_of(guided)
        one, other = (read.text if isinstance(read, Article) else "" for read in (general, guided))
        # Words alone hardly show that all headings are lost.
        alike = min(likeness(one, other), agreement(other, one)) if one or other else 1.0
        return Compared(
            url=body.raw.url,
            answer=answer,
            why=why if known.guide else "no template",
            likeness=alike,
            general_words=len(one.split()),
            template_words=len(other.split()),
            rows=side_by_side(one, other) if alike < ALIKE else (),
        )
