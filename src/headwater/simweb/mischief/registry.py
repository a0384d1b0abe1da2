"""Every kind of mischief by name, and its way from and to JSON."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, InstanceOf, PlainSerializer, TypeAdapter, ValidationError

from headwater.errors import UsageError
from headwater.simweb.mischief import bombs, content, framing, pace, redirects, replies
from headwater.simweb.mischief.stage import Mischief, Scene, Send, Steps


def mischief_from_json(given: object) -> Mischief:
    """`{"kind": "slow_drip", "bytes": 1}` → the value; a UsageError names the field that is wrong."""
    if isinstance(given, Mischief):
        return given
    if not isinstance(given, Mapping) or "kind" not in given:
        raise UsageError('mischief is an object with a "kind"', fix=f"kinds: {', '.join(KINDS)}")
    kind = KINDS.get(str(given["kind"]))
    if kind is None:
        raise UsageError(f"no mischief is called {given['kind']!r}", fix=f"kinds: {', '.join(KINDS)}")
    try:
        return TypeAdapter(kind).validate_python({name: given[name] for name in given if name != "kind"})
    except ValidationError as error:
        raise UsageError(f"{given['kind']}: {_first_complaint(error)}", fix=_fields_of(kind)) from error


def mischief_to_json(mischief: Mischief) -> dict[str, Any]:
    return {"kind": kind_of(type(mischief)), **TypeAdapter(type(mischief)).dump_python(mischief, mode="json")}


def kind_of(cls: type[Mischief]) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


def _first_complaint(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]


def _fields_of(kind: type[Mischief]) -> str:
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]  # every kind is a dataclass
    return f"fields: {', '.join(names)}" if names else "it has no fields"


AnyMischief = Annotated[InstanceOf[Mischief], BeforeValidator(mischief_from_json), PlainSerializer(mischief_to_json)]


@dataclass(frozen=True, slots=True)
class Normal(Mischief):
    """The page as it should be: a pause between other kinds."""

    def play(self, scene: Scene) -> Steps:
        yield Send(scene.wire(scene.page))


@dataclass(frozen=True, slots=True)
class InTurn(Mischief):
    """One kind after the other, over and over."""

    of: Annotated[tuple[AnyMischief, ...], Field(min_length=1)]

    def play(self, scene: Scene) -> Steps:
        return self.of[scene.nth % len(self.of)].play(scene)


@dataclass(frozen=True, slots=True)
class Sometimes(Mischief):
    """With the given chance, by the web's own seed; the page as it should be otherwise."""

    of: AnyMischief
    chance: Annotated[float, Field(ge=0, le=1)] = 0.5

    def play(self, scene: Scene) -> Steps:
        return (self.of if scene.draw() < self.chance else Normal()).play(scene)


KINDS: Mapping[str, type[Mischief]] = {
    kind_of(kind): kind
    for kind in (
        Normal,
        InTurn,
        Sometimes,
        *pace.KINDS,
        *framing.KINDS,
        *bombs.KINDS,
        *replies.KINDS,
        *redirects.KINDS,
        *content.KINDS,
    )
}
