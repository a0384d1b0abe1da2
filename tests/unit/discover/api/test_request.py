from base64 import b64decode
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from pydantic import SecretStr

from headwater.discover.api.pages import PageState
from headwater.discover.api.recipe import recipe_from
from headwater.discover.api.request import ApiRequest, request_for
from headwater.discover.api.secrets import read_secrets
from headwater.errors import UsageError

NOW = datetime(2024, 6, 8, 12, tzinfo=UTC)
CANARY = "s3cr&t canary"
SECRETS = read_secrets(f"KEY@https://h={CANARY}")


def request(mapping: dict[str, Any], state: PageState | None = None, since: datetime | None = None) -> ApiRequest:
    return request_for(
        recipe_from({"v": 1, **mapping}, "https://h/jobs?a=1"), state or PageState(), since, SECRETS, NOW
    )


def url(mapping: dict[str, Any], state: PageState | None = None, since: datetime | None = None) -> str:
    return request(mapping, state, since).url.get_secret_value()


def test_the_channels_own_url_is_asked() -> None:
    assert url({}) == "https://h/jobs?a=1"


def test_query_is_added_and_replaces_its_namesake() -> None:
    assert url({"query": {"a": 2, "open": True, "q": "x y"}}) == "https://h/jobs?a=2&open=true&q=x+y"


@pytest.mark.parametrize(
    ("pagination", "index", "expected"),
    [
        ({"type": "page"}, 0, "page=1"),
        ({"type": "page", "first_page": 0, "page_param": "p", "page_size": 5}, 2, "limit=5&p=2"),
        ({"type": "offset", "page_size": 50, "offset_param": "o", "limit_param": "n"}, 3, "n=50&o=150"),
    ],
)
def test_pages_are_asked_for(pagination: dict[str, Any], index: int, expected: str) -> None:
    assert url({"pagination": pagination}, PageState(index)) == f"https://h/jobs?a=1&{expected}"


def test_a_cursor_is_sent_from_the_second_page() -> None:
    mapping = {"pagination": {"type": "cursor", "cursor_path": "next", "cursor_param": "c"}}
    assert url(mapping) == "https://h/jobs?a=1"
    assert url(mapping, PageState(1, "x/=")) == "https://h/jobs?a=1&c=x%2F%3D"


def test_a_cursor_that_is_a_url_is_asked_as_it_is_with_our_credentials() -> None:
    mapping = {
        "pagination": {"type": "cursor", "cursor_path": "next", "page_size": 9},
        "auth": {"type": "query", "name": "k", "token": "{{SECRET:KEY}}"},
    }
    assert url(mapping, PageState(1, "https://h/jobs?after=7")) == "https://h/jobs?after=7&k=s3cr%26t+canary"


@pytest.mark.parametrize(
    ("since", "form", "operator", "expected"),
    [
        (datetime(2024, 6, 7, 1, 2, 3, tzinfo=UTC), "iso", "", "f=2024-06-07T01%3A02%3A03Z"),
        (datetime(2024, 6, 7, tzinfo=UTC), "date", "gte", "f%5Bgte%5D=2024-06-07"),
        (datetime(2024, 6, 7, tzinfo=UTC), "%d.%m.%y", ">", "f%5Bgt%5D=07.06.24"),
        (datetime(2024, 6, 7, tzinfo=UTC), "unix", "=", "f=1717718400"),
        (datetime(2024, 6, 7, tzinfo=UTC), "unix_ms", "eq", "f=1717718400000"),
        (None, "date", "", "f=2024-06-01"),
    ],
)
def test_only_what_is_newer_is_asked_for(since: datetime | None, form: str, operator: str, expected: str) -> None:
    mapping = {"since": {"field": "f", "format": form, "operator": operator, "fallback_days": 7}}
    assert url(mapping, since=since) == f"https://h/jobs?a=1&{expected}"


def test_without_a_since_or_a_fallback_everything_is_asked_for() -> None:
    assert url({"since": {"field": "f"}}) == "https://h/jobs?a=1"
    assert url({"since": {"field": "f", "enabled": False, "fallback_days": 3}}, since=NOW) == "https://h/jobs?a=1"


@pytest.mark.parametrize(
    ("auth", "header", "value"),
    [
        ({"type": "bearer", "token": "{{SECRET:KEY}}"}, "Authorization", f"Bearer {CANARY}"),
        ({"type": "header", "token": "{{SECRET:KEY}}"}, "X-API-Key", CANARY),
        ({"type": "header", "name": "X-T", "token": "T {{SECRET:KEY}}"}, "X-T", f"T {CANARY}"),
    ],
)
def test_credentials_go_into_headers(auth: dict[str, str], header: str, value: str) -> None:
    assert request({"auth": auth}).headers[header].get_secret_value() == value


def test_basic_is_encoded() -> None:
    made = request({"auth": {"type": "basic", "username": "u", "password": "{{SECRET:KEY}}"}})
    scheme, encoded = made.headers["Authorization"].get_secret_value().split()
    assert (scheme, b64decode(encoded).decode()) == ("Basic", f"u:{CANARY}")


@pytest.mark.parametrize("kind", ["query", "bearer", "header", "basic"])
def test_a_secret_is_shown_nowhere(kind: str) -> None:
    mapping = {
        "auth": {"type": kind, "token": "{{SECRET:KEY}}", "password": "{{SECRET:KEY}}"},
        "query": {"x": "{{SECRET:KEY}}"},
    }
    made = request(mapping)
    shown = f"{made!r} {made} {made.shown_url} {made.headers} {recipe_from({'v': 1, **mapping}, 'https://h')!r}"
    assert "canary" not in shown
    assert "x=***" in made.shown_url
    assert "canary" in made.url.get_secret_value()


def test_a_missing_secret_is_named() -> None:
    with pytest.raises(UsageError, match="secret OTHER is not set"):
        request({"auth": {"type": "bearer", "token": "{{SECRET:OTHER}}"}})


@pytest.mark.parametrize("value", ["", "canary\r\nX: y", "canary\x00"])
def test_a_secret_that_would_break_the_request_is_refused_unseen(value: str) -> None:
    recipe = recipe_from({"v": 1, "auth": {"type": "bearer", "token": "{{SECRET:KEY}}"}}, "https://h")
    with pytest.raises(UsageError, match="secret KEY") as refusal:
        request_for(recipe, PageState(), None, {"KEY": replace(SECRETS["KEY"], value=SecretStr(value))}, NOW)
    assert "canary" not in str(refusal.value)


def test_a_url_too_long_to_send_is_refused_without_showing_it() -> None:
    recipe = recipe_from({"v": 1, "query": {"q": "{{SECRET:KEY}}"}}, "https://h")
    with pytest.raises(UsageError, match="longer than") as refusal:
        request_for(recipe, PageState(), None, read_secrets(f"KEY@https://h={'canary' * 500}"), NOW)
    assert "canary" not in str(refusal.value)


def body(mapping: dict[str, Any], state: PageState | None = None, since: datetime | None = None) -> Any:
    asked = request({"method": "post", **mapping}, state, since)
    assert asked.method == "POST"
    assert asked.sent_body is not None
    return orjson.loads(asked.sent_body)


def test_a_get_has_no_body() -> None:
    assert (request({}).method, request({}).sent_body) == ("GET", None)


def test_a_body_is_sent_as_json_with_its_secrets_filled_in() -> None:
    mapping = {"body": {"key": "{{SECRET:KEY}}", "in": ["{{SECRET:KEY}}", 1], "deep": {"a": True, "b": None}}}
    sent = {"key": CANARY, "in": [CANARY, 1], "deep": {"a": True, "b": None}}
    assert body(mapping) == sent
    asked = request({"method": "POST", **mapping})
    assert asked.headers["Content-Type"].get_secret_value() == "application/json"
    assert CANARY not in repr(asked)
    assert asked.echoes.are_in(CANARY)


def test_pages_of_a_post_are_asked_for_in_its_body() -> None:
    pagination = {"type": "offset", "page_size": 20}
    assert body({"body": {"q": "x"}, "pagination": pagination}, PageState(2)) == {"q": "x", "limit": 20, "offset": 40}


def test_a_dotted_name_is_a_place_inside_of_the_body() -> None:
    mapping = {
        "body": {"query": "{ jobs }", "variables": {"first": "10"}},
        "pagination": {
            "type": "page",
            "page_param": "variables.page",
            "limit_param": "variables.first",
            "page_size": 9,
        },
        "since": {"field": "filter.posted", "operator": "gte", "format": "date", "fallback_days": 1},
    }
    assert body(mapping) == {
        "query": "{ jobs }",
        "variables": {"first": "9", "page": 1},
        "filter": {"posted": {"gte": "2024-06-07"}},
    }


def test_a_place_that_is_no_object_is_said() -> None:
    with pytest.raises(UsageError, match="no object query"):
        body({"body": {"query": "x"}, "pagination": {"type": "page", "page_param": "query.page"}})


def test_pages_of_a_post_can_be_asked_for_in_the_query() -> None:
    mapping = {"body": {"q": "x"}, "pagination": {"type": "page"}, "params_in": "query"}
    assert body(mapping) == {"q": "x"}
    assert url({"method": "POST", **mapping}) == "https://h/jobs?a=1&page=1"


def test_a_form_is_sent_where_the_headers_say_so() -> None:
    mapping = {
        "method": "POST",
        "headers": {"content-type": "application/x-www-form-urlencoded"},
        "body": {"q": "x y", "open": True, "key": "{{SECRET:KEY}}"},
        "pagination": {"type": "page"},
    }
    asked = request(mapping)
    assert asked.sent_body == b"q=x+y&open=true&key=s3cr%26t+canary&page=1"
    assert [name for name in asked.headers if name.lower() == "content-type"] == ["Content-Type"]


def test_the_recipes_body_is_not_changed_by_a_request() -> None:
    recipe = recipe_from({"v": 1, "method": "POST", "body": {"v": {}}, "pagination": {"type": "page"}}, "https://h/j")
    for index in (0, 1):
        request_for(recipe, PageState(index), None, SECRETS, NOW)
    assert recipe.body == {"v": {}}


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("form", [{}, {"headers": {"Content-Type": "application/x-www-form-urlencoded"}}])
def test_a_cursor_that_names_a_secret_is_sent_as_it_is(method: str, form: dict[str, Any]) -> None:
    """It is the server's word: filled in, it would hand out any secret there is."""
    mapping = {"method": method, "pagination": {"type": "cursor", "cursor_path": "next"}, **form}
    asked = request(mapping, PageState(1, "{{SECRET:KEY}}"))
    sent = asked.url.get_secret_value() + (asked.sent_body or b"").decode()
    assert "SECRET" in sent
    assert "canary" not in sent
