"""`headwater hosts`: whom we visit, how fast, and who decided that."""

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from headwater.cli.launch import AsJson, Cursor, Launch, Launched, Limit
from headwater.cli.output import say, say_more, show, show_json, show_table
from headwater.cli.serving import with_services

if TYPE_CHECKING:
    from headwater.services import Services

app = App(name="hosts", help="Hosts, their pace and their policies.")
policy = App(name="policy", help="What you ask for one host.")
app.command(policy)
app.command("headwater.cli.robots:robots", name="robots", help="What a host's robots.txt says to us.")


@app.command(name="list")
def list_hosts(
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List hosts with their state.

    Parameters
    ----------
    limit
        Hosts per page.
    """

    async def work(services: "Services") -> list[Any]:
        from headwater.politeness.hosts import host_named
        from headwater.reports.frontier import list_hosts as read_page
        from headwater.urls.fingerprint import bucket_of

        name = host_named(cursor) if cursor else ""
        return await read_page(services.database, limit + 1, (bucket_of(name), name) if name else (-1, ""))

    found = with_services(launch, work)
    rows = found[:limit]
    following = rows[-1]["host"] if len(found) > limit else None
    if json:
        show_json({"hosts": [dict(row) for row in rows], "cursor": following})
        return
    if not rows:
        say("No more hosts." if cursor else "No host is known yet: hosts appear when a URL of theirs is queued.")
        return
    columns = ("host", "state", "delay", "in flight", "requests", "failed")
    show_table(
        columns,
        [
            (
                row["host"],
                state_of(row),
                f"{row['delay_ms'] / 1000:g} s",
                *(str(row[name] or 0) for name in ("in_flight", "requests", "failed")),
            )
            for row in rows
        ],
    )
    say_more(following)


def state_of(row: Any) -> str:
    if row["closed_by"]:
        return f"closed: {row['closed_by']}"
    if row["in_flight"] >= row["max_concurrency"]:
        return "busy"
    return "open" if row["is_open"] else "waiting"


@app.command(name="show")
def show_host(host: str, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Show a host: its pace, who decided it, its policy and its past.

    Parameters
    ----------
    host
        Its name.
    """

    async def work(services: "Services") -> tuple[dict[str, Any], Any]:
        from headwater.politeness.hosts import host_named, pace_of, read_host

        row = await read_host(services.database, host_named(host))
        return dict(row), pace_of(row)

    row, pace = with_services(launch, work)
    if json:
        show_json(row | {"effective_delay_ms": pace.delay.total_seconds() * 1000, "decided_by": pace.decided_by})
        return
    show(f"{row['host']}: one request every {pace.delay.total_seconds():g} s, decided by {pace.decided_by}")
    show_table(("", ""), [(name, str(value)) for name, value in row.items() if value is not None])


@policy.command(name="set")
def set_policy(
    host: str,
    *,
    max_concurrency: int | None = None,
    min_request_interval_ms: int | None = None,
    burst: int | None = None,
    max_pages: int | None = None,
    max_kb_per_page: int | None = None,
    allow_js: Annotated[bool | None, Parameter(help="Whether pages are rendered in a browser.")] = None,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Replace a host's policy; what is not given is the default. Robots.txt may still slow us down.

    Parameters
    ----------
    host
        Its name.
    max_concurrency
        Requests under way at once.
    min_request_interval_ms
        Time between two request starts.
    burst
        Requests that may start at once after a pause; not beside a Crawl-delay.
    max_pages
        Pages of one run.
    max_kb_per_page
        Largest page.
    """
    from headwater.politeness.hosts import HostPolicy

    wanted = HostPolicy(max_concurrency, min_request_interval_ms, burst, max_pages, max_kb_per_page, allow_js)

    async def work(services: "Services") -> None:
        from headwater.politeness.hosts import host_named
        from headwater.politeness.hosts import set_policy as store

        await store(services.database, host_named(host), wanted, services.settings.politeness.delay)

    with_services(launch, work)
    show_host(host, launch=launch)
