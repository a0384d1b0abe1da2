"""All that the reader of one answer has to know: plain values, because they go into a child."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from headwater.discover.polls.run_state import RunState
from headwater.extract.jobs.normalise import Employer
from headwater.sources.kinds import ChannelKind
from headwater.urls.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A channel and its source, as far as they matter for reading."""

    kind: ChannelKind
    url: str
    recipe: str | None = None
    scope: Scope = Scope()  # noqa: RUF009 - a frozen value
    article_patterns: tuple[str, ...] = ()
    selectors: Mapping[str, Any] = field(default_factory=dict)
    max_depth: int = 0
    most_answers: int = 1  # that one run may ask for in all
    most_api_pages: int | None = None
    is_wanted_whole: bool = False  # whatever its age, as the pages of a manual
    lists_vacancies: bool = False
    employer: Employer = Employer()  # noqa: RUF009 - a frozen value
    vacancy_selector: str = ""
    followed_since: datetime | None = None  # the source
    last_ok_at: datetime | None = None
    since: datetime | None = None  # how far back it is read, where a person said so
    answers: Mapping[str, Any] = field(default_factory=dict)
    followed: frozenset[ChannelKind] = frozenset()


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as its reader needs it."""

    url: str
    body: bytes
    content_type: str = ""
    asked_as: str = ""  # our product token: what a page says to it is said to us
    sitemaps: tuple[str, ...] = ()  # that robots.txt names, where a search wants to know


@dataclass(frozen=True, slots=True)
class Task:
    subject: Subject
    run_state: RunState
    reply: Reply
    now: datetime
