"""Structured logs on standard error: one JSON object per line, or text for people. Secrets never get through."""

import io
import logging
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import cached_property
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, TextIO, cast

from headwater.errors import QueryFailed, as_fields
from headwater.lines import Lines, lines_behind
from headwater.masking import Mode, fault_in_words, masked, without_addresses
from headwater.phrases import spelt_out

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger, Processor

Format = Literal["auto", "json", "console"]

_MASK = "***"
_SECRET_NAME = re.compile(r"pass(word|wd)|secret|token|authorization|cookie|api_?key|credential", re.IGNORECASE)
# Bounded repetitions: on a megabyte without "://" an open one would look from every letter to the end.
_USERINFO = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]{0,30}://)[^/@\s]{0,1000}@", re.IGNORECASE)
# Whatever a site or a person sends may end up in a log: nothing may start a line, move a cursor or flip the text.
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_LONGEST_VALUE = 2000
_USUAL_WIDTH = 80
_INDENT = " " * 11  # as wide as the time and the sign before a sentence
_SIGNS = {"warning": "!", "error": "✗", "critical": "✗"}
_REASONS = ("reason", "message", "why", "error", "fix")
_IDS = frozenset({"source", "channel", "token", "owner", "next_poll_at", "kind", "library"})
_MOST_KEPT = 100
_COUNTS = frozenset({"errors", "found", "inserted", "updated", "skipped"})  # a run's message has them
_TOLD = frozenset({"at", "level", "event", "exception", "url", "host", *_REASONS}) | _IDS | _COUNTS


class Warnings:
    """Lines that warn, until a role has put them where they can be read. Of very many the oldest are left out."""

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._lines: deque[Mapping[str, Any]] = deque(maxlen=most)
        self.left_out = 0

    def __call__(self, _logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if event.get("level") in _SIGNS:
            self.left_out += len(self._lines) == self._lines.maxlen
            self._lines.append(dict(event))
        return event

    def take(self) -> list[Mapping[str, Any]]:
        taken = list(self._lines)
        self._lines.clear()
        return taken

    def give_back(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """They come before those written since, as far as there is room."""
        room = (self._lines.maxlen or 0) - len(self._lines)
        kept = list(lines)
        self.left_out += max(0, len(kept) - room)
        self._lines.extendleft(reversed(kept[-room:] if room else []))


class Logger:
    """Lines from a level on. The library that writes them is loaded with the first: most commands write none."""

    def __init__(
        self, level: str, make: "Callable[[], FilteringBoundLogger]", warnings: Warnings | None = None
    ) -> None:
        self._least: int = logging.getLevelNamesMapping()[level.upper()]
        self._make = make
        self.warnings = warnings or Warnings()

    @cached_property
    def _writer(self) -> "FilteringBoundLogger":
        return self._make()

    def debug(self, event: str, **fields: Any) -> None:
        if self._least <= logging.DEBUG:
            self._writer.debug(event, **fields)

    def info(self, event: str, **fields: Any) -> None:
        if self._least <= logging.INFO:
            self._writer.info(event, **fields)

    def warning(self, event: str, **fields: Any) -> None:
        if self._least <= logging.WARNING:
            self._writer.warning(event, **fields)

    def error(self, event: str, **fields: Any) -> None:
        self._writer.error(event, **fields)

    def exception(self, event: str, **fields: Any) -> None:
        """With the traceback of the exception that is being handled."""
        self._writer.exception(event, **fields)


def make_logger(
    level: str,
    form: Format,
    *,
    secrets: Collection[str] = (),
    stream: TextIO | None = None,
    mode: Mode = "prod",
) -> Logger:
    """A logger of its own, nothing global: handed to the parts that log. `secrets` are texts never to be written.

    On standard error nobody waits for a line to be written: a reader that stops must not stop a role.
    """
    out = stream or sys.stderr
    warnings = Warnings()
    return Logger(level, lambda: _writer_on(out, level, form, Errors(mode), Mask(secrets), warnings), warnings)


def _writer_on(
    out: TextIO, level: str, form: Format, errors: "Errors", mask: "Mask", warnings: Warnings
) -> "FilteringBoundLogger":
    import structlog

    renderer: Processor
    if form == "json" or (form == "auto" and not out.isatty()):
        renderer = structlog.processors.JSONRenderer(ensure_ascii=False)
    elif form == "console":
        renderer = structlog.dev.ConsoleRenderer(colors=out.isatty())
    else:
        renderer = Sentence(out)
    lines = lines_behind(out)
    if lines is None:
        return _structured(structlog.PrintLogger(out), level, errors, mask, warnings, renderer)

    def say_dropped(count: int) -> str:
        told = io.StringIO()
        _structured(structlog.PrintLogger(told), level, errors, Mask(), renderer).error(
            "log_lines_dropped", lines=count
        )
        return told.getvalue()

    lines.say_dropped = say_dropped
    return _structured(LineLogger(lines), level, errors, mask, warnings, renderer)


def _structured(sink: object, level: str, *processors: "Processor") -> "FilteringBoundLogger":
    import structlog

    logger = structlog.wrap_logger(
        sink,
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            *processors,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        cache_logger_on_first_use=True,
    )
    return cast("FilteringBoundLogger", logger)


def log_broken(log: Logger, event: str, error: Exception, **fields: Any) -> None:
    """With its place, in `dev` its traceback; a refused statement with its state, in `dev` its name."""
    if isinstance(error, QueryFailed):
        log.error(event, **fields, **as_fields(error))
    else:
        log.error(event, **fields, exc_info=error)


class Errors:
    """Errors as the mode lets them be told."""

    def __init__(self, mode: Mode) -> None:
        self._mode: Mode = mode

    def __call__(self, _logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        error = event.pop("exc_info", None)
        if error is True:
            error = sys.exc_info()[1]
        if isinstance(error, BaseException):
            event["exception"] = fault_in_words(error, self._mode)
        if self._mode == "prod":
            query = str(event.pop("query", ""))
            if isinstance(event.get("error"), str):
                event["error"] = without_addresses(masked(event["error"], query))
        return event


class Sentence:
    """A record for a person at a terminal: when, what happened, where, why; folded between words."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def __call__(self, _logger: Any, _method: str, event: MutableMapping[str, Any]) -> str:
        told = sentence_of(event)
        lines = wrap(told, self._width(), subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False)
        return "\n".join(lines)

    def _width(self) -> int:
        try:
            return os.get_terminal_size(self._out.fileno()).columns or _USUAL_WIDTH
        except (OSError, ValueError):
            return _USUAL_WIDTH


def sentence_of(event: Mapping[str, Any]) -> str:
    """With its time and a sign."""
    return f"{str(event['at'])[11:19]} {_SIGNS.get(event['level'], '·')} {told_of(event)}"


def told_of(event: Mapping[str, Any]) -> str:
    """Numbers that are nothing, ids and names of our code are left out: `log.format=console` has them all."""
    place = event.get("url") or event.get("host") or ""
    why = [spelt_out(str(event[name])) for name in _REASONS if event.get(name)]
    if event.get("exception"):
        why.append(str(event["exception"]).replace("\\u000a", "\n").strip().splitlines()[-1])
    rest = [f"{name.replace('_', ' ')} {value}" for name, value in event.items() if value and name not in _TOLD]
    parts = [spelt_out(str(event["event"])).replace("_", " "), str(place), *why, ", ".join(rest)]
    return ": ".join(part.removesuffix(".") for part in parts if part)


class LineLogger:
    """Takes the finished lines of structlog."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def msg(self, line: str) -> None:
        self._lines.put(f"{line}\n")

    debug = info = warning = error = critical = exception = msg


class LibraryLines(logging.Handler):
    """Lines of libraries that use standard logging, in our form and through our queue, not straight to a terminal."""

    def __init__(self, log: Logger) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        told = {"library": record.name, "message": record.getMessage()}
        if record.exc_info and record.exc_info[1] is not None:
            told["error"] = f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
        (self._log.error if record.levelno >= logging.ERROR else self._log.warning)("library_said", **told)


@contextmanager
def hearing_libraries(log: Logger) -> Iterator[None]:
    handler, root = LibraryLines(log), logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


class Mask:
    """Hides secrets by the name they go by, by their known text, and inside URLs; cuts and escapes the rest."""

    def __init__(self, secrets: Collection[str] = ()) -> None:
        texts = sorted((re.escape(text) for text in secrets if len(text) >= 4), key=len, reverse=True)
        self._known = re.compile("|".join(texts)) if texts else None

    def __call__(self, _logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        return {name: self._shown(name, value) for name, value in event.items()}

    def _shown(self, name: str, value: Any) -> Any:
        if _SECRET_NAME.search(name):
            return _MASK
        if isinstance(value, bool | int | float) or value is None:
            return value
        if isinstance(value, dict):
            return {self.text(str(key)): self._shown(str(key), inner) for key, inner in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self._shown("", inner) for inner in value]
        return self.text(str(value))

    def text(self, value: str) -> str:
        if self._known:
            value = self._known.sub(_MASK, value)
        value = _USERINFO.sub(rf"\g<scheme>{_MASK}@", value)
        if len(value) > _LONGEST_VALUE:
            value = f"{value[:_LONGEST_VALUE]}… ({len(value):,} characters)"
        return _UNPRINTABLE.sub(_escaped, value)


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"
