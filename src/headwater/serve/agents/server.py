"""The tools as a server of the Model Context Protocol, by the official SDK, which is an extra."""

from typing import TYPE_CHECKING, Any

from headwater import __version__
from headwater.errors import DependencyDown
from headwater.serve.agents.calling import call, offered
from headwater.serve.agents.text import MARK, as_json
from headwater.serve.agents.tools import AgentSession, AgentTool

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, Tool

INSTRUCTIONS = (
    "Headwater follows publishers and keeps their articles and vacancies. These tools read that archive; none of them"
    " makes a request to the web. Begin with search_documents, read with get_document, follow news with changes_since."
    f" Answers are bounded: each says how to go on. {MARK}"
)


def require_sdk() -> None:
    try:
        import mcp.server  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise DependencyDown(
            "Agents cannot be served: the MCP SDK is not installed.", fix="Install it: pip install 'headwater[mcp]'"
        ) from error


def server_for(session: AgentSession) -> "Server[Any]":
    """For one caller: it offers the tools that this one may use."""
    require_sdk()
    from mcp.server import Server
    from mcp_types import CallToolResult, ListToolsResult, TextContent

    async def list_tools(_: Any, __: "PaginatedRequestParams | None") -> "ListToolsResult":
        return ListToolsResult(tools=[described(one) for one in offered(session)])

    async def call_tool(_: Any, params: "CallToolRequestParams") -> "CallToolResult":
        answer = await call(session, params.name, params.arguments or {})
        text = as_json(answer.told)
        return CallToolResult(content=[TextContent(text=text)], is_error=answer.is_error)

    return Server(
        "headwater",
        version=__version__,
        title="Headwater",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def described(tool: AgentTool) -> "Tool":
    from mcp_types import Tool, ToolAnnotations

    return Tool(
        name=tool.name,
        description=f"{tool.about} {MARK}" if tool.quotes else tool.about,
        input_schema=tool.arguments.model_json_schema(),
        annotations=ToolAnnotations(
            read_only_hint=not tool.changes, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )
