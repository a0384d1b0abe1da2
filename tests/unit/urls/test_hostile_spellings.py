"""Spellings made to slip past a check: each is refused with its reason, or seen for what it is."""

import pytest

from headwater.errors import UrlRejected
from headwater.urls.canonical import canonicalise

LONGEST = 2083


def url_of_length(length: int) -> str:
    head = "http://h/"
    return head + "a" * (length - len(head))


REFUSED = {
    "control_character": [
        "http://127.0.0.1\0.example.com/",
        "\0http://h/",
        "http://h/\t",
        "\nhttp://h/",
        "ht\ntp://h/",
        "http://h/\r\nHost: x",
        "http://h/a\x7f",
        "http://h/a\x85",
        "http://h/#\x1b]",
        " java\nscript:alert(1)",
    ],
    "surrounding_space": [" http://h/", "http://h/ ", "http://h/\u3000", "\xa0http://h/"],
    "backslash": [
        "http://169.254.169.254:80\\@example.com/",
        "http://example.com\\@169.254.169.254/",
        "http:/\\/h",
        "\\\\evil.example",
        "http://h/a?b=\\c",
    ],
    "userinfo": [
        "http://example.com@169.254.169.254/",
        "http://user:secret@h/",
        "http://@h/",
        "http://:@h/",
        "http://a@b@c/",
    ],
    "no_host": [
        "http:169.254.169.254/",
        "http:/169.254.169.254/",
        "http:///169.254.169.254/",
        "http://",
        "https://?x",
        "https://#x",
        "http:",
        "http://:80/",
        "",
        "/path",
        "example.com/path",
        "//example.com/path",
        "///x",
    ],
    "unsupported_scheme": [
        "file:///etc/passwd",
        "file:/etc/passwd",
        "source:file:///etc/passwd",
        "gopher://h/",
        "ftp://h/",
        "data:text/html,x",
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "vbscript:x",
        "jar:http://h/!/",
        "dict://h:11211/",
        "s3://h/",
        "view-source:http://h/",
        "localhost:8080/",
        "ws://h/",
    ],
    "bad_port": [
        "http://example.com:99999/",
        "http://example.com:-1/",
        "http://example.com:٨٠/",
        "http://example.com:80:80/",
        "http://example.com:0/",
        "http://[::1]:x/",
        f"http://h:{'9' * 1000}/",
    ],
    "bad_host": [
        "http://[::1",
        "http://[example.com]/",
        "http://[[x]]/",
        "http://[fe80::1%25eth0]/",
        "http://127.0.0.1%00.example.com/",
        "http://ex%2561mple.com/",
        "http://exa mple.com/",
        "http://256.1.1.1/",
        "http://h\u3000x/",
        "http://h\uff0fx/",
        "http://a%40b/",
        "http://a..b/",
        "http://.a/",
        "http://a../",
        "http://*.example.com/",
        "http://a,b.example/",
        f"http://{'a' * 64}.example/",
        f"http://{'.'.join('a' * 200)}/",
    ],
    "too_long": [
        url_of_length(LONGEST + 1),
        url_of_length(8192),
        url_of_length(1_000_000),
        f"http://{'.'.join('a' * 10_000)}/",
        "http://h/" + "é" * 400,
        "http://h/" + "a/../" * 500,
    ],
    "invalid": ["http://h/\ud800", "http://\udfff/", "http://h/?\udc80"],
}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [(raw, reason) for reason, spellings in REFUSED.items() for raw in spellings],
    ids=lambda text: repr(text)[:60],
)
def test_refused(raw: str, reason: str) -> None:
    with pytest.raises(UrlRejected) as refusal:
        canonicalise(raw)
    assert refusal.value.reason == reason


SEEN_AS = {
    "http://0/": "0.0.0.0",
    "http://2130706433/": "127.0.0.1",
    "http://0x7f000001/": "127.0.0.1",
    "http://0177.0.0.1/": "127.0.0.1",
    "http://0x7f.1/": "127.0.0.1",
    "http://127.1/": "127.0.0.1",
    "http://017700000001/": "127.0.0.1",
    "http://①②⑦.⓪.⓪.①/": "127.0.0.1",
    "http://127。0。0。1/": "127.0.0.1",
    "http://１２７.0.0.1/": "127.0.0.1",
    "http://127.0.0.1./": "127.0.0.1",
    "http://LOCALHOST/": "localhost",
    "http://localhost./": "localhost",
    "http://[::ffff:127.0.0.1]/": "[::ffff:7f00:1]",
    "http://[::127.0.0.1]/": "[::7f00:1]",
    "http://[0:0:0:0:0:0:0:1]/": "[::1]",
    "http://169.254.169.254#@example.com/": "169.254.169.254",
    "http://169.254.169.254?@example.com/": "169.254.169.254",
    "http://ex%61mple.com/": "example.com",
    "http://ex\xadample.com/": "example.com",
    "http://ℝ.com/": "r.com",
    "http://straße.example/": "xn--strae-oqa.example",
    "http://а.example/": "xn--80a.example",
    f"http://{'a' * 63}.example/": f"{'a' * 63}.example",
}


@pytest.mark.parametrize(("raw", "host"), SEEN_AS.items(), ids=lambda text: repr(text)[:60])
def test_host_is_seen_for_what_it_is(raw: str, host: str) -> None:
    found = canonicalise(raw)
    assert found.host == host
    assert found.url.startswith(f"http://{host}/")
    assert found.key.startswith(f"https://{host}/")


def test_the_longest_url_is_accepted() -> None:
    assert len(canonicalise(url_of_length(LONGEST)).url) == LONGEST


def test_a_long_fragment_does_not_count() -> None:
    assert canonicalise("http://h/#" + "a" * LONGEST).url == "http://h/"


def test_a_short_link_to_a_long_base_is_too_long() -> None:
    with pytest.raises(UrlRejected) as refusal:
        canonicalise("b" * 10, base=url_of_length(LONGEST - 5) + "/")
    assert refusal.value.reason == "too_long"


@pytest.mark.parametrize("link", ["http:story", "https:/story", "///evil.example/", "http:"])
def test_a_base_does_not_excuse_a_missing_host(link: str) -> None:
    with pytest.raises(UrlRejected) as refusal:
        canonicalise(link, base="http://h/a/b")
    assert refusal.value.reason == "no_host"


def test_the_sentence_never_repeats_the_url() -> None:
    with pytest.raises(UrlRejected) as refusal:
        canonicalise("http://user:secret@h/")
    assert "secret" not in refusal.value.what
