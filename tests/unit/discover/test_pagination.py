from datetime import date

import pytest

from headwater.discover.pages.pagination import beside_list, next_page
from headwater.urls.scope import Scope

SITE = Scope(hosts=frozenset({"h"}))
TODAY = date(2024, 6, 1)
HERE = "https://h/news"


def after(html: str, url: str = HERE, seen: frozenset[str] = frozenset(), max_pages: int = 10) -> str | None:
    return next_page(html, url, seen, scope=SITE, today=TODAY, max_pages=max_pages)


def link(href: str, text: str = "", more: str = "") -> str:
    return f'<a href="{href}" {more}>{text}</a>'


def test_what_the_page_declares_comes_first() -> None:
    html = link("?page=9", "Next") + link("?page=3", "x", 'rel="next"') + '<link rel="prefetch NEXT" href="?page=2">'
    assert after(html) == "https://h/news?page=2"
    assert after(html, seen=frozenset({"https://h/news?page=2"})) == "https://h/news?page=3"


@pytest.mark.parametrize(
    "name",
    [
        *("Next", "next page »", "Older posts", "« Older Entries", "Weiter", "Nächste Seite >", "Suivant", "Siguiente"),
        *("próxima", "Далее", "→", "»", "›", ">", "次へ", "下一页"),
    ],
)
def test_a_link_is_known_by_its_name(name: str) -> None:
    assert after(link("/archive-b", name)) == "https://h/archive-b"


def test_a_link_is_known_by_its_label_too() -> None:
    assert after(link("?start=20", "<svg></svg>", 'aria-label="Next page"')) == "https://h/news?start=20"


@pytest.mark.parametrize("name", ["Previous", "Newer posts", "Next generation of storms", "«", "Zurück", "2"])
def test_other_names_are_not(name: str) -> None:
    assert after(link("/b", name)) is None


def test_a_single_arrow_is_next_and_the_double_one_the_last() -> None:
    assert after(link("?page=20", "»") + link("?page=2", "›")) == "https://h/news?page=2"


def test_the_word_under_a_teaser_leads_to_an_article_and_is_not_taken() -> None:
    assert after(link("/2024/05/storm", "weiter")) is None


@pytest.mark.parametrize(
    ("url", "links", "expected"),
    [
        (HERE, ["?page=2:2", "?page=3:3"], "?page=2"),
        (HERE, ["?page=1:1", "?page=2:2"], "?page=2"),
        (HERE, ["?page=1:2", "?page=2:3"], "?page=1"),
        (HERE + "?page=5", ["?page=4:4", "?page=20:20"], "?page=6"),
        (HERE + "?page=5", ["?page=1:1", "?page=4:4"], None),
        (HERE + "?page=5", [], None),
        (HERE + "?q=a&page=1", ["?q=a&page=2:2"], "?q=a&page=2"),
        (HERE + "?q=a", ["?q=b&page=2:2"], None),
        (HERE, ["/comments?page=2:2"], None),
        (HERE, ["/news/page/2/:2"], "/page/2/"),
        (HERE + "/page/2/", ["/news/page/9/:9"], "/page/3/"),
    ],
)
def test_numbered_pages_are_counted_up_where_the_page_links_them(
    url: str, links: list[str], expected: str | None
) -> None:
    html = "".join(link(*one.rsplit(":", 1)) for one in links)
    assert after(html, url) == (HERE + expected if expected else None)


@pytest.mark.parametrize(
    "href",
    [
        *("https://other/news?page=2", "#", "/news", "javascript:next()", "/news?utm_source=x", "?action=delete"),
        *("/events/2099/05", "http://h/news/"),
    ],
)
def test_never_off_scope_nor_to_itself_nor_into_a_trap(href: str) -> None:
    assert after(link(href, "Next", 'rel="next"')) is None


def test_never_back() -> None:
    html = link("?page=2", "x", "rel=next") + link("?page=3", "Next")
    assert after(html, HERE + "?page=3", frozenset({HERE + "?page=2"})) is None
    assert after(html, HERE + "?page=3") is None


def test_nofollow_holds_for_pages() -> None:
    assert after(link("?page=2", "Next", 'rel="next nofollow"')) is None


@pytest.mark.parametrize(("most", "goes"), [(1, False), (2, False), (3, True)])
def test_the_callers_cap_holds(most: int, goes: bool) -> None:
    found = after(link("?page=3", "Next"), HERE + "?page=2", frozenset({HERE}), max_pages=most)
    assert (found is not None) is goes


def test_an_endless_pager_ends_at_the_cap() -> None:
    url: str | None = HERE
    seen: set[str] = set()
    while url:
        seen.add(url)
        number = len(seen) + 1
        url = next_page(link(f"?page={number}", "Next"), url, seen, scope=SITE, today=TODAY, max_pages=7)
    assert len(seen) == 7


@pytest.mark.parametrize(
    ("url", "links", "expected"),
    [
        (HERE, ["?start=20:2", "?start=40:3"], "?start=20"),
        (HERE + "?start=20", ["/news:1", "?start=20:2", "?start=40:3"], "?start=40"),
        (HERE + "?start=20", ["?start=0:1", "?start=40:3"], "?start=40"),
        (HERE + "?start=40", ["?start=0:1", "?start=20:2"], None),
        (HERE + "?q=a", ["?q=b&start=20:2"], None),
        (HERE, ["/2:2"], None),
    ],
)
def test_pages_are_known_by_the_numbers_that_their_links_show(url: str, links: list[str], expected: str | None) -> None:
    html = "".join(link(*one.rsplit(":", 1)) for one in links)
    assert after(html, url) == (HERE + expected if expected else None)


@pytest.mark.parametrize("name", ["Load more", "Show more …", "MORE JOBS", "Mehr laden", "Voir plus"])
def test_more_of_the_same_list_is_its_next_page(name: str) -> None:
    assert after(link("?after=x7", name)) == HERE + "?after=x7"
    assert after(link("/sport", name)) is None


def test_other_pages_of_a_list_do_not_stand_beside_it() -> None:
    html = link("?page=2", "2") + link("?page=3", "3") + link("?after=x7", "Load more") + link("/sport", "Sport")
    urls = [f"{HERE}?page=2", f"{HERE}?page=3", f"{HERE}?after=x7", "https://h/sport", f"{HERE}?topic=war"]
    assert beside_list(urls, html, HERE) == ["https://h/sport", f"{HERE}?topic=war"]
    assert beside_list([HERE], link(HERE, "x", 'rel="prev"'), f"{HERE}?page=2") == []
