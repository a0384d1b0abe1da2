"""The word that the log of requests keeps for a page of which no document was made."""

from datetime import UTC, datetime

import pytest

from headwater.extraction.extractor import extract
from headwater.extraction.jobs.normalise import Harvest
from headwater.extraction.page import Page
from headwater.ingest.judge import why_no_document

NOW = datetime(2026, 3, 2, tzinfo=UTC)
PROSE = "<p>" + "The harbour opened again after the storm had passed over the bay. " * 30 + "</p>"
LINKS = "".join(f'<li><a href="/2026/03/story-{n}">Story number {n} of the day</a></li>' for n in range(40))


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (f"<title>Harbour</title><article><h1>Harbour</h1>{PROSE}</article>", None),
        (f"<meta name=robots content=noindex><title>Harbour</title><article>{PROSE}</article>", "noindex"),
        ("<title>Harbour</title><p>Soon.</p>", "too_short"),
        (f"<title>News</title><ul>{LINKS}</ul>", "listing"),
    ],
)
def test_a_page_without_a_document_has_a_word_for_it(body: str, word: str | None) -> None:
    assert why_no_document(extract(Page(url="https://a.example/news/", body=body.encode()), NOW)) == word


def test_a_page_of_a_job_source_yields_vacancies_or_none() -> None:
    assert why_no_document(Harvest((), ())) == "no_vacancy"
