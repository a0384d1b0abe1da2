"""The simulated career sites know the truth about every vacancy they show."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import feedparser
import pytest

from headwater.extraction.jobs.normalise import Employer, harvest_of
from headwater.extraction.jobs.pages import vacancies_in
from headwater.extraction.jobs.records import vacancy_listed
from headwater.extraction.jobs.vacancy import RawVacancy
from headwater.simweb.message import Request
from headwater.simweb.world import Publisher, World
from headwater.simweb.world.vacancies import Vacancy as Truth
from headwater.vacancy import NewJob

NOW = datetime(2026, 5, 4, 10, tzinfo=UTC)
PER_PAGE = 20


@dataclass(frozen=True)
class Entry:
    """As a feed's reader hands it over."""

    url: str
    title: str
    author: str
    summary: str
    content: str
    language: str = ""
    fields: dict[str, Any] = field(default_factory=dict)


@pytest.fixture(scope="module")
def world() -> World:
    return World(7, 120, start=NOW, rate=0.5)


def page(world: World, url: str) -> bytes:
    parts = urlsplit(url)
    answer = world.sites[parts.netloc].page(Request("GET", parts.netloc, parts.path, parts.query, {}), NOW)
    assert answer is not None
    return answer.body


def employers(world: World, **having: object) -> Iterator[tuple[Publisher, list[Truth]]]:
    for publisher in world.publishers:
        if publisher.kind == "jobs" and all(getattr(publisher, name) == value for name, value in having.items()):
            yield publisher, list(world.vacancies(publisher, NOW))


def stored(found: tuple[RawVacancy, ...], publisher: Publisher) -> list[NewJob]:
    harvest = harvest_of(found, Employer(publisher.name, publisher.org_type, f"{publisher.home}careers"), NOW)
    assert harvest.skipped == ()
    return list(harvest.vacancies)


def named(truth: Truth) -> tuple[object, ...]:
    return truth.title, truth.url, truth.org_name, truth.org_type, truth.level, truth.missions


def seen_named(vacancy: NewJob) -> tuple[object, ...]:
    told = (vacancy.title, vacancy.apply_url, vacancy.org_name, vacancy.org_type)
    return (*told, vacancy.level_norm, vacancy.mission_tags)


def placed(truth: Truth) -> tuple[object, ...]:
    return truth.location_raw, truth.location.iso, truth.location.country, truth.location.city


def seen_placed(vacancy: NewJob) -> tuple[object, ...]:
    return vacancy.location_raw, vacancy.country_iso, vacancy.country, vacancy.city


def agreed(truth: Truth) -> tuple[object, ...]:
    return truth.modality, truth.contract, truth.career_type


def seen_agreed(vacancy: NewJob) -> tuple[object, ...]:
    return vacancy.work_modality or "onsite", vacancy.contract_type, vacancy.career_type or "staff"


@pytest.mark.parametrize("style", ["job-listing", "job-row", "job", "links"])
def test_every_layout_of_a_listing_tells_what_it_shows(world: World, style: str) -> None:
    for publisher, truths in employers(world, listing_style=style):
        url = f"{publisher.home}careers"
        seen = stored(vacancies_in(page(world, url), url), publisher)
        shown = truths[:PER_PAGE]
        assert [*map(seen_named, seen)] == [*map(named, shown)]
        if style != "links":
            assert [*map(seen_placed, seen)] == [*map(placed, shown)]
        if style in {"job-listing", "job-row"}:
            assert [one.deadline for one in seen] == [truth.deadline for truth in shown]


@pytest.mark.long
def test_detail_pages_tell_everything(world: World) -> None:
    for publisher, truths in employers(world):
        for truth in truths[:PER_PAGE]:
            (seen,) = stored(vacancies_in(page(world, truth.url), truth.url), publisher)
            assert seen_named(seen) == named(truth)
            assert seen_placed(seen) == placed(truth)
            assert seen_agreed(seen) == agreed(truth)
            assert seen.deadline == truth.deadline
            assert seen.compensation_visible == (truth.salary_usd is not None)
            assert (seen.compensation_min_usd, seen.compensation_max_usd) == (truth.salary_usd or (None, None))


def test_feeds_tell_place_and_deadline_in_prose(world: World) -> None:
    feeds = [(publisher, truths) for publisher, truths in employers(world) if publisher.feeds]
    assert feeds
    for publisher, truths in feeds:
        parsed = feedparser.parse(page(world, publisher.feeds[0].url))
        items = [Entry(one.link, one.title, one.author, one.summary, "") for one in parsed.entries]
        seen = stored(tuple(map(vacancy_listed, items)), publisher)
        shown = truths[: publisher.feeds[0].window]
        assert [one.title for one in seen] == [truth.title for truth in shown]
        assert [*map(seen_placed, seen)] == [*map(placed, shown)]
        assert [one.deadline for one in seen] == [truth.deadline for truth in shown]


def test_one_vacancy_is_one_in_every_channel(world: World) -> None:
    for publisher, truths in employers(world, listing_style="job-listing"):
        listing = f"{publisher.home}careers"
        listed = stored(vacancies_in(page(world, listing), listing), publisher)
        detailed = [stored(vacancies_in(page(world, one.url), one.url), publisher)[0] for one in truths[:PER_PAGE]]
        hashes = [[one.canonical_hash for one in way] for way in (listed, detailed)]
        assert hashes[0] == hashes[1]
