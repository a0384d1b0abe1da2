import pytest

from headwater.urls.canonical import canonicalise
from headwater.urls.scope import Placement, Scope, folder_of, placement_of, why_no_path
from headwater.urls.skip import Skip, why_skipped

SITE = Scope(hosts=frozenset({"www.Example.com"}))
DOMAIN = Scope(domains=frozenset({"Example.com"}))
NEWS = Scope(
    hosts=frozenset({"example.com"}), include_paths=("/news", "blog/"), exclude_paths=("/news/tags/", "/news/%7eold")
)


@pytest.mark.parametrize(
    ("scope", "url", "placement"),
    [
        (SITE, "http://example.com/a", "inside"),
        (SITE, "http://WWW.example.com:80/a", "inside"),
        (SITE, "http://WWW.example.com:8080/a", "other_host"),
        (SITE, "http://news.example.com/a", "other_host"),
        (SITE, "http://www.www.example.com/a", "other_host"),
        (DOMAIN, "http://example.com/", "inside"),
        (DOMAIN, "http://a.b.example.com/", "inside"),
        (DOMAIN, "http://badexample.com/", "other_host"),
        (DOMAIN, "http://example.com.evil.example/", "other_host"),
        (NEWS, "http://example.com/news", "inside"),
        (NEWS, "http://example.com/news/a", "inside"),
        (NEWS, "http://example.com/blog/?page=2", "inside"),
        (NEWS, "http://example.com/newsletter", "path_not_included"),
        (NEWS, "http://example.com/", "path_not_included"),
        (NEWS, "http://example.com/news/tags", "path_excluded"),
        (NEWS, "http://example.com/news/tags/a", "path_excluded"),
        (NEWS, "http://example.com/news/~old/a", "path_excluded"),
        (NEWS, "http://example.com/news/tagsale", "inside"),
        (Scope(), "http://example.com/", "other_host"),
        (Scope(allow_external=True), "http://example.com/", "external"),
        (Scope(hosts=frozenset({"h"}), include_paths=("/",)), "http://h/a", "inside"),
    ],
)
def test_placement(scope: Scope, url: str, placement: str) -> None:
    assert placement_of(canonicalise(url), scope) == placement


def test_path_rules_are_about_the_sources_own_hosts() -> None:
    scope = Scope(hosts=frozenset({"h"}), include_paths=("/news",), allow_external=True)
    assert placement_of(canonicalise("http://other/a"), scope) is Placement.EXTERNAL


def test_only_inside_and_allowed_external_are_followed() -> None:
    assert {word for word in Placement if word.is_followed} == {Placement.INSIDE, Placement.EXTERNAL}


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://play.google.com/store/apps", Skip.APP_STORE),
        ("https://apps.apple.com/x", Skip.APP_STORE),
        ("https://itunes.apple.com/x", Skip.APP_STORE),
        ("https://d1.cloudfront.net/x", Skip.FILE_STORE),
        ("https://lh3.googleusercontent.com/x", Skip.FILE_STORE),
        ("https://scontent.fbcdn.net/x", Skip.FILE_STORE),
        ("https://pbs.twimg.com/x", Skip.FILE_STORE),
        ("https://h/wp-content/uploads/2020/01/a", Skip.FILE_FOLDER),
        ("https://h/Assets/a", Skip.FILE_FOLDER),
        ("https://h/a/static/", Skip.FILE_FOLDER),
        ("https://h/en/latest/_static/a.html", Skip.FILE_FOLDER),
        ("https://h/_downloads/1f/a.html", Skip.FILE_FOLDER),
        ("https://h/_images/a", Skip.FILE_FOLDER),
        ("https://h/en/latest/_sources/guide.rst.txt", Skip.WRITTEN_TWICE),
        ("https://h/guide.md.txt", Skip.WRITTEN_TWICE),
        ("https://h/_modules/kettle.html", Skip.WRITTEN_TWICE),
        ("https://h/docs/_print/", Skip.WRITTEN_TWICE),
        ("https://h/genindex.html", Skip.WRITTEN_TWICE),
        ("https://h/stable/genindex-K.html", Skip.WRITTEN_TWICE),
        ("https://h/genindex/", Skip.WRITTEN_TWICE),
        ("https://h/py-modindex.html", Skip.WRITTEN_TWICE),
        ("https://h/modules/kettle.html", None),
        ("https://h/docs/reference/search.html", None),
        ("https://h/robots.txt", None),
        ("https://h/blob/main/README.md", None),
        ("https://h/genindexing.html", None),
        ("https://h/shop", Skip.SHOP),
        ("https://h/Products/1", Skip.SHOP),
        ("https://h/a/checkout/b", Skip.SHOP),
        ("https://h/shopping-is-fun", None),
        ("https://h/news/store-closes-after-years", None),
        ("https://notcloudfront.net/x", None),
        ("https://google.com/x", None),
        ("https://h/statically/a", None),
    ],
)
def test_skip_filter(url: str, reason: Skip | None) -> None:
    assert why_skipped(canonicalise(url)) is reason


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("https://h/", "/"),
        ("https://h/docs", "/docs/"),
        ("https://h/docs/", "/docs/"),
        ("https://h/docs/index.html", "/docs/"),
        ("https://h/index.html", "/"),
        ("https://h/a/v1.2/", "/a/v1.2/"),
        ("https://h/a/v1.2", "/a/v1.2/"),
        ("https://h/a/3.x/", "/a/3.x/"),
        ("https://h/a?x=1", "/a/"),
    ],
)
def test_the_folder_of_an_address(url: str, folder: str) -> None:
    assert folder_of(canonicalise(url)) == folder


def test_a_page_that_a_person_named_is_inside_whatever_its_path() -> None:
    scope = Scope(frozenset({"h"}), include_paths=("/api/",), starts=frozenset({canonicalise("https://h/docs/").key}))
    assert placement_of(canonicalise("https://h/docs"), scope) is Placement.INSIDE
    assert placement_of(canonicalise("https://h/docs/a"), scope) is Placement.PATH_NOT_INCLUDED


@pytest.mark.parametrize(
    ("path", "is_one"), [("/docs/", True), ("docs", True), ("/", True), ("", False), ("/a*", False)]
)
def test_what_may_be_a_path(path: str, is_one: bool) -> None:
    assert (why_no_path(path) == "") is is_one
