"""Why a page was served as it was, or refused: one line a block, for people."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, tzinfo

from selectolax.lexbor import LexborHTMLParser

from headwater.extract.elements import Elements
from headwater.extract.templates.blocks import blocks_of
from headwater.extract.templates.facts import Facts, has_feature
from headwater.extract.templates.reading import Judged
from headwater.extract.templates.server import Attempt, Reason, attempts, reason_in_facts
from headwater.extract.templates.template import Template

_SHOWN_TEXT = 80
_SHOWN_STEPS = 3


@dataclass(frozen=True, slots=True)
class Explanation:
    """`against` is none for a page that would be served; `attempts` are the variants in the order they were tried."""

    against: Reason | None
    missing: tuple[str, ...]
    attempts: tuple[Attempt, ...]

    def lines(self) -> list[str]:
        missing = [f"the page lacks {name}, which every training page had" for name in self.missing]
        return [*missing, *(line for attempt in self.attempts for line in _lines(attempt))]


def explain(template: Template, html: str, zone: tzinfo = UTC) -> Explanation:
    """All variants are tried even where the page's own word already speaks against it."""
    tree = LexborHTMLParser(html)
    facts = Facts(Elements(tree), blocks_of(tree), zone)
    tried = tuple(attempts(template, facts))
    found = [one.against for one in tried]
    named = next((one for one in found if one is not Reason.NO_CONTAINER), Reason.NO_CONTAINER)
    return Explanation(
        against=reason_in_facts(template, facts) or (None if None in found else named),
        missing=tuple(name for name in template.required if not has_feature(facts, name)),
        attempts=tried,
    )


def _lines(attempt: Attempt) -> Iterator[str]:
    yield f"{attempt.selector}: {attempt.against or 'served'}"
    yield from (_line(one) for one in attempt.judged)


def _line(judged: Judged) -> str:
    mark = "+" if judged.verdict.keep else "-"
    where = " > ".join(judged.block.path[-_SHOWN_STEPS:])
    return f"{mark} {judged.block.text[:_SHOWN_TEXT]!r} at {where}: {judged.verdict.why}"
