"""An article as the archive keeps it. Pure."""

from dataclasses import fields, replace
from typing import Any

from headwater.archive.document import DocumentKey, NewDocument
from headwater.extraction.article import Article
from headwater.extraction.canonical import is_same_site
from headwater.extraction.linked_data import LinkedData
from headwater.extraction.metadata import Metadata
from headwater.extraction.quality import Quality
from headwater.frontier.entry import Lease
from headwater.urls.canonical import CanonicalUrl, canonicalise
from headwater.urls.effects import has_effects

# What has a column of its own, or is only of use while a page is read.
_NOT_KEPT = frozenset({"images", "language", "article_body", "is_about_this_page"})


def document_from(article: Article, lease: Lease) -> NewDocument:
    """Under the address it was read from: no page writes another one's document."""
    claimed = claimed_page(article, lease)
    parts = values_of(article.quality)
    return NewDocument(
        bucket=lease.bucket,
        url_hash=lease.url_hash,
        source_id=lease.source_id,
        url=article.url,
        canonical_url=claimed.url if claimed else article.url,
        title=article.title,
        text=article.text,
        word_count=article.word_count,
        content_hash=bytes.fromhex(article.content_hash),
        summary=article.description,
        author=article.author,
        published_at=article.published_at,
        updated_at=article.updated_at,
        language=article.language,
        section=article.section,
        keywords=article.keywords,
        images=article.images,
        page_type=str(article.page_type),
        quality=parts.pop("score"),
        quality_parts=parts,
        simhash=article.simhash,
        produced_by=str(article.produced_by),
        metadata=metadata_of(article),
        claimed=DocumentKey(claimed.bucket, claimed.url_hash) if claimed else None,
    )


def without_claim(new: NewDocument) -> NewDocument:
    """Calling no other page canonical."""
    return replace(new, canonical_url=new.url, claimed=None)


def claimed_page(article: Article, lease: Lease) -> CanonicalUrl | None:
    """The other page that an article calls canonical. A child may have been taken over, so its word is checked."""
    named = canonicalise(article.canonical_url or article.url)
    own = canonicalise(lease.url)
    is_own = named.url_hash in (lease.url_hash, own.url_hash)
    is_possible = is_same_site(own, named) and not has_effects(named)
    return named if is_possible and not is_own else None


def metadata_of(article: Article) -> dict[str, Any]:
    """By the names of the raw_content document, without what the page does not say."""
    said = {name: value for name, value in values_of(article.metadata).items() if value not in ("", None)}
    linked = json_ld_data(article.linked_data)
    return said | ({"json_ld_data": linked} if linked else {})


def json_ld_data(linked: LinkedData) -> dict[str, Any]:
    told = {
        name: value
        for name, value in values_of(linked).items()
        if name not in _NOT_KEPT and value not in ("", None, ())
    }
    return {
        f"jsonld_{name}": value.isoformat() if hasattr(value, "isoformat") else value for name, value in told.items()
    }


def values_of(said: LinkedData | Metadata | Quality) -> dict[str, Any]:
    """As they are: `asdict` would copy all that a publisher wrote in JSON."""
    return {one.name: getattr(said, one.name) for one in fields(said)}
