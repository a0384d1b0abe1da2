"""/api/v1/hosts: whom we visit, how fast, and who decided that."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from headwater.actions.hosts import (
    HostStory,
    clear_host_policy,
    decision_of_robots,
    page_of_hosts,
    refetch_robots,
    rights_of_host,
    robots_named,
    set_host_policy,
    story_of_host,
    unusual_rules,
)
from headwater.errors import UsageError
from headwater.frontier.host_rules import RuleChange, clear_rules, set_rules
from headwater.politeness.hosts import HostPolicy, host_named
from headwater.reports.frontier import HostState
from headwater.serve.access.gate import Operator, Viewer
from headwater.serve.api.source_shapes import Words
from headwater.serve.bodies import KeptText, StrictBody
from headwater.serve.editions import IfMatch, tagged
from headwater.serve.shared import USUAL_PAGE, Cursor, Installed, Limit
from headwater.services import Services
from headwater.shapes.hosts import (
    decision_as_dict,
    host_as_dict,
    host_row_as_dict,
    policy_as_dict,
    refetch_as_dict,
    robots_as_dict,
    rules_as_dict,
)
from headwater.sources.health_word import HealthStatus

router = APIRouter(prefix="/api/v1", tags=["hosts"])

HostName = Annotated[str, Path(max_length=300, description="Its name.", examples=["harbour.example"])]


class HostShape(BaseModel):
    """A host as it stands, with everything that has a say in its pace."""

    model_config = ConfigDict(extra="allow")

    host: str
    delay_ms: int
    penalty_ms: int
    in_flight: int
    max_concurrency: int
    health: HealthStatus = Field(description="The worst of its last answer and of why it is closed.")


class HostList(BaseModel):
    hosts: list[HostShape]
    cursor: str | None


class WholeHost(HostShape):
    effective_delay_ms: float = Field(description="Time between two requests, as it holds now.")
    decided_by: str = Field(examples=["host policy"])
    closures: list[dict[str, Any]] = Field(description="Each reason for which it is closed now, with its end.")


class PolicyFields(StrictBody):
    """What a person sets for a host; what is not given stays."""

    max_concurrency: int | None = Field(None, ge=1, le=1_000, description="Requests under way at once.")
    min_request_interval_ms: int | None = Field(None, ge=0, le=86_400_000)
    burst: int | None = Field(None, ge=1, le=1_000, description="Requests that may start at once after a pause.")
    max_pages: int | None = Field(None, ge=0, le=2_000_000_000, description="Pages of one run.")
    max_kb_per_page: int | None = Field(None, ge=1, le=1_000_000)
    allow_js: bool | None = Field(None, description="Whether pages are rendered in a browser.")


class PolicyShape(BaseModel):
    """The policy of a host with the defaults that hold where nothing was set; `own` is what was."""

    host: str
    max_concurrency: int
    min_request_interval_ms: int
    max_pages: int
    max_kb_per_page: int
    allow_js: bool
    burst: int
    last_seen_status: int | None
    updated_at: datetime | None
    own: dict[str, Any]
    edition: str = Field(description="Of what was set, in short: a change that sends it as If-Match is safe.")
    effective_delay_ms: float
    decided_by: str


class RobotsShape(BaseModel):
    """The robots.txt of a host: of its usual origin, and of each one. `check` says what decides about a URL."""

    host: str
    robots_txt: str
    fetched_at: datetime | None
    crawl_delay_ms: int | None
    disallow: list[str]
    robots: list[dict[str, Any]]
    check: dict[str, Any] | None


class RefetchShape(BaseModel):
    """Origins that were asked for their robots.txt now, and those that could not be: each before its next request."""

    asked: list[str] = Field(examples=[["https://harbour.example"]])
    left: list[str]
    wait_seconds: float | None = Field(description="Until the host may be asked again.")
    robots: list[dict[str, Any]] = Field(description="As it is known now.")


class RuleFields(StrictBody):
    """Which URLs of a host are one page; what is not given stays."""

    keep_slash: bool | None = Field(None, description="Whether `/a` and `/a/` are two pages.")
    keep: Words | None = Field(None, description="Parameters that tell pages apart.")
    strip: Words | None = Field(None, description="Parameters that say nothing of the page.")


class RulesShape(BaseModel):
    host: str
    keep_slash: bool
    keep: list[str]
    strip: list[str]
    is_applied: bool = Field(description="Whether stored entries follow already.")


class RulesList(BaseModel):
    rules: list[RulesShape]


@router.get("/hosts")
async def list_hosts(
    caller: Viewer,
    services: Installed,
    limit: Limit = USUAL_PAGE,
    cursor: Cursor = None,
    state: Annotated[
        HostState | None, Query(description="Only hosts in this state; a short page with a cursor has searched so far.")
    ] = None,
) -> HostList:
    """List hosts with their state."""
    page = await page_of_hosts(services, limit, cursor, state)
    return HostList.model_validate({"hosts": [host_row_as_dict(row) for row in page.items], "cursor": page.cursor})


@router.get("/url-rules")
async def list_rules(caller: Viewer, services: Installed) -> RulesList:
    """List the hosts whose URLs are not told apart as usual."""
    return RulesList.model_validate({"rules": [rules_as_dict(one) for one in await unusual_rules(services)]})


@router.get("/hosts/{host}")
async def show_host(caller: Viewer, services: Installed, host: HostName) -> WholeHost:
    """Show a host: its pace, who decided it, its policy and its past."""
    story = await story_of_host(services, host)
    closures = [dict(one) for one in story.closures]
    return WholeHost.model_validate(host_as_dict(story) | {"closures": closures})


@router.get("/hosts/{host}/policy")
async def show_policy(caller: Viewer, services: Installed, response: Response, host: HostName) -> PolicyShape:
    """Show the policy of a host, with the values that hold beside those that were set."""
    return await _policy_of(services, response, host)


@router.put("/hosts/{host}/policy")
async def change_policy(
    caller: Operator, services: Installed, response: Response, host: HostName, wanted: PolicyFields, known: IfMatch
) -> PolicyShape:
    """Set what is given of a host's policy; the rest stays. Robots.txt may still slow us down."""
    policy = HostPolicy(**wanted.model_dump())
    if policy == HostPolicy():
        raise UsageError(f"Nothing was asked for {host}.", fix="Give one of the fields.")
    await set_host_policy(services, host, policy, known)
    return await _policy_of(services, response, host)


@router.delete("/hosts/{host}/policy")
async def remove_policy(
    caller: Operator, services: Installed, response: Response, host: HostName, known: IfMatch
) -> PolicyShape:
    """Take back all of a host's policy: the defaults hold again."""
    await clear_host_policy(services, host, known)
    return await _policy_of(services, response, host)


async def _policy_of(services: Services, response: Response, host: str) -> PolicyShape:
    shown = policy_shape(await story_of_host(services, host))
    tagged(response, shown.edition)
    return shown


def policy_shape(story: HostStory) -> PolicyShape:
    return PolicyShape.model_validate(policy_as_dict(story))


@router.get("/hosts/{host}/robots")
async def show_robots(
    caller: Viewer,
    services: Installed,
    host: HostName,
    check: Annotated[KeptText | None, Query(max_length=4_000, description="A URL or a path of this host.")] = None,
) -> RobotsShape:
    """Show the stored robots.txt of a host, and which of its lines decides about a URL."""
    rows = await robots_named(services, host)
    told = [robots_as_dict(row) for row in rows]
    decision = None if check is None else decision_as_dict(decision_of_robots(services, rows, check))
    first = told[0]
    return RobotsShape(
        host=first["host"],
        robots_txt=first["text"],
        fetched_at=first["fetched_at"],
        crawl_delay_ms=first["crawl_delay_ms"],
        disallow=list(first["disallow"] or ()),
        robots=told,
        check=decision,
    )


@router.post("/hosts/{host}/robots/refetch")
async def refetch_robots_of_host(caller: Operator, services: Installed, host: HostName) -> RefetchShape:
    """Ask for the robots.txt of a host anew: now if its pace allows, else before its next request."""
    return RefetchShape.model_validate(refetch_as_dict(await refetch_robots(services, host)))


@router.get("/hosts/{host}/rights")
async def show_rights(
    caller: Viewer,
    services: Installed,
    host: HostName,
    path: Annotated[KeptText, Query(max_length=2_083, description="Of a page.")] = "/",
) -> dict[str, Any]:
    """Show what robots.txt and tdmrep.json of a host say about uses of a page: training, search, text and data mining.

    What a page says itself stands in its document.
    """
    return await rights_of_host(services, host, path)


@router.get("/hosts/{host}/rules")
async def show_rules(caller: Viewer, services: Installed, host: HostName) -> RulesShape:
    """Show how URLs of a host are compared."""
    return await _rules_of(services, host)


@router.put("/hosts/{host}/rules")
async def change_rules(caller: Operator, services: Installed, host: HostName, wanted: RuleFields) -> RulesShape:
    """Say which URLs of a host are one page. What is stored gets its new keys in the background."""
    await set_rules(services.database, host_named(host), RuleChange(wanted.keep_slash, wanted.keep, wanted.strip))
    return await _rules_of(services, host)


@router.delete("/hosts/{host}/rules")
async def remove_rules(caller: Operator, services: Installed, host: HostName) -> RulesShape:
    """Take back all that was said of a host's URLs."""
    await clear_rules(services.database, host_named(host))
    return await _rules_of(services, host)


async def _rules_of(services: Services, host: str) -> RulesShape:
    """The usual ones for a host of which nobody said anything."""
    name = host_named(host)
    found = next((rules_as_dict(one) for one in await unusual_rules(services) if one.host == name), None)
    usual = {"host": name, "keep_slash": False, "keep": [], "strip": [], "is_applied": True}
    return RulesShape.model_validate(found or usual)
