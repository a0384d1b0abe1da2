"""Feed-first, polite, adaptive web ingestion: the library. `docs/library.md` is its page.

    page = headwater.extract(html, "https://example.org/story")
    feed = headwater.read_feed(body)
    url = headwater.canonicalise("HTTPS://Example.org:443/story/?utm_source=x")
    rules = headwater.robots(body, "examplebot")
    with headwater.open() as archive: ...

Names in `__all__` are stable; every module below this one may change. `docs/architecture.md` tells the way of a URL.
"""

from collections.abc import Mapping
from pathlib import Path

from headwater.errors import (
    DatabaseDown,
    DependencyDown,
    HeadwaterError,
    NotFound,
    SettingError,
    UnreadableInput,
    UrlRejected,
    UsageError,
)
from headwater.library.archive import Archive
from headwater.library.values import (
    DocumentVersion,
    ExtractedPage,
    Feed,
    FeedItem,
    FoundDocument,
    ItemFields,
    PageFields,
    RobotsRule,
    RobotsRules,
    StoredDocument,
    Url,
    Vacancy,
)

__version__ = "0.1.0"
__all__ = [
    "Archive",
    "DatabaseDown",
    "DependencyDown",
    "DocumentVersion",
    "ExtractedPage",
    "Feed",
    "FeedItem",
    "FoundDocument",
    "HeadwaterError",
    "ItemFields",
    "NotFound",
    "PageFields",
    "RobotsRule",
    "RobotsRules",
    "SettingError",
    "StoredDocument",
    "UnreadableInput",
    "Url",
    "UrlRejected",
    "UsageError",
    "Vacancy",
    "__version__",
    "canonicalise",
    "extract",
    "open",
    "read_feed",
    "read_vacancies",
    "robots",
]


def extract(html: str | bytes, url: str, *, content_type: str = "", timezone: str = "UTC") -> ExtractedPage:
    """The clean text of a page, and what the page says about itself.

    `url` is the address it came from, after redirects. `content_type` is the header of that name: it tells how bytes
    are decoded. `timezone` is for times that name no zone. Raises UrlRejected for a URL that is none, UnreadableInput
    for a page that is too large or that no parser can read. It runs in this process: see "Hostile input" in the docs.
    """
    from headwater.library.pages import extract_page

    return extract_page(html, url, content_type, timezone)


def read_vacancies(html: str | bytes, url: str, *, employer: str = "", content_type: str = "") -> tuple[Vacancy, ...]:
    """The vacancies of a page that is about vacancies: one of them, or a list. Raises as `extract` does.

    `employer` is the name for vacancies that name none.
    """
    from headwater.library.pages import vacancies_on_page

    return vacancies_on_page(html, url, content_type, employer)


def read_feed(body: str | bytes, *, url: str = "", content_type: str = "") -> Feed:
    """RSS, Atom, RDF or JSON Feed; the bytes decide which. Raises UnreadableInput where it is none of them.

    `url` is the address it came from: relative links are resolved by it.
    """
    from headwater.library.feeds import feed_from

    return feed_from(body, url, content_type)


def canonicalise(url: str, *, base: str | None = None) -> Url:
    """The address to fetch, and the key by which it is the same page as another. Raises UrlRejected."""
    from headwater.library.addresses import url_from

    return url_from(url, base)


def robots(body: str | bytes, agent: str) -> RobotsRules:
    """The rules of a robots.txt for `agent`, a product token (`examplebot`) or a whole User-Agent header."""
    from headwater.library.addresses import rules_from

    return rules_from(body, agent)


def open(  # noqa: A001 - `headwater.open`, as `gzip.open`
    config: str | Path | None = None, *, settings: Mapping[str, str] | None = None
) -> Archive:
    """The archive of an installation, to read: `with headwater.open() as archive`.

    Settings are found as the command line finds them; `config` is a settings file, and `settings` are single ones, such
    as `{"database.url": "postgresql://…"}`. Raises NotFound where there is no archive yet, DatabaseDown where the
    database does not answer.
    """
    return Archive(Path(config) if config is not None else None, settings or {})
