"""`headwater metrics`: figures of the whole installation as Prometheus reads them."""

from typing import TYPE_CHECKING

from headwater.cli.launch import Launch, Launched, with_services
from headwater.cli.output import show_lines

if TYPE_CHECKING:
    from headwater.services import Services


def metrics(
    *,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Print the figures of the whole installation in the text format of Prometheus, for a textfile collector."""

    async def work(services: "Services") -> bytes:
        from headwater.reports.exposition import exposition

        return await exposition(services.database)

    show_lines(with_services(launch, work).decode().rstrip("\n"))
