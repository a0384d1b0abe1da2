"""Two job sources that name one vacancy: whoever may speak for the place where one applies is heard."""

from typing import Any

import pytest
from tests.integration.discover.conftest import Desk
from tests.integration.fetch.conftest import SmallSite

from headwater.simweb.message import Page
from headwater.sources.source import SourceKind

APPLY = "http://a.test/jobs/water-engineer"


def listing(title: str, apply: str = APPLY) -> Page:
    items = f"<item><title>{title}</title><link>{apply}</link><description>As {title} says.</description></item>"
    return Page(f'<rss version="2.0"><channel><title>Jobs</title>{items}</channel></rss>'.encode(), "application/xml")


async def follow(desk: Desk, host: str, page: Page, **profile: Any) -> None:
    site = desk.path.sim.sites[host]
    assert isinstance(site, SmallSite)
    site.pages["/jobs.xml"] = page
    await desk.follow(f"http://{host}/", feeds=(f"http://{host}/jobs.xml",), kind=SourceKind.JOBS, **profile)
    await desk.poll()


async def vacancies(desk: Desk) -> list[tuple[Any, ...]]:
    rows = await desk.path.database.fetch("""
        SELECT j.title, j.description_snippet, s.host, c.host AS listed_at, j.is_spoken_for, j.version
        FROM jobs j JOIN sources s ON s.id = j.source_id JOIN channels c ON c.id = j.channel_id ORDER BY j.title""")
    return [tuple(row) for row in rows]


TRUE = ("Water engineer", "As Water engineer says.", "a.test", "a.test", True)


async def test_a_list_that_claims_another_employers_vacancy_changes_nothing_of_it(desk: Desk) -> None:
    await follow(desk, "a.test", listing("Water engineer"))
    await follow(desk, "b.test", listing("Forged"))
    assert await vacancies(desk) == [(*TRUE, 1)]
    seen = await desk.path.database.fetch("SELECT url FROM job_sightings")
    assert [row["url"] for row in seen] == ["http://b.test/jobs.xml"]


async def test_the_employer_takes_its_vacancy_over_from_a_list_that_named_it_first(desk: Desk) -> None:
    await follow(desk, "b.test", listing("Forged"))
    assert [(title, host) for title, _, host, *_ in await vacancies(desk)] == [("Forged", "b.test")]
    await follow(desk, "a.test", listing("Water engineer"))
    assert await vacancies(desk) == [(*TRUE, 2)]
    assert await desk.path.database.fetchval("SELECT count(*) FROM outbox WHERE kind = 'job' AND op = 'upsert'") == 2


async def test_a_source_that_a_person_named_may_speak_for_the_place(desk: Desk) -> None:
    await follow(desk, "b.test", listing("Board"), speaks_for=("a.test",))
    [(*_, is_spoken_for, _version)] = await vacancies(desk)
    assert is_spoken_for


@pytest.mark.parametrize("same", [True, False])
async def test_equal_words_of_two_employers_are_two_vacancies(desk: Desk, same: bool) -> None:
    await follow(desk, "a.test", listing("Driver", "http://a.test/jobs.xml"), name="Aid")
    second = "http://b.test/jobs.xml" if same else "http://b.test/jobs/1"
    await follow(desk, "b.test", listing("Driver", second), name="Aid")
    assert len(await vacancies(desk)) == 2
