import pytest

from headwater.net.validators import LONGEST_BYTES, Validators, conditional_headers, sendable, validators_from


def test_validators_are_found_in_any_case_and_the_first_counts() -> None:
    head = [(b"etag", b'"a"'), (b"ETag", b'"b"'), (b"LAST-MODIFIED", b"Sun, 01 Mar 2026 12:00:00 GMT")]
    assert validators_from(head) == Validators('"a"', "Sun, 01 Mar 2026 12:00:00 GMT")


def test_a_head_without_validators_gives_none() -> None:
    assert validators_from([(b"Content-Type", b"text/html")]) == Validators(None, None)


@pytest.mark.parametrize(
    "value", [b'"x"', b'W/"x"', b"unquoted", b'"a b"', b'"\xe9"', b'"\xc3\xa9"', b"0", b"Thu, 01 Jan 1601"]
)
def test_what_a_server_said_is_kept_byte_for_byte(value: bytes) -> None:
    text = sendable(value)
    assert text is not None
    assert text.encode("latin-1") == value


@pytest.mark.parametrize(
    "value", [b"", b"  ", b'"a\r\nX: y"', b'"a\nb"', b'"a\x00b"', b'"a\x7fb"', b'"a\tb"', b"x" * (LONGEST_BYTES + 1)]
)
def test_what_is_unsafe_in_a_header_is_not_kept(value: bytes) -> None:
    assert sendable(value) is None


def test_the_longest_validator_is_kept() -> None:
    assert sendable(b"x" * LONGEST_BYTES) == "x" * LONGEST_BYTES


def test_both_conditions_are_sent_when_both_are_known() -> None:
    assert conditional_headers('W/"x"', "Sun, 01 Mar 2026 12:00:00 GMT") == {
        "If-None-Match": 'W/"x"',
        "If-Modified-Since": "Sun, 01 Mar 2026 12:00:00 GMT",
    }
    assert conditional_headers(None, None) == {}
    assert conditional_headers("", None) == {}


def test_utf8_in_an_etag_leaves_as_the_bytes_it_came_in() -> None:
    sent = conditional_headers(sendable('"é"'.encode()), None)
    assert sent["If-None-Match"].encode() == '"é"'.encode()


def test_an_etag_that_the_client_would_change_is_not_sent() -> None:
    assert conditional_headers(sendable(b'"\xe9"'), "x") == {"If-Modified-Since": "x"}


@pytest.mark.parametrize("stored", ['"a\r\nX: y"', "\x00", "x" * (LONGEST_BYTES + 1), "€", "\ud800"])
def test_a_stored_value_that_was_spoilt_is_not_sent(stored: str) -> None:
    assert conditional_headers(stored, stored) == {}
