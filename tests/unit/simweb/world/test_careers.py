import json
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import urljoin

import feedparser
import pytest
from lxml import etree

from headwater.simweb.message import Page
from headwater.simweb.world import Publisher, Vacancy, World

Ask = Callable[..., Page | None]


@pytest.fixture(scope="module")
def employers(world: World) -> list[Publisher]:
    return [publisher for publisher in world.publishers if publisher.kind == "jobs"]


def listed(ask: Ask, publisher: Publisher) -> list[str]:
    """Addresses of the vacancies on all pages of the HTML list."""
    found: list[str] = []
    url: str | None = f"{publisher.home}careers"
    while url:
        page = ask(url)
        assert page is not None
        tree = etree.HTML(page.body)
        found += [urljoin(url, link) for link in tree.xpath("//main//a[contains(@href, '/jobs/')]/@href")]
        following = tree.xpath("//a[@rel='next']/@href")
        url = urljoin(url, following[0]) if following else None
    return found


def posting(page: Page) -> dict[str, object]:
    script = etree.HTML(page.body).xpath("//script[@type='application/ld+json']/text()")[0]
    data = json.loads(script)
    assert isinstance(data, dict)
    return data


def test_every_list_style_and_pagination_occurs(employers: list[Publisher]) -> None:
    assert {p.listing_style for p in employers} == {"job-listing", "job-row", "job", "links"}
    assert {p.api for p in employers} == {"page", "offset", "cursor", None}


def test_html_lists_show_exactly_the_open_vacancies(
    world: World, employers: list[Publisher], ask: Ask, start: datetime
) -> None:
    for publisher in employers:
        truth = [vacancy.url for vacancy in world.vacancies(publisher, start)]
        assert truth
        assert listed(ask, publisher) == truth


@pytest.mark.parametrize("style", ["div.job-listing", "tr.job-row", "li.job"])
def test_lists_use_the_class_names_extractors_look_for(
    world: World, employers: list[Publisher], ask: Ask, start: datetime, style: str
) -> None:
    tag, name = style.split(".")
    publisher = next(p for p in employers if p.listing_style == name)
    page = ask(f"{publisher.home}careers")
    assert page is not None
    shown = etree.HTML(page.body).xpath(f"//{tag}[@class='{name}']")
    assert len(shown) == min(20, len(list(world.vacancies(publisher, start))))


def test_detail_pages_tell_the_truth(world: World, employers: list[Publisher], ask: Ask, start: datetime) -> None:
    for publisher in employers:
        for vacancy in world.vacancies(publisher, start):
            page = ask(vacancy.url)
            assert page is not None
            data = posting(page)
            assert data["title"] == vacancy.title
            assert data["validThrough"] == vacancy.deadline.isoformat()
            assert data["datePosted"] == vacancy.posted.isoformat()
            assert (data.get("jobLocationType") == "TELECOMMUTE") == (vacancy.modality == "remote")
            text = " ".join(etree.HTML(page.body).itertext())
            for said in (vacancy.location_raw, vacancy.level, vacancy.modality_label, *vacancy.description):
                assert said in text


def api_records(ask: Ask, publisher: Publisher) -> list[dict[str, object]]:
    records: list[dict[str, object]] = []
    query: str | None = {"page": "page=1", "offset": "offset=0", "cursor": ""}[str(publisher.api)]
    while query is not None:
        page = ask(f"{publisher.home}api/jobs?{query}")
        assert page is not None
        assert page.content_type == "application/json"
        answer = json.loads(page.body)
        shown = answer.get("jobs") or answer.get("results") or answer.get("items") or []
        records += shown
        if publisher.api == "cursor":
            query = f"cursor={answer['next_cursor']}" if answer["next_cursor"] else None
        else:
            following = {"page": f"page={answer.get('page', 0) + 1}", "offset": f"offset={len(records)}"}
            query = following[str(publisher.api)] if shown else None
    return records


def test_apis_list_exactly_the_open_vacancies(
    world: World, employers: list[Publisher], ask: Ask, start: datetime
) -> None:
    for publisher in employers:
        if publisher.api is None:
            assert ask(f"{publisher.home}api/jobs") is None
            continue
        truth = [(v.title, v.url, v.deadline.isoformat()) for v in world.vacancies(publisher, start)]
        assert [(r["title"], r["url"], r["deadline"]) for r in api_records(ask, publisher)] == truth


def test_feeds_list_the_newest_vacancies(world: World, employers: list[Publisher], ask: Ask, start: datetime) -> None:
    with_feed = [publisher for publisher in employers if publisher.feeds]
    assert with_feed
    for publisher in with_feed:
        feed = publisher.feeds[0]
        page = ask(feed.url)
        assert page is not None
        answer = feedparser.parse(page.body)
        assert not answer.bozo
        truth = [vacancy.title for vacancy in world.vacancies(publisher, start)]
        assert [entry.title for entry in answer.entries] == truth[: feed.window]


def test_vacancies_vanish_after_their_deadline(
    world: World, employers: list[Publisher], ask: Ask, start: datetime
) -> None:
    later = start + timedelta(days=15)
    expired = [
        vacancy
        for publisher in employers
        for vacancy in world.vacancies(publisher, start)
        if vacancy.deadline < (later - timedelta(days=1)).date()
    ]
    still_open = {vacancy.url for publisher in employers for vacancy in world.vacancies(publisher, later)}
    gone = [vacancy for vacancy in expired if vacancy.url not in still_open]
    assert len(gone) > len(expired) / 2
    assert all(ask(vacancy.url, later) is None for vacancy in gone)


def test_some_vacancies_come_back_with_a_new_deadline(
    world: World, employers: list[Publisher], ask: Ask, start: datetime
) -> None:
    seen: dict[str, Vacancy] = {}
    returned = []
    for day in range(40):
        now = start + timedelta(days=day)
        for vacancy in (v for p in employers for v in world.vacancies(p, now)):
            first = seen.setdefault(vacancy.url, vacancy)
            if vacancy.deadline > first.deadline:
                returned.append((vacancy, now))
    assert returned
    vacancy, now = returned[0]
    page = ask(vacancy.url, now)
    assert page is not None
    assert posting(page)["validThrough"] == vacancy.deadline.isoformat()


def test_vocabularies_are_all_in_use(world: World, employers: list[Publisher], start: datetime) -> None:
    offered = [vacancy for publisher in employers for vacancy in world.vacancies(publisher, start)]
    assert {vacancy.level for vacancy in offered} == {"intern", "junior", "mid", "senior", "lead"}
    assert {vacancy.modality for vacancy in offered} == {"onsite", "field", "remote", "hybrid", "home_based"}
