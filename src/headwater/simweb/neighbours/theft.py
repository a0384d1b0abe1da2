"""Speaking for others: their articles and vacancies in the neighbour's words, their text under its name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlsplit
from zlib import crc32

from headwater.simweb.message import Page, Request, Site
from headwater.simweb.neighbours.plan import DOMAIN, Followed, Pages, Plan, Stand, always, path_number, with_feed
from headwater.simweb.neighbours.words import Item, canary, forged, lines, rss
from headwater.simweb.world.markup import in_html, in_script
from headwater.simweb.world.specials.copies import Mirror

WORDS = f"words.{DOMAIN}"
VACANCIES = f"vacancies.{DOMAIN}"
STORIES = f"stories.{DOMAIN}"
COPIES = f"copies.{DOMAIN}"


def stolen_words(plan: Plan, others: Mapping[str, Site]) -> Stand:
    """A feed of other publishers' articles with titles, authors, dates and long texts of its own."""
    feed = rss("All the news", [forged("stolen_words", n, url) for n, url in enumerate(plan.articles)])
    followed = with_feed("stolen_words", f"http://{WORDS}/")
    return Stand({WORDS: Pages({"/feed.xml": always(feed)})}, (followed,))


def stolen_vacancies(plan: Plan, others: Mapping[str, Site]) -> Stand:
    """A careers page and a feed of vacancies that claim where to apply at other employers."""
    claimed = [claimed_vacancy(n, url) for n, url in enumerate(plan.vacancies)]
    data = in_script({"@context": "https://schema.org", "@graph": claimed})
    shown = "".join(f"<li>{in_html(str(one['title']))}</li>" for one in claimed)
    listing = f'<title>Vacancies</title><script type="application/ld+json">{data}</script><ul>{shown}</ul>'
    feed = rss("Vacancies", [forged("stolen_vacancies", n, url) for n, url in enumerate(plan.vacancies)])
    site = Pages({"/careers": always(Page(listing.encode())), "/feed.xml": always(feed)})
    return Stand(
        {VACANCIES: site, f"feed.{VACANCIES}": site},
        (
            Followed("stolen_vacancies", f"http://{VACANCIES}/careers", "jobs"),
            Followed("stolen_vacancies", f"http://feed.{VACANCIES}/", "jobs", (f"http://feed.{VACANCIES}/feed.xml",)),
        ),
    )


def claimed_vacancy(number: int, url: str) -> dict[str, object]:
    mark = canary("stolen_vacancies", number)
    return {
        "@type": "JobPosting",
        "title": f"Officer {mark}",
        "description": "".join(f"<p>{line}</p>" for line in lines("stolen_vacancies", number, 3)),
        "hiringOrganization": {"@type": "Organization", "name": f"Organisation {mark}"},
        "jobLocation": {"@type": "Place", "address": {"@type": "PostalAddress", "addressLocality": mark}},
        "validThrough": "2031-01-01",
        "url": url,
    }


def stories_as_jobs(plan: Plan, others: Mapping[str, Site]) -> Stand:
    """A job source, by page and by feed, that lists a newspaper's stories before the newspaper does."""
    links = "".join(
        f'<div class="job-listing"><h3><a href="{in_html(url)}">Vacancy {canary("stories_as_jobs", n)}</a></h3></div>'
        for n, url in enumerate(plan.stories)
    )
    feed = rss("Vacancies", [forged("stories_as_jobs", n, url) for n, url in enumerate(plan.stories)])
    listing = Page(f"<title>Vacancies</title><main>{links}</main>".encode())
    site = Pages({"/careers": always(listing), "/feed.xml": always(feed)})
    return Stand(
        {STORIES: site, f"feed.{STORIES}": site},
        (
            Followed("stories_as_jobs", f"http://{STORIES}/careers", "jobs"),
            Followed("stories_as_jobs", f"http://feed.{STORIES}/", "jobs", (f"http://feed.{STORIES}/feed.xml",)),
        ),
    )


def copies(plan: Plan, others: Mapping[str, Site]) -> Stand:
    """Other publishers' articles under its own name, in their newest text from the moment they change."""
    followed = with_feed("copies", f"http://{COPIES}/")
    return Stand({COPIES: Copies(plan.copied, others)}, (followed,))


@dataclass(frozen=True, slots=True)
class Copies:
    originals: tuple[str, ...]
    others: Mapping[str, Site]

    def page(self, request: Request, now: datetime) -> Page | None:
        if request.path == "/feed.xml":
            return self._feed(now)
        number = path_number(request, "/copy-", len(self.originals))
        return None if number is None else self._copy(number, now)

    def _copy(self, number: int, now: datetime) -> Page | None:
        """Without the host, the canonical link among it: nothing on the page says whose it is."""
        place = urlsplit(self.originals[number])
        host = place.hostname or ""
        if host not in self.others:
            return None
        own = f"{COPIES}/copy-{number}#"
        asked = Request("GET", host, place.path or "/", place.query, {})
        page = Mirror(self.others[host], host, own).page(asked, now)
        return replace(page, headers=()) if page else None

    def _feed(self, now: datetime) -> Page:
        items = []
        for number in range(len(self.originals)):
            page = self._copy(number, now)
            changed = page.last_modified if page else None
            # A title that changes with the text has the copy fetched again at once.
            items.append(Item(f"http://{COPIES}/copy-{number}", f"News {number}, {version_of(page)}", "", changed))
        return rss("News", items)


def version_of(page: Page | None) -> str:
    return f"{crc32(page.body):08x}" if page else "gone"
