import json
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.discover.api.pages import PageState, page_state_from
from headwater.discover.api.read import ApiPage, instant_from, read_api
from headwater.discover.api.recipe import recipe_from
from headwater.discover.items import Item, Unreadable

NOW = datetime(2024, 6, 8, 12, tzinfo=UTC)
BASE = "https://h/api/jobs"


def read(
    document: object, mapping: dict[str, Any] | None = None, state: PageState | None = None
) -> ApiPage | Unreadable:
    return read_api(json.dumps(document).encode(), recipe_from(mapping, BASE), BASE, NOW, state or PageState())


def page(document: object, mapping: dict[str, Any] | None = None, state: PageState | None = None) -> ApiPage:
    found = read(document, mapping, state)
    assert isinstance(found, ApiPage), found
    return found


@pytest.mark.parametrize("key", ["jobs", "results", "items", "data", "positions", "vacancies", None])
def test_the_usual_names_are_found(key: str | None) -> None:
    jobs = [{"name": "Nurse", "link": "/jobs/1", "location": "Oslo", "closing_date": "2024-07-01"}]
    (item,) = page({key: jobs} if key else jobs).reading.items
    assert (item.url, item.title) == ("https://h/jobs/1", "Nurse")
    assert item.fields == {"location": "Oslo", "deadline": "2024-07-01"}


@pytest.mark.parametrize("author", ["Grace Hopper", {"name": "Grace Hopper"}, ["Grace Hopper"]])
def test_an_author_is_found_by_its_usual_name(author: object) -> None:
    said = {"title": "Tide", "url": "/1", "published_at": "2024-06-01T10:00:00Z", "author": author}
    (item,) = page([said]).reading.items
    assert (item.author, item.fields) == ("Grace Hopper", {})


def test_what_is_mapped_is_an_items_own_or_a_field() -> None:
    raw = {
        "n": " A \n nurse ",
        "u": "2",
        "at": 1717718400,
        "text": "<p>x</p>",
        "where": [{"c": "Oslo"}, {"c": "Rome"}],
        "apply": "x",
        "id": 7,
    }
    mapping = {
        "v": 1,
        "data_path": "d",
        "map": {
            "title": "n",
            "url": "u",
            "published_at": "at",
            "description": "text",
            "guid": "id",
            "location": "where[*].c",
            "apply_url": "apply",
            "none": "gone",
        },
        "transforms": {"location": {"join": " / "}},
    }
    (item,) = page({"d": [raw]}, mapping).reading.items
    assert item == Item(
        "https://h/api/2",
        title="A nurse",
        published_at=datetime(2024, 6, 7, tzinfo=UTC),
        summary="<p>x</p>",
        guid="7",
        fields={"location": "Oslo / Rome", "apply_url": "x"},
    )


def test_a_list_can_be_cut_to_its_first_value() -> None:
    mapping = {"v": 1, "map": {"x": "tags"}, "transforms": {"x": "first"}}
    assert [
        item.fields
        for item in page([{"url": "/1", "tags": ["a", "b"]}, {"url": "/2", "tags": []}], mapping).reading.items
    ] == [
        {"x": "a"},
        {"x": []},
    ]


def test_items_without_a_url_are_noted() -> None:
    found = page([{"url": "/1"}, {"title": "x"}, {"url": "javascript:0"}, "text", None, 3])
    assert len(found.reading.items) == 1
    assert found.reading.notes == ("5 items had no usable URL.",)


@pytest.mark.parametrize(
    ("document", "mapping", "why"),
    [
        (3, None, "neither"),
        ("x", None, "neither"),
        (None, None, "neither"),
        ({"error": "no"}, None, "usual names"),
        ({"a": 1}, {"v": 1, "data_path": "b"}, "nothing at b"),
        ({"a": 1}, {"v": 1, "data_path": "a"}, "no list at a"),
    ],
)
def test_an_answer_without_a_list_is_unreadable(document: object, mapping: dict[str, Any] | None, why: str) -> None:
    found = read(document, mapping)
    assert isinstance(found, Unreadable)
    assert why in found.why


def test_nothing_at_the_place_ends_a_later_page() -> None:
    found = page({}, {"v": 1, "data_path": "jobs", "pagination": {"type": "page"}}, PageState(3))
    assert (found.reading.items, found.next) == ((), None)


PAGES = {"v": 1, "pagination": {"type": "page", "max_pages": 4, "page_size": 2}}
CURSOR = {"v": 1, "pagination": {"type": "cursor", "cursor_path": "next", "max_pages": 100}}


def jobs(*numbers: int, **more: object) -> dict[str, object]:
    return {"jobs": [{"url": f"/{number}"} for number in numbers], **more}


def test_pages_go_on_until_one_is_empty_or_the_last() -> None:
    first = page(jobs(1, 2), PAGES).next
    assert first is not None
    assert first.index == 1
    assert page(jobs(), PAGES, first).next is None
    assert page(jobs(3), PAGES, PageState(3)).next is None


def test_a_page_equal_to_the_one_before_is_the_last() -> None:
    first = page(jobs(1, 2), PAGES).next
    assert page(jobs(1, 2), PAGES, first).next is None
    assert page(jobs(3, 4), PAGES, first).next is not None


def test_a_short_page_is_the_last_if_the_mapping_says_so() -> None:
    until_short = {"v": 1, "pagination": {"type": "page", "page_size": 2, "until_empty": False}}
    assert page(jobs(1), PAGES).next is not None
    assert page(jobs(1), until_short).next is None
    assert page(jobs(1, 2), until_short).next is not None


def test_without_pagination_there_is_one_page() -> None:
    assert page(jobs(1, 2)).next is None


def test_a_cursor_is_followed_until_it_is_missing_or_repeated() -> None:
    first = page(jobs(1, next="a"), CURSOR).next
    assert first is not None
    assert first.cursor == "a"
    second = page(jobs(2, next=17), CURSOR, first).next
    assert second is not None
    assert second.cursor == "17"
    for end in (
        {"next": "a"},
        {"next": None},
        {"next": ""},
        {},
        {"next": True},
        {"next": {"a": 1}},
        {"next": "x" * 3_000},
    ):
        assert page(jobs(3, **end), CURSOR, second).next is None


@pytest.mark.parametrize(
    ("cursor", "goes"),
    [
        ("https://h/api?c=2", True),
        ("https://evil/api?c=2", False),
        ("http://h/api?c=2", False),
        ("https://h:8443/", False),
    ],
)
def test_a_next_url_must_stay_with_the_origin_that_gets_our_credentials(cursor: str, goes: bool) -> None:
    assert (page(jobs(1, next=cursor), CURSOR).next is not None) is goes


def test_a_state_survives_being_put_away() -> None:
    state = page(jobs(1, next="a"), CURSOR).next
    assert state is not None
    assert page_state_from(json.loads(json.dumps(asdict(state)))) == state


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1717718400, datetime(2024, 6, 7, tzinfo=UTC)),
        (1717718400000, datetime(2024, 6, 7, tzinfo=UTC)),
        ("1717718400", datetime(2024, 6, 7, tzinfo=UTC)),
        ("2024-06-07T02:00:00+02:00", datetime(2024, 6, 7, tzinfo=UTC)),
        ("2024-06-07", datetime(2024, 6, 7, tzinfo=UTC)),
        (4e9, None),
        (NOW.timestamp() + 3600, NOW),
    ],
)
def test_instants_are_read_in_words_and_numbers(value: object, expected: datetime | None) -> None:
    assert instant_from(value, NOW) == expected


@pytest.mark.parametrize("value", [0, -5, True, None, [], "soon", 1e300, 10**40, float("inf"), float("nan")])
def test_what_is_no_instant_is_none(value: object) -> None:
    assert instant_from(value, NOW) is None
