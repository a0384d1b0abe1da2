"""Why a page was served as it was, or refused: variant by variant, block by block."""

from dataclasses import dataclass
from datetime import UTC, tzinfo

from headwater.extraction.elements import Elements
from headwater.extraction.hidden import visible_page
from headwater.extraction.templates.facts import has_feature
from headwater.extraction.templates.reading import Judged
from headwater.extraction.templates.server import (
    Attempt,
    TemplateRefusalReason,
    attempts,
    facts_of,
    reason_in_facts,
)
from headwater.extraction.templates.template import Template

_SHOWN_TEXT = 80
_SHOWN_STEPS = 3


@dataclass(frozen=True, slots=True)
class ExplainedBlock:
    """A block of the page by its beginning, where it stands, and what becomes of it."""

    kept: bool
    text: str
    where: str
    why: str


@dataclass(frozen=True, slots=True)
class Tried:
    """One variant of the template; `against` is empty where it would have served the page."""

    selector: str
    against: TemplateRefusalReason | None
    pieces: tuple[ExplainedBlock, ...]


@dataclass(frozen=True, slots=True)
class TemplateExplanation:
    """`against` is none for a page that would be served; `missing` are marks that every training page had."""

    against: TemplateRefusalReason | None = None
    missing: tuple[str, ...] = ()
    tried: tuple[Tried, ...] = ()


def explain(template: Template, html: str | bytes, zone: tzinfo = UTC) -> TemplateExplanation:
    """All variants are tried even where the page's own word already speaks against it."""
    facts = facts_of(Elements(visible_page(html)), zone)
    tried = tuple(map(_tried, attempts(template, facts)))
    found = [one.against for one in tried]
    named = next(
        (one for one in found if one is not TemplateRefusalReason.NO_CONTAINER), TemplateRefusalReason.NO_CONTAINER
    )
    return TemplateExplanation(
        against=reason_in_facts(template, facts) or (None if None in found else named),
        missing=tuple(name for name in template.required if not has_feature(facts, name)),
        tried=tried,
    )


def _tried(attempt: Attempt) -> Tried:
    return Tried(attempt.selector, attempt.against, tuple(map(_piece, attempt.judged)))


def _piece(judged: Judged) -> ExplainedBlock:
    where = " > ".join(judged.block.path[-_SHOWN_STEPS:])
    return ExplainedBlock(judged.verdict.keep, judged.block.text[:_SHOWN_TEXT], where, judged.verdict.why)
