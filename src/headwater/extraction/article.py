"""The results of extraction. All strings can be stored in PostgreSQL, and everything is bounded."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headwater.blocks.block import BodyBlock
from headwater.extraction.access import Access
from headwater.extraction.arbiter import TriedReading
from headwater.extraction.lead_image import LeadImage
from headwater.extraction.linked_data import LinkedData
from headwater.extraction.metadata import Metadata
from headwater.extraction.page_type import PageType
from headwater.extraction.quality import Quality
from headwater.extraction.robots import PageRobots
from headwater.extraction.templates.guide import Guided
from headwater.rights.record import UseStatement


class NoArticleReason(StrEnum):
    """Why a page is not an article."""

    EMPTY = "empty"
    TOO_SHORT = "too_short"
    CHALLENGE = "challenge"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFacts:
    """The facts of any page. `links` are URLs, and none when the page asks not to be followed; `unfollowed` are
    those of them that it marks as not its own word; `guided` is what the host's template was good for.
    `plugin_failure` is a sentence about a plug-in that should have read the page. `readings` are all that were tried.
    """

    url: str
    canonical_url: str
    title: str
    page_type: PageType
    word_count: int
    metadata: Metadata
    linked_data: LinkedData
    robots: PageRobots
    rights: tuple[UseStatement, ...] = ()
    links: tuple[str, ...]
    unfollowed: tuple[str, ...]
    is_soft_404: bool
    guided: Guided | None = None
    plugin_failure: str = ""
    readings: tuple[TriedReading, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Article(PageFacts):
    """`content_hash` is the SHA-256 of the text with white space evened out, in hex, `simhash` its 64-bit likeness.

    `author` holds the `authors` in one line.
    `blocks` make the text; none where nothing is known but its lines.
    `produced_by` is a `Producer`, the name of a template or that of a plug-in.
    """

    text: str
    blocks: tuple[BodyBlock, ...]
    produced_by: str
    description: str
    author: str
    authors: tuple[str, ...]
    section: str
    language: str
    keywords: tuple[str, ...]
    images: tuple[str, ...]
    lead_image: LeadImage | None
    access: Access
    published_at: datetime | None
    updated_at: datetime | None
    quality: Quality
    content_hash: str
    simhash: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAnArticle(PageFacts):
    reason: NoArticleReason
