from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from headwater.extraction.article import Article, NotAnArticle
from headwater.extraction.extractor import extract
from headwater.extraction.page import Page

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
URL = "https://www.example.com/news/storm-over-the-city"
PROSE = "\n".join(
    f"<p>The {name} of the council said on Monday that the storm had damaged more of the old harbour than anyone in "
    f"the city had feared, and that the work on the {name} quay would begin before the end of this month.</p>"
    for name in ("mayor", "head", "treasurer", "speaker")
)

Read = Callable[..., Article | NotAnArticle]


@pytest.fixture
def read() -> Read:
    """A page made of a head and a body, read; without a body it holds a story of four paragraphs."""

    def read_page(
        head: str = "", body: str = f"<article>{PROSE}</article>", *, lang: str = "en", **more: object
    ) -> Article | NotAnArticle:
        html = f"<!doctype html><html lang={lang}><head>{head}</head><body>{body}</body></html>"
        return extract(Page(**({"url": URL, "body": html.encode()} | more)), NOW)  # type: ignore[arg-type]

    return read_page
