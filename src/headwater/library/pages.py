"""Pages, read as the service reads them: by the same function, in the caller's process."""

from typing import Any

from headwater.clock import SystemClock
from headwater.extraction.article import Article, NotAnArticle
from headwater.extraction.extractor import extract
from headwater.extraction.jobs.normalise import Employer, harvest_of
from headwater.extraction.jobs.pages import vacancies_in
from headwater.extraction.page import LONGEST_HTML, Page
from headwater.library.given import bytes_of, reading, text_of
from headwater.library.values import ExtractedPage, Vacancy
from headwater.net.charset import CharsetKind, charset_parameter, decode
from headwater.net.charset_labels import CODECS
from headwater.urls.canonical import canonicalise
from headwater.vacancy import NewJob


def extract_page(html: object, url: object, content_type: str, timezone: str) -> ExtractedPage:
    body = bytes_of(html, "page", LONGEST_HTML)
    address = canonicalise(text_of(url, "url")).url
    label = "utf-8" if isinstance(html, str) else charset_parameter(text_of(content_type, "content_type"))
    with reading("page"):
        codec = CODECS[decode(body, CharsetKind.HTML, label).charset]
        page = Page(url=address, body=body, codec=codec, timezone=text_of(timezone, "timezone"))
        return _public(extract(page, SystemClock().now()))


def vacancies_on_page(html: object, url: object, content_type: str, employer: str) -> tuple[Vacancy, ...]:
    body = bytes_of(html, "page", LONGEST_HTML)
    address = canonicalise(text_of(url, "url")).url
    label = "utf-8" if isinstance(html, str) else charset_parameter(text_of(content_type, "content_type"))
    with reading("page"):
        found = vacancies_in(decode(body, CharsetKind.HTML, label).text, address)
        offered_by = Employer(org_name=text_of(employer, "employer"), listing_url=address)
        harvest = harvest_of(found, offered_by, SystemClock().now(), keeps_over=True)
    return tuple(map(_public_vacancy, harvest.vacancies))


def _public(read: Article | NotAnArticle) -> ExtractedPage:
    facts: dict[str, Any] = {
        "url": read.url,
        "canonical_url": read.canonical_url,
        "title": read.title,
        "links": read.links,
        "page_type": str(read.page_type),
        "word_count": read.word_count,
        "noindex": read.robots.noindex,
        "nofollow": read.robots.nofollow,
        "notes": (read.plugin_failure,) if read.plugin_failure else (),
    }
    if isinstance(read, NotAnArticle):
        return ExtractedPage(**facts, why_not=str(read.reason))
    return ExtractedPage(
        **facts,
        text=read.text,
        author=read.author,
        authors=read.authors,
        description=read.description,
        language=read.language,
        section=read.section,
        keywords=read.keywords,
        images=read.images,
        published_at=read.published_at,
        updated_at=read.updated_at,
        quality=read.quality.score,
        content_hash=read.content_hash,
        read_by=str(read.produced_by),
    )


def _public_vacancy(found: NewJob) -> Vacancy:
    return Vacancy(
        title=found.title,
        organisation=found.org_name,
        apply_url=found.apply_url,
        location=found.location_raw,
        city=found.city,
        country=found.country,
        country_code=found.country_iso,
        level=found.level_norm,
        work_modality=found.work_modality,
        contract_type=found.contract_type,
        deadline=found.deadline,
        description=found.description_snippet,
        language=found.language,
    )
