"""`headwater hosts robots`: what a host's robots.txt says to us, and which line decides."""

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headwater.cli.launch import AsJson, Launch, Launched, with_services
from headwater.cli.output import say, show, show_json, show_lines
from headwater.cli.words import in_words, seconds
from headwater.shapes.hosts import decision_as_dict, robots_as_dict

if TYPE_CHECKING:
    from headwater.actions.hosts import RobotsRefetch
    from headwater.politeness.robots import Decision
    from headwater.services import Services

REFUSED = 6


def robots(
    host: str,
    *,
    check: str | None = None,
    refetch: Annotated[bool, Parameter(negative="", help="Ask the host for it anew first.")] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Show the stored robots.txt of a host, or say which of its lines decides about a URL.

    Parameters
    ----------
    host
        Its name; `docs.example:8080` means that port only.
    check
        A URL or a path of this host.
    """

    async def work(services: "Services") -> "tuple[list[Any], Decision | None]":
        from headwater.actions.hosts import decision_of_robots, refetch_robots, robots_named

        if refetch:
            tell_refetch(await refetch_robots(services, host))
        rows = await robots_named(services, host)
        return rows, None if check is None else decision_of_robots(services, rows, check)

    rows, decision = with_services(launch, work)
    if decision is None:
        for row in rows:
            show_row(row, is_json=json)
        return 0
    if json:
        show_json(decision_as_dict(decision))
    else:
        verdict = "allowed" if decision.allowed else "disallowed"
        line = f" by line {decision.line_number}: {decision.rule_text}" if decision.line_number else ": no rule matches"
        show(f"{verdict}{line}" + (f"  (group {decision.group})" if decision.group else ""))
    return 0 if decision.allowed else REFUSED


def tell_refetch(done: "RobotsRefetch") -> None:
    for origin in done.asked:
        say(f"Asked {origin} for its robots.txt.")
    if done.left:
        wait = f" in {seconds(done.wait)} at the earliest" if done.wait else ""
        say(f"The pace of the host allows no more now: it is asked before its next request{wait}.")


def show_row(row: Any, *, is_json: bool) -> None:
    told = robots_as_dict(row)
    if is_json:
        show_json(told)
        return
    place = f"{row['scheme']}://{row['host']}:{row['port']}"
    show(f"# {place}  {in_words(row['access'])}, fetched {row['fetched_at']:%Y-%m-%d %H:%M} UTC")
    if row["failure"]:
        show(f"# failing since {row['failing_since']:%Y-%m-%d %H:%M} UTC: {in_words(row['failure'])}")
    show_lines(told["text"])
