"""A publisher's pages, small enough to be read at a glance and changed in one place."""

from dataclasses import dataclass, replace

import pytest

from headwater.extraction.templates.learner import TrainingPage, learn
from headwater.extraction.templates.template import Template

SUBJECTS = ("harbour", "railway", "library", "theatre", "market", "bridge", "museum", "station")
SYLLABLES = ("ba", "re", "ti", "mo", "lu", "sha", "ken", "dor", "vil", "pan")
NOTICE = "Sign up to our morning letter and never miss what the city talks about over breakfast."
ARTICLE = '<script type="application/ld+json">{"@type":"NewsArticle","author":{"name":"Ada Quill"}}</script>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """One page; what is not said is as the host always has it."""

    number: int
    paragraphs: tuple[str, ...] = ()
    head: str = ARTICLE
    og_type: str = "article"
    published: str = '<meta property="article:published_time" content="2026-05-0{day}T08:00:00Z">'
    before: str = ""
    inside: str = f'<div class="promo"><p>{NOTICE}</p></div>'
    after: str = '<div class="teasers"><h3><a href="/x">Another story from elsewhere in town</a></h3></div>'
    container: str = "story-body"

    @property
    def title(self) -> str:
        return f"What became of the old {SUBJECTS[self.number % len(SUBJECTS)]} number {self.number}"

    @property
    def url(self) -> str:
        return f"https://news.example/2026/05/the-story-of-number-{self.number}"

    @property
    def text(self) -> str:
        return "\n".join(self.paragraphs or prose(self.number))

    @property
    def html(self) -> str:
        body = "".join(f"<p>{line}</p>" for line in self.paragraphs or prose(self.number))
        return (
            f'<!doctype html><html><head><title>{self.title}</title><meta property="og:title" content="{self.title}">'
            f'<meta property="og:type" content="{self.og_type}"><meta property="og:url" content="{self.url}">'
            f'{self.published.format(day=1 + self.number % 9)}{self.head}</head><body class="page-{self.number}">'
            f'<div class="top"><ul><li><a href="/">Home</a><li><a href="/a">All of the news</a></ul></div>{self.before}'
            f'<main><h1 class="headline">{self.title}</h1><p class="byline">By Ada Quill</p>'
            f'<div class="{self.container}">{body}{self.inside}</div>{self.after}</main></body></html>'
        )

    def example(self) -> TrainingPage:
        return TrainingPage(
            url=self.url, html=self.html, general=f"{self.text}\n{NOTICE}", title=self.title, author="Ada Quill"
        )


def prose(number: int, paragraphs: int = 5) -> tuple[str, ...]:
    """Sentences that share no run of words with any other."""
    return tuple(
        " ".join(_word(number * 1_000 + at * 40 + word) for word in range(36)) + "." for at in range(paragraphs)
    )


def _word(number: int) -> str:
    first, second = divmod(number * 7_919 % 10_007, 101)
    return f"{SYLLABLES[first % 10]}{SYLLABLES[second % 10]}{SYLLABLES[number % 10]}{first}"


@pytest.fixture
def story() -> Story:
    """The page to be read; the template has not seen it."""
    return Story(number=7)


@pytest.fixture(scope="session")
def template() -> Template:
    learned = learn([Story(number=number).example() for number in range(4)])
    assert isinstance(learned, Template)
    return learned


def changed(story: Story, **fields: object) -> Story:
    return replace(story, **fields)  # type: ignore[arg-type]
