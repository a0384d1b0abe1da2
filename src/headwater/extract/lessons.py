"""Lessons in a child: stored pages of one host go in, templates come out; or why one reads a page as it does."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from statistics import mean
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from headwater.errors import UsageError
from headwater.extract.article import Article
from headwater.extract.blocks import text_of_html
from headwater.extract.extractor import extract
from headwater.extract.hidden import seen_page
from headwater.extract.page import Page
from headwater.extract.page_type import PageType
from headwater.extract.templates.explain import Explanation, explain
from headwater.extract.templates.guide import agreement, template_in
from headwater.extract.templates.learner import FEWEST_PAGES, NotLearned, TrainingPage, learn
from headwater.extract.templates.server import Served, serve
from headwater.extract.templates.steps import headings_of
from headwater.extract.templates.template import Template, template_from, written
from headwater.extract.wire import head_of, page_with

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_MARK = b'{"task":'
_LONGEST_SECTION = 60
NO_LESSON = "An extraction child answered with something that is no lesson."
# Where the whole host's template reads fewer of its pages than this, its sections are tried one by one.
_MOST_PAGES = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """A template for a section of a host, "" for all of it; `agreement` with the general extractor on its pages."""

    section: str
    template: dict[str, Any]
    pages: int
    agreement: float


@dataclass(frozen=True, slots=True)
class Lesson:
    """`why` nothing was learned, where that is so; `pages` are those that what was learned would read."""

    taught: tuple[Taught, ...] = ()
    why: str = ""
    pages: int = 0


def section_of(url: str) -> str:
    """The first part of the path, where others follow; a year is none."""
    first, *others = urlsplit(url).path.strip("/").split("/")
    return first[:_LONGEST_SECTION] if others and not first.isdigit() else ""


def teach(pages: Sequence[Page], now: datetime) -> Lesson:
    """Only what reads more of these pages than the templates they came with is worth a change."""
    lessons = [lesson for page in pages if (lesson := _training_page(page, now))]
    whole = learn(lessons)
    found = {"": whole} if isinstance(whole, Template) else {}
    if _read_by(found, lessons) < _MOST_PAGES * len(lessons):
        found = max(found, found | _by_section(lessons), key=lambda one: _read_by(one, lessons))
    read, before = _read_by(found, lessons), sum(_is_served(page) for page in pages)
    if read <= before:
        return Lesson((), whole.reason if isinstance(whole, NotLearned) else f"reads {read} pages, {before} before")
    taught = (_taught(section, template, lessons) for section, template in sorted(found.items()))
    return Lesson(tuple(one for one in taught if one.pages), pages=read)


def explained(page: Page) -> Explanation:
    template = template_in(page.guide) if page.guide else None
    return explain(template, page.markup(), page.zone()) if template else Explanation()


def sent_task(task: str, pages: Sequence[Page], now: datetime) -> bytes:
    """For `do_task`: a line of JSON, then the bodies one after the other."""
    heads = [head_of(page) for page in pages]
    head = {"task": task, "pages": heads, "lengths": [len(page.body) for page in pages], "now": now}
    return orjson.dumps(head) + b"\n" + b"".join(page.body for page in pages)


def is_task(received: bytes) -> bool:
    return received.startswith(_MARK)


def do_task(received: bytes) -> Lesson | Explanation:
    head, _, bodies = received.partition(b"\n")
    said = orjson.loads(head)
    pages, at = list[Page](), 0
    for one, length in zip(said["pages"], said["lengths"], strict=True):
        pages.append(page_with(one, bodies[at : at + length]))
        at += length
    return teach(pages, datetime.fromisoformat(said["now"])) if said["task"] == "teach" else explained(pages[0])


def lesson_from(value: object) -> Lesson:
    """What a child answered; checked, since a page may have taken its child over."""
    try:
        lesson = _lessons().validate_python(value)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as problem:
        raise UsageError(NO_LESSON) from problem
    if any(template_from(one.template) is None for one in lesson.taught):
        raise UsageError(NO_LESSON)
    return lesson


def explanation_from(value: object) -> Explanation:
    """The same for a page that was explained; what is not believed explains nothing."""
    try:
        return _explanations().validate_python(value)
    except ValueError:
        return Explanation()


def _training_page(page: Page, now: datetime) -> TrainingPage | None:
    found = extract(replace(page, guide=None, is_hurried=False, asks_plugins=False), now)
    if not isinstance(found, Article) or found.page_type is PageType.LISTING:
        return None
    return TrainingPage(
        url=page.url,
        html=page.html(),
        general=found.text,
        feed=text_of_html(page.hints.content) if page.hints.content else "",
        title=found.title,
        author=found.author,
        published_at=found.published_at,
        zone=page.zone(),
    )


def _is_served(page: Page) -> bool:
    template = template_in(page.guide) if page.guide else None
    return template is not None and isinstance(serve(template, page.markup(), page.zone()), Served)


def _read_by(templates: Mapping[str, Template], lessons: Sequence[TrainingPage]) -> int:
    """Each page counts once, by the template it would be lent."""
    lent = [(templates.get(section_of(lesson.url)) or templates.get(""), lesson) for lesson in lessons]
    return sum(isinstance(serve(one, lesson.html, lesson.zone), Served) for one, lesson in lent if one)


def _by_section(lessons: Sequence[TrainingPage]) -> dict[str, Template]:
    groups: dict[str, list[TrainingPage]] = defaultdict(list)
    for lesson in lessons:
        groups[section_of(lesson.url)].append(lesson)
    if len(groups) == 1:
        return {}
    learned = {section: learn(own) for section, own in groups.items() if section and len(own) >= FEWEST_PAGES}
    return {section: one for section, one in learned.items() if isinstance(one, Template)}


def _taught(section: str, template: Template, lessons: Sequence[TrainingPage]) -> Taught:
    own = [lesson for lesson in lessons if section in ("", section_of(lesson.url))]
    answers = [(serve(template, lesson.html, lesson.zone), lesson) for lesson in own]
    agreed = [_agreement(answer, lesson) for answer, lesson in answers if isinstance(answer, Served)]
    return Taught(
        section=section,
        template=written(template),
        pages=len(agreed),
        agreement=round(mean(agreed), 4) if agreed else 0.0,
    )


def _agreement(answer: Served, lesson: TrainingPage) -> float:
    return agreement(answer.text, lesson.general, headings_of(seen_page(lesson.html)))


@cache
def _lessons() -> "TypeAdapter[Lesson]":
    from pydantic import TypeAdapter

    return TypeAdapter(Lesson)


@cache
def _explanations() -> "TypeAdapter[Explanation]":
    from pydantic import TypeAdapter

    return TypeAdapter(Explanation)
