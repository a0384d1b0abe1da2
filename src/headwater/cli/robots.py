"""`headwater hosts robots`: what a host's robots.txt says to us, and which line decides."""

from shlex import quote
from typing import TYPE_CHECKING, Any

from headwater.cli.launch import AsJson, Launch, Launched
from headwater.cli.output import show, show_json, show_lines
from headwater.cli.serving import with_services
from headwater.cli.words import in_words
from headwater.errors import NotFound, UsageError

if TYPE_CHECKING:
    from headwater.politeness.robots_match import Decision
    from headwater.services import Services
    from headwater.urls.origin import Origin

REFUSED = 6


def robots(host: str, *, check: str | None = None, json: AsJson = False, launch: Launched = Launch()) -> int:  # noqa: B008
    """Show the stored robots.txt of a host, or say which of its lines decides about a URL.

    Parameters
    ----------
    host
        Its name; `docs.example:8080` means that port only.
    check
        A URL or a path of this host.
    """

    async def work(services: "Services") -> tuple[list[Any], str]:
        from headwater.fetch.robots_store import robots_of_host
        from headwater.net.identity import identity_of
        from headwater.politeness.hosts import host_named, site_of

        name, site = host_named(host), site_of(host)
        rows = await robots_of_host(services.database, name)
        # Each port has its own; the bare name means all of them.
        found = rows if site == name else [row for row in rows if origin_of(row).site == site]
        return found, identity_of(services.settings.fetch).user_agent

    rows, agent = with_services(launch, work)
    if not rows:
        raise NotFound(
            f"No robots.txt of {host} is known yet.", fix=f"Fetch something: headwater fetch https://{host}/"
        )
    if check is None:
        for row in rows:
            show_row(row, is_json=json)
        return 0
    decision = decide(rows, agent, check)
    if json:
        show_json({"allowed": decision.allowed, "line": decision.line_number, "rule": decision.rule_text})
    else:
        verdict = "allowed" if decision.allowed else "disallowed"
        line = f" by line {decision.line_number}: {decision.rule_text}" if decision.line_number else ": no rule matches"
        show(f"{verdict}{line}" + (f"  (group {decision.group})" if decision.group else ""))
    return 0 if decision.allowed else REFUSED


def decide(rows: list[Any], agent: str, check: str) -> "Decision":
    from headwater.politeness.robots import parse_robots
    from headwater.urls.canonical import canonicalise

    host = rows[0]["host"]
    url = canonicalise(check if "://" in check else f"{origin_of(rows[0])}/{check.lstrip('/')}")
    if url.host != host:
        raise UsageError(
            f"{url.host} is another host than {host}, with a robots.txt of its own.",
            fix=f"Ask about it: headwater hosts robots {url.host} --check {quote(url.url)}",
        )
    own = [row for row in rows if origin_of(row).site == url.site]
    if not own:
        raise NotFound(
            f"No robots.txt of {url.origin} is known yet, and that of another port says nothing about it.",
            fix=f"Fetch something: headwater fetch {quote(url.url)}",
        )
    row = next((one for one in own if origin_of(one) == url.origin), own[0])
    return parse_robots(row["body"] or b"", agent).decide(url.target)


def origin_of(row: Any) -> "Origin":
    from headwater.urls.origin import Origin

    return Origin(row["scheme"], row["host"], row["port"])


def show_row(row: Any, *, is_json: bool) -> None:
    from headwater.politeness.robots_text import robots_text

    text = robots_text(row["body"]) if row["body"] else ""
    if is_json:
        show_json({name: value for name, value in row.items() if name != "body"} | {"text": text})
        return
    place = f"{row['scheme']}://{row['host']}:{row['port']}"
    show(f"# {place}  {in_words(row['access'])}, fetched {row['fetched_at']:%Y-%m-%d %H:%M} UTC")
    if row["failure"]:
        show(f"# failing since {row['failing_since']:%Y-%m-%d %H:%M} UTC: {in_words(row['failure'])}")
    show_lines(text)
