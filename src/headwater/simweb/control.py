"""The host simweb.test: other processes read the visits and write the script through it, people find an index."""

from collections.abc import Callable, Mapping
from functools import cache
from html import escape
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl

import orjson

from headwater.clock import Clock
from headwater.errors import UsageError
from headwater.simweb.message import Page, Request, Site
from headwater.simweb.mischief.registry import mischief_from_json, mischief_to_json
from headwater.simweb.questions import Allows, report
from headwater.simweb.rules import RobotsRule, allows, rules_for
from headwater.simweb.script import Rule, Script
from headwater.simweb.visits import VisitLog

CONTROL_HOST = "simweb.test"
HOSTS_ON_INDEX = 500

Asking = Mapping[str, str]


class Control:
    def __init__(self, sites: Mapping[str, Site], visits: VisitLog, script: Script, clock: Clock) -> None:
        self._sites = sites
        self._visits = visits
        self._script = script
        self._clock = clock
        self._routes: dict[tuple[str, str], Callable[[Asking, bytes], Page]] = {
            ("GET", "/"): self._index,
            ("GET", "/hosts"): lambda asking, body: as_json(list(self._sites)),
            ("GET", "/visits"): self._list_visits,
            ("GET", "/report"): self._report,
            ("GET", "/script"): self._list_script,
            ("POST", "/script"): self._add_script,
            ("DELETE", "/script"): self._remove_script,
            ("POST", "/reset"): self._reset,
        }

    def page(self, request: Request) -> Page:
        method = "GET" if request.method == "HEAD" else request.method
        route = self._routes.get((method, request.path))
        if route is None:
            known = [" ".join(pair) for pair in self._routes]
            return as_json({"error": f"no {method} {request.path}", "fix": f"there is: {', '.join(known)}"}, 404)
        try:
            return route(dict(parse_qsl(request.query)), request.body)
        except UsageError as error:
            return as_json({"error": error.what, "fix": error.fix}, 400)

    def _list_visits(self, asking: Asking, body: bytes) -> Page:
        since = asking.get("since", "0")
        if not since.isdecimal():
            raise UsageError(f"since is the number of a visit, not {since!r}")
        visits = self._visits.of(asking.get("host", ""), int(since))
        return as_json({"dropped": self._visits.dropped, "visits": visits})

    def _report(self, asking: Asking, body: bytes) -> Page:
        """Disallowed paths are counted for the product token `agent`, or for everyone."""
        return as_json(self.report(asking.get("host", ""), asking.get("agent", "*")))

    def report(self, host: str = "", agent: str = "*") -> dict[str, Any]:
        visits = self._visits.of(host)
        return {"dropped": self._visits.dropped, **report(visits, self._allows(agent))}

    def _allows(self, agent: str) -> Allows:
        """By each site's own robots.txt as it reads now, misbehaviour aside."""
        rules = cache(lambda host: self._robots_rules(host, agent))
        return lambda host, target: allows(rules(host), target)

    def _robots_rules(self, host: str, agent: str) -> tuple[RobotsRule, ...]:
        site = self._sites.get(host)
        page = site and site.page(Request("GET", host, "/robots.txt", "", {}), self._clock.now())
        return rules_for(agent, page.body.decode("utf-8", "replace")) if page and page.status == 200 else ()

    def _list_script(self, asking: Asking, body: bytes) -> Page:
        return as_json([rule_to_json(rule) for rule in self._script])

    def _add_script(self, asking: Asking, body: bytes) -> Page:
        rule = rule_from_json(body)
        self._script.add(rule)
        return as_json(rule_to_json(rule), 201)

    def _remove_script(self, asking: Asking, body: bytes) -> Page:
        return as_json({"removed": self._script.remove(asking.get("host", ""), asking.get("path_prefix", ""))})

    def _reset(self, asking: Asking, body: bytes) -> Page:
        self._script.remove()
        self._visits.forget()
        return as_json({})

    def _index(self, asking: Asking, body: bytes) -> Page:
        links = "".join(
            f'<li><a href="/@{escape(host)}/">{escape(host)}</a></li>' for host in islice(self._sites, HOSTS_ON_INDEX)
        )
        return Page(_INDEX.format(count=len(self._sites), links=links).encode())


_INDEX = """<!doctype html><html lang="en"><title>The simulated web</title>
<h1>The simulated web</h1>
<p>{count} sites live here. Follow a link to look at one; to browse with every link working,
make this address your browser's HTTP proxy.</p>
<p><a href="/report">Report</a> · <a href="/visits">Visits</a> · <a href="/script">Script</a> ·
<a href="/hosts">Hosts</a></p>
<ul>{links}</ul></html>
"""


def as_json(value: object, status: int = 200) -> Page:
    return Page(orjson.dumps(value, option=orjson.OPT_INDENT_2), "application/json", status, cache_control="no-store")


def rule_to_json(rule: Rule) -> dict[str, Any]:
    return {
        "host": rule.host,
        "path_prefix": rule.path_prefix,
        "times": rule.times,
        "played": rule.played,
        "mischief": mischief_to_json(rule.mischief),
    }


def rule_from_json(body: bytes) -> Rule:
    """`{"host": …, "mischief": {"kind": …}, "path_prefix": "/", "times": null}`"""
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"the body is not JSON: {error}") from error
    if not isinstance(given, dict) or not isinstance(given.get("host"), str):
        raise UsageError('a script names its "host"', fix='{"host": "a.test", "mischief": {"kind": "status"}}')
    prefix, times = given.get("path_prefix", "/"), given.get("times")
    if not isinstance(prefix, str) or not prefix.startswith("/"):
        raise UsageError('"path_prefix" is a path')
    if times is not None and (not isinstance(times, int) or times < 1):
        raise UsageError('"times" is a number above 0, or null for ever')
    return Rule(given["host"].lower(), prefix, mischief_from_json(given.get("mischief")), times)
