"""Arguments of a program: checked first, so that a wrong type is a sentence and not a traceback of a parser."""

from collections.abc import Iterator
from contextlib import contextmanager

from headwater.errors import HeadwaterError, UnreadableInput, UsageError


def bytes_of(given: object, name: str, most_bytes: int | None = None) -> bytes:
    """`given` as bytes; text becomes UTF-8, with a replacement for halves of characters."""
    if isinstance(given, str):
        body = given.encode("utf-8", "replace")
    elif isinstance(given, bytes | bytearray | memoryview):
        body = bytes(given)
    else:
        raise UsageError(f"The {name} is neither text nor bytes but {type(given).__name__}.")
    if most_bytes is not None and len(body) > most_bytes:
        raise UnreadableInput(f"The {name} has {len(body):,} bytes; more than {most_bytes:,} are not read.")
    return body


def text_of(given: object, name: str) -> str:
    if not isinstance(given, str):
        raise UsageError(f"The {name} is not text but {type(given).__name__}.")
    return given


@contextmanager
def reading(name: str) -> Iterator[None]:
    """An error of our own passes; anything that a library raises becomes UnreadableInput, with its cause."""
    try:
        yield
    except (HeadwaterError, ImportError, MemoryError):
        # A library that is missing, or memory, is no fault of what is read.
        raise
    except Exception as problem:  # a page can make a parser raise anything at all
        raise UnreadableInput(f"The {name} cannot be read: {type(problem).__name__} in a parser.") from problem
