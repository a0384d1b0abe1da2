"""Why a URL is refused for good: stable words for programs, one sentence each for people."""

from enum import StrEnum

from headwater.errors import UrlRejected


class Rejection(StrEnum):
    CONTROL_CHARACTER = "control_character"
    SURROUNDING_SPACE = "surrounding_space"
    BACKSLASH = "backslash"
    TOO_LONG = "too_long"
    UNSUPPORTED_SCHEME = "unsupported_scheme"
    NO_HOST = "no_host"
    USERINFO = "userinfo"
    BAD_PORT = "bad_port"
    BAD_HOST = "bad_host"
    INVALID = "invalid"


MAX_LENGTH = 2083

_SENTENCES = {
    Rejection.CONTROL_CHARACTER: "The URL contains a control character.",
    Rejection.SURROUNDING_SPACE: "The URL begins or ends with white space.",
    Rejection.BACKSLASH: "The URL contains a backslash.",
    Rejection.TOO_LONG: f"The URL is longer than {MAX_LENGTH} characters.",
    Rejection.UNSUPPORTED_SCHEME: "The URL's scheme is neither http nor https.",
    Rejection.NO_HOST: "The URL names no host, or is relative with nothing to resolve it against.",
    Rejection.USERINFO: "The URL carries a user name or password.",
    Rejection.BAD_PORT: "The URL's port is not a number from 1 to 65535.",
    Rejection.BAD_HOST: "The URL's host is neither a valid name nor a valid address.",
    Rejection.INVALID: "The URL cannot be parsed.",
}


def rejection(reason: Rejection) -> UrlRejected:
    # The URL itself stays out of the sentence: it may hold a password or an escape sequence for a terminal.
    return UrlRejected(reason.value, _SENTENCES[reason])
