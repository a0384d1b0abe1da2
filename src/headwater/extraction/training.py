"""Trainings in a child: stored pages of one host go in, templates come out; or why one reads a page as it does."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from statistics import mean
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from headwater.errors import UsageError
from headwater.extraction.article import Article
from headwater.extraction.blocks import text_of_html
from headwater.extraction.extractor import extract
from headwater.extraction.hidden import visible_page
from headwater.extraction.page import Page, head_of, page_with
from headwater.extraction.page_type import PageType
from headwater.extraction.templates.explain import TemplateExplanation, explain
from headwater.extraction.templates.guide import agreement, template_in
from headwater.extraction.templates.learner import FEWEST_PAGES, NotLearned, TrainingPage, learn
from headwater.extraction.templates.server import ServedPage, serve
from headwater.extraction.templates.steps import headings_of
from headwater.extraction.templates.template import MOST_HOUSE_NAMES, Template, template_from, template_to_json

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_MARK = b'{"task":'
_LONGEST_SECTION = 60
NO_TRAINING = "An extraction child answered with something that is no training."
# Where the whole host's template reads fewer of its pages than this, its sections are tried one by one.
_MOST_PAGES = 0.75
# Who stands on this share of its pages as author is its house, or writes it alone and is found without being asked for.
_ON_NEARLY_ALL = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedTemplate:
    """A template for a section of a host, "" for all of it; `agreement` with the general extractor on its pages."""

    section: str
    template: dict[str, Any]
    pages: int
    agreement: float


@dataclass(frozen=True, slots=True)
class Training:
    """`why` nothing was learned, where that is so; `pages` are those that what was learned would read."""

    learned_templates: tuple[LearnedTemplate, ...] = ()
    why: str = ""
    pages: int = 0


def section_of(url: str) -> str:
    """The first part of the path, where others follow; a year is none."""
    first, *others = urlsplit(url).path.strip("/").split("/")
    return first[:_LONGEST_SECTION] if others and not first.isdigit() else ""


def train(pages: Sequence[Page], now: datetime) -> Training:
    """Only what reads more of these pages than the templates they came with is worth a change."""
    examples = [example for page in pages if (example := _training_page(page, now))]
    house_names = house_names_of([example.authors for example in examples])
    whole = learn(examples)
    found = {"": whole} if isinstance(whole, Template) else {}
    if _read_by(found, examples) < _MOST_PAGES * len(examples):
        found = max(found, found | _by_section(examples), key=lambda one: _read_by(one, examples))
    read, before = _read_by(found, examples), sum(_is_served(page) for page in pages)
    if read <= before:
        return Training((), whole.reason if isinstance(whole, NotLearned) else f"reads {read} pages, {before} before")
    named = {section: replace(template, house_names=house_names) for section, template in found.items()}
    learned_templates = (_learned_template(section, template, examples) for section, template in sorted(named.items()))
    return Training(tuple(one for one in learned_templates if one.pages), pages=read)


def house_names_of(pages: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Of the authors of each page, those of nearly all; nobody where the pages are few."""
    counts = Counter(name for authors in pages for name in set(authors))
    least = _ON_NEARLY_ALL * len(pages)
    if len(pages) < FEWEST_PAGES:
        return ()
    return tuple(sorted(name for name, count in counts.items() if count >= least))[:MOST_HOUSE_NAMES]


def explain_page(page: Page) -> TemplateExplanation:
    template = template_in(page.guide) if page.guide else None
    return explain(template, page.markup(), page.zone()) if template else TemplateExplanation()


def encode_task(task: str, pages: Sequence[Page], now: datetime) -> bytes:
    """For `do_task`: a line of JSON, then the bodies one after the other."""
    heads = [head_of(page) for page in pages]
    head = {"task": task, "pages": heads, "lengths": [len(page.body) for page in pages], "now": now}
    return orjson.dumps(head) + b"\n" + b"".join(page.body for page in pages)


def is_task(received: bytes) -> bool:
    return received.startswith(_MARK)


def do_task(received: bytes) -> Training | TemplateExplanation:
    head, _, bodies = received.partition(b"\n")
    said = orjson.loads(head)
    pages, at = list[Page](), 0
    for one, length in zip(said["pages"], said["lengths"], strict=True):
        pages.append(page_with(one, bodies[at : at + length]))
        at += length
    return train(pages, datetime.fromisoformat(said["now"])) if said["task"] == "train" else explain_page(pages[0])


def training_from(value: object) -> Training:
    """A child's answer; checked, since a page may have taken its child over."""
    try:
        example = _trainings().validate_python(value)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as problem:
        raise UsageError(NO_TRAINING) from problem
    if any(template_from(one.template) is None for one in example.learned_templates):
        raise UsageError(NO_TRAINING)
    return example


def explanation_from(value: object) -> TemplateExplanation:
    """The same for a page that was explained; what is not believed explains nothing."""
    try:
        return _explanations().validate_python(value)
    except ValueError:
        return TemplateExplanation()


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
        authors=found.authors,
        published_at=found.published_at,
        zone=page.zone(),
    )


def _is_served(page: Page) -> bool:
    template = template_in(page.guide) if page.guide else None
    return template is not None and isinstance(serve(template, page.markup(), page.zone()), ServedPage)


def _read_by(templates: Mapping[str, Template], examples: Sequence[TrainingPage]) -> int:
    """Each page counts once, by the template it would be lent."""
    lent = [(templates.get(section_of(example.url)) or templates.get(""), example) for example in examples]
    return sum(isinstance(serve(one, example.html, example.zone), ServedPage) for one, example in lent if one)


def _by_section(examples: Sequence[TrainingPage]) -> dict[str, Template]:
    groups: dict[str, list[TrainingPage]] = defaultdict(list)
    for example in examples:
        groups[section_of(example.url)].append(example)
    if len(groups) == 1:
        return {}
    learned = {section: learn(own) for section, own in groups.items() if section and len(own) >= FEWEST_PAGES}
    return {section: one for section, one in learned.items() if isinstance(one, Template)}


def _learned_template(section: str, template: Template, examples: Sequence[TrainingPage]) -> LearnedTemplate:
    own = [example for example in examples if section in ("", section_of(example.url))]
    answers = [(serve(template, example.html, example.zone), example) for example in own]
    agreed = [_agreement(answer, example) for answer, example in answers if isinstance(answer, ServedPage)]
    return LearnedTemplate(
        section=section,
        template=template_to_json(template),
        pages=len(agreed),
        agreement=round(mean(agreed), 4) if agreed else 0.0,
    )


def _agreement(answer: ServedPage, example: TrainingPage) -> float:
    return agreement(answer.text, example.general, headings_of(visible_page(example.html)))


@cache
def _trainings() -> "TypeAdapter[Training]":
    from pydantic import TypeAdapter

    return TypeAdapter(Training)


@cache
def _explanations() -> "TypeAdapter[TemplateExplanation]":
    from pydantic import TypeAdapter

    return TypeAdapter(TemplateExplanation)
