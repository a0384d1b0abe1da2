"""`headwater hosts`: whom we visit, how fast, and who decided that."""

import shlex
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from headwater.cli.launch import AsJson, Cursor, Launch, Launched, Limit, with_services
from headwater.cli.output import say, say_more, show, show_json, show_table
from headwater.cli.words import in_words, inert, quantity, relative, seconds, seconds_of
from headwater.errors import UsageError
from headwater.shapes.hosts import host_as_dict, rules_as_dict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from headwater.actions.hosts import HostStory
    from headwater.frontier.host_rules import RulesOfHost
    from headwater.politeness.hosts import Pace
    from headwater.reports.paging import ListPage
    from headwater.services import Services

app = App(name="hosts", help="Hosts, their pace and their policies.")
policy = App(name="policy", help="Your own settings for one host: delay, concurrency, budget.")
rules = App(name="rules", help="How URLs of one host are compared: keep the slash, keep or strip parameters.")
app.command(policy)
app.command(rules)
app.command("headwater.cli.robots:robots", name="robots", help="Show the robots.txt of a host and its rules for us.")


SETTABLE = (
    "Give --max-concurrency (requests at once), --min-request-interval-ms (time between two requests),"
    " --burst (requests after a pause), --max-pages (of one run), --max-kb-per-page,"
    " --allow-js or --no-allow-js (render in a browser)."
)


def example_for(host: str) -> str:
    return f"headwater hosts policy set {shlex.quote(host)} --min-request-interval-ms 5000"


@app.command(name="list")
def list_hosts(
    *,
    state: str | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """List hosts with their state.

    Parameters
    ----------
    state
        open, waiting, asked, closed, doubted, slowed, policy, crawl_delay or idle.
    limit
        Hosts per page.
    """

    async def work(services: "Services") -> "ListPage[Any]":
        from headwater.actions.hosts import page_of_hosts
        from headwater.cli.filters import word_of
        from headwater.reports.frontier import HostState

        return await page_of_hosts(services, limit, cursor, word_of("state", HostState, state))

    page = with_services(launch, work)
    from headwater.shapes.hosts import host_row_as_dict

    rows, following = page.items, page.cursor
    told = [host_row_as_dict(row) for row in rows]
    if json:
        show_json({"hosts": told, "cursor": following})
        return
    if not rows:
        if state and following:
            say("No host of those looked at is in this state.")
            say_more(following)
        elif state or cursor:
            say("No more hosts.")
        else:
            say("No host is known yet: hosts appear when a URL of theirs is queued.")
        return
    columns = ("host", "health", "state", "delay", "in flight", "requests", "failed")
    show_table(
        columns,
        [
            (
                row["host"],
                str(row["health"]),
                state_of(row),
                f"{row['delay_ms'] / 1000:g} s",
                *(str(row[name] or 0) for name in ("in_flight", "requests", "failed")),
            )
            for row in told
        ],
        spare=("in flight", "failed", "requests"),
        whole=("host",),
    )
    say_more(following)


def state_of(row: Any) -> str:
    if row["closed_by"]:
        return f"closed: {in_words(row['closed_by'])}"
    if row["in_flight"] >= row["max_concurrency"]:
        return "asked"
    return "open" if row["is_open"] else "waiting"


@app.command(name="show")
def show_host(host: str, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Show a host: its pace, who decided it, its policy and its past.

    Parameters
    ----------
    host
        Its name.
    """

    async def work(services: "Services") -> "HostStory":
        from headwater.actions.hosts import story_of_host

        return await story_of_host(services, host)

    story = with_services(launch, work)
    if json:
        show_json(host_as_dict(story))
        return
    for line in host_in_words(story.row, story.pace, story.closures, story.now):
        show(line)


def host_in_words(row: "Mapping[str, Any]", pace: "Pace", closures: "Sequence[Any]", now: "datetime") -> list[str]:
    """Its pace and who decided it, how it stands, what a person asked for, and its past."""
    lines = [f"{row['host']}: one request every {seconds(pace.delay)}, decided by {pace.decided_by}"]
    lines += [f"  closed:        {in_words(one['reason'])}; it opens {relative(one['until'], now)}" for one in closures]
    lines += [f"  {label + ':':14} {told}" for label, told in _standing(row, now) if told]
    if wishes := _wishes(row):
        lines.append(f"  your policy:   {', '.join(wishes)}")
    else:
        lines.append(f"  your policy:   none; set one: headwater hosts policy set {row['host']} --max-concurrency 2")
    return lines


def _standing(row: "Mapping[str, Any]", now: "datetime") -> list[tuple[str, str]]:
    said = [
        (row["penalty_ms"], "a penalty after 429 or 503"),
        (row["crawl_delay_ms"], "the Crawl-delay of robots.txt"),
        (row["source_delay_ms"], "the rate limit of a source"),
    ]
    slowed = [f"{seconds_of(ms)} by {what}" for ms, what in said if ms]
    at_once = f"at most {row['max_concurrency']} at once, {row['in_flight']} under way"
    opens = row["next_slot_at"]
    names = row["names_at_address"]
    place = f"{row['address']}, with {names:,} known names" if row["address"] and names > 1 else row["address"]
    return [
        ("requests", f"{at_once}, bursts of {row['burst']} after a pause" if row["burst"] > 1 else at_once),
        ("slower by", ", ".join(slowed)),
        ("last request", relative(row["last_fetch_at"], now)),
        ("next request", "" if opens is None else relative(opens, now) if opens > now else "may start now"),
        ("so far", f"{quantity(row['requests'], 'request')}: {_past(row)}" if row["requests"] else ""),
        ("last answer", f"HTTP {row['last_status']}" if row["last_status"] else ""),
        ("address", place or ""),
        ("order", "it waits behind hosts that have answered lately" if row["is_doubted"] else ""),
    ]


def _past(row: "Mapping[str, Any]") -> str:
    """A request that was neither answered nor failed was for a page that is not there."""
    told = (
        (row["succeeded"], "answered"),
        (row["requests"] - row["succeeded"] - row["failed"], "for pages that are not there"),
        (row["failed"], "failed"),
        (row["rate_limited"], "told us to slow down"),
    )
    return ", ".join(f"{count:,} {word}" for count, word in told if count)


def _wishes(row: "Mapping[str, Any]") -> list[str]:
    """The settings made by a person."""
    told = {
        "policy_concurrency": "{:,} at once",
        "min_request_interval_ms": "{:,} ms between requests",
        "policy_burst": "bursts of {:,}",
        "max_pages": "at most {:,} pages of one run",
        "max_kb_per_page": "pages of at most {:,} KB",
    }
    browser = {None: [], True: ["pages are rendered in a browser"], False: ["no browser"]}
    return [wish.format(row[name]) for name, wish in told.items() if row[name] is not None] + browser[row["allow_js"]]


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
    """Set what is given of a host's policy; the rest stays as it was. Robots.txt may still slow us down.

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
    if wanted == HostPolicy():
        raise UsageError(f"Nothing was asked for {host}.", fix=f"{SETTABLE} For example: {example_for(host)}")

    async def work(services: "Services") -> None:
        from headwater.actions.hosts import set_host_policy

        await set_host_policy(services, host, wanted)

    with_services(launch, work)
    show_host(host, launch=launch)


@app.command(name="rights")
def rights(host: str, *, path: str = "/", json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Show what robots.txt and tdmrep.json of a host say about uses of a page; the page itself may say more.

    Parameters
    ----------
    host
        Its name.
    path
        Of a page.
    """

    async def work(services: "Services") -> "dict[str, Any]":
        from headwater.actions.hosts import rights_of_host

        return await rights_of_host(services, host, path)

    found = with_services(launch, work)
    if json:
        show_json(found)
        return
    from headwater.rights.record import rights_in_words

    show(rights_in_words(found) or f"{host} says nothing about uses of its pages, as far as it was asked.")
    for one in found["statements"]:
        show(f"  {one['place']}: {inert(one['said'])}")


@policy.command(name="clear")
def clear_policy(host: str, *, launch: Launched = Launch()) -> None:  # noqa: B008
    """Take back all of a host's policy: the defaults hold again.

    Parameters
    ----------
    host
        Its name.
    """

    async def work(services: "Services") -> None:
        from headwater.actions.hosts import clear_host_policy

        await clear_host_policy(services, host)

    with_services(launch, work)
    show_host(host, launch=launch)


@rules.command(name="set")
def set_rules(
    host: str,
    *,
    keep_slash: Annotated[
        bool | None, Parameter(help="Whether `/a` and `/a/` are two pages; as a rule they are one.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        Parameter(help="A parameter that tells pages apart, though it is left out as a rule, as `ref` is; repeat it."),
    ] = None,
    strip: Annotated[
        list[str] | None, Parameter(help="A parameter that says nothing of the page, such as a session; repeat it.")
    ] = None,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> None:
    """Say which URLs of a host are one page. What is not given stays; `--keep ''` empties a list.

    Known to every process within seconds. What is stored gets its new keys in the background, by `headwater up` or
    `headwater run maintain`; two entries that become one page are merged.

    Parameters
    ----------
    host
        Its name; `www.` counts.
    """

    async def work(services: "Services") -> "list[RulesOfHost]":
        from headwater.actions.hosts import unusual_rules
        from headwater.frontier.host_rules import RuleChange
        from headwater.frontier.host_rules import set_rules as store
        from headwater.politeness.hosts import host_named

        await store(services.database, host_named(host), RuleChange(keep_slash, keep, strip))
        return await unusual_rules(services)

    show_rules(with_services(launch, work), as_json=json)


@rules.command(name="clear")
def clear_rules(host: str, *, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """Take back all that was said of a host's URLs; what is stored gets its usual keys in the background.

    Parameters
    ----------
    host
        Its name; `www.` counts.
    """

    async def work(services: "Services") -> "list[RulesOfHost]":
        from headwater.actions.hosts import unusual_rules
        from headwater.frontier.host_rules import clear_rules as clear
        from headwater.politeness.hosts import host_named

        await clear(services.database, host_named(host))
        return await unusual_rules(services)

    show_rules(with_services(launch, work), as_json=json)


@rules.command(name="list")
def list_rules(*, json: AsJson = False, launch: Launched = Launch()) -> None:  # noqa: B008
    """List the hosts whose URLs are not told apart as usual, and whether what is stored follows already."""

    async def work(services: "Services") -> "list[RulesOfHost]":
        from headwater.actions.hosts import unusual_rules

        return await unusual_rules(services)

    show_rules(with_services(launch, work), as_json=json)


def show_rules(found: "list[RulesOfHost]", *, as_json: bool) -> None:
    if as_json:
        show_json({"rules": [rules_as_dict(one) for one in found]})
        return
    if not found:
        say("All hosts are as usual. Set something: headwater hosts rules set example.org --strip sid")
        return
    show_table(
        ("host", "slash", "kept", "stripped", "stored entries"),
        [
            (
                one.host,
                "kept" if one.rules.keep_slash else "as usual",
                ", ".join(sorted(one.rules.keep_params)) or "–",
                ", ".join(sorted(one.rules.strip_params)) or "–",
                "are being keyed anew" if one.rekeyed_at is None else "follow",
            )
            for one in found
        ],
    )
