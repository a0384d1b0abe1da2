from collections.abc import Callable
from random import Random
from string import ascii_letters, digits, punctuation
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from headwater.errors import UrlRejected
from headwater.urls.canonical import CanonicalUrl, canonicalise, with_plain_escapes
from headwater.urls.parse import resolve, resolve_with_parser
from headwater.urls.rules import DEFAULT_RULES, HostRules

any_text = st.text(st.characters(exclude_categories=()))
names = st.text(ascii_letters + digits + "-_éß", min_size=1, max_size=8)
hosts = st.one_of(
    st.lists(names, min_size=1, max_size=4).map(".".join),
    st.ip_addresses(v=4).map(str),
    st.ip_addresses(v=6).map("[{}]".format),
    st.sampled_from(["example.com", "EXAMPLE.com.", "0x7f.1", "127.1", "1.2.3", "xn--bcher-kva.example"]),
)
escapes = st.one_of(st.integers(0, 255).map("%{:02x}".format), st.integers(0, 255).map("%{:02X}".format), st.just("%"))
pieces = st.one_of(names, escapes, st.sampled_from([*"/.=&?;:@+ ~'\"<>|^`{}[]!$(),*", "..", "//", "utm_x", "ref"]))
paths = st.lists(pieces, max_size=12).map(lambda found: "/" + "".join(found))
queries = st.one_of(st.just(""), st.lists(pieces, max_size=12).map(lambda found: "?" + "".join(found)))
ports = st.one_of(st.just(""), st.sampled_from([":", ":80", ":443", ":8080", ":0080"]))
schemes = st.sampled_from(["http", "https", "HTTP", "hTTps"])
fragments = st.sampled_from(["", "#", "#x", "#a#b"])
links = st.builds("{}://{}{}{}{}{}".format, schemes, hosts, ports, paths, queries, fragments)
rules = st.builds(
    HostRules,
    keep_slash=st.booleans(),
    keep_params=st.frozensets(st.sampled_from(["ref", "utm_x", "a"])),
    strip_params=st.frozensets(st.sampled_from(["a", "b"])),
)


def accepted(raw: str, by: HostRules = DEFAULT_RULES) -> CanonicalUrl:
    try:
        return canonicalise(raw, rules=by)
    except UrlRejected:
        reject()


def outcome(resolved: Callable[[], str]) -> str:
    try:
        return resolved()
    except UrlRejected as refusal:
        return refusal.reason


@given(any_text, st.none() | any_text | links)
@example("http://h/\ud800", None)
@example("\ud800", "http://h/")
@example("x", "http://\udfff/")
def test_whatever_the_text_only_a_refusal_is_raised(raw: str, base: str | None) -> None:
    assert outcome(lambda: canonicalise(raw, base=base).key)


@given(st.binary(), st.sampled_from(["utf-8", "latin-1", "utf-16"]))
def test_decoded_bytes_raise_only_refusals(raw: bytes, codec: str) -> None:
    errors = "surrogateescape" if codec == "utf-8" else "replace"
    assert outcome(lambda: canonicalise("http://" + raw.decode(codec, errors)).key)


@given(links, rules)
@example("http://h:443/", HostRules())
@example("http://h/%4%31?%%34%31", HostRules())
@example("http://h//?", HostRules())
def test_the_key_is_its_own_key(raw: str, by: HostRules) -> None:
    found = accepted(raw, by)
    again = canonicalise(found.key, rules=by)
    assert (again.key, again.url_hash, again.bucket) == (found.key, found.url_hash, found.bucket)


@given(links)
def test_the_fetched_url_is_its_own_spelling(raw: str) -> None:
    found = accepted(raw)
    assert canonicalise(found.url) == found


@given(links)
def test_key_and_url_lead_to_one_host(raw: str) -> None:
    found = accepted(raw)
    inner = found.host.strip("[]")
    assert urlsplit(found.key).hostname == urlsplit(found.url).hostname == inner
    assert found.host == found.host.lower()
    assert found.entry_id.bytes[0] == found.bucket


@given(links)
def test_the_url_has_no_fragment_no_user_and_only_plain_characters(raw: str) -> None:
    found = accepted(raw)
    assert "#" not in found.url + found.key
    assert "@" not in str(found.origin)
    assert set(found.url + found.key) <= set(ascii_letters + digits + punctuation) - set("\\#")


@given(
    st.lists(names, min_size=1, max_size=3).map("/".join),
    st.lists(st.tuples(st.sampled_from("abcdef"), names), unique_by=lambda pair: pair[0], max_size=6),
    st.randoms(use_true_random=False),
)
def test_spellings_of_one_page_have_one_hash(path: str, pairs: list[tuple[str, str]], rng: Random) -> None:
    query = [f"{name}={value}" for name, value in pairs]
    plain = accepted(f"https://example.com/{path}?{'&'.join(query)}")
    query += ["utm_medium=x", "GCLID=1"]
    rng.shuffle(query)
    escaped = "".join(f"%{ord(c):02x}" if c in ascii_letters else c for c in path)
    other = canonicalise(f"HTTP://EXAMPLE.com:80/./{escaped}/?{'&'.join(query)}#top")
    assert other.url_hash == plain.url_hash


@given(st.lists(pieces, max_size=20).map("".join))
def test_decoding_escapes_twice_changes_nothing_more(text: str) -> None:
    once = with_plain_escapes(text)
    assert with_plain_escapes(once) == once


plain_hosts = st.one_of(
    hosts,
    st.from_regex(r"[a-z0-9.-]{1,12}", fullmatch=True),
    st.sampled_from(["0", "127.1", "0x7f.1", "256.1", "xn--a", "xn--", "-a", "a..b", "a."]),
)
plain_targets = st.from_regex(r"(?a:/[\w~!$&()*+,;=:@./-]{0,20}(\?[\w~!$&()*+,;=:@./?%-]{0,20})?)", fullmatch=True)


@pytest.mark.long
@settings(max_examples=500)
@given(st.sampled_from(["http", "https"]), plain_hosts, ports, plain_targets)
@example("http", "0x7f.1", "", "/")
@example("http", "h", ":99999", "/")
@example("http", "h", "", "/a/..")
@example("http", "h", "", "/a/.b/...?..")
def test_the_short_way_says_what_the_parser_says(scheme: str, host: str, port: str, target: str) -> None:
    raw = f"{scheme}://{host}{port}{target}"
    assert outcome(lambda: resolve(raw)) == outcome(lambda: resolve_with_parser(raw, None))


@given(links)
def test_the_short_way_agrees_on_any_link(raw: str) -> None:
    url = accepted(raw).url
    assert resolve(url) == resolve_with_parser(url, None) == url
