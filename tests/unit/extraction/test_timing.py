"""The moment of publication, where a page's statements differ."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from tests.unit.extraction.conftest import NOW, PROSE, Read

from headwater.extraction.article import Article
from headwater.extraction.dates import ToldTime, told_ago, told_in
from headwater.extraction.timing import published_from

BERLIN = ZoneInfo("Europe/Berlin")
TEN = datetime(2026, 5, 3, 10, 30, tzinfo=UTC)


def told(*written: str) -> list[ToldTime]:
    return [one for text in written if (one := told_in(text))]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (["2026-05-03T10:30Z", "2026-05-03T09:00Z"], TEN),
        (["2026-05-03", "2026-05-03T12:30:00+02:00"], TEN),
        (["2026-05-04T00:00:00+02:00", "2026-05-03T12:30:00+02:00"], TEN),
        (["2026-05-03", "2026-04-03T12:30:00+02:00"], datetime(2026, 5, 2, 22, tzinfo=UTC)),
        (["2026-05-03T12:30:00Z", "2026-05-03T12:30:00+02:00"], TEN),
        (["2026-05-03 12:30", "2026-05-03T12:30:00+02:00"], TEN),
        (["2026-05-03 18:30", "2026-05-03T20:00:00+08:00"], TEN),
        (["2026-05-03 06:30", "2026-05-03T10:30:00Z"], TEN),
        (["2026-05-03 06:37", "2026-05-03T10:30:00Z"], datetime(2026, 5, 3, 4, 37, tzinfo=UTC)),
        (["2026-05-03 12:30"], TEN),
        ([], None),
    ],
)
def test_the_best_minute_and_its_zone_are_put_together(written: list[str], expected: datetime | None) -> None:
    assert published_from(told(*written), BERLIN) == expected


def test_a_publication_that_is_the_last_change_gives_way_to_an_earlier_one() -> None:
    said = told("2026-05-03T19:00Z", "2026-05-03T10:30Z")
    assert published_from(said, UTC, datetime(2026, 5, 3, 19, tzinfo=UTC)) == TEN
    assert published_from(said, UTC, datetime(2026, 5, 3, 20, tzinfo=UTC)) == datetime(2026, 5, 3, 19, tzinfo=UTC)


@pytest.mark.parametrize(
    "written",
    [
        "3 Mayıs 2026 - 10:30",
        "2026年5月3日 10時30分",
        "입력 2026.05.03 10:30",
        "03.05.2026, 10:30 Uhr",
        "3/5/2026 10:30",
        "3 de mayo de 2026 a las 10:30 a.m.",
        "Publié le 3 mai 2026 à 10h30",
        "3. května 2026 10:30",
        "3 мая 2026, 10:30",
        "May 3, 2026 at 6:30 a.m. EDT",
        "Sunday 3 May 2026 12:30 CEST",
        "3 maja 2026, 10:30",
        "3. mája 2026, 10:30",
        "3 май 2026, 10:30",
        "3 de maig de 2026, 10:30",
        "3. mai 2026, 10.30",
        "3. maí 2026 10:30",
        "3 Mei 2026 10:30",
        "3 მაისი 2026, 10:30",
        "3 מאי 2026, 10:30",
    ],
)
def test_a_minute_is_read_as_people_write_it(written: str) -> None:
    found = told_in(written)
    assert found is not None
    assert published_from([found], UTC) == TEN


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("3 hours ago", NOW - timedelta(hours=3)),
        ("vor 5 Minuten", NOW - timedelta(minutes=5)),
        ("il y a 2 jours", NOW - timedelta(days=2)),
        ("3時間前", NOW - timedelta(hours=3)),
        ("5 분 전", NOW - timedelta(minutes=5)),
        ("5 minut temu", NOW - timedelta(minutes=5)),
        ("před 2 hodinami", NOW - timedelta(hours=2)),
        ("منذ 3 ساعات", NOW - timedelta(hours=3)),
        ("wczoraj, 14:30", datetime(2026, 5, 3, 14, 30, tzinfo=UTC)),
        ("Gestern, 14:30", datetime(2026, 5, 3, 14, 30, tzinfo=UTC)),
        ("a long time ago", None),
        ("5 Minuten", None),
        ("99999999 hours ago", None),
    ],
)
def test_a_time_before_now_is_one(written: str, expected: datetime | None) -> None:
    found = told_ago(written, NOW, UTC)
    assert (published_from([found], UTC) if found else None) == expected


def test_a_page_without_a_declared_minute_is_asked_for_the_one_it_shows(read: Read) -> None:
    shown = f"<div><h1>Storm</h1><p><span class=date>03.05.2026, 10:30 Uhr</span></p></div>{PROSE}"
    found = read('<meta name=date content="2026-05-03"><title>Storm | DW | 03.05.2026</title>', shown)
    assert isinstance(found, Article)
    assert found.published_at == TEN


@pytest.mark.parametrize(
    "beside",
    [
        "<p>erstellt: <strong>03. Mai 2026, 10:30</strong></p>",
        "<ul><li>Aktualisiert am 4. Mai 2026, 8:00</li><li>Veröffentlicht am 3. Mai 2026 um 10:30</li></ul>",
        "<div><div>World</div><div>3 May 2026 10:30 · Updated 4 May 2026 08:00</div></div>",
    ],
)
def test_the_minute_beside_the_heading_is_that_of_the_publication(read: Read, beside: str) -> None:
    found = read("", f"<div><h1>Storm</h1>{beside}</div>{PROSE}")
    assert isinstance(found, Article)
    assert found.published_at == TEN


@pytest.mark.parametrize("written", ["1" * 100_000, "12:" * 50_000, "3 " * 50_000, "2026-" * 9_999, "\0" * 99])
def test_what_is_no_date_costs_nothing_and_says_nothing(written: str) -> None:
    assert told_in(written) is None
    assert told_ago(written, NOW, UTC) is None
