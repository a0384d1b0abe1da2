"""Passwords as people type them: never as an argument, which others see in the list of processes."""

import sys
from pathlib import Path

from headwater.cli.output import ask_secret
from headwater.errors import UsageError

# Enough for any that is taken: whatever stands behind it is not read.
LONGEST_LINE = 10_000


def typed_password(file: Path | None) -> str:
    """Of the file, of standard input, or asked for twice at a terminal."""
    from headwater.accounts.passwords import require_good_password

    if file is not None and str(file) != "-":
        password = _first_line_of(file)
    elif file is None and sys.stdin.isatty():
        password = _asked_for()
    else:
        password = sys.stdin.readline(LONGEST_LINE).rstrip("\r\n")
    # Before a database is opened for it.
    require_good_password(password)
    return password


def _asked_for() -> str:
    password = ask_secret("Password:")
    if ask_secret("Once more:") != password:
        raise UsageError("The two passwords differ.", fix="Type it again.")
    return password


def _first_line_of(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as opened:
            return opened.readline(LONGEST_LINE).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"The file {file} cannot be read: {why}.", fix="Name another file, or - for a pipe.") from None
