"""`headwater fetch`: one request through the real path, told step by step."""

import re
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headwater.cli.launch import AsJson, Launch, Launched, with_services
from headwater.cli.output import say, show, show_json
from headwater.cli.pollers import warn_while_paused
from headwater.cli.words import in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.actions.trying import FetchedOnce
    from headwater.fetch.outcomes import FetchOutcome
    from headwater.net.transport import Response
    from headwater.politeness.slots import NotBefore
    from headwater.services import Services

FAILED, REFUSED, BUSY = 1, 6, 7
OFF_LIMITS = re.compile(r"(?P<place>[^\s(]+) is off limits: (?P<reason>[^)]+?)\)?\s*$")
CODES = {
    "answered": 0,
    "left_host": 0,
    "disallowed": REFUSED,
    "taken_down": REFUSED,
    "later": BUSY,
    "robots_unknown": FAILED,
}


def fetch(
    url: str,
    *,
    explain: Annotated[bool, Parameter(negative="", help="Tell every step of every hop.")] = False,
    head: Annotated[bool, Parameter(negative="", help="Ask for the head only.")] = False,
    json: AsJson = False,
    launch: Launched = Launch(),  # noqa: B008
) -> int:
    """Fetch one URL as a worker would: takedown, robots, slot, guard, request.

    Parameters
    ----------
    url
        What to fetch.
    """
    from headwater.urls.canonical import canonicalise

    target = canonicalise(url)

    async def work(services: "Services") -> "FetchedOnce":
        from headwater.actions.trying import fetch_once

        await warn_while_paused(services)
        return await fetch_once(services, target, "HEAD" if head else "GET")

    fetched = with_services(launch, work)
    steps = [{"url": at.url, **result_as_dict(what)} for at, what in fetched.steps]
    pace = fetched.pace
    delay = {"delay": f"{pace.delay.total_seconds():g} s ({pace.decided_by})"} if pace else {}
    result = result_as_dict(fetched.outcome) | delay
    if json:
        show_json({"steps": steps, **result})
    else:
        for step in steps if explain else []:
            show(f"  {step_in_words(step)}")
        show(step_in_words(result))
        for line in advice_on(result, target.host):
            say(line)
    return REFUSED if "blocked_address" in _trouble(result) else CODES.get(result["outcome"], FAILED)


def step_in_words(step: "Mapping[str, Any]") -> str:
    """A step or a result on one line, in words."""
    told = ((name.replace("_", " "), value) for name, value in step.items() if value not in (None, ""))
    return "  ".join(f"{name} {value if name == 'etag' else in_words(value)}" for name, value in told)


def _trouble(result: "Mapping[str, Any]") -> str:
    """The problem of the request, or of the one for robots.txt before it."""
    return f"{result.get('problem', '')} {result.get('detail', '')} {result.get('why', '')}"


def advice_on(result: "Mapping[str, Any]", host: str) -> list[str]:
    """The reason in a sentence, and a way out, where the site is not to blame."""
    trouble = _trouble(result)
    if "dns_not_found" in trouble:
        return [f"There is no host called {host}.", "  fix: Check how its name is spelt."]
    if found := OFF_LIMITS.search(trouble):
        place, reason = found["place"], found["reason"]
        if reason == "port not allowed":
            port = place.rpartition(":")[2]
            return [f"Port {port} is not one of network.ports.", f"  fix: {allowing(place)}"]
        if place == "localhost" or place.endswith(".localhost"):
            return [
                f"{place} is {reason}.",
                "  fix: Allow it by its address and port: --set network.allow=127.0.0.1:8080",
            ]
        if ":" in place and reason != "one of our own listeners":
            return [f"{place} is a {reason} address.", f"  fix: {allowing(place)}"]
    return []


def allowing(place: str) -> str:
    """The setting as it is written for one command."""
    return f"Allow it: --set network.allow={place}"


def off_limits(why: str) -> str:
    """The address and port that may not be asked, where there is one."""
    found = OFF_LIMITS.search(why)
    return found["place"] if found and ":" in found["place"] else ""


def result_as_dict(what: "Any | FetchOutcome | NotBefore") -> dict[str, Any]:
    from headwater.fetch.fetcher import Clear
    from headwater.fetch.outcomes import Answered, LedAway
    from headwater.net.transport import Response

    match what:
        case Clear():
            return {"allowed": "no takedown, robots.txt does not object", "limit": f"{what.body_bytes:,} bytes"}
        case Response():
            return response_as_dict(what)
        case Answered(response, hops):
            return {"outcome": "answered", **response_as_dict(response), "hops": hops, "url": response.url.url}
        case LedAway(to, hops):
            return {"outcome": "left_host", "to": to.url, "hops": hops}
        case _:
            return refusal_as_dict(what)


def refusal_as_dict(what: Any) -> dict[str, Any]:
    from headwater.fetch.outcomes import BadRedirect, Disallowed, Failed, LeaseLost, RobotsUnknown, TakenDown

    match what:
        case Disallowed(_, decision):
            return {"outcome": "disallowed", "line": decision.line_number, "rule": decision.rule_text}
        case TakenDown():
            return {"outcome": "taken_down"}
        case RobotsUnknown(wait, why):
            return {"outcome": "robots_unknown", "why": why, "again_in": f"{wait.total_seconds():.0f} s"}
        case BadRedirect(reason):
            return {"outcome": "bad_redirect", "why": reason}
        case Failed(problem):
            return {"outcome": "failed", "problem": str(problem.kind), "detail": problem.detail}
        case LeaseLost():
            return {"outcome": "slot_lost"}
        case _:
            return {"outcome": "later", "why": what.why, "again_in": f"{what.wait.total_seconds():.1f} s"}


def response_as_dict(response: "Response") -> dict[str, Any]:
    """Never raw headers: only what a person needs, and what no site can put words into."""
    return {
        "status": response.status,
        "size": f"{len(response.body):,} bytes",
        "took": f"{response.duration.total_seconds() * 1000:.0f} ms",
        "address": response.address,
        "connection": "reused" if response.is_reused else "new",
        "etag": response.validators.etag,
        "last_modified": response.validators.last_modified,
    }
