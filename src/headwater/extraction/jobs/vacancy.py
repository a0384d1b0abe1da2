"""A vacancy as a page states it, or why it is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

SNIPPET_CHARACTERS = 500
LONGEST_FACT = 300


class FoundBy(StrEnum):
    JSON_LD = "json_ld"
    HINT = "parser_hint"
    SELECTOR = "selector"
    LINK = "link"
    PAGE = "page"  # the text of its own page
    FEED = "feed"
    API = "api"


@dataclass(frozen=True, slots=True)
class Pay:
    """The pay offered, in its own currency; an empty `currency` or `period` was not said."""

    low: Decimal | None
    high: Decimal | None
    currency: str = ""
    period: str = ""  # hour, day, week, month, year


@dataclass(frozen=True, slots=True)
class RawVacancy:
    """As found, nothing interpreted. `facts` are named as in `labels.py`; `url` may be the listing's own."""

    title: str
    url: str
    found_by: FoundBy
    description: str = ""  # plain text
    facts: Mapping[str, str] = field(default_factory=dict)
    pay: Pay | None = None
    languages: tuple[str, ...] = ()  # declared for it, best first

    @property
    def org_name(self) -> str:
        return self.facts.get("org_name", "")

    @property
    def location_raw(self) -> str:
        return self.facts.get("location", "")

    @property
    def deadline(self) -> str:
        return self.facts.get("deadline", "")


class SkipReason(StrEnum):
    NO_TITLE = "no_title"
    NO_URL = "no_url"
    EXPIRED = "expired"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Skipped:
    reason: SkipReason
    title: str
    url: str
