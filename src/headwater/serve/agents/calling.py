"""One call of a tool: its arguments judged, its use case asked, its answer or its problem."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from headwater.errors import Busy, HeadwaterError, NotFound, Refused, UsageError
from headwater.masking import error_in_words, fault_in_words
from headwater.serve.agents.changing import CHANGING
from headwater.serve.agents.reading import READING
from headwater.serve.agents.shapes import url_of
from headwater.serve.agents.text import line_of
from headwater.serve.agents.tools import AgentSession, AgentTool
from headwater.serve.ways import in_tools

TOOLS = (*READING, *CHANGING)
CALL_SECONDS = 30.0
MOST_FIELDS_TOLD = 5
FAULT = {"what": "A fault of Headwater's own.", "fix": "Its log tells more; ask for less, or for something else."}


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    told: Mapping[str, Any]
    is_error: bool = False


def offered(session: AgentSession) -> Sequence[AgentTool]:
    return [one for one in TOOLS if session.may_change or not one.changes]


async def call(session: AgentSession, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Whatever happens there is an answer, since an agent can mend what it is told."""
    services = session.services
    try:
        tool = tool_named(session, name)
        asked = tool.arguments.model_validate(arguments)
        async with asyncio.timeout(CALL_SECONDS):
            told = await tool.work(session, asked)
    except ValidationError as error:
        return _problem(UsageError(fields_in_words(error), fix=f"See the input schema of {line_of(name, 60)}."))
    except TimeoutError:
        return _problem(Busy(f"It took longer than {CALL_SECONDS:.0f} seconds.", fix="Ask for less, or later."))
    except HeadwaterError as error:
        return _problem(error, error_in_words(error, services.settings.service.mode))
    except Exception as error:  # noqa: BLE001 - the agent goes on; the log tells it
        services.log.error("agent_call_broke", tool=name, error=fault_in_words(error, services.settings.service.mode))
        return ToolAnswer(FAULT, is_error=True)
    if tool.changes:
        session.on_change()
        services.log.info("agent_changed", tool=name, actor=session.actor)
    return ToolAnswer(told)


def tool_named(session: AgentSession, name: str) -> AgentTool:
    found = next((one for one in TOOLS if one.name == name), None)
    if found is None:
        names = ", ".join(one.name for one in offered(session))
        raise NotFound(f"There is no tool {line_of(name, 60)!r}.", fix=f"One of: {names}.")
    if found.changes and not session.may_change:
        raise Refused(
            f"{name} changes something, and this caller may only read.",
            fix="It needs the role operator, or `headwater mcp --allow-changes`.",
        )
    return found


def fields_in_words(error: ValidationError) -> str:
    told = [
        f"{'.'.join(map(str, one['loc'])) or 'arguments'}: {one['msg']}" for one in error.errors()[:MOST_FIELDS_TOLD]
    ]
    return line_of("; ".join(told), 1_000)


def _problem(error: HeadwaterError, what: str = "") -> ToolAnswer:
    """Its sentence may name a URL or quote an argument."""
    told = {"what": line_of(what or error.what, 1_000), "fix": url_of(in_tools(error.fix))}
    return ToolAnswer({name: text for name, text in told.items() if text}, is_error=True)
