"""The tools over standard input and output: for an agent on this machine, which starts it as its child."""

from headwater.serve.agents.server import require_sdk, server_for
from headwater.serve.agents.tools import AgentSession
from headwater.services import Services

ACTOR = "agent"


async def serve_stdio(services: Services, *, may_change: bool) -> None:
    """Until its input ends."""
    require_sdk()
    from mcp.server.stdio import stdio_server

    server = server_for(AgentSession(services, ACTOR, may_change))
    async with stdio_server() as (heard, said):
        await server.run(heard, said, server.create_initialization_options())
