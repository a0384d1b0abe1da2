"""Rows 51, 89, 90, 109 to 114, 119 to 121 and 137 of the hostile inputs: pages, patterns and selectors made to hurt."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from headwater.discover.pages.candidates import candidates_in
from headwater.discover.pages.listing import Listing, ListingRules, ListSelectors, read_listing
from headwater.discover.pages.pagination import next_page
from headwater.errors import UsageError
from headwater.urls.articles import is_article_url, patterns_from
from headwater.urls.scope import Scope

NOW = datetime(2024, 6, 1, tzinfo=UTC)
SITE = Scope(hosts=frozenset({"h"}))
# Generous, for a machine with other work: each of these takes minutes where the defence is missing.
SECONDS = 10.0
LONG_URL = "https://h/" + "a" * 2_050 + "!"

PAGES: dict[str, Callable[[], str]] = {
    "a million nested divs": lambda: "<div>" * 1_000_000 + '<a href="/news/x">x</a>',
    "nested under closers that close nothing": lambda: "<div></b>" * 500_000,
    "half a million links": lambda: '<a href="/news/x">x</a>' * 400_000,
    "half a million unclosed cards": lambda: '<li><a href="/news/x">x' * 400_000,
    "a tag of many attributes": lambda: "<a " + " ".join(f"x{number}" for number in range(100_000)) + ">",
    "formatting opened again in every paragraph": lambda: (
        "<p>" + "".join(f"<b id={number}>" for number in range(2_000)) + "</p><p>x" * 100_000
    ),
    "quotes that never close": lambda: '<a href="' * 1_000_000,
    "comments that never close": lambda: "<!--" * 2_000_000,
    "angle brackets": lambda: "<" * 1_000_000,
    "scripts that never close": lambda: "<script x>" * 900_000,
    "a script of many attributes": lambda: "<script " + " ".join(f"x{number}" for number in range(100_000)) + ">",
    "one line of text": lambda: "x" * 9_000_000,
    "headings in one card": lambda: "<article>" + "<h2>x</h2>" * 300_000 + '<a href="/news/x">x</a>',
    "one title of megabytes": lambda: '<a href="/news/x">' + "x " * 3_000_000 + "</a>",
    "nothing but nul": lambda: "\x00" * 1_000_000,
}


def read(html: str | bytes, rules: ListingRules | None = None) -> Listing:
    return read_listing(html, "https://h/", rules or ListingRules(SITE), NOW)


@pytest.mark.heavy_rows
@pytest.mark.parametrize("made", PAGES.values(), ids=PAGES.keys())
def test_no_page_keeps_us_busy(made: Callable[[], str]) -> None:
    html = made()
    began = time.process_time()
    found = read(html)
    next_page(html, "https://h/", frozenset(), scope=SITE, today=NOW.date())
    candidates_in(html, "https://h/")
    assert time.process_time() - began < SECONDS
    assert len(found.reading.items) + len(found.follow) <= 2_000
    assert all(len(item.title) <= 500 for item in found.reading.items)


@pytest.mark.parametrize("name", ["a million nested divs", "a tag of many attributes"])
def test_a_page_that_was_not_read_says_so(name: str) -> None:
    assert read(PAGES[name]()).reading.notes == ("The page is too entangled to be read.",)


@pytest.mark.long
def test_every_selector_that_is_accepted_is_cheap_on_a_deep_page() -> None:
    html = "<div>" * 300 + '<a href="/news/x">x</a>' * 1_000
    selectors = ListSelectors(container="b div a", article_cards="i div a", exclude_from_list=("u div a",))
    began = time.process_time()
    read(html, ListingRules(SITE, selectors=selectors))
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize(
    "pattern",
    [
        *("(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*a){20}$", "a*a*a*a*a*a*a*b", "(.*)(.*)(.*)(.*)=", "([a-z]+)*$"),
        *(r"(\w*a){60}x", r"(\w?){100}x$", r"\w*" * 166 + "=", "(?:a?){100}a{1}b", r"\pL{100}=", "(x+x+)+y"),
    ],
)
def test_no_pattern_keeps_us_busy(pattern: str) -> None:
    patterns = patterns_from([pattern])
    is_article_url(LONG_URL, patterns)
    best = min(_seconds(lambda: is_article_url(LONG_URL, patterns)) for _ in range(3))
    assert best < 0.1


def _seconds(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return time.process_time() - began


@pytest.mark.parametrize(
    "patterns",
    [["a" * 1_000_000], ["a"] * 10_000, ["["], ["(?#x)a"], [r"(a)\1"], ["(?<=a)b"], ["(?!a)b"], ["(.{99}){99}"]],
)
def test_patterns_that_cannot_be_linear_or_small_are_refused(patterns: list[str]) -> None:
    with pytest.raises(UsageError):
        patterns_from(patterns)


@pytest.mark.parametrize(
    "href",
    [
        *("javascript:alert(1)", " java\nscript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd"),
        *("http:\\\\evil\\news\\x", "//u:p@h/news/x", "http://h:99999/news/x", "/news/" + "x" * 10_000),
        *("/calendar/2099/01", "/news/x?month=400", "/a/b/a/b/a/b/news/x", "/news/x;jsessionid=1A2B", "/logout"),
        *("/news/x?" + "&".join(f"f{number}=1" for number in range(13)), "/news/1?action=delete", "/news/x?do=delete"),
    ],
)
def test_no_trap_and_no_forged_scheme_is_listed_or_followed(href: str) -> None:
    found = read(f'<a href="{href}">x</a>')
    assert (found.reading.items, found.follow) == ((), ())


def test_a_base_at_a_private_address_makes_no_link_of_ours() -> None:
    found = read('<base href="http://10.0.0.1/"><a href="/news/x">x</a>')
    assert (found.reading.items, found.follow) == ((), ())


def test_a_title_is_text_whatever_it_holds() -> None:
    (item,) = read('<a href="/news/x">&lt;script&gt;\x00 a<script>alert(1)</script>\n b</a>').reading.items
    assert item.title.replace("\ufffd", "") == "<script> a b"


def test_bytes_that_are_no_page_are_an_empty_page() -> None:
    for body in (b"", b"\x7fELF\x00\x01", b"%PDF-1.7 \xff\xfe", b"\x89PNG\r\n", bytes(range(256)) * 100):
        assert read(body).reading.items == ()
