from datetime import UTC, datetime

import pytest

from headwater.discover.pages.listing import Listing, ListingRules, ListSelectors, read_listing
from headwater.errors import UsageError
from headwater.urls.articles import patterns_from
from headwater.urls.scope import Scope

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
SITE = Scope(hosts=frozenset({"h"}))
OPEN = Scope(hosts=frozenset({"h"}), allow_external=True)
STORM = "/2024/05/storm"


def listing(html: str | bytes, rules: ListingRules | None = None, url: str = "https://h/") -> Listing:
    return read_listing(html, url, rules or ListingRules(SITE), NOW)


def urls(found: Listing) -> list[str]:
    return [item.url for item in found.reading.items]


def link(href: str, text: str = "text", more: str = "") -> str:
    return f'<a href="{href}" {more}>{text}</a>'


def test_articles_are_items_and_other_pages_are_followed() -> None:
    found = listing(link(STORM, "A  storm\nhits") + link("/world") + link("/tag/coast"))
    assert [(item.url, item.title, item.depth) for item in found.reading.items] == [
        ("https://h" + STORM, "A storm hits", 1)
    ]
    assert found.follow == ("https://h/world", "https://h/tag/coast")


def test_each_url_is_listed_once_under_its_first_real_title() -> None:
    found = listing(link(STORM, "<img>") + link(STORM + "#c", "Read more »") + link(STORM + "?utm_x=1", "A storm"))
    assert [(item.url, item.title) for item in found.reading.items] == [("https://h" + STORM, "A storm")]


def test_a_card_gives_title_and_time() -> None:
    at = '<time datetime="2024-05-03T10:00:00+02:00">'
    (item,) = listing(f"<article><h2>A storm</h2>{link(STORM, 'read more')}<p>{at}</p></article>").reading.items
    assert (item.title, item.published_at) == ("A storm", datetime(2024, 5, 3, 8, tzinfo=UTC))


def test_a_time_outside_the_inner_card_still_counts() -> None:
    (item,) = listing(f'<li><div class="card">{link(STORM)}</div><time datetime="2024-05-03"></li>').reading.items
    assert item.published_at == datetime(2024, 5, 3, tzinfo=UTC)


def test_a_card_with_two_articles_dates_neither() -> None:
    found = listing(f'<article>{link(STORM)}{link("/2024/05/calm")}<time datetime="2024-05-03"></article>')
    assert [item.published_at for item in found.reading.items] == [None, None]


@pytest.mark.parametrize("written", ["9999-01-01", "1970-01-01", "soon", "", "2024-02-30"])
def test_a_time_that_cannot_be_meant_is_none(written: str) -> None:
    (item,) = listing(f'<article>{link(STORM)}<time datetime="{written}"></article>').reading.items
    assert item.published_at is None


def test_a_link_around_a_whole_card_is_named_by_its_heading() -> None:
    (item,) = listing(f'<a href="{STORM}"><h3>A storm</h3><p>It came at night.</p></a>').reading.items
    assert item.title == "A storm"


def test_a_link_without_text_says_what_it_says_to_the_blind() -> None:
    (item,) = listing(link(STORM, "", 'aria-label="A storm"')).reading.items
    assert item.title == "A storm"


def test_base_href_is_honoured() -> None:
    assert urls(listing('<base href="/en/">' + link("2024/05/storm"))) == ["https://h/en/2024/05/storm"]


def test_a_base_href_that_is_no_url_is_ignored() -> None:
    assert urls(listing('<base href="javascript:0">' + link("2024/05/storm"))) == ["https://h/2024/05/storm"]


@pytest.mark.parametrize(
    "href",
    [
        *("/logout", "/news/1?action=delete", "/news/delete", "javascript:alert(1)", "mailto:a@h", "#top", "", "/"),
        *("data:text/html,x", "http://u:p@h/2024/05/storm", "/a/a/a/a/2024/05/storm", "/2024/05/storm?sid=ab12cd34"),
        *("https://other/2024/05/storm", "/login", "/feed", "/news/a.pdf"),
    ],
)
def test_what_leads_nowhere_or_acts_is_neither_listed_nor_followed(href: str) -> None:
    found = listing(link(href))
    assert (urls(found), found.follow) == ([], ())


def test_traps_are_noted_by_reason() -> None:
    found = listing(link("/logout") + link("/delete"))
    assert found.reading.notes == ("2 links were left out as traps: has_effects.",)


def test_nofollow_links_are_skipped() -> None:
    found = listing(link(STORM, more='rel="noopener NoFollow"') + link("/world", more="rel=nofollow"))
    assert (urls(found), found.follow) == ([], ())


@pytest.mark.parametrize(
    ("meta", "is_read"),
    [
        ('name="robots" content="noindex, NOFOLLOW"', False),
        ('name="ROBOTS" content="none"', False),
        ('name="headwater" content="nofollow"', False),
        ('name="googlebot" content="nofollow"', True),
        ('name="robots" content="noindex"', True),
    ],
)
def test_a_page_that_asks_not_to_be_followed_is_not(meta: str, is_read: bool) -> None:
    found = listing(f"<meta {meta}>" + link(STORM) + link("/world"), ListingRules(SITE, product_token="Headwater"))
    assert (bool(found.reading.items), bool(found.follow)) == (is_read, is_read)
    assert bool(found.reading.notes) is not is_read


def test_external_links_only_where_allowed_and_marked() -> None:
    html = link("https://other/2024/05/storm") + link("https://other/world")
    assert urls(listing(html)) == []
    found = listing(html, ListingRules(OPEN))
    assert [(item.url, item.is_external) for item in found.reading.items] == [("https://other/2024/05/storm", True)]
    assert found.follow == ()


@pytest.mark.parametrize(
    ("depth", "most", "goes"), [(0, 2, True), (1, 2, True), (2, 2, False), (9, -1, True), (0, 0, False)]
)
def test_listings_are_followed_down_to_the_depth_of_the_source(depth: int, most: int, goes: bool) -> None:
    found = listing(link("/world") + link(STORM), ListingRules(SITE, depth=depth, max_depth=most))
    assert bool(found.follow) is goes
    assert [item.depth for item in found.reading.items] == [depth + 1]


def test_given_patterns_decide_what_is_listed() -> None:
    found = listing(link("/x/1") + link(STORM), ListingRules(SITE, patterns_from(["/x/"])))
    assert urls(found) == ["https://h/x/1"]


def test_only_the_container_lists_but_the_whole_page_leads_on() -> None:
    rules = ListingRules(SITE, selectors=ListSelectors(container="#list, .more"))
    found = listing(f'{link("/2024/05/calm")}{link("/world")}<div id="list"><p>{link(STORM)}</p></div>', rules)
    assert urls(found) == ["https://h" + STORM]
    assert found.follow == ("https://h/world",)


def test_a_container_that_matches_nothing_is_noted() -> None:
    found = listing(link(STORM), ListingRules(SITE, selectors=ListSelectors(container="#gone")))
    assert urls(found) == ["https://h" + STORM]
    assert "container selector" in found.reading.notes[0]


def test_what_is_excluded_is_not_there() -> None:
    rules = ListingRules(SITE, selectors=ListSelectors(exclude_from_list=("aside", ".ad")))
    assert urls(listing(f'<aside><p>{link(STORM)}</p></aside><p class="ad">{link("/2024/05/x")}</p>', rules)) == []


def test_the_first_link_of_a_declared_card_is_an_article_however_spelt() -> None:
    rules = ListingRules(SITE, selectors=ListSelectors(article_cards=".c", article_list="ul > li"))
    html = f'<div class="c">{link("/x7")}{link("/topic")}</div><ul><li>{link("/y8")}</li></ul>{link("/2024/05/z")}'
    found = listing(html, rules)
    assert urls(found) == ["https://h/x7", "https://h/y8"]
    assert found.follow == ("https://h/topic",)


@pytest.mark.parametrize("selector", ["[[", "a:has(b)", "a b c d", "a ~ b ~ c ~ d", "x" * 201, ">>"])
def test_a_bad_selector_is_refused(selector: str) -> None:
    with pytest.raises(UsageError):
        ListSelectors(container=selector)


@pytest.mark.parametrize("selector", ["main .list > li", ".a, .b .c", "ul>li", "div[class='a b c d'] a"])
def test_selectors_people_write_are_fine(selector: str) -> None:
    assert ListSelectors(article_cards=selector).cards == selector


def test_links_are_counted() -> None:
    found = listing("".join(link(f"/2024/05/a{number}") for number in range(2_100)))
    assert len(found.reading.items) == 2_000
    assert found.reading.notes == ("Only the first 2,000 links were read.",)


def test_title_and_language_of_the_page() -> None:
    reading = listing('<html lang="de"><title>Die  Zeitung</title>').reading
    assert (reading.title, reading.language) == ("Die Zeitung", "de")


def test_bytes_are_decoded_as_the_page_says() -> None:
    html = f'<meta charset="iso-8859-1">{link(STORM, "Überfall")}'.encode("latin-1")
    assert listing(html).reading.items[0].title == "Überfall"


def test_a_script_that_compares_is_no_entangled_page() -> None:
    script = "<script async>" + "if(a<b &&c<d e){}" * 2_000 + "</script >"
    assert urls(listing(script + link(STORM) + "<STYLE>a<b</style>" + link("/2024/05/calm"))) == [
        "https://h/2024/05/storm",
        "https://h/2024/05/calm",
    ]


def test_links_in_comments_and_scripts_are_no_links() -> None:
    html = f"<!-- {link(STORM)} --><script>'{link(STORM)}'</script><!-->{link('/2024/05/calm')}<!-- {link(STORM)}"
    assert urls(listing(html)) == ["https://h/2024/05/calm"]
