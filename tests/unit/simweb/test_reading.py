import pytest

from headwater.simweb.reading import MOST_BODY_BYTES, MOST_HEAD_BYTES, Asked, Malformed, read_request


def read(data: bytes) -> Asked:
    asked = read_request(data)
    assert isinstance(asked, Asked), asked
    return asked


def test_a_request_is_read_with_its_host_path_query_and_lower_case_headers() -> None:
    asked = read(b"GET /a%20b?x=1&y HTTP/1.1\r\nHost: News.TEST.:8080\r\nX-Thing:  two words \r\n\r\n")
    request = asked.request
    assert (request.method, request.host, request.path, request.query) == ("GET", "news.test", "/a%20b", "x=1&y")
    assert request.headers["x-thing"] == "two words"


def test_the_absolute_form_names_the_host_as_a_proxy_request_does() -> None:
    asked = read(b"GET http://B.test:80/p?q HTTP/1.1\r\nHost: a.test\r\n\r\n")
    assert (asked.request.host, asked.request.path, asked.request.query) == ("b.test", "/p", "q")
    assert read(b"GET http://b.test HTTP/1.1\r\nHost: a.test\r\n\r\n").request.path == "/"


def test_pipelined_requests_are_taken_one_by_one() -> None:
    first = b"POST /a HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nabc"
    asked = read(first + b"GET /b HTTP/1.1\r\nHost: a.test\r\n\r\n")
    assert (asked.request.body, asked.size_bytes) == (b"abc", len(first))


@pytest.mark.parametrize(
    "part",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: a.test\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx",
    ],
)
def test_an_incomplete_request_is_waited_for(part: bytes) -> None:
    assert read_request(part) is None


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"hello\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET nowhere HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nNo colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\nHost: a\n\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (MOST_BODY_BYTES + 1), 413),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 413),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * MOST_HEAD_BYTES, 431),
    ],
)
def test_what_is_no_request_is_refused_with_its_status(data: bytes, status: int) -> None:
    refused = read_request(data)
    assert isinstance(refused, Malformed)
    assert refused.status == status


@pytest.mark.parametrize(
    ("version", "connection", "stays"),
    [
        ("1.1", b"", True),
        ("1.1", b"Connection: close\r\n", False),
        ("1.0", b"", False),
        ("1.0", b"Connection: Keep-Alive\r\n", True),
    ],
)
def test_a_connection_stays_open_as_the_client_wishes(version: str, connection: bytes, stays: bool) -> None:
    assert read(b"GET / HTTP/%b\r\nHost: a\r\n%b\r\n" % (version.encode(), connection)).keeps_alive is stays
