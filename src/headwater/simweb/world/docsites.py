"""Documentation sites: a tree of pages per version, with navigation and a next link. They do not change over time."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from headwater.simweb.message import Page, Request
from headwater.simweb.world import prose, sitemaps
from headwater.simweb.world.dice import Dice
from headwater.simweb.world.languages.technical import TECHNICAL
from headwater.simweb.world.manuals import Manual, manual_of
from headwater.simweb.world.markup import in_html, slug_of
from headwater.simweb.world.newsroom import Item
from headwater.simweb.world.pages import file_page, html_page, robots_page, xml_page
from headwater.simweb.world.publishers import Publisher
from headwater.simweb.world.sitemaps import Place

DEEPEST = 4
TOPIC = TECHNICAL.topics[0]
VOICE = prose.voice_of(TECHNICAL, TOPIC)


@dataclass(frozen=True, slots=True)
class Chapter:
    path: str
    title: str
    key: int
    released: datetime
    depth: int
    children: tuple["Chapter", ...] = ()

    def walk(self) -> Iterator["Chapter"]:
        """Reading order: itself, then everything below."""
        yield self
        for child in self.children:
            yield from child.walk()


class DocsSite:
    def __init__(self, publisher: Publisher, seed: int, opened: datetime) -> None:
        self._publisher = publisher
        self._seed = seed
        self._opened = opened

    def page(self, request: Request, now: datetime) -> Page | None:
        match request.path:
            case "/":
                return self._home()
            case "/robots.txt":
                return robots_page(self._publisher)
            case "/search" | "/draft/":
                return self._html("Not for robots", "<p>Nothing to see here yet.</p>")
            case "/sitemap.xml" if self._publisher.sitemaps:
                return xml_page(sitemaps.urlset(Place(i.url, i.published) for i in self.items()), self._opened)
        position = self._positions.get(request.path)
        return file_page(request.path) if position is None else self._chapter_page(position)

    def items(self) -> Iterator[Item]:
        return map(self._item, self._chapters)

    @cached_property
    def versions(self) -> tuple[Chapter, ...]:
        dice = Dice(self._seed, self._publisher.host, "versions")
        newest = dice.count(2, 4)
        return tuple(self._version(number, newest) for number in range(newest, newest - 2, -1))

    @cached_property
    def _chapters(self) -> list[Chapter]:
        return [chapter for version in self.versions for chapter in version.walk()]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {chapter.path: position for position, chapter in enumerate(self._chapters)}

    def _version(self, number: int, newest: int) -> Chapter:
        dice = Dice(self._seed, self._publisher.host, "version", number)
        released = self._opened - timedelta(days=90 + 200 * (newest - number))
        name = f"{self._publisher.name} {number}.0"
        return Chapter(f"/{number}.0/", name, dice.key(), released, 1, _below(f"/{number}.0/", 1, released, dice))

    def _item(self, chapter: Chapter) -> Item:
        return Item(
            url=self._publisher.home.rstrip("/") + chapter.path,
            title=chapter.title,
            paragraphs=tuple(prose.paragraphs(VOICE, chapter.key)),
            author="",
            published=chapter.released,
            updated=None,
            language=TECHNICAL.code,
            section=TOPIC.section,
            keywords=TOPIC.keywords[:3],
        )

    def _home(self) -> Page:
        links = "".join(f'<li><a href="{v.path}">{in_html(v.title)}</a></li>' for v in self.versions)
        return self._html(
            self._publisher.name, f'<h1>{in_html(self._publisher.name)}</h1><ul class="versions">{links}</ul>'
        )

    def _chapter_page(self, position: int) -> Page:
        chapter, item = self._chapters[position], self._item(self._chapters[position])
        text = "\n".join(f"<p>{in_html(paragraph)}</p>" for paragraph in item.paragraphs)
        below = "".join(f'<li><a href="{c.path}">{in_html(c.title)}</a></li>' for c in chapter.children)
        body = f"""<nav class="sidebar-nav"><a href="/">All versions</a> {_crumbs(chapter.path)}<ul>{below}</ul></nav>
<main role="main"><div class="document"><h1>{in_html(chapter.title)}</h1>
{text}
<pre><code>{in_html(self._publisher.name.lower())} --verbose check</code></pre>
{self.manual(chapter).html}</div></main>
{self._neighbours(position)}"""
        return self._html(chapter.title, body, chapter.released)

    def manual(self, chapter: Chapter) -> Manual:
        """What the page of a chapter has beside its paragraphs."""
        return manual_of(VOICE, chapter.key, in_the_markup_of=self._publisher.host)

    def _neighbours(self, position: int) -> str:
        links = [
            f'<a rel="{relation}" href="{self._chapters[other].path}">{relation}</a>'
            for relation, other in (("prev", position - 1), ("next", position + 1))
            if 0 <= other < len(self._chapters)
        ]
        return f'<div class="footer-nav">{" ".join(links)}</div>'

    def _html(self, title: str, body: str, changed: datetime | None = None) -> Page:
        text = f"""<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{in_html(title)}</title>
<link rel="stylesheet" href="/static/site.css"></head><body>
{body}
</body></html>"""
        return html_page(self._publisher, text, changed or self._opened, "max-age=3600")


def _below(path: str, depth: int, released: datetime, dice: Dice) -> tuple[Chapter, ...]:
    if depth == DEEPEST:
        return ()
    return tuple(
        _chapter(path, place, depth + 1, released, dice)
        for place in range(dice.count(1, 5 - depth) if depth > 1 else 5)
    )


def _chapter(parent: str, place: int, depth: int, released: datetime, dice: Dice) -> Chapter:
    title, key = prose.title(VOICE, dice), dice.key()
    # Two chapters may share a title, never an address.
    path = f"{parent}{place + 1}-{slug_of(title)}/"
    return Chapter(path, title, key, released, depth, _below(path, depth, released, dice))


def _crumbs(path: str) -> str:
    steps = path.strip("/").split("/")
    parents = ("/" + "/".join(steps[:n]) + "/" for n in range(1, len(steps)))
    return " › ".join(f'<a href="{parent}">{n}</a>' for n, parent in enumerate(parents, 1))
