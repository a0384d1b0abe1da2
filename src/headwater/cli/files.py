"""Files written for a person: whole or not at all, and never through a link of another user."""

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from headwater.chance import new_id

_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_file(path: Path, pieces: Iterable[bytes], *, is_chosen: bool = True) -> None:
    """Written beside it and put in its place by one rename: a link that stands there is replaced, not followed.

    `is_chosen`: a person named this very place, which may be a device or a pipe. Raises OSError; nothing is left then.
    """
    if is_chosen and _is_device(path):
        with path.open("wb") as file:
            file.writelines(pieces)
        return
    beside = path.with_name(f".{path.name[:100]}.{new_id().hex}.part")
    descriptor = os.open(beside, _FRESH, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(pieces)
            file.flush()
            # A full disk may only now be told.
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def why_unwritten(path: Path, pieces: Iterable[bytes], *, is_chosen: bool = True) -> str:
    """Empty where it was written."""
    try:
        write_file(path, pieces, is_chosen=is_chosen)
    except OSError as error:
        return error.strerror or str(error)
    except ValueError as error:
        return str(error)  # a name with a NUL in it
    return ""


def _is_device(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
