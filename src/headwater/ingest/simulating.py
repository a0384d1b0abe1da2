"""Pages fetched by the real path and read in a child as a worker would, with nothing of it stored."""

from collections.abc import Iterable
from dataclasses import dataclass

from headwater.extraction.article import Article
from headwater.extraction.page import FeedHints
from headwater.fetch.fetcher import FetchRequest, Follower
from headwater.fetch.outcomes import Answered
from headwater.ingest.judge import ReadPage, is_html
from headwater.ingest.page_context import PageContext
from headwater.ingest.page_reader import ChildReader
from headwater.sources.source import Profile
from headwater.urls.canonical import canonicalise

OK = 200


@dataclass(frozen=True, slots=True)
class SimulatedPage:
    """`problem` says why there is no article."""

    url: str
    article: Article | None = None
    problem: str = ""


async def simulate_pages(
    follower: Follower, reader: ChildReader, profile: Profile, pages: Iterable[tuple[str, FeedHints]]
) -> list[SimulatedPage]:
    """Of each page its article, by what its feed said of it."""
    simulated = []
    for url, hints in pages:
        outcome = await follower.fetch(FetchRequest(canonicalise(url), "test"))
        if not isinstance(outcome, Answered) or outcome.response.status != OK or not is_html(outcome.response):
            simulated.append(SimulatedPage(url, problem=problem_of(outcome)))
            continue
        read = await reader.read(outcome.response, PageContext(profile, hints=hints), outcome.response.at)
        simulated.append(page_from(url, read))
    return simulated


def problem_of(outcome: object) -> str:
    response = getattr(outcome, "response", None)
    if response is not None:
        return f"HTTP {response.status} {response.headers.get('Content-Type', '')}".strip()
    return type(outcome).__name__


def page_from(url: str, read: ReadPage) -> SimulatedPage:
    if isinstance(read, Article):
        return SimulatedPage(url, read)
    return SimulatedPage(url, problem=str(getattr(read, "reason", "") or getattr(read, "how", "not an article")))
