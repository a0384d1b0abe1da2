import pytest

from headwater.errors import UsageError
from headwater.urls.articles import is_article_url, leads_to_articles, patterns_from
from headwater.urls.canonical import canonicalise

ARTICLES = [
    "https://h/2024/05/storm-hits",
    "https://h/2024/05/12/storm",
    "https://h/news/storm",
    "https://h/en/press/12345",
    "https://h/jobs/4711",
    "https://h/storm-hits-the-coast",
    "https://h/world/storm-hits-the-coast.html",
    "https://h/Obituaries/Jane-Doe",
    "https://h/tenders/12?lang=en",
]
OTHERS = [
    "https://h/",
    "https://h",
    "https://h/news",
    "https://h/news/",
    "https://h/storm-hits-coast",
    "https://h/a/b",
    "https://h/news/2024",
    "https://h/2024/05",
    "https://h/2024/05/12/",
    "https://h/tag/storm-hits-the-coast",
    "https://h/author/jane-of-the-coast",
    "https://h/news/page/2",
    "https://h/login/2024/05/storm",
    "https://h/news/storm.pdf",
    "https://h/news/storm.JPG",
    "https://h/news/storm.docx",
    "https://h/news/download.php?f=1",
    "https://h/shop/news/storm",
    "https://h/news/static/storm-hits-the-coast",
    "https://play.google.com/news/storm-hits-the-coast",
    "https://h/a----b",
    "not a url",
    "javascript:alert(1)",
]


@pytest.mark.parametrize("url", ARTICLES)
def test_an_article_is_known_by_its_spelling(url: str) -> None:
    assert is_article_url(url)


@pytest.mark.parametrize("url", OTHERS)
def test_what_is_no_article_is_known_too(url: str) -> None:
    assert not is_article_url(url)


def test_given_patterns_decide_alone() -> None:
    patterns = patterns_from([r"/x/\d+$", r"^https://h/only/"])
    assert is_article_url("https://h/x/12", patterns)
    assert is_article_url("https://h/only/this.pdf", patterns)
    assert not is_article_url("https://h/2024/05/storm-hits-the-coast", patterns)


def test_patterns_see_the_url_as_it_is_fetched() -> None:
    assert is_article_url(canonicalise("http://h/a/?id=7"), patterns_from([r"^http://h/a/\?id=7$"]))


def test_no_patterns_are_no_opinion() -> None:
    assert patterns_from([]) is None


def test_equal_patterns_are_equal_values() -> None:
    assert patterns_from(["a"]) == patterns_from(["a"]) != patterns_from(["b"])


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "unclosed group"),
        (r"(a)\1", "backreferences"),
        ("(?=a)b", "look-around"),
        ("(?<=a)b", "look-around"),
        ("(?#a)b", "flag"),
        ("", "1 to 500"),
        ("a" * 501, "1 to 500"),
        ("a" * 1_000_000, "1 to 500"),
        ("(.{0,100}){0,100}x$", "repeats too much"),
        ("a{101}", "repeats too much"),
        ("a{101,}", "repeats too much"),
    ],
)
def test_a_bad_pattern_is_refused_in_words(pattern: str, why: str) -> None:
    with pytest.raises(UsageError, match=why) as refusal:
        patterns_from([pattern])
    assert len(refusal.value.what) < 700


def test_patterns_are_counted() -> None:
    with pytest.raises(UsageError, match="10000 URL patterns"):
        patterns_from(["a"] * 10_000)


def test_counts_people_write_are_fine() -> None:
    assert is_article_url("https://h/2024/05/12/x", patterns_from([r"/\d{4}/\d{2}/\d{2}/"]))


@pytest.mark.parametrize(
    ("path", "leads"),
    [("news", True), ("", True), ("tag/storm", True), ("login", False), ("feed", False), ("a.pdf", False), ("shop", 0)],
)
def test_a_listing_is_followed_and_a_form_is_not(path: str, leads: bool) -> None:
    assert leads_to_articles(canonicalise(f"https://h/{path}")) == bool(leads)
