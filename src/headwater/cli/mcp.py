"""`headwater mcp`: the archive for an agent on this machine."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwater.cli.launch import Launch, Launched, with_quiet_log, with_services

if TYPE_CHECKING:
    from headwater.services import Services


def mcp(
    *,
    allow_changes: Annotated[
        bool, Parameter(negative="", help="Offer add_source and queue_url, too: else it only reads.")
    ] = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Serve the archive to an agent over standard input and output, by the Model Context Protocol.

    The agent starts it by itself. Over HTTP the web role serves the same at /mcp. Needs `headwater[mcp]`.
    """
    from headwater.serve.agents.server import require_sdk

    # Before a database is started for nothing.
    require_sdk()

    async def work(services: "Services") -> None:
        from headwater.serve.agents.stdio import serve_stdio

        await serve_stdio(services, may_change=allow_changes)

    with_services(with_quiet_log(launch), work)
