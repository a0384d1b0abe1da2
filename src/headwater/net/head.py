"""The head of a request, as it is written. Pure."""

import re
from collections.abc import Mapping

_NEVER_IN_A_HEADER = re.compile(r"[\x00\r\n\ud800-\udfff]")


def header_lines(headers: Mapping[str, str]) -> dict[str, str]:
    """By lower-case name, so that a later header replaces an earlier one."""
    return {name.lower(): _line(name, value) for name, value in headers.items()}


def _line(name: str, value: str) -> str:
    line = f"{name}: {value}"
    if _NEVER_IN_A_HEADER.search(line):
        raise ValueError(f"a header named {name!r} would end before its value does")
    return f"{line}\r\n"


def head_of(method: str, target: str, lines: Mapping[str, str]) -> bytes:
    return f"{method} {target} HTTP/1.1\r\n{''.join(lines.values())}\r\n".encode()
