"""Hosts as a person looks at them: their pace, their robots.txt, the policies and rules set for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from shlex import quote
from typing import Any

from headwater.editions import KnownEditions
from headwater.errors import NotFound, UsageError
from headwater.frontier.host_rules import RulesOfHost, read_rules
from headwater.net.identity import identity_of
from headwater.politeness.hosts import (
    HostPolicy,
    Pace,
    clear_policy,
    closures_of,
    host_named,
    pace_of,
    read_host,
    set_policy,
    site_of,
)
from headwater.politeness.robots import Decision, parse_robots
from headwater.reports.discovery import time_now
from headwater.reports.frontier import HostState, list_hosts, list_hosts_in_state
from headwater.reports.paging import ListPage, page_of
from headwater.services import Services
from headwater.urls.canonical import canonicalise
from headwater.urls.fingerprint import bucket_of
from headwater.urls.origin import Origin
from headwater.urls.rules import DEFAULT_RULES


@dataclass(frozen=True, slots=True)
class HostStory:
    """`closures`: each reason for which it is closed now, with the time it ends. `now` is the database's time."""

    row: dict[str, Any]
    pace: Pace
    closures: Sequence[Any]
    now: datetime


async def page_of_hosts(
    services: Services, limit: int, cursor: str | None, state: HostState | None = None
) -> ListPage[Any]:
    """In the order of their keys. Of a state, a short page with a cursor has searched up to there."""
    name = host_named(cursor) if cursor else ""
    after = (bucket_of(name), name) if name else (-1, "")
    if state is None:
        return page_of(await list_hosts(services.database, limit + 1, after), limit, _name_of)
    rows = await list_hosts_in_state(services.database, state, limit + 1, after)
    found = [row for row in rows if row["matches"]]
    if len(found) > limit:
        return page_of(found, limit, _name_of)
    return ListPage(found, next((_name_of(row) for row in rows if not row["matches"]), None))


def _name_of(row: Any) -> str:
    return str(row["host"])


async def story_of_host(services: Services, named: str) -> HostStory:
    name = host_named(named)
    row = await read_host(services.database, name)
    closures = await closures_of(services.database, name)
    return HostStory(dict(row), pace_of(row), closures, await time_now(services.database))


async def set_host_policy(services: Services, named: str, policy: HostPolicy, known: KnownEditions = None) -> None:
    """Raises Outdated where what a person set before is no edition that is `known`."""
    await set_policy(services.database, host_named(named), policy, services.settings.politeness.delay, known)


async def clear_host_policy(services: Services, named: str, known: KnownEditions = None) -> None:
    """Raises NotFound for a host that nobody knows: a slip in its name must not look like success."""
    name = host_named(named)
    await read_host(services.database, name)
    await clear_policy(services.database, name, services.settings.politeness.delay, known)


async def unusual_rules(services: Services) -> list[RulesOfHost]:
    """Of hosts whose URLs are not told apart as usual, or whose entries are still being keyed anew."""
    found = await read_rules(services.database)
    return [one for one in found if one.rules != DEFAULT_RULES or one.rekeyed_at is None]


async def robots_named(services: Services, named: str) -> list[Any]:
    """The robots.txt of each origin of a host; with a port, of that one. Raises NotFound where none is known."""
    from headwater.fetch.robots import robots_of_host

    name, site = host_named(named), site_of(named)
    rows = await robots_of_host(services.database, name)
    # Each port has its own; the bare name means all of them.
    found = rows if site == name else [row for row in rows if origin_of(row).site == site]
    if not found:
        raise NotFound(
            f"No robots.txt of {named} is known yet.", fix=f"Fetch something: headwater fetch https://{named}/"
        )
    return found


@dataclass(frozen=True, slots=True)
class RobotsRefetch:
    """`asked` origins were asked now; `wait` until the others may be: they are asked before their next request."""

    asked: Sequence[Origin]
    left: Sequence[Origin]
    wait: timedelta | None
    rows: Sequence[Any]


async def refetch_robots(services: Services, named: str) -> RobotsRefetch:
    """Ask for the robots.txt of each origin of a host anew, at its pace. Raises NotFound for an unknown host.

    What cannot be asked now is asked by whoever makes the next request there.
    """
    from headwater.fetch.robots import expire_robots, robots_of_host
    from headwater.politeness.slots import NotBefore
    from headwater.web import open_web

    name = host_named(named)
    await read_host(services.database, name)
    origins = await expire_robots(services.database, name) or [Origin("https", name, 443)]
    asked: list[Origin] = []
    wait: timedelta | None = None
    async with open_web(services, "headwater hosts refetch") as web:
        for origin in origins:
            async with web.reservations.reserve_slot(name, "robots") as held_slot:
                if isinstance(held_slot, NotBefore):
                    wait = held_slot.wait
                    break
                await web.fetcher.preflight.look(canonicalise(f"{origin}/"), held_slot)
                asked.append(origin)
    rows = await robots_of_host(services.database, name)
    return RobotsRefetch(asked, origins[len(asked) :], wait, rows)


def decision_of_robots(services: Services, rows: Sequence[Any], check: str) -> Decision:
    """Which line decides about a URL or a path of this host."""
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
    agent = identity_of(services.settings.fetch).user_agent
    return parse_robots(row["body"] or b"", agent).decide(url.target)


async def rights_of_host(services: Services, named: str, path: str = "/") -> dict[str, Any]:
    """What a host says about uses of a page, apart from the page itself: by robots.txt and tdmrep.json.

    Raises NotFound for an unknown host.
    """
    from headwater.fetch.robots import robots_of_host
    from headwater.fetch.tdmrep import tdm_of_host
    from headwater.rights.record import rights_as_dict, rights_from

    name = host_named(named)
    await read_host(services.database, name)
    target = canonicalise(f"https://{name}/{path.lstrip('/')}").target
    agent = identity_of(services.settings.fetch).user_agent
    said = [
        statement
        for row in await robots_of_host(services.database, name)
        for statement in parse_robots(row["body"] or b"", agent).statements_on(target)
    ]
    files = await tdm_of_host(services.database, name)
    said += [one for rules in files if (one := rules.statement_on(target)) is not None]
    found = rights_from(said)
    return rights_as_dict(found.marks, found.said)


def origin_of(row: Any) -> Origin:
    return Origin(row["scheme"], row["host"], row["port"])
