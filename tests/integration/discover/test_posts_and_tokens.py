"""APIs that are asked by POST, and those that want an access token first."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs

import orjson
import pytest
from tests.integration.discover.conftest import Desk
from tests.integration.discover.test_attacks import recipe, written_down
from tests.integration.discover.test_secrets import stored

from headwater.discover.api.secrets import read_secrets
from headwater.discover.cadence.rests import ErrorClass
from headwater.simweb.message import Page, Request
from headwater.simweb.mischief.redirects import Redirect, RedirectCode

CLIENT_SECRET = "cl1ent-s3cret"
BOUND = f"CLIENT@http://a.test,http://id.test={CLIENT_SECRET}"
OAUTH = {
    "type": "oauth2",
    "token_url": "http://id.test/token",
    "client_id": "headwater",
    "client_secret": "{{SECRET:CLIENT}}",
    "client_as": "body",
    "scope": "jobs.read",
}


class Searched:
    """A search by POST over seven jobs; it takes any bearer token of its server's, while that holds."""

    def __init__(self, server: "TokenServer | None" = None) -> None:
        self.server = server
        self.asked: list[Request] = []

    def page(self, request: Request, now: datetime) -> Page | None:
        if request.path != "/api":
            return None
        self.asked.append(request)
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.server and bearer not in self.server.good:
            return Page(orjson.dumps({"error": f"{bearer} is no token"}), "application/json", status=401)
        if request.method != "POST":
            return Page(b"{}", "application/json", status=405)
        wanted = orjson.loads(request.body)
        found = range(wanted["offset"], min(7, wanted["offset"] + wanted["limit"]))
        jobs = [{"title": f"Job {n} {bearer}", "url": f"http://a.test/jobs/{n}"} for n in found]
        return Page(orjson.dumps({"jobs": jobs}), "application/json")


class TokenServer:
    def __init__(self) -> None:
        self.good: set[str] = set()
        self.forms: list[dict[str, list[str]]] = []

    def page(self, request: Request, now: datetime) -> Page | None:
        if request.path != "/token":
            return None
        form = parse_qs(request.body.decode())
        self.forms.append(form)
        if form["client_secret"] != [CLIENT_SECRET]:
            words = {"error": "invalid_client", "error_description": f"not {form['client_secret']}"}
            return Page(orjson.dumps(words), "application/json", status=401)
        token = f"t0ken-{len(self.forms)}"
        self.good = {token}
        return Page(orjson.dumps({"access_token": token, "expires_in": 3600}), "application/json")


def post(**parts: Any) -> str:
    paging = {"type": "offset", "page_size": 3}
    return recipe(**{"method": "POST", "body": {"q": "all"}, "pagination": paging, "auth": {"type": "none"}, **parts})


async def follow(desk: Desk, hint: str, secrets: str = BOUND) -> None:
    poll = desk.polling.poll
    asker = replace(poll.asker, secrets=read_secrets(secrets))
    desk.polling = replace(desk.polling, poll=replace(poll, asker=asker))
    await desk.follow("http://a.test/api", is_api=True, is_searched=False, parser_hint=hint)


def served(desk: Desk, *, with_tokens: bool) -> tuple[Searched, TokenServer]:
    server = TokenServer()
    api = Searched(server if with_tokens else None)
    desk.path.sim.sites = {**desk.path.sim.sites, "a.test": api, "id.test": server}
    return api, server


async def test_a_search_by_post_is_paged_in_its_body(desk: Desk) -> None:
    api, _ = served(desk, with_tokens=False)
    await follow(desk, post())
    await desk.poll()
    assert await desk.entries() == {f"http://a.test/jobs/{n}" for n in range(7)}
    sent = [orjson.loads(request.body) for request in api.asked]
    assert sent == [{"q": "all", "limit": 3, "offset": at} for at in (0, 3, 6, 9)][: len(sent)]
    assert {request.headers["content-type"] for request in api.asked} == {"application/json"}


@pytest.mark.parametrize(
    ("code", "to"),
    [(302, "/elsewhere"), (303, "/elsewhere"), (307, "http://id.test/token"), (308, "http://id.test/token")],
)
async def test_a_post_is_not_repeated_at_another_origin_nor_turned_into_a_get(
    desk: Desk, code: RedirectCode, to: str
) -> None:
    served(desk, with_tokens=False)
    desk.path.sim.script("a.test", Redirect(to=to, code=code), "/api", times=1)
    await follow(desk, post())
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert "would not repeat the same request" in ran.ending.message
    assert {visit.target for visit in desk.path.visits()} == {"/robots.txt", "/api"}


async def test_a_post_is_repeated_as_it_is_where_its_own_origin_says_so(desk: Desk) -> None:
    api, _ = served(desk, with_tokens=False)
    desk.path.sim.script("a.test", Redirect(to="/api?again", code=307), "/api", times=1)
    await follow(desk, post())
    await desk.poll()
    assert len(await desk.entries()) == 7
    assert [(request.method, request.query) for request in api.asked if request.query] == [("POST", "again")]


async def test_a_token_is_asked_for_once_and_used_for_all_pages(desk: Desk) -> None:
    api, server = served(desk, with_tokens=True)
    await follow(desk, post(auth=OAUTH))
    await desk.poll()
    assert len(await desk.entries()) == 7
    assert server.forms == [
        {
            "grant_type": ["client_credentials"],
            "scope": ["jobs.read"],
            "client_id": ["headwater"],
            "client_secret": [CLIENT_SECRET],
        }
    ]
    assert {request.headers["authorization"] for request in api.asked} == {"Bearer t0ken-1"}
    rows = await stored(desk)
    # The titles repeat the token: what an answer says of it is masked.
    assert "Job 1 ***" in rows
    assert "t0ken" not in rows
    assert CLIENT_SECRET not in rows


async def test_a_token_that_is_refused_is_renewed_in_the_same_poll(desk: Desk) -> None:
    _, server = served(desk, with_tokens=True)
    await follow(desk, post(auth=OAUTH))
    await desk.poll()
    server.good.clear()
    [ran] = await desk.poll_again()
    assert ran.ending is not None
    assert ran.ending.error is None
    assert len(server.forms) == 2


async def test_a_client_that_is_refused_is_said_without_its_secret(desk: Desk) -> None:
    api, _ = served(desk, with_tokens=True)
    await follow(desk, post(auth=OAUTH), "CLIENT@http://a.test,http://id.test=wr0ng-secret")
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert ran.ending.error is ErrorClass.FORBIDDEN
    assert ran.ending.message == "auth.token_url refused the client: HTTP 401, invalid_client"
    assert api.asked == []
    assert "wr0ng" not in await written_down(desk)


async def test_a_token_of_a_secret_that_is_bound_to_its_server_alone_goes_to_no_api(desk: Desk) -> None:
    """A recipe of a stranger would else get a token of ours by naming our server and an API of its own."""
    api, server = served(desk, with_tokens=True)
    await follow(desk, post(auth=OAUTH), f"CLIENT@http://id.test={CLIENT_SECRET}")
    [ran] = await desk.poll()
    assert ran.ending is not None
    assert "http://a.test" in ran.ending.message
    assert (api.asked, server.forms) == ([], [])


async def test_a_server_of_tokens_is_asked_as_politely_as_any_host(desk: Desk) -> None:
    _, server = served(desk, with_tokens=True)
    await follow(desk, post(auth=OAUTH))
    await desk.poll()
    asked = [visit.target for visit in desk.path.visits() if visit.host == "id.test"]
    assert asked == ["/robots.txt", "/token"]
    assert len(server.forms) == 1
