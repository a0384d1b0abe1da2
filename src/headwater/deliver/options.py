"""Options of a sink as people type and read them."""

import collections.abc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Union, get_args, get_origin

import orjson
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from headwater.deliver.kinds import installed, kind_named
from headwater.deliver.sink import SinkKind, SinkOptions
from headwater.errors import HeadwaterError, UsageError

_LISTS = (list, tuple, set, frozenset, collections.abc.Sequence, collections.abc.Set)
_MAPPINGS = (dict, collections.abc.Mapping)


@dataclass(frozen=True, slots=True)
class OptionHelp:
    """One option of a kind of sink. `default` None: it must be given."""

    name: str
    says: str
    default: str | None


@dataclass(frozen=True, slots=True)
class KindHelp:
    """A kind of sink as it is offered. `why_not`: why it cannot be used here; None if it can."""

    name: str
    summary: str
    options: tuple[OptionHelp, ...] = ()
    is_events: bool = False
    forgets_not: str | None = None
    why_not: str | None = None


def every_kind() -> list[KindHelp]:
    return [_help(name) for name in installed()]


def _help(name: str) -> KindHelp:
    try:
        kind = kind_named(name)
    except HeadwaterError as error:
        return KindHelp(name, "", why_not=f"{error.what} {error.fix}".strip())
    return KindHelp(name, kind.summary, tuple(_options(kind)), kind.is_events, kind.forgets_not)


def _options(kind: SinkKind) -> Iterator[OptionHelp]:
    for name, field in kind.options.model_fields.items():
        default = None if field.is_required() else _shown(field.get_default(call_default_factory=True))
        yield OptionHelp(name, field.description or "", default)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple, set, frozenset)):
        return ",".join(sorted(map(str, value)) if isinstance(value, (set, frozenset)) else map(str, value))
    return "" if value is None else str(value)


def options_from(kind: SinkKind, given: Mapping[str, str]) -> SinkOptions:
    """As they were typed; an empty one is not given. Raises UsageError without the value: it may be a secret."""
    fields = kind.options.model_fields
    values = {name: _read(fields.get(name), text) for name, text in given.items() if text}
    return valid_options(kind, values)


def valid_options(kind: SinkKind, values: Mapping[str, Any]) -> SinkOptions:
    """As they are stored."""
    try:
        return kind.options.model_validate(values)
    except ValidationError as error:
        raise _refusal(kind, error) from None  # its text holds the value


def _read(field: FieldInfo | None, text: str) -> Any:
    """Lists with commas or as JSON, mappings as JSON; the model reads all others from their text."""
    annotation = field.annotation if field else None
    kinds = {get_origin(one) or one for one in (annotation, *_parts(annotation))}
    is_list = bool(kinds & set(_LISTS))
    if text[0] in "[{" and (is_list or kinds & set(_MAPPINGS)):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            return text
    return [part.strip() for part in text.split(",") if part.strip()] if is_list else text


def _parts(annotation: Any) -> Iterator[Any]:
    """Of `X | None`; not of the X in a list of X."""
    import types

    if get_origin(annotation) in (Union, types.UnionType):
        yield from get_args(annotation)


def _refusal(kind: SinkKind, error: ValidationError) -> UsageError:
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    fields = kind.options.model_fields
    see = f"See its options: headwater sinks types {kind.name}"
    if not first["loc"]:
        return UsageError(f"These options do not go together: {_ending(first['msg'])}.", fix=see)
    name = str(first["loc"][0])
    if first["type"] == "missing":
        says = f" {fields[name].description}" if name in fields and fields[name].description else ""
        return UsageError(f"A sink of the type '{kind.name}' needs the option '{name}'.{says}", fix=see)
    if first["type"] == "extra_forbidden":
        near = get_close_matches(name.lower(), fields, n=1)
        known = f"It has {', '.join(fields)}." if fields else "It has none."
        fix = f"Did you mean {near[0]}?" if near else known
        return UsageError(f"A sink of the type '{kind.name}' has no option '{name[:80]}'.", fix=fix)
    if first["type"] == "value_error":
        return UsageError(f"The option '{name}' {_ending(first['msg'])}.", fix=see)
    return UsageError(f"The option '{name}' is not usable: {_ending(first['msg'])}.", fix=see)


def _ending(message: str) -> str:
    text = message.removeprefix("Value error, ").rstrip(".")
    return text[:1].lower() + text[1:]
