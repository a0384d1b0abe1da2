import json
from datetime import timedelta
from typing import Any

import pytest

from headwater.discover.api.recipe import Retry, Throttle, recipe_from
from headwater.errors import UsageError

URL = "https://api.h/jobs"
FULL: dict[str, Any] = {
    "v": 1,
    "base_url": "https://api.h/v2/",
    "path": "/jobs",
    "method": "get",
    "auth": {"type": "bearer", "token": "{{SECRET:KEY}}"},
    "headers": {"X-Client": "{{ SECRET:CLIENT }}"},
    "query": {"open": True, "q": "aid"},
    "pagination": {"type": "offset", "limit_param": "n", "offset_param": "o", "page_size": 50, "max_pages": 3},
    "since": {"enabled": True, "field": "after", "format": "date", "operator": "gte", "fallback_days": 7},
    "data_path": "data.jobs",
    "map": {"title": "name", "url": "$.links.self", "deadline": "closing"},
    "transforms": {"title": "first", "deadline": {"join": "; "}},
    "throttle": {"enabled": True, "requests_per_minute": 30, "burst": 5},
    "success_codes": [200, 203],
    "retry": {"max_retries": 1, "backoff_ms": 10},
}


def test_a_full_mapping_is_read() -> None:
    recipe = recipe_from(json.dumps(FULL), URL)
    assert recipe.url == "https://api.h/v2/jobs"
    assert recipe.secret_names == {"KEY", "CLIENT"}
    assert recipe.throttle is not None
    assert recipe.throttle.delay == timedelta(seconds=2)
    assert recipe.success_codes == (200, 203)
    assert recipe.map["url"].find({"links": {"self": "x"}}) == "x"
    assert (recipe.transforms["title"].first, recipe.transforms["deadline"].join) == (True, "; ")


def test_the_same_from_text_and_from_an_object() -> None:
    assert recipe_from(json.dumps(FULL), URL) == recipe_from(FULL, URL)


@pytest.mark.parametrize("hint", [None, "", "  ", "{}", {}, {"v": 1}, {"v": 0}])
def test_without_a_mapping_the_usual_names_are_tried(hint: str | dict[str, Any] | None) -> None:
    recipe = recipe_from(hint, URL)
    assert recipe.url == URL
    assert recipe.map["title"].find({"job_title": "x"}) == "x"
    assert recipe.map["url"].find({"href": "y", "link": "z"}) == "z"


def test_version_0_is_json_path() -> None:
    recipe = recipe_from({"jobs_path": "$.data.jobs[*]", "title_path": "$.data.jobs[*].t", "url_path": "u"}, URL)
    assert recipe.data_path is not None
    assert recipe.data_path.find({"data": {"jobs": [1, 2]}}) == [1, 2]
    assert (recipe.map["title"].find({"t": 1}), recipe.map["url"].find({"u": 2})) == (1, 2)


@pytest.mark.parametrize(
    ("change", "what", "fix"),
    [
        ({"data_pth": "a"}, "no key data_pth", "data_path"),
        ({"pagination": {"type": "page", "pagesize": 1}}, "no key pagination.pagesize", "page_size"),
        ({"since": {"field": "a", "fallback": 1}}, "no key since.fallback", "fallback_days"),
        ({"transforms": {"a": {"frist": True}}}, "no key transforms.a.frist", "first"),
        ({"method": "DELETE"}, "wrong at method", ""),
        ({"body": {"a": 1}}, "needs the method POST", "POST"),
        ({"params_in": "body"}, "needs the method POST", "POST"),
        ({"method": "POST", "body": "a=1"}, "wrong at body", ""),
        ({"auth": {"type": "oauth2"}}, "auth.client_secret of the API mapping names no secret", "SECRET"),
        (
            {"auth": {"type": "oauth2", "client_secret": "{{SECRET:S}}", "token_url": "https://id.test/token"}},
            "auth.client_id",
            "",
        ),
        ({"auth": {"type": "oauth2", "client_secret": "{{SECRET:S}}", "client_id": "me"}}, "auth.token_url", ""),
        (
            {"auth": {"type": "oauth2", "client_secret": "s3cr3t", "client_id": "me", "token_url": "https://id.test"}},
            "names no secret",
            "SECRET",
        ),
        ({"auth": {"type": "magic"}}, "wrong at auth.type", ""),
        ({"auth": {"type": "bearer", "token": "hunter2"}}, "names no secret", "SECRET:NAME"),
        ({"auth": {"type": "basic", "username": "u", "password": "hunter2"}}, "auth.password", "SECRET:NAME"),
        ({"headers": {"Authorization": "Bearer hunter2"}}, "Authorization header", "auth"),
        ({"headers": {"Host": "x"}}, "may not send", ""),
        ({"headers": {"User-Agent": "x"}}, "may not send", ""),
        ({"headers": {"X-A": "a\r\nB: c"}}, "may not send", ""),
        ({"headers": {"X A": "a"}}, "may not send", ""),
        ({"pagination": {"type": "cursor"}}, "cursor_path", ""),
        ({"pagination": {"type": "offset"}}, "page_size", ""),
        ({"pagination": {"type": "page", "max_pages": 0}}, "wrong at pagination.max_pages", ""),
        ({"base_url": "ftp://h/"}, "base_url", ""),
        ({"base_url": "https://h/{{SECRET:A}}"}, "shown to people", ""),
        ({"base_url": "https://h", "path": "@evil/x", "v": 1}, None, ""),
        ({"data_path": "a["}, "cannot be used", ""),
        ({"map": {"title": "f("}}, "cannot be used", ""),
        ({"map": {"title": 1}}, "not a text", ""),
        ({"map": ["title"]}, "wrong at map", ""),
        ({"v": 2}, "version is unknown", "0 or 1"),
        ({"v": True}, "version is unknown", "0 or 1"),
        ({"success_codes": [404]}, "success_codes", ""),
    ],
)
def test_a_wrong_mapping_is_refused_in_words(change: dict[str, Any], what: str | None, fix: str) -> None:
    if what is None:
        assert recipe_from({**FULL, **change}, URL).url == "https://h/@evil/x"
        return
    with pytest.raises(UsageError, match=what) as refusal:
        recipe_from({**FULL, **change}, URL)
    assert fix in refusal.value.fix
    assert "hunter2" not in refusal.value.what + refusal.value.fix + str(refusal.value.__cause__)


@pytest.mark.parametrize("hint", ["{", "[1]", "[]", "0", "3", ".job-item", "[" * 15_000, " " + "x" * 30_000])
def test_what_is_no_mapping_is_refused(hint: str) -> None:
    with pytest.raises(UsageError, match="API mapping"):
        recipe_from(hint, URL)


def test_an_unknown_key_of_version_0_is_named() -> None:
    with pytest.raises(UsageError, match="no key titel_path") as refusal:
        recipe_from({"v": 0, "titel_path": "a"}, URL)
    assert "title_path" in refusal.value.fix


def test_a_retry_waits_twice_as_long_each_time_and_ends() -> None:
    retry = Retry(max_retries=3, backoff_ms=500)
    waits = [retry.wait_after(tries) for tries in range(4)]
    assert waits == [timedelta(seconds=0.5), timedelta(seconds=1), timedelta(seconds=2), None]


def test_a_throttle_is_a_delay_of_at_most_a_day() -> None:
    assert Throttle(requests_per_minute=20).delay == timedelta(seconds=3)
    assert Throttle(requests_per_minute=0.000_1).delay == timedelta(days=1)
    assert Throttle(enabled=False).delay == timedelta()


def test_nothing_is_throttled_or_tried_again_unless_a_recipe_says_so() -> None:
    recipe = recipe_from(None, "https://a.example/v1")
    assert (recipe.throttle, recipe.retry) == (None, None)
    assert {200, 204, 299} <= set(recipe.success_codes)
