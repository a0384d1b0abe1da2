import gzip
import zlib
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from ipaddress import ip_address, ip_network

import brotli
import zstandard
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from headwater.errors import SettingError
from headwater.net.addresses import FORBIDDEN_V4, FORBIDDEN_V6, why_forbidden
from headwater.net.body import BodyOutcome, BodyReader, Complete, TooLarge, Truncated, encodings_in
from headwater.net.caching import LONGEST_WAIT, freshness, http_date, max_age, retry_after
from headwater.net.charset import CharsetKind, charset_parameter, decode
from headwater.net.charset_labels import ENCODING_OF_LABEL
from headwater.net.guard import DEFAULT_PORTS, AddressGuard, parse_allowed_place
from headwater.net.problems import NETWORK_ERRORS, Problem, problem_from
from headwater.net.redirects import BrokenRedirect, Hop, NotARedirect, next_hop
from headwater.net.validators import conditional_headers, sendable, validators_from
from headwater.urls.canonical import canonicalise

ZERO = timedelta(0)
any_text = st.text(st.characters(exclude_categories=()))
instants = st.integers(31_536_000, 221_845_392_000).map(lambda second: datetime.fromtimestamp(second, UTC))
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
pieces_of_headers = st.sampled_from(
    [*'=,; "\\', "max-age", "Max-Age", "no-store", "no-cache", "s-maxage", "60", "-1", "9" * 30, "public"]
)
cache_controls = st.one_of(any_text, st.lists(pieces_of_headers | st.text(max_size=3), max_size=12).map("".join))
header_names = st.sampled_from(["Cache-Control", "Age", "Expires", "Date", "cache-control", "X"])
dates_as_text = instants.map(lambda moment: format_datetime(moment, usegmt=True))
headers = st.lists(st.tuples(header_names, cache_controls | dates_as_text), max_size=6)

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}
bodies = st.binary(max_size=2000) | st.tuples(st.binary(max_size=5), st.integers(0, 60_000)).map(
    lambda of: of[0] * of[1]
)
encoding = st.sampled_from(sorted(PACKERS))
encodings = st.lists(encoding, max_size=2)


def read(data: bytes, names: Iterable[str], limit: int, chunk: int) -> BodyOutcome:
    reader = BodyReader(limit, tuple(names))
    for at in range(0, len(data), chunk):
        if outcome := reader.feed(data[at : at + chunk]):
            return outcome
    return reader.end()


def packed(body: bytes, names: Iterable[str]) -> bytes:
    for name in names:
        body = PACKERS[name](body)
    return body


@given(headers, instants)
def test_freshness_is_never_negative_and_never_beyond_a_year(said: list[tuple[str, str]], now: datetime) -> None:
    assert ZERO <= freshness(said, now) <= LONGEST_WAIT


@given(cache_controls, st.integers(1, 10**7))
def test_max_age_is_found_at_the_end_of_any_list_that_does_not_speak_of_it(before: str, seconds: int) -> None:
    assume('"' not in before and max_age(before) is None)
    assert max_age(f"{before}, max-age={seconds}") == timedelta(seconds=seconds)


@given(any_text | st.integers().map(str) | dates_as_text, instants)
@example("9" * 5000, NOW)
def test_retry_after_is_none_or_a_wait_within_bounds(value: str, now: datetime) -> None:
    wait = retry_after(value, now)
    assert wait is None or ZERO <= wait <= LONGEST_WAIT


@given(instants)
def test_a_date_survives_all_three_forms(moment: datetime) -> None:
    assert http_date(format_datetime(moment, usegmt=True), NOW) == moment
    assert http_date(moment.strftime(f"%a %b {moment.day:2d} %H:%M:%S {moment.year:04d}"), NOW) == moment
    assert http_date(moment.strftime("%A, %d-%b-%y %H:%M:%S GMT"), moment) == moment


@given(st.binary(max_size=200))
def test_a_kept_validator_is_safe_and_leaves_as_it_came(value: bytes) -> None:
    text = sendable(value)
    assert validators_from([(b"ETag", value)]).etag == text
    for sent in conditional_headers(text, None).values():
        assert sent.encode() == value.strip(b" \t")
        assert sent.isprintable() or not sent.isascii()


@given(any_text, any_text)
def test_stored_text_never_breaks_a_header(etag: str, modified: str) -> None:
    for sent in conditional_headers(etag, modified).values():
        assert not set(sent.encode()) & {*range(32), 127}


labels = st.sampled_from(sorted(ENCODING_OF_LABEL)) | any_text


@given(st.binary(max_size=3000), st.sampled_from(CharsetKind), labels)
def test_any_bytes_become_text_that_postgresql_can_store(body: bytes, kind: CharsetKind, label: str) -> None:
    text = decode(body, kind, label).text
    assert "\x00" not in text
    assert text.encode().decode() == text


@given(st.text(), st.sampled_from(CharsetKind))
def test_utf8_comes_back_as_it_was(text: str, kind: CharsetKind) -> None:
    assume(not text.startswith("\ufeff"))
    assert decode(text.encode(), kind, "utf-8").text == text.replace("\x00", "")


@given(any_text)
def test_any_content_type_is_read(content_type: str) -> None:
    charset_parameter(f"text/html; charset={content_type}")


@given(bodies, encodings, st.integers(1, 5000))
def test_what_was_packed_is_unpacked_however_it_is_cut(body: bytes, names: list[str], chunk: int) -> None:
    assert read(packed(body, names), names, len(body), chunk) == Complete(body)


@given(bodies, encodings, st.integers(1, 5000), st.integers(0, 100_000))
def test_never_more_than_the_limit_is_kept(body: bytes, names: list[str], chunk: int, limit: int) -> None:
    outcome = read(packed(body, names), names, limit, chunk)
    assert outcome == (Complete(body) if len(body) <= limit else TooLarge(body[:limit]))


@given(bodies, st.lists(encoding, min_size=1, max_size=2), st.data())
def test_a_packed_body_that_was_cut_is_never_complete(body: bytes, names: list[str], data: st.DataObject) -> None:
    whole = packed(body, names)
    assume(len(whole) > 1)
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    outcome = read(cut, names, 1_000_000, 1000)
    assert isinstance(outcome, Truncated)
    assert body.startswith(outcome.start)


@given(st.binary(max_size=3000), encodings, st.integers(1, 3000))
@settings(max_examples=300)
def test_any_bytes_have_an_outcome_that_does_not_depend_on_the_chunks(
    data: bytes, names: list[str], chunk: int
) -> None:
    small, whole = read(data, names, 1000, chunk), read(data, names, 1000, max(len(data), 1))
    assert type(small) is type(whole)
    if not isinstance(small, TooLarge):
        assert small == whole


@given(st.lists(any_text))
def test_any_list_of_encodings_is_read(values: list[str]) -> None:
    assert isinstance(BodyReader(10, encodings_in(values)).end(), BodyOutcome)


@given(st.ip_addresses())
def test_an_address_is_forbidden_exactly_when_a_network_of_the_table_holds_it(address: object) -> None:
    found = ip_address(str(address))
    networks = [ip_network(text) for text, _ in (*FORBIDDEN_V4, *FORBIDDEN_V6)]
    is_listed = any(found in network for network in networks)
    is_elsewhere = found.version == 6 and found not in ip_network("2000::/3")
    assert (why_forbidden(found) is not None) is (is_listed or is_elsewhere)
    assert why_forbidden(str(found)) == why_forbidden(found)


@given(any_text | st.ip_addresses().map(str), st.sampled_from([-1, 0, 22, 80, 443, 70_000]))
def test_the_guard_answers_any_text_with_a_network_error_or_nothing(address: str, port: int) -> None:
    problem = None
    try:
        AddressGuard().check_host(address)
        AddressGuard().check(address, port)
    except NETWORK_ERRORS as error:
        problem = problem_from(error).kind
    assert (why_forbidden(address) is None and port in DEFAULT_PORTS) is (problem is None)
    assert problem in (None, Problem.BLOCKED_ADDRESS)


@given(any_text | st.ip_addresses().map(str) | st.from_regex(r"[\[\]0-9a-f:./%-]+", fullmatch=True))
def test_any_text_is_a_place_or_a_setting_error(text: str) -> None:
    try:
        place = parse_allowed_place(text)
    except SettingError:
        return
    assert parse_allowed_place(str(place)) == place


@given(st.integers(0, 999), st.lists(st.binary(max_size=300), max_size=3), st.integers(0, 10))
def test_any_location_is_a_hop_or_a_reason(status: int, locations: list[bytes], hops: int) -> None:
    here = canonicalise("https://example.com/a")
    match next_hop(status, locations, here, hops):
        case Hop(url):
            assert canonicalise(url.url) == url
            assert url.url != here.url
        case BrokenRedirect(reason):
            assert reason
        case NotARedirect():
            assert status not in (301, 302, 303, 307, 308)
