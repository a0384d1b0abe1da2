"""A vacancy on its way: as a page states it, as we store it, or why it is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any

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
    """What is offered, in its own currency; an empty `currency` or `period` was not said."""

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


@dataclass(frozen=True, slots=True)
class Vacancy:
    """A row of the jobs table, without what only the database knows. None and () mean: not said."""

    title: str
    org_name: str
    apply_url: str
    canonical_hash: str
    language: str = ""
    location_raw: str = ""
    country: str | None = None
    country_iso: str | None = None
    city: str | None = None
    region_code: str | None = None
    level_norm: str | None = None
    mission_tags: tuple[str, ...] = ()
    functional_tags: tuple[str, ...] = ()
    international_eligible: bool = False
    deadline: date | None = None
    application_window: Mapping[str, str] = field(default_factory=dict)
    description_snippet: str = ""
    org_type: str | None = None
    career_type: str | None = None
    contract_type: str | None = None
    contract_duration_months: int | None = None
    contract_urgency: str | None = None
    work_modality: str | None = None
    work_hours: str | None = None
    benefits: tuple[str, ...] = ()
    policy_flags: tuple[str, ...] = ()
    donor_context: tuple[str, ...] = ()
    project_modality: str | None = None
    procurement_vehicle: str | None = None
    crisis_type: tuple[str, ...] = ()
    response_phase: str | None = None
    humanitarian_cluster: tuple[str, ...] = ()
    surge_required: bool | None = None
    deployment_timeframe: str | None = None
    duty_station_hardship: str | None = None
    compensation_visible: bool = False
    compensation_type: str | None = None  # the period it is paid for
    compensation_min_usd: Decimal | None = None
    compensation_max_usd: Decimal | None = None
    compensation_currency: str | None = None
    compensation_confidence: float | None = None
    data_provenance: str = ""
    raw_metadata: Mapping[str, Any] = field(default_factory=dict)
