"""What is wrong with a mapping, in a sentence. Values stay out of it: one may be a password."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from headwater.errors import UsageError


def refusal_of(problem: ValidationError, model: type[BaseModel]) -> UsageError:
    first = problem.errors(include_input=False, include_url=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return unknown_key(place, keys_at(model, first["loc"][:-1]))
    return UsageError(f"The API mapping is wrong at {place}: {_lowered(first['msg'])}.")


def unknown_key(place: str, known: list[str]) -> UsageError:
    name = place.rpartition(".")[2]
    near = get_close_matches(name.lower(), known, n=1)
    fix = f"Did you mean {near[0]}?" if near else f"It may have {', '.join(known)}."
    return UsageError(f"The API mapping has no key {place[:80]}.", fix=fix)


def keys_at(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    """The keys that may stand at a place inside the mapping."""
    for step in place:
        if field := model.model_fields.get(str(step)):
            model = next(_models_in(field.annotation), model)
    return sorted(model.model_fields)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _lowered(message: str) -> str:
    text = message.removeprefix("Value error, ").rstrip(".")
    return text[:1].lower() + text[1:]
