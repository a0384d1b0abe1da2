import errno
import socket
import ssl
from typing import Any, cast

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.http_exceptions import HttpProcessingError

from headwater.net.body import Complete, TooLarge, Truncated, Undecodable
from headwater.net.guard import BlockedAddress
from headwater.net.problems import NETWORK_ERRORS, FetchProblem, Problem, problem_from, problem_with

KEY = ConnectionKey("example.com", 443, True, True, None, None, None)
NO_REQUEST = cast("Any", None)


def caused_by(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def ares(number: int, text: str) -> OSError:
    """As aiohttp's resolver raises what c-ares said."""
    failure = OSError(None, text)
    failure.__cause__ = ValueError(number, text)
    return failure


def lookup(error: OSError) -> aiohttp.ClientConnectorDNSError:
    return aiohttp.ClientConnectorDNSError(KEY, error)


def connecting(error: OSError) -> aiohttp.ClientConnectorError:
    return aiohttp.ClientConnectorError(KEY, error)


ERRORS: list[tuple[Exception, Problem]] = [
    (lookup(socket.gaierror(socket.EAI_NONAME, "Name or service not known")), Problem.DNS_NOT_FOUND),
    (lookup(socket.gaierror(socket.EAI_AGAIN, "Temporary failure")), Problem.DNS_FAILED),
    (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), Problem.DNS_NOT_FOUND),
    (lookup(ares(4, "Domain name not found")), Problem.DNS_NOT_FOUND),
    (lookup(ares(1, "DNS server returned answer with no data")), Problem.DNS_NOT_FOUND),
    (lookup(ares(8, "Misformatted domain name")), Problem.DNS_NOT_FOUND),
    (lookup(ares(3, "DNS server returned general failure")), Problem.DNS_FAILED),
    (lookup(ares(12, "Timeout while contacting DNS servers")), Problem.DNS_FAILED),
    (ares(4, "Domain name not found"), Problem.DNS_NOT_FOUND),
    (lookup(OSError(None, "DNS lookup failed")), Problem.DNS_FAILED),
    (BlockedAddress("127.0.0.1:80", "loopback"), Problem.BLOCKED_ADDRESS),
    (connecting(BlockedAddress("127.0.0.1:80", "loopback")), Problem.BLOCKED_ADDRESS),
    (lookup(BlockedAddress("localhost", "a name of this machine")), Problem.BLOCKED_ADDRESS),
    (connecting(ConnectionRefusedError(errno.ECONNREFUSED, "refused")), Problem.CONNECT_REFUSED),
    (connecting(TimeoutError(errno.ETIMEDOUT, "timed out")), Problem.CONNECT_TIMEOUT),
    (connecting(OSError(errno.EHOSTUNREACH, "No route to host")), Problem.CONNECT_FAILED),
    (connecting(ConnectionResetError(errno.ECONNRESET, "reset")), Problem.RESET),
    (aiohttp.ClientConnectorSSLError(KEY, ssl.SSLError(1, "wrong version")), Problem.TLS),
    (aiohttp.ClientConnectorCertificateError(KEY, ssl.SSLCertVerificationError(1, "expired")), Problem.TLS),
    (aiohttp.ServerFingerprintMismatch(b"", b"", "example.com", 443), Problem.TLS),
    (ssl.SSLError(1, "bad record"), Problem.TLS),
    (aiohttp.ConnectionTimeoutError("slow"), Problem.CONNECT_TIMEOUT),
    (aiohttp.SocketTimeoutError("slow"), Problem.TIMEOUT),
    (TimeoutError(), Problem.TIMEOUT),
    (aiohttp.ServerDisconnectedError(), Problem.RESET),
    (aiohttp.ClientOSError(errno.ECONNRESET, "reset"), Problem.RESET),
    (aiohttp.ClientConnectionResetError("closing"), Problem.RESET),
    (aiohttp.ClientPayloadError("not completed"), Problem.TRUNCATED),
    (aiohttp.ClientResponseError(NO_REQUEST, (), status=400, message="Bad status line"), Problem.BAD_RESPONSE),
    (aiohttp.ClientResponseError(NO_REQUEST, (), message="Too many headers received"), Problem.HEADER_LIMIT),
    (HttpProcessingError(message="nonsense"), Problem.BAD_RESPONSE),
    (aiohttp.InvalidURL("http://x/secret"), Problem.BAD_RESPONSE),
]


@pytest.mark.parametrize(
    ("error", "kind"), ERRORS, ids=lambda value: value if isinstance(value, str) else repr(value)[:40]
)
def test_every_error_has_one_name(error: Exception, kind: Problem) -> None:
    assert problem_from(error).kind is kind
    assert isinstance(error, NETWORK_ERRORS)


def test_faults_of_our_own_are_not_among_the_errors_of_the_web() -> None:
    assert not issubclass(TypeError, NETWORK_ERRORS)
    assert not issubclass(KeyError, NETWORK_ERRORS)


@pytest.mark.parametrize(
    "kind",
    [
        Problem.DNS_FAILED,
        Problem.CONNECT_TIMEOUT,
        Problem.CONNECT_REFUSED,
        Problem.TIMEOUT,
        Problem.RESET,
        Problem.TRUNCATED,
    ],
)
def test_what_may_pass_by_itself_is_transient(kind: Problem) -> None:
    assert FetchProblem(kind).is_transient


@pytest.mark.parametrize(
    "kind", [Problem.DNS_NOT_FOUND, Problem.BLOCKED_ADDRESS, Problem.TLS, Problem.TOO_LARGE, Problem.BAD_ENCODING]
)
def test_what_would_happen_again_is_not(kind: Problem) -> None:
    assert not FetchProblem(kind).is_transient


def test_a_detail_is_one_short_printable_line() -> None:
    sent = "line\r\nSet-Cookie: x\x1b]0;\u202e" + "x" * 1_000_000
    detail = problem_from(aiohttp.ClientResponseError(NO_REQUEST, (), message=sent)).detail
    assert detail.startswith("line Set-Cookie: x]0;xxx")
    assert len(detail) == 200


def test_a_detail_keeps_the_address_out_of_sight() -> None:
    assert "secret" not in problem_from(aiohttp.InvalidURL("http://x/secret")).detail


def test_an_error_without_words_is_named_by_its_class() -> None:
    assert problem_from(TimeoutError()).detail == "TimeoutError"


def test_the_guards_reason_is_told() -> None:
    assert (
        problem_from(connecting(BlockedAddress("10.0.0.1:80", "private"))).detail
        == "10.0.0.1:80 is off limits: private"
    )


def test_bodies_have_problems_of_the_same_kind() -> None:
    assert problem_with(Complete(b"")) is None
    assert problem_with(TooLarge(b"abc")) == FetchProblem(Problem.TOO_LARGE, "more than 3 bytes")
    assert problem_with(Truncated(b"")) == FetchProblem(Problem.TRUNCATED, "ended early, after 0 bytes")
    assert problem_with(Undecodable("why")) == FetchProblem(Problem.BAD_ENCODING, "why")
