"""What would be made of a source's first pages: fetched by the real path, read in a child, and nothing of it stored."""

from typing import TYPE_CHECKING, Any

from headwater.cli.words import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.discover.items import Item
    from headwater.ingest.reading import Read
    from headwater.services import Services
    from headwater.sources.source import Profile
    from headwater.web import Web


async def pages_read(
    services: "Services", web: "Web", profile: "Profile", items: "Sequence[Item]"
) -> list[dict[str, Any]]:
    from headwater.fetch.fetcher import FetchRequest
    from headwater.fetch.following import Follower
    from headwater.fetch.outcomes import Answered
    from headwater.ingest.judge import is_html
    from headwater.ingest.page_context import PageContext
    from headwater.ingest.reading import Reader
    from headwater.run.extraction_pools import page_pool
    from headwater.urls.canonical import canonicalise

    told: list[dict[str, Any]] = []
    follower = Follower(web.fetcher, web.reservations)
    async with page_pool(services) as pool:
        reader = Reader(pool, web.identity.product_token)
        for item in items:
            outcome = await follower.fetch(FetchRequest(canonicalise(item.url), "test"))
            if not isinstance(outcome, Answered) or outcome.response.status != 200 or not is_html(outcome.response):
                told.append({"url": item.url, "problem": problem_of(outcome)})
                continue
            read = await reader.read(outcome.response, PageContext(profile, hints=hints_of(item)), outcome.response.at)
            told.append({"url": item.url, **told_of(read)})
    return told


def hints_of(item: "Item") -> Any:
    from headwater.extract.page import FeedHints

    return FeedHints(
        title=item.title,
        author=item.author,
        language=item.language,
        content=item.content,
        published_at=item.published_at,
        updated_at=item.updated_at,
    )


def problem_of(outcome: Any) -> str:
    response = getattr(outcome, "response", None)
    if response is not None:
        return f"HTTP {response.status} {response.headers.get('Content-Type', '')}".strip()
    return type(outcome).__name__


def told_of(read: "Read") -> dict[str, Any]:
    """Which rule made what: the text's producer, and the parts of the quality."""
    from dataclasses import asdict

    from headwater.extract.article import Article

    if not isinstance(read, Article):
        return {"problem": str(getattr(read, "reason", "") or getattr(read, "how", "not an article"))}
    return {
        "title": read.title,
        "produced_by": str(read.produced_by),
        "words": read.word_count,
        "author": read.author,
        "published_at": read.published_at,
        "language": read.language,
        "page_type": str(read.page_type),
        "quality": asdict(read.quality),
        "begins": shortened(read.text, 200),
    }


def line_of(told: dict[str, Any]) -> str:
    if "problem" in told:
        return f"page: {told['problem']}"
    quality = told["quality"]["score"]
    dated = f", {told['published_at']:%Y-%m-%d %H:%M}" if told["published_at"] else ", no date"
    made = f"{told['words']} words by {told['produced_by']}, {told['language'] or 'language unknown'}{dated}"
    return f"page: {shortened(told['title'], 60)} ({made}, quality {quality})"
