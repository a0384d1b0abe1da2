"""A vacancy as pages and lists tell it and as the archive keeps it: a row of `jobs`, but for its life there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any

from headwater.errors import UsageError
from headwater.urls.fingerprint import DocumentKey

# How a vacancy was read is no part of what it says.
NOT_TRACKED = frozenset(
    {"language", "compensation_confidence", "data_provenance", "raw_metadata", "is_detailed", "page_url", "document"}
)
# Where nothing is said. Only when it is stored: a page that says nothing does not overrule a list that does.
DEFAULTS = {"work_modality": "onsite", "career_type": "staff"}
# What may stand there without a word of the vacancy's: a source's name and kind, a level read off the title, defaults.
ASSUMABLE = frozenset({"org_name", "org_type", "level_norm", *DEFAULTS})
# Known of a vacancy without its words: no page may say them.
NOT_TOLD = frozenset({"is_detailed", "page_url", "document"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """None, False and an empty value mean: not said. `is_detailed`: read on the vacancy's own page, not in a list.
    `page_url` is the address its words were read from.
    """

    canonical_hash: bytes
    title: str
    org_name: str
    apply_url: str
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
    is_detailed: bool = False
    page_url: str = ""
    document: DocumentKey | None = None

    def __post_init__(self) -> None:
        if len(self.canonical_hash) != 32 or not self.title:
            raise UsageError(f"The vacancy {self.title!r} lacks its title or a hash of 32 bytes.")

    @property
    def key(self) -> DocumentKey:
        """A vacancy may have no host of its own: its bucket is the first byte of its hash."""
        return DocumentKey(self.canonical_hash[0], self.canonical_hash)

    @property
    def told(self) -> dict[str, Any]:
        """The fields that a page or a list can tell, by name."""
        return {name: getattr(self, name) for name in TOLD}

    @property
    def tracked(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in FIELDS if name not in NOT_TRACKED}

    @property
    def assumed(self) -> frozenset[str]:
        """Fields that nobody has said. Rows from before these were marked show it by what their facts lack."""
        if (marked := self.raw_metadata.get("assumed")) is not None:
            return frozenset(marked)
        facts = self.raw_metadata.get("facts")
        if facts is None:
            return frozenset()
        return frozenset(
            name for name in ASSUMABLE - set(facts) if getattr(self, name) == DEFAULTS.get(name, getattr(self, name))
        )

    @property
    def said(self) -> dict[str, Any]:
        assumed = self.assumed
        return {name: NOT_SAID.get(name) if name in assumed else getattr(self, name) for name in FIELDS}


FIELDS = tuple(NewJob.__dataclass_fields__)
TOLD = tuple(name for name in FIELDS if name not in NOT_TOLD)
NOT_SAID = {"org_name": ""}  # any other that may be assumed: None


def jobs_on(found: Iterable[NewJob], page_url: str, *, is_detailed: bool) -> list[NewJob]:
    """With the page or the list on which they were found, whatever the child that read it says of that."""
    return [replace(one, page_url=page_url, is_detailed=is_detailed, document=None) for one in found]
