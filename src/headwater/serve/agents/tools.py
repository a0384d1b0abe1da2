"""Tools: their names, arguments and descriptions, each on the use case that the command line calls."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from headwater.services import Services
from headwater.storable import UNWANTED

LARGEST_POSITION = 2**63 - 1


def _plain_text(text: str) -> str:
    if UNWANTED.search(text):
        raise ValueError("it holds control characters")
    return text


ToolText = Annotated[str, AfterValidator(_plain_text)]
ToolLimit = Annotated[int, Field(ge=1, le=50, description="The most that are listed.")]
ToolCursor = Annotated[
    Annotated[str, Field(max_length=500), AfterValidator(_plain_text)] | None,
    Field(description="The `cursor` of the page before, to go on behind it."),
]
ToolView = Annotated[
    Annotated[str, Field(max_length=63), AfterValidator(_plain_text)] | None,
    Field(description="Only records in the view of this name; list_views lists them."),
]


class Arguments(BaseModel):
    """Of a tool; no others are taken."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class NoArguments(Arguments):
    pass


@dataclass(frozen=True, slots=True)
class AgentSession:
    """One caller: `actor` stands in the trail of events; `may_change` offers tools that change something."""

    services: Services
    actor: str
    may_change: bool = False
    on_change: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class AgentTool:
    """`quotes`: its answers hold text of others. `changes`: it queues work, and is for operators."""

    name: str
    about: str
    arguments: type[Arguments]
    work: Callable[[AgentSession, Any], Awaitable[Mapping[str, Any]]]
    quotes: bool = True
    changes: bool = False
