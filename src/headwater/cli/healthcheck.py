"""`headwater healthcheck`: whether the installation is well, for the health checks of containers."""

from typing import TYPE_CHECKING

from headwater.cli.launch import AsJson, Launch, Launched, run_to_end
from headwater.cli.output import show, show_json, show_steps

if TYPE_CHECKING:
    from headwater.reports.health import InstallationHealth

SIGNS = {"ok": "✓", "degraded": "!", "down": "✗"}


def healthcheck(
    *,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Say whether the installation is well: its database, its roles wherever they run, its sinks.

    Exit 0 where it is ok or degraded (work goes on), 1 where it is down, 5 where the database does not answer. It needs
    no web server.
    """
    from headwater.actions.examining import health_of_installation

    health = run_to_end(health_of_installation(launch.settings()))
    if json:
        show_json(health.as_dict())
    else:
        show_health(health)
    if health.is_database_away:
        return 5
    return int(health.state == "down")


def show_health(health: "InstallationHealth") -> None:
    show(f"{SIGNS[health.state]} {health.state}")
    for one in health.troubles:
        since = f" Since {one.since:%Y-%m-%d %H:%M:%S %Z}." if one.since else ""
        show(f"{SIGNS[one.state]} {one.name}: {one.why}{since}")
        show_steps(one.fix, indent=4)
