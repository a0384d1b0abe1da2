"""A news site: which page stands at which path at which moment."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from urllib.parse import parse_qs, quote, unquote

from headwater.simweb.message import Page, Request
from headwater.simweb.world import prose
from headwater.simweb.world.cache import Cache
from headwater.simweb.world.dice import Dice
from headwater.simweb.world.listings import PER_PAGE, Listing, listing_page
from headwater.simweb.world.markup import in_html
from headwater.simweb.world.newschannels import NewsChannels, last_change, version_of
from headwater.simweb.world.newsroom import Newsroom, Story
from headwater.simweb.world.pages import file_page, html_page, robots_page
from headwater.simweb.world.templates.articles import ARTICLE_PAGES, Sheet, paragraphs
from headwater.simweb.world.templates.clutter import Comment, Teaser
from headwater.simweb.world.templates.frame import Look, document
from headwater.simweb.world.templates.guises import (
    GUISE_NAMES,
    GUISES,
    GUISES_AT,
    TEASERS,
    Guise,
    Guised,
    GuiseName,
    relaunched,
)

NOTICES = {"/about": "about", "/contact": "contact", "/privacy": "privacy", "/login": "login", "/search": "search"}
MEMBERS = "/members/"
PRINT = "/print"
RELATED = 4
POPULAR = 5


class NewsSite:
    def __init__(self, newsroom: Newsroom, opened: datetime, pages: Cache[Page]) -> None:
        self.newsroom = newsroom
        self._publisher = newsroom.publisher
        self._pages = pages
        self._look = Look.of(newsroom)
        self._channels = NewsChannels(newsroom, opened, pages)
        self._sections = {path: topic for topic, (path, _) in enumerate(self._look.sections)}

    def page(self, request: Request, now: datetime) -> Page | None:
        path = request.path
        if story := self.newsroom.find(path, request.query, now):
            return self._story_page(story, now)
        if answer := self._channels.answers.get(path):
            return answer(now)
        if path == "/robots.txt":
            return robots_page(self._publisher)
        return self._listed(request, now) or self._aside(request, now)

    def guises(self, name: GuiseName, now: datetime) -> Iterator[Guise]:
        """Every story of this moment in one guise, newest first."""
        for story in self.newsroom.stories(now):
            sheet, truth = self._guised(name, story, now)
            yield Guise(name, sheet.item.url, truth)

    def _listed(self, request: Request, now: datetime) -> Page | None:
        if request.path == "/":
            return self._home(now)
        path, number = _without_page(request)
        if path == "/latest":
            return self._listing(path, self._look.publisher.speech.labels["latest"], None, number, now)
        topic = self._sections.get(quote(unquote(path)))
        if topic is None:
            return None
        return self._listing(path, self.newsroom.topics[topic].section, topic, number, now)

    def _aside(self, request: Request, now: datetime) -> Page | None:
        path = request.path
        if path in NOTICES:
            return self._notice(NOTICES[path])
        if path.startswith(PRINT + "/"):
            return self._print(path.removeprefix(PRINT), request.query, now)
        if path.startswith(GUISES_AT):
            return self._guise(path.removeprefix(GUISES_AT), request.query, now)
        if path.startswith(MEMBERS):
            return self._members(path.removeprefix(MEMBERS))
        if path.startswith("/sitemap-"):
            return self._channels.month(path, now)
        return file_page(path)

    def _guise(self, path: str, query: str, now: datetime) -> Page | None:
        asked, _, rest = path.partition("/")
        name = next((one for one in GUISE_NAMES if one == asked), None)
        story = self.newsroom.find(f"/{rest}", query, now)
        if name is None or story is None or story.is_removed(now):
            return None
        key = (self._publisher.host, GUISES_AT, name, story.path, story.version(now))
        return self._pages.get(key, lambda: self._rendered_guise(name, story, now))

    def _rendered_guise(self, name: GuiseName, story: Story, now: datetime) -> Page:
        text = ARTICLE_PAGES[self._publisher.template](self._guised(name, story, now).sheet)
        return html_page(self._publisher, relaunched(name, text), story.changed_at(now), "max-age=300")

    def _guised(self, name: GuiseName, story: Story, now: datetime) -> Guised:
        sheet = self._sheet(story, now)
        url = f"http://{self._publisher.host}{GUISES_AT}{name}{story.path}"
        stories = islice(self._lasting_before(story), TEASERS)
        teasers = [Teaser(one.path, one.first_title, self.newsroom.lead(one)) for one in stories]
        return GUISES[name](replace(sheet, item=replace(sheet.item, url=url)), teasers)

    def _story_page(self, story: Story, now: datetime) -> Page | None:
        if story.is_removed(now):
            return Page(b"<h1>410</h1>", status=410) if story.answers_gone else None
        key = (self._publisher.host, story.path, story.version(now))
        return self._pages.get(key, lambda: self._rendered(story, now))

    def _rendered(self, story: Story, now: datetime) -> Page:
        render = ARTICLE_PAGES[self._publisher.template]
        text = render(self._sheet(story, now))
        return html_page(self._publisher, text, story.changed_at(now), "max-age=300")

    def _sheet(self, story: Story, now: datetime) -> Sheet:
        # What stood there when it was printed, not what is new now: an article's page changes only with the article.
        older = self._teasers_before(story)
        dice = Dice(story.key, "readers")
        speech = self._publisher.speech
        said = dice.some(speech.remarks, dice.count(0, 3))
        return Sheet(
            look=self._look,
            item=self.newsroom.item(story, now),
            path=story.path,
            related=older[:RELATED],
            popular=older[RELATED:],
            comments=tuple(Comment(prose.person(speech, dice), remark) for remark in said),
        )

    def _teasers_before(self, story: Story) -> tuple[Teaser, ...]:
        lasting = islice(self._lasting_before(story), RELATED + POPULAR)
        return tuple(Teaser(s.path, s.first_title) for s in lasting)

    def _lasting_before(self, story: Story) -> Iterator[Story]:
        # Stories that will vanish are not linked, so that a dead link is never this site's own doing.
        return (s for s in self.newsroom.stories(story.published) if s.removed_at is None and s is not story)

    def _home(self, now: datetime) -> Page:
        stories = self.newsroom.newest(now, PER_PAGE)
        return self._listing_page(Listing(self._publisher.name, "/", 1, 1, ()), stories, now)

    def _listing(self, path: str, heading: str, topic: int | None, number: int, now: datetime) -> Page | None:
        stories = [s for s in self.newsroom.stories(now) if topic is None or s.topic == topic]
        pages = max(1, -(-len(stories) // PER_PAGE))
        if not 1 <= number <= pages:
            return None
        shown = stories[(number - 1) * PER_PAGE : number * PER_PAGE]
        return self._listing_page(Listing(heading, path, number, pages, ()), shown, now)

    def _listing_page(self, empty: Listing, stories: Sequence[Story], now: datetime) -> Page:
        def render() -> Page:
            teasers = tuple(Teaser(s.path, s.title(now), self.newsroom.lead(s)) for s in stories)
            listing = Listing(empty.heading, empty.path, empty.page, empty.pages, teasers)
            text = listing_page(self._look, listing)
            return html_page(self._publisher, text, last_change(stories, now), "max-age=60")

        key = (self._publisher.host, empty.path, empty.page, empty.pages, version_of(stories, now))
        return self._pages.get(key, render)

    def _notice(self, name: str) -> Page:
        heading, said = self._publisher.speech.labels[name], self._look.label("about_text")
        return html_page(
            self._publisher, document(self._look, heading, f"<main><h1>{heading}</h1><p>{said}</p></main>")
        )

    def _members(self, name: str) -> Page | None:
        """Behind robots.txt on some sites: pages nobody was invited to fetch."""
        if name and not name.isdecimal():
            return None
        heading = self._publisher.speech.labels["members"]
        links = " ".join(f'<a href="{MEMBERS}{n}">{n}</a>' for n in range(1, 4))
        return html_page(
            self._publisher, document(self._look, heading, f"<main><h1>{heading} {name}</h1>{links}</main>")
        )

    def _print(self, path: str, query: str, now: datetime) -> Page | None:
        story = self.newsroom.find(path, query, now)
        if story is None or story.is_removed(now):
            return None
        sheet = self._sheet(story, now)
        text = f"""<html><head>{self._look.charset_tag}<title>{in_html(sheet.item.title)}</title>
<link rel="canonical" href="{in_html(sheet.item.url)}"></head>
<body><h1>{in_html(sheet.item.title)}</h1>{paragraphs(sheet)}</body></html>"""
        return html_page(self._publisher, text, story.changed_at(now))


def _without_page(request: Request) -> tuple[str, int]:
    """The listing meant and the number of its page, in either of the two spellings."""
    path, _, number = request.path.rstrip("/").partition("/page/")
    number = number or parse_qs(request.query).get("page", ["1"])[0]
    return path, int(number) if number.isdecimal() and len(number) < 10 else 0
