"""The work of an extraction child. Importing this loads everything heavy, so that children forked after it share it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from headwater.extraction.article import Article, NotAnArticle
from headwater.extraction.extractor import extract
from headwater.extraction.jobs.answers import harvest_page
from headwater.extraction.language import language_model
from headwater.extraction.page import Page, page_from
from headwater.extraction.templates.explain import TemplateExplanation
from headwater.extraction.training import Training, do_task, is_task
from headwater.plugins import EXTRACTORS, installed

_SAMPLE = (
    b"<title>Warm up</title><article><p>" + b"Every library is asked once before any page is. " * 20 + b"</article>"
)


def read_sent(
    sent: bytes | Mapping[str, Any],
) -> Article | NotAnArticle | Training | TemplateExplanation | dict[str, Any]:
    """The answer to a page of `encode_page`, a task of `encode_task` or one of `harvest_page`; written as JSON."""
    if not isinstance(sent, bytes):
        return harvest_page(sent)
    if is_task(sent):
        return do_task(sent)
    page, now = page_from(sent)
    return extract(page, now)


# Only their names: the code of plug-ins is imported in the child that needs it.
installed(EXTRACTORS)
# Once through everything: the libraries compile their patterns when they are first used.
language_model()
extract(Page(url="http://warm-up.example/", body=_SAMPLE), datetime(2000, 1, 1, tzinfo=UTC))
