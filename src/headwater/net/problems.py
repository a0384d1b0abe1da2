"""Everything that can go wrong with one request, in one vocabulary for all libraries that raise it.

FetchProblem
├── before a connection   dns_not_found  dns_failed  blocked_address
├── making it             connect_timeout  connect_refused  connect_failed  tls
├── during the answer     timeout  reset  bad_response  header_limit
└── with the body         truncated  too_large  bad_encoding
"""

import errno
import os
import socket
import ssl
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong

from headwater.errors import OutOfResources
from headwater.net.body import BodyOutcome, Complete, TooLarge, Truncated, Undecodable
from headwater.net.guard import BlockedAddress


class Problem(StrEnum):
    DNS_NOT_FOUND = "dns_not_found"
    DNS_FAILED = "dns_failed"
    BLOCKED_ADDRESS = "blocked_address"
    CONNECT_TIMEOUT = "connect_timeout"
    CONNECT_REFUSED = "connect_refused"
    CONNECT_FAILED = "connect_failed"
    TLS = "tls"
    TIMEOUT = "timeout"
    RESET = "reset"
    BAD_RESPONSE = "bad_response"
    HEADER_LIMIT = "header_limit"
    TRUNCATED = "truncated"
    TOO_LARGE = "too_large"
    BAD_ENCODING = "bad_encoding"


_LASTING = frozenset(
    {
        Problem.DNS_NOT_FOUND,
        Problem.BLOCKED_ADDRESS,
        Problem.TLS,
        Problem.BAD_RESPONSE,
        Problem.HEADER_LIMIT,
        Problem.TOO_LARGE,
        Problem.BAD_ENCODING,
    }
)

# What a process without descriptors seems to meet.
_LACKING = frozenset({Problem.DNS_FAILED, Problem.CONNECT_FAILED})

# What aiohttp and the system raise for a request; anything else is a fault of ours and must not look like the web's.
NETWORK_ERRORS = (aiohttp.ClientError, HttpProcessingError, OSError, TimeoutError)

_LONGEST_DETAIL = 200
_TOO_MANY_HEADERS = "Too many headers received"
# Of getaddrinfo and of c-ares, whose number aiohttp keeps only as the cause: no such name, or none with an address.
_NAME_UNKNOWN = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})
_ARES_NO_DATA, _ARES_NOT_FOUND, _ARES_BAD_NAME = 1, 4, 8
_ARES_NAME_UNKNOWN = frozenset({_ARES_NO_DATA, _ARES_NOT_FOUND, _ARES_BAD_NAME})
# Of this process or this machine: no site can cause or mend it.
_OUR_OWN = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
# A connection, and what the resolver opens to find its address.
_DESCRIPTORS_PER_REQUEST = 4
_RESETS = (ConnectionResetError, ConnectionAbortedError, BrokenPipeError)


@dataclass(frozen=True, slots=True)
class FetchProblem:
    """`detail` is for people: one line, printable, without the URL."""

    kind: Problem
    detail: str = ""

    @property
    def is_transient(self) -> bool:
        """Whether the same request may well succeed if it is made again soon."""
        return self.kind not in _LASTING


def problem_from(error: Exception) -> FetchProblem:
    """For one of NETWORK_ERRORS."""
    return FetchProblem(_kind_of(error), _detail_of(error))


def own_trouble(error: Exception) -> OutOfResources | None:
    """The error to raise in place of a problem that came from this process having no descriptor left."""
    if not _names_our_own(error) and (_kind_of(error) not in _LACKING or _has_spare_descriptors()):
        return None
    return OutOfResources(
        "This process has no file descriptor left for another connection.",
        fix="Raise its limit (`ulimit -n`), or lower fetch.concurrency, poll.concurrency and max_idle_connections.",
    )


def problem_with(outcome: BodyOutcome) -> FetchProblem | None:
    match outcome:
        case Complete():
            return None
        case TooLarge(start):
            return FetchProblem(Problem.TOO_LARGE, f"more than {len(start)} bytes")
        case Truncated(start):
            return FetchProblem(Problem.TRUNCATED, f"ended early, after {len(start)} bytes")
        case Undecodable(reason):
            return FetchProblem(Problem.BAD_ENCODING, reason)


def _names_our_own(error: BaseException | None) -> bool:
    while error is not None:
        inner = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
        if isinstance(inner, OSError) and inner.errno in _OUR_OWN and not isinstance(inner, socket.gaierror):
            return True
        error = error.__cause__
    return False


def _has_spare_descriptors() -> bool:
    """A resolver that could open nothing only says that no name server answered."""
    opened: list[int] = []
    try:
        # One by one: those before the one that fails have to be closed again.
        while len(opened) < _DESCRIPTORS_PER_REQUEST:
            opened.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
    except OSError:
        return False
    finally:
        for descriptor in opened:
            with suppress(OSError):
                os.close(descriptor)
    return True


def _kind_of(error: BaseException) -> Problem:
    match error:
        # A refusal of the guard comes back inside another error, from the resolver as one of DNS.
        case BlockedAddress() | aiohttp.ClientConnectorError(os_error=BlockedAddress()):
            return Problem.BLOCKED_ADDRESS
        case aiohttp.ClientConnectorDNSError():
            return _kind_of_lookup(error.os_error)
        case OSError() if _is_from_resolver(error):
            return _kind_of_lookup(error)
        case ssl.SSLError() | ssl.CertificateError() | aiohttp.ServerFingerprintMismatch():
            return Problem.TLS
        case aiohttp.ClientConnectorError():
            return _kind_of_connecting(error.os_error)
        case aiohttp.ConnectionTimeoutError():
            return Problem.CONNECT_TIMEOUT
        case TimeoutError():
            return Problem.TIMEOUT
        case _:
            return _kind_of_answer(error)


def _is_from_resolver(error: OSError) -> bool:
    """aiohttp's resolver over c-ares raises plain OSErrors without a number; nothing else does."""
    return isinstance(error, socket.gaierror) or (type(error) is OSError and error.errno is None)


def _kind_of_lookup(error: OSError) -> Problem:
    numbers = _NAME_UNKNOWN if isinstance(error, socket.gaierror) else _ARES_NAME_UNKNOWN
    source = error if isinstance(error, socket.gaierror) else error.__cause__
    is_unknown = source is not None and bool(source.args) and source.args[0] in numbers
    return Problem.DNS_NOT_FOUND if is_unknown else Problem.DNS_FAILED


def _kind_of_connecting(error: OSError) -> Problem:
    if isinstance(error, ConnectionRefusedError):
        return Problem.CONNECT_REFUSED
    if isinstance(error, TimeoutError):
        return Problem.CONNECT_TIMEOUT
    return Problem.RESET if isinstance(error, _RESETS) else Problem.CONNECT_FAILED


def _kind_of_answer(error: BaseException) -> Problem:
    match error:
        case aiohttp.ClientPayloadError():
            return Problem.TRUNCATED
        case aiohttp.ServerDisconnectedError() | OSError():
            return Problem.RESET
        case aiohttp.ClientResponseError() | HttpProcessingError() if _is_about_header_size(error):
            return Problem.HEADER_LIMIT
        case _:
            return Problem.BAD_RESPONSE


def _is_about_header_size(error: BaseException | None) -> bool:
    """aiohttp has a class for one header that is too long, but only words for too many of them."""
    while error is not None:
        if isinstance(error, LineTooLong) or getattr(error, "message", "") == _TOO_MANY_HEADERS:
            return True
        error = error.__cause__
    return False


def _detail_of(error: Exception) -> str:
    match error:
        case aiohttp.ClientConnectorError():
            said = error.os_error.strerror or str(error.os_error)
        case aiohttp.ClientResponseError() | HttpProcessingError():
            said = error.message
        case aiohttp.InvalidURL():
            said = ""
        case _:
            said = str(error)
    return _one_line(said) or type(error).__name__


def _one_line(text: str) -> str:
    """Part of it may be what a server sent."""
    words = text[: 2 * _LONGEST_DETAIL].split()
    return "".join(character for character in " ".join(words) if character.isprintable())[:_LONGEST_DETAIL]
