import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater.discover.api.paths import json_path_from, path_from
from headwater.discover.api.read import read_api
from headwater.discover.api.recipe import recipe_from
from headwater.discover.pages.candidates import MOST_CANDIDATES, candidates_in
from headwater.discover.pages.listing import ListingRules, read_listing
from headwater.discover.pages.pagination import next_page
from headwater.errors import UsageError
from headwater.urls.articles import is_article_url, patterns_from
from headwater.urls.canonical import canonicalise
from headwater.urls.scope import Placement, Scope, placement_of

NOW = datetime(2024, 6, 1, tzinfo=UTC)
SITE = Scope(hosts=frozenset({"h"}))
BASE = "https://h/news"

any_text = st.text(max_size=60)
hrefs = st.one_of(
    any_text,
    st.sampled_from(
        ["/news/a", "?page=2", "?page=3", "/page/2", "https://other/news/a", "/logout", "#", "//h/x", "/feed"]
    ),
)
tags = st.one_of(
    st.builds('<a href="{}" rel="{}">{}</a>'.format, hrefs, st.sampled_from(["", "next", "nofollow"]), any_text),
    st.builds('<link rel="alternate" type="application/rss+xml" href="{}">'.format, hrefs),
    st.builds('<base href="{}">'.format, hrefs),
    st.sampled_from(
        ["<article>", "</article>", "<li>", "<h2>", "</h2>", '<time datetime="2024-05-01">', "<table>", "<p>"]
    ),
    any_text,
)
pages = st.lists(tags, max_size=25).map("".join)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["url", "title", "jobs", "x"]), inner),
    max_leaves=12,
)


@pytest.mark.long
@given(pages)
def test_whatever_the_page_what_is_listed_or_followed_lies_in_the_scope(html: str) -> None:
    found = read_listing(html, BASE, ListingRules(SITE), NOW)
    urls = [item.url for item in found.reading.items]
    assert all(placement_of(canonicalise(url), SITE) is Placement.INSIDE for url in (*urls, *found.follow))
    keys = [canonicalise(url).key for url in (*urls, *found.follow)]
    assert len(keys) == len(set(keys))


@given(pages, st.sampled_from([BASE, f"{BASE}?page=2", "https://h/news/page/3"]))
def test_the_next_page_is_always_new_and_in_the_scope(html: str, url: str) -> None:
    seen = {BASE, url}
    following = next_page(html, url, seen, scope=SITE, today=NOW.date())
    if following:
        place = canonicalise(following)
        assert place.key not in {canonicalise(one).key for one in seen}
        assert placement_of(place, SITE) is Placement.INSIDE


@given(pages)
def test_candidates_are_few_different_and_fetchable(html: str) -> None:
    keys = [canonicalise(one.url).key for one in candidates_in(html, BASE)]
    assert len(keys) == len(set(keys)) <= MOST_CANDIDATES


@given(any_text, any_text)
def test_a_pattern_is_refused_or_answers(pattern: str, url: str) -> None:
    try:
        patterns = patterns_from([pattern])
    except UsageError:
        return
    assert is_article_url(f"https://h/{url}", patterns) in (True, False)


@pytest.mark.long
@given(any_text, json_values)
@settings(max_examples=200)
def test_an_expression_is_refused_or_finds(text: str, document: object) -> None:
    for compiled in (path_from, json_path_from):
        try:
            path = compiled(text)
        except UsageError:
            continue
        path.find(document)


@pytest.mark.long
@given(json_values.map(lambda value: json.dumps(value).encode()) | st.binary())
def test_whatever_the_answer_it_is_read_or_a_sentence(body: bytes) -> None:
    read_api(body, recipe_from({"v": 1, "map": {"x": "x"}}, BASE), BASE, NOW)
