"""A vacancy on its way into the archive, and what becomes of it beside the one that stands there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from headwater.storable import storable
from headwater.urls.canonical import CanonicalUrl, web_addresses
from headwater.urls.domains import Voice
from headwater.urls.fingerprint import DocumentKey
from headwater.vacancy import DEFAULTS, FIELDS, NewJob

# A day is over when it is over everywhere on earth.
LAST_ZONE = timedelta(hours=12)


class JobStatus(StrEnum):
    ACTIVE = "active"
    EXPIRED = "expired"
    DELETED = "deleted"  # by a person, for good; or by a takedown, for as long as that holds


@dataclass(frozen=True, slots=True)
class Teller:
    """A list or a page that names vacancies, with the hosts it may speak for. `channel_id` None: a page."""

    source_id: UUID
    url: str
    voice: Voice
    channel_id: UUID | None = None
    source_url: str = ""  # empty: a source that only collects what people added by hand

    def speaks_for(self, job: NewJob) -> bool:
        """Whether its word counts for the place where one applies."""
        return any(self.voice.covers(url.host) for url in web_addresses(job.apply_url))


@dataclass(frozen=True, slots=True)
class StandingJob:
    """`is_abandoned`: its source was deleted. `is_deleted_by_person`: a person deleted the vacancy."""

    job: NewJob
    status: JobStatus
    version: int
    source_id: UUID
    is_spoken_for: bool = False
    is_abandoned: bool = False
    is_deleted_by_person: bool = False

    @property
    def is_free(self) -> bool:
        """Nobody tells it any more: the next teller may, in words of its own."""
        return self.is_abandoned or self.status is not JobStatus.ACTIVE

    def is_told_by(self, teller: Teller) -> bool:
        return self.status is JobStatus.ACTIVE and self.source_id == teller.source_id


@dataclass(frozen=True, slots=True)
class Write:
    """New, if its version is 1; else changed, taken over, or back after it had expired."""

    job: NewJob
    version: int
    is_spoken_for: bool = False


@dataclass(frozen=True, slots=True)
class SeenAgain:
    key: DocumentKey


@dataclass(frozen=True, slots=True)
class SeenElsewhere:
    """By a teller that has no say: noted beside the vacancy, which stays as it is."""

    key: DocumentKey


@dataclass(frozen=True, slots=True)
class Ignored:
    """Over before it was ever seen, or taken out by a person."""


Sighting = Write | SeenAgain | SeenElsewhere | Ignored


def judge_sighting(standing: StandingJob | None, new: NewJob, teller: Teller, now: datetime) -> Sighting:
    """One source tells a vacancy, in words of those who may speak for it or of those who may not, never in both."""
    speaks = teller.speaks_for(new)
    if standing is None:
        return Ignored() if is_over(new, now) else Write(new, 1, speaks)
    if standing.is_deleted_by_person:
        return Ignored()
    is_own = teller.source_id == standing.source_id
    if is_own and speaks == standing.is_spoken_for:
        return _told_again(standing, new, now)
    if _takes_over(standing, new, now, speaks=speaks):
        return Write(new, standing.version + 1, speaks)
    return SeenAgain(new.key) if is_own else SeenElsewhere(new.key)


def judge_redirected(standing: StandingJob | None, new: NewJob, teller: Teller, now: datetime) -> Sighting:
    """Where its listed address led to the page that tells it: a list takes nothing over that it did not name."""
    if standing and standing.status is JobStatus.ACTIVE and standing.is_spoken_for != teller.speaks_for(new):
        return SeenAgain(new.key) if standing.is_told_by(teller) else SeenElsewhere(new.key)
    return judge_sighting(standing, new, teller, now)


def _takes_over(standing: StandingJob, new: NewJob, now: datetime, *, speaks: bool) -> bool:
    if speaks and not standing.is_spoken_for:
        return standing.status is JobStatus.ACTIVE or not is_over(new, now)
    # What its last words called over, words without a deadline do not bring back.
    return standing.is_free and not is_over(replace(new, deadline=new.deadline or standing.job.deadline), now)


def _told_again(standing: StandingJob, new: NewJob, now: datetime) -> Sighting:
    if is_over(new, now) and standing.job.deadline and not is_over(standing.job, now):
        # It was put off, and not everywhere at once: the two would alternate.
        new = replace(new, deadline=None)
    merged = merge(standing.job, new)
    is_back = standing.status is not JobStatus.ACTIVE and not is_over(merged, now)
    # Known for the first time: it decides how the vacancy is searched. Later it only shows how it was read.
    has_language = bool(merged.language) and not standing.job.language
    has_changed = standing.status is JobStatus.ACTIVE and (has_language or merged.tracked != standing.job.tracked)
    is_told_anew = is_back or has_changed
    return Write(merged, standing.version + 1, standing.is_spoken_for) if is_told_anew else SeenAgain(new.key)


def merge(old: NewJob, new: NewJob) -> NewJob:
    """A missing field takes nothing back, and an assumed one stands only where nobody has said anything. A list does
    not overrule the vacancy's own page: the two would alternate."""
    first, second = (old, new) if old.is_detailed and not new.is_detailed else (new, old)
    theirs, others = first.said, second.said
    said = {name: theirs[name] or others[name] for name in FIELDS}
    # A deadline is put off everywhere at once, and lists are read more often.
    deadline = new.deadline or old.deadline
    window = _window(first, second, deadline)
    merged = replace(new, **said | {"deadline": deadline, "application_window": window})
    return _assuming(merged, _assumptions(first, second, merged))


def _window(first: NewJob, second: NewJob, deadline: date | None) -> Mapping[str, str]:
    window = {**second.application_window, **first.application_window}
    return window | {"closes": deadline.isoformat()} if deadline and "closes" in window else window


def _assumptions(first: NewJob, second: NewJob, merged: NewJob) -> dict[str, Any]:
    """For what neither has said; words that nobody understood do say something."""
    open_to_us = (first.assumed | second.assumed) - set(merged.raw_metadata.get("unknown", ()))
    guessed = {name: getattr(first, name) or getattr(second, name) for name in open_to_us}
    return {name: value for name, value in guessed.items() if value and not getattr(merged, name)}


def _assuming(job: NewJob, assumed: Mapping[str, Any]) -> NewJob:
    if not (assumed or job.raw_metadata):
        return job
    return replace(job, **assumed, raw_metadata={**job.raw_metadata, "assumed": sorted(assumed)})


def move_job(job: NewJob, to: CanonicalUrl | None) -> NewJob:
    """The same vacancy at the address to which its own redirects; None: it stays where it is."""
    return replace(job, canonical_hash=to.url_hash, apply_url=to.url) if to else job


def with_former_words(job: NewJob, former: Iterable[StandingJob], teller: Teller) -> NewJob:
    """With the words of its list about a vacancy under addresses that led to this one, where both words count alike."""
    for one in former:
        if one.is_spoken_for == teller.speaks_for(one.job) == teller.speaks_for(job):
            same = replace(one.job, canonical_hash=job.canonical_hash, apply_url=job.apply_url)
            job = replace(merge(same, job), page_url=job.page_url, is_detailed=job.is_detailed, document=job.document)
    return job


def key_at(url: CanonicalUrl) -> DocumentKey:
    """Of the vacancy for which one applies at this address alone."""
    return DocumentKey(url.url_hash[0], url.url_hash)


def is_over(job: NewJob, now: datetime) -> bool:
    return job.deadline is not None and (now - LAST_ZONE).date() > job.deadline


def clean_job(job: NewJob) -> NewJob:
    """As the database would give it back, so that the two can be compared."""
    return replace(job, **{name: as_given_back(storable(getattr(job, name))) for name in FIELDS if name != "document"})


def as_given_back(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def row_of(write: Write) -> dict[str, Any]:
    """Named as the columns of `jobs`, in what JSON can say."""
    job = with_defaults(write.job)
    bucket, url_hash = job.document or (None, None)
    values = {name: in_json(getattr(job, name)) for name in FIELDS if name != "document"}
    values |= {"bucket": job.key.bucket, "version": write.version, "is_spoken_for": write.is_spoken_for}
    return values | {"document_bucket": bucket, "document_hash": in_json(url_hash)}


def with_defaults(job: NewJob) -> NewJob:
    """With what holds where nothing is said, marked as such; words that nobody understood do say something."""
    unknown = job.raw_metadata.get("unknown", ())
    lacking = {name: value for name, value in DEFAULTS.items() if getattr(job, name) is None and name not in unknown}
    standing = {name: getattr(job, name) for name in job.assumed if getattr(job, name)}
    return _assuming(job, standing | lacking)


def in_json(value: Any) -> Any:
    match value:
        case bytes():
            return f"\\x{value.hex()}"
        case Decimal():
            return f"{value:f}"
    return value
