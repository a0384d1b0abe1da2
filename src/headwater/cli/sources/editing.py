"""`headwater sources edit`: one field after the other, as text."""

import re
from dataclasses import fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from headwater.cli.launch import ACTOR, Launch, Launched, with_services
from headwater.cli.output import show
from headwater.cli.sources.group import show_source
from headwater.errors import UsageError

if TYPE_CHECKING:
    from headwater.services import Services
    from headwater.sources.source import Source

# The fields under the names they have when a source is added.
AS_ADDED = {"include": "include_paths", "exclude": "exclude_paths", "interval": "poll_every", "tag": "tags"}
# An address may hold a comma of its own.
BETWEEN_ADDRESSES = re.compile(r"\s*,\s*(?=https?://)", re.IGNORECASE)


def edit(source: str, *assignments: str, launch: Launched = Launch()) -> None:  # noqa: B008
    """Change fields of a source, as NAME=VALUE; an empty value takes it back to the default.

    Parameters
    ----------
    source
        Its id, address, host or name.
    assignments
        Such as priority=8 poll_every=30m tags=a,b timezone=Europe/Paris exclude=/blog/,/shop/ max_pages=500;
        feed_url=URL,URL names all its feeds, backfill=1y reads its past.
    """
    if not assignments:
        raise UsageError("There is nothing to change.", fix=f"Say NAME=VALUE; names are: {', '.join(names())}.")
    changes = dict(read_assignment(text) for text in assignments)

    async def work(services: "Services") -> "tuple[Source, list[str]]":
        from headwater.actions.sources import edit_source

        return await edit_source(services, source, changes, ACTOR)

    found, changed = with_services(launch, work)
    show(f"Changed: {', '.join(changed)}" if changed else "Nothing changed: it was so already.")
    show_source(str(found.id), launch=launch)


def names() -> list[str]:
    from headwater.discover.adding import BACKFILL, NAMED
    from headwater.sources.store import EDITABLE

    return [*EDITABLE, *NAMED, BACKFILL]


def read_assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    name = AS_ADDED.get(name, name)
    if not equals:
        raise UsageError(f"{text!r} has no value.", fix="Write it as NAME=VALUE.")
    if name == "url":
        raise UsageError(
            "The address of a source cannot be changed.", fix="Add the new address, then delete this source."
        )
    if name not in names():
        raise UsageError(f"A source has no field {name!r}.", fix=f"One of: {', '.join(names())}.")
    return name, addresses_in(name, value) if name.endswith("_url") else value_of(name, value)


def addresses_in(name: str, text: str) -> tuple[str, ...]:
    from headwater.sources.exchange.fields import check_url

    try:
        return tuple(check_url(url) for url in BETWEEN_ADDRESSES.split(text.strip()) if url)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from error


def value_of(name: str, text: str) -> Any:
    """Read as the field's type says."""
    from headwater.sources.source import Profile

    if name == "backfill":
        return _back(text)
    default = next(field for field in fields(Profile) if field.name == name)
    if not text:
        return default.default if isinstance(default.default, str | int | tuple | type(None)) else {}
    try:
        return _read(str(default.type), name, text)
    except ValueError as error:
        raise UsageError(f"{name} {error}, not {text!r}.") from error


def _back(text: str) -> timedelta | None:
    """How far back; nothing ends one that is under way."""
    from headwater.settings.durations import parse_span

    try:
        return parse_span(text) if text else None
    except ValueError as error:
        raise UsageError(f"backfill {error}, not {text!r}.") from error


def _read(kind: str, name: str, text: str) -> Any:
    """Raises ValueError with the end of a sentence that begins with the field's name."""
    from headwater.cli.filters import word_of
    from headwater.settings.durations import parse_duration, parse_durations
    from headwater.sources.exchange.fields import listed_texts
    from headwater.sources.source import Policy, SourceKind, SourceMode

    words = {"kind": ("kind", SourceKind), "ingestion_mode": ("mode", SourceMode), "policy": ("policy", Policy)}
    if name in words:
        return word_of(*words[name], text)
    if "timedelta" in kind:
        return parse_durations(text) if "tuple" in kind else parse_duration(text)
    if "tuple" in kind:
        # As `show --json` and exported files write it, or with commas.
        listed = listed_texts(text)
        return tuple(part.strip() for part in text.split(",") if part.strip()) if listed is None else listed
    if "bool" in kind:
        return _yes_or_no(text)
    if "dict" in kind:
        return _selectors(text)
    if "float" in kind:
        return _number(float, text)
    return _number(int, text) if "int" in kind else text


def _yes_or_no(text: str) -> bool:
    if text.lower() not in ("true", "yes", "false", "no"):
        raise ValueError("should be yes or no")
    return text.lower() in ("true", "yes")


def _number(kind: type[int] | type[float], text: str) -> float:
    try:
        return kind(text)
    except ValueError:
        raise ValueError(f"should be a {'whole ' * (kind is int)}number") from None


def _selectors(text: str) -> dict[str, Any]:
    from headwater.extraction.selectors import check_selectors
    from headwater.sources.exchange.fields import selectors_in

    read = selectors_in(text)
    for problem in check_selectors(read):
        raise UsageError(f"These selectors cannot be used. {problem}")
    return read
