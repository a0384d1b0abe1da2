from hashlib import sha256

import pytest

from headwater.errors import UrlRejected
from headwater.urls.canonical import canonicalise
from headwater.urls.origin import Origin
from headwater.urls.rules import HostRules

REQUIRED = {
    "lowercase scheme": ("HTTP://Example.com/Path", "https://example.com/Path"),
    "lowercase host": ("https://EXAMPLE.COM/path", "https://example.com/path"),
    "default https port": ("https://example.com:443/path", "https://example.com/path"),
    "default http port": ("http://example.com:80/path", "https://example.com/path"),
    "other port kept": ("https://example.com:8080/path", "https://example.com:8080/path"),
    "trailing slash": ("https://example.com/path/", "https://example.com/path"),
    "root slash kept": ("https://example.com/", "https://example.com/"),
    "fragment": ("https://example.com/path#section", "https://example.com/path"),
    "sorted query": ("https://example.com/path?z=1&a=2", "https://example.com/path?a=2&z=1"),
    "utm stripped": ("https://example.com/path?utm_source=twitter&id=1", "https://example.com/path?id=1"),
    "fbclid stripped": ("https://example.com/path?fbclid=abc123&id=1", "https://example.com/path?id=1"),
    "dot segments": ("https://example.com/a/b/../c", "https://example.com/a/c"),
    "https upgrade": ("http://example.com/path", "https://example.com/path"),
    "empty query": ("https://example.com/path?utm_source=x", "https://example.com/path"),
}


@pytest.mark.parametrize(("raw", "key"), REQUIRED.values(), ids=REQUIRED)
def test_required_vectors_hold(raw: str, key: str) -> None:
    assert canonicalise(raw).key == key


KEYS = {
    "no path": ("http://h", "https://h/"),
    "port of the other scheme, https": ("https://h:80/", "https://h:80/"),
    "port of the other scheme, http": ("http://h:443/", "http://h:443/"),
    "other port with upgrade": ("http://h:8080/a", "https://h:8080/a"),
    "port with leading zeros": ("http://h:0080/a", "https://h/a"),
    "empty port": ("http://h:/a", "https://h/a"),
    "double slash inside": ("http://h/a//b", "https://h/a//b"),
    "double slash at the end": ("http://h/a//", "https://h/a"),
    "bare question mark": ("http://h/a?", "https://h/a"),
    "only separators": ("http://h/a?&&", "https://h/a"),
    "empty pairs dropped": ("http://h/a?&x=1&&y=2&", "https://h/a?x=1&y=2"),
    "question mark and fragment": ("http://h/a/?#x", "https://h/a"),
    "name without value differs from empty value": ("http://h/?b&a=", "https://h/?a=&b"),
    "repeated names keep their order": ("http://h/?b=2&a=9&b=1&a=3", "https://h/?a=9&a=3&b=2&b=1"),
    "sorted by name only": ("http://h/?a=2&a.b=1&a=1", "https://h/?a=2&a=1&a.b=1"),
    "tracking in any case": ("http://h/?UTM_Source=x&FbClId=y&Id=1", "https://h/?Id=1"),
    "any utm name": ("http://h/?utm_brand_new=1&utmost=2", "https://h/?utmost=2"),
    "escaped tracking name": ("http://h/?utm%5Fsource=x&%67clid=y", "https://h/"),
    "all listed names": ("http://h/?gclid=1&gclsrc=1&dclid=1&msclkid=1&ref=1&fbclid=1&utm_term=1", "https://h/"),
    "similar names stay": ("http://h/?refer=1&xref=2&fbclid2=3", "https://h/?fbclid2=3&refer=1&xref=2"),
    "value that looks like tracking stays": ("http://h/?q=utm_source", "https://h/?q=utm_source"),
    "unreserved decoded": ("http://h/%7euser/%41%2D%2e%5f?%7a=%30", "https://h/~user/A-._?z=0"),
    "hexadecimal upper": ("http://h/%c3%a9?q=%c3%a9", "https://h/%C3%A9?q=%C3%A9"),
    "unicode encoded": ("http://h/é?q=é", "https://h/%C3%A9?q=%C3%A9"),
    "reserved stay encoded": ("http://h/a%2fb%3fc?d=%26%3D%2B", "https://h/a%2Fb%3Fc?d=%26%3D%2B"),
    "double encoding is not peeled": ("http://h/%2541", "https://h/%2541"),
    "no escape is made by decoding": ("http://h/%4%31?%%34%31", "https://h/%4%31?%%341"),
    "stray percent": ("http://h/100%?q=%zz", "https://h/100%?q=%zz"),
    "encoded line break stays": ("http://h/%0d%0aHost:%20x", "https://h/%0D%0AHost:%20x"),
    "space inside": ("http://h/a b?c d", "https://h/a%20b?c%20d"),
    "plus is not a space": ("http://h/?q=a+b", "https://h/?q=a+b"),
    "encoded dot segments": ("http://h/a/%2e%2e/b", "https://h/b"),
    "dots above the root": ("http://h/../../a", "https://h/a"),
    "path case kept": ("http://h/A/b", "https://h/A/b"),
    "www kept": ("http://www.h.com/", "https://www.h.com/"),
    "root dot of the name": ("http://Example.com./a", "https://example.com/a"),
    "ipv6": ("http://[2001:DB8:0:0::1]:80/a/", "https://[2001:db8::1]/a"),
    "ipv6 with port": ("http://[2001:db8::1]:8080/a", "https://[2001:db8::1]:8080/a"),
    "at sign in the path": ("https://h/@author/title", "https://h/@author/title"),
}


@pytest.mark.parametrize(("raw", "key"), KEYS.values(), ids=KEYS)
def test_key(raw: str, key: str) -> None:
    assert canonicalise(raw).key == key


FETCHED = {
    "scheme kept": ("http://Example.com/a/", "http://example.com/a/"),
    "query kept as it is": ("https://h/?z=1&utm_source=x&a=2", "https://h/?z=1&utm_source=x&a=2"),
    "escapes kept": ("https://h/%7e%c3%a9", "https://h/%7e%c3%a9"),
    "fragment removed": ("https://h/a#b?c", "https://h/a"),
    "own port removed": ("http://h:80/a", "http://h/a"),
    "other port kept": ("http://h:8080/a", "http://h:8080/a"),
}


@pytest.mark.parametrize(("raw", "url"), FETCHED.values(), ids=FETCHED)
def test_only_the_key_is_rewritten(raw: str, url: str) -> None:
    assert canonicalise(raw).url == url


@pytest.mark.parametrize(
    ("raw", "host"),
    [
        ("https://example.com/path", "example.com"),
        ("https://example.com:8080/path", "example.com"),
        ("https://www.example.com/path", "www.example.com"),
        ("https://BÜCHER.example/", "xn--bcher-kva.example"),
        ("https://[::1]:8080/", "[::1]"),
    ],
)
def test_host_has_no_port(raw: str, host: str) -> None:
    assert canonicalise(raw).host == host


def test_hash_is_that_of_the_key_and_bucket_that_of_the_host() -> None:
    found = canonicalise("http://www.example.com:8080/a/?utm_source=x")
    assert found.url_hash == sha256(b"https://www.example.com:8080/a").digest()
    assert found.bucket == sha256(b"www.example.com").digest()[0]


@pytest.mark.parametrize(
    ("raw", "origin", "text"),
    [
        ("http://h/a", Origin("http", "h", 80), "http://h"),
        ("https://h/a", Origin("https", "h", 443), "https://h"),
        ("http://h:443/a", Origin("http", "h", 443), "http://h:443"),
        ("https://[::1]:8443/a", Origin("https", "[::1]", 8443), "https://[::1]:8443"),
    ],
)
def test_origin_is_that_of_the_fetched_url(raw: str, origin: Origin, text: str) -> None:
    assert canonicalise(raw).origin == origin
    assert str(origin) == text


def test_target_is_what_is_requested_and_path_and_query_are_the_keys() -> None:
    found = canonicalise("http://h:8080/a/?z=1&utm_source=x&b=2")
    assert found.target == "/a/?z=1&utm_source=x&b=2"
    assert (found.path, found.query) == ("/a", "b=2&z=1")


BASE = "https://site.example/news/today?page=2#top"
LINKS = {
    "sibling": ("story", "https://site.example/news/story"),
    "from the root": ("/story", "https://site.example/story"),
    "up": ("../story", "https://site.example/story"),
    "query only": ("?page=3", "https://site.example/news/today?page=3"),
    "fragment only": ("#x", "https://site.example/news/today?page=2"),
    "empty": ("", "https://site.example/news/today?page=2"),
    "other host": ("//other.example/x", "https://other.example/x"),
    "absolute": ("http://other.example/x", "http://other.example/x"),
    "colon in a later segment": ("a/b:c", "https://site.example/news/a/b:c"),
}


@pytest.mark.parametrize(("link", "url"), LINKS.values(), ids=LINKS)
def test_links_are_resolved_against_their_base(link: str, url: str) -> None:
    assert canonicalise(link, base=BASE).url == url


@pytest.mark.parametrize(
    ("base", "reason"),
    [
        ("http:\\\\evil.example", "backslash"),
        ("http:evil.example", "no_host"),
        ("http://u:p@h/", "userinfo"),
        ("file:///etc/", "unsupported_scheme"),
        ("/relative", "no_host"),
    ],
)
def test_a_base_is_held_to_the_same_rules(base: str, reason: str) -> None:
    with pytest.raises(UrlRejected) as refusal:
        canonicalise("story", base=base)
    assert refusal.value.reason == reason


def test_an_absolute_link_does_not_need_its_base() -> None:
    assert canonicalise("https://h/A", base="mailto:x").url == "https://h/A"


def test_a_host_may_keep_its_slashes() -> None:
    rules = HostRules(keep_slash=True)
    assert canonicalise("http://h/a/?utm_source=x", rules=rules).key == "https://h/a/"
    assert canonicalise("http://h/a", rules=rules).key == "https://h/a"


def test_a_host_may_keep_and_strip_parameters_whatever_their_case() -> None:
    rules = HostRules(keep_params=frozenset({"Ref", "UTM_id"}), strip_params=frozenset({"Share"}))
    key = canonicalise("http://h/?sHARE=1&REF=2&utm_ID=3&utm_source=4", rules=rules).key
    assert key == "https://h/?REF=2&utm_ID=3"


def test_keeping_beats_stripping() -> None:
    both = frozenset({"page"})
    assert canonicalise("http://h/?page=2", rules=HostRules(False, both, both)).key == "https://h/?page=2"


def test_equal_rules_are_one_rule() -> None:
    assert HostRules(keep_params=frozenset({"A"})) == HostRules(keep_params=frozenset({"a"}))
    assert hash(HostRules()) == hash(HostRules())
