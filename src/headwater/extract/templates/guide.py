"""A host's template beside one of its pages: what it is sent with, and what came of it."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache

import orjson

from headwater.extract.templates.template import Template, template_from, written
from headwater.extract.text import tokens

PRODUCER = "template"
DISAGREES = "disagrees"
# Below this the two read different texts, and the one that knows nothing of the host is believed.
SAME_TEXT = 0.4
_RUN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """`name` is what a document will say it was read by, `template` what `written` wrote, as JSON."""

    name: str
    template: str
    audits: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Guided:
    """`refused` says why the template did not speak for the page; `agreement` is with the general extractor, where
    that was asked as well; `hashes` are for `Template.after`.
    """

    refused: str = ""
    agreement: float | None = None
    hashes: tuple[int, ...] = ()


def packed(template: Template) -> str:
    """For a guide: what was served lately is nothing a page has to know."""
    return orjson.dumps(written(replace(template, emitted=()))).decode()


def name_of(section: str, version: int) -> str:
    """`template@3`, or `template/sport@3` where only a section of the host is laid out like this."""
    return f"{PRODUCER}{f'/{section}' if section else ''}@{version}"


def template_in(guide: Guide) -> Template | None:
    return _unpacked(guide.template)


@lru_cache(1_024)
def _unpacked(template: str) -> Template | None:
    return template_from(orjson.loads(template))


def agreement(one: str, other: str) -> float:
    """How much of two texts is the same, 0 to 1: the runs of three words they share."""
    ours, theirs = _runs(one), _runs(other)
    both, either = (ours & theirs).total(), ours.total() + theirs.total()
    return 2 * both / either if either else 1.0


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = tokens(text)
    return Counter(zip(*(words[at:] for at in range(_RUN)), strict=False))
