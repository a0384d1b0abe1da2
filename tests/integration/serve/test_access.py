"""Who may call the API: every route by every role, development mode, and what is refused at the start."""

import re

import pytest
from tests.integration.serve.callers import api_on
from tests.integration.serve.people import PASSWORD, add_user, browser_of, token_of, with_token

from headwater.accounts.protection import LoginStanding, is_open
from headwater.accounts.role import Role
from headwater.database.pool import Database
from headwater.errors import SettingError
from headwater.serve.access import entrance
from headwater.serve.app import every_route
from headwater.serve.console.troubles import is_page
from headwater.serve.openapi import role_of
from headwater.serve.server import listening, require_known_callers
from headwater.services import open_services
from headwater.settings import Given, load
from headwater.settings.groups import WebSettings

NOBODY = "00000000-0000-4000-8000-000000000000"


def asked_of_each_route() -> list[tuple[str, str, str]]:
    """Method, path with something in its place-holders, and the role that it needs."""
    return [
        (method, re.sub(r"\{[^}]*\}", NOBODY, route.path), role_of(route))
        for route in every_route()
        for method in route.methods or ()
        if role_of(route) != "everybody"
    ]


async def test_no_route_answers_a_stranger_or_a_role_that_does_not_suffice(
    database_url: str, database: Database
) -> None:
    await add_user(database)
    tokens = {role: await token_of(database, role) for role in Role}
    asked = asked_of_each_route()
    assert len(asked) >= 15
    async with api_on(database_url) as api:
        strange = {(m, p): (await api.ask(m, p)).status for m, p, _ in asked}
        lower = {
            (role, method, path): (await with_token(api, tokens[role]).ask(method, path)).status
            for role in Role
            for method, path, needed in asked
            if not role.includes(Role(needed))
        }
    # A person is led to the login.
    assert {
        path: status for (_, path), status in strange.items() if status != (303 if is_page(path, "") else 401)
    } == {}
    assert {key: status for key, status in lower.items() if status != 403} == {}
    assert lower
    assert await database.fetchval("select count(*) from audit_log") == 0


async def test_each_role_may_do_what_it_is_for(database_url: str, database: Database) -> None:
    async with api_on(database_url) as api:
        viewer, operator, admin = [with_token(api, await token_of(database, role)) for role in Role]
        assert (await viewer.get("views")).status == 200
        assert (await viewer.post("views", {"name": "boats"})).status == 403
        assert (await operator.post("views", {"name": "boats"})).status == 201
        assert (await operator.get("users")).status == 403
        assert (await admin.get("users")).status == 200
        told = (await operator.get("me")).json
    assert told == {
        "name": "token:of-operator",
        "role": "operator",
        "proof": "token",
        "csrf_token": None,
        "expires_at": None,
    }


async def test_a_stranger_is_told_how_to_show_who_it_is(database_url: str, database: Database) -> None:
    await add_user(database)
    async with api_on(database_url) as api:
        answer = await api.get("views")
        large = await api.post("views", b'{"name":"' + b"x" * 200_000 + b'"}')
        assert (await api.get("/healthz")).status == 200
    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.json["error"]["code"] == "unauthorised"
    assert (large.status, large.headers["www-authenticate"]) == (401, "Bearer"), "its body is not read"


async def test_the_first_user_ends_development_mode_within_seconds(
    database_url: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entrance, "LOOKED_AT_SECONDS", 0.0)
    async with api_on(database_url) as api:
        assert (await api.get("me")).json["proof"] == "development"
        assert (await api.get("me", x_forwarded_for="198.51.100.7")).status == 401, "a proxy brings others"
        not_admin = await api.post("users", {"name": "ben", "role": "viewer", "password": PASSWORD})
        assert (not_admin.status, not_admin.json["detail"]) == (422, "There is no admin yet.")
        made = await api.post("users", {"name": "ann", "role": "admin", "password": PASSWORD})
        assert made.status == 201
        assert (await api.get("views")).status == 401
        await database.execute("update web_users set is_disabled = true")
        assert (await api.get("views")).status == 401, "a disabled user does not open the door"
        assert (await with_token(api, "hw_nonsense").get("views")).status == 401


async def test_a_token_ends_development_mode_too_until_it_is_revoked(
    database_url: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entrance, "LOOKED_AT_SECONDS", 0.0)
    async with api_on(database_url) as api:
        admin = with_token(api, await token_of(database, Role.ADMIN))
        assert (await api.get("views")).status == 401
        await database.execute("update web_tokens set expires_at = now() - interval '1 day'")
        assert (await admin.get("views")).status == 401
        assert (await api.get("views")).status == 401, "a token that ran out does not open the door"
        await database.execute("update web_tokens set revoked_at = now()")
        assert (await api.get("views")).status == 200
        assert (await admin.get("views")).status == 401, "one that is shown must hold"
        assert (await api.get("views", authorization="Basic YTpi")).status == 200, "meant for a proxy before us"


@pytest.mark.parametrize(
    ("web", "standing", "expected"),
    [
        ({}, LoginStanding(has_logins=False, has_admin=False), True),
        ({}, LoginStanding(has_logins=True, has_admin=False), False),
        ({"login": "always"}, LoginStanding(has_logins=False, has_admin=False), False),
        ({"login": "never"}, LoginStanding(has_logins=True, has_admin=True), True),
        ({"host": "0.0.0.0"}, LoginStanding(has_logins=False, has_admin=False), False),
        ({"host": "::1"}, LoginStanding(has_logins=False, has_admin=False), True),
        ({"host": "0.0.0.0", "login": "never"}, LoginStanding(has_logins=False, has_admin=False), False),
        ({"public_url": "https://headwater.example"}, LoginStanding(has_logins=False, has_admin=False), False),
        ({"public_url": "http://localhost:8080"}, LoginStanding(has_logins=False, has_admin=False), True),
        (
            {"proxy_user_header": "X-User", "trusted_proxies": "127.0.0.1"},
            LoginStanding(has_logins=False, has_admin=False),
            False,
        ),
    ],
)
def test_nobody_has_to_log_in_only_on_this_machine(
    web: dict[str, str], standing: LoginStanding, expected: bool
) -> None:
    assert is_open(WebSettings.model_validate(web), standing) == expected


@pytest.mark.parametrize(
    ("settings", "fix"),
    [
        ({"web.host": "0.0.0.0"}, "Make one: headwater admin create ann"),
        ({"web.public_url": "https://headwater.example"}, "Make one: headwater admin create ann"),
        ({"web.host": "0.0.0.0", "web.login": "never"}, "Listen at 127.0.0.1, or leave web.login out."),
        ({"web.proxy_user_header": "X-User"}, "Name the addresses of your proxies in web.trusted_proxies."),
    ],
)
async def test_it_does_not_start_where_others_reach_it_and_nobody_could_log_in(
    database_url: str, settings: dict[str, str], fix: str
) -> None:
    with pytest.raises(SettingError) as raised:
        await start(database_url, settings)
    assert raised.value.fix == fix


async def test_it_starts_with_an_admin_a_token_of_one_or_a_trusted_proxy(database_url: str, database: Database) -> None:
    proxied = {"web.proxy_user_header": "X-User", "web.trusted_proxies": "10.0.0.5"}
    await start(database_url, {"web.host": "0.0.0.0", **proxied})
    await token_of(database, Role.VIEWER)
    with pytest.raises(SettingError):
        await start(database_url, {"web.host": "0.0.0.0"})
    await token_of(database, Role.ADMIN)
    await start(database_url, {"web.host": "0.0.0.0"})
    await database.execute("delete from web_tokens")
    await add_user(database)
    await start(database_url, {"web.host": "0.0.0.0"})
    async with api_on(database_url, {"web.host": "0.0.0.0"}) as api:
        assert (await api.get("views", host="localhost")).status == 401
    await database.execute("update web_users set is_disabled = true")
    with pytest.raises(SettingError):
        await start(database_url, {"web.host": "0.0.0.0"})


async def start(database_url: str, settings: dict[str, str]) -> None:
    """As the role starts, up to where it listens."""
    loaded = load(Given(flags={"database.url": database_url, "web.port": "0", **settings}))
    async with open_services(loaded) as services:
        await require_known_callers(services)
        with listening(services.settings.web):
            pass


@pytest.mark.parametrize(
    "settings",
    [
        {"web.trusted_proxies": "10.0.0.0/33"},
        {"web.trusted_proxies": "0.0.0.0/0"},
        {"web.trusted_proxies": "proxy.example"},
        {"web.proxy_user_header": "X User"},
        {"web.proxy_user_header": "Authorization"},
        {"web.login": "sometimes"},
        {"web.public_url": "headwater.example"},
        {"web.public_url": "http://["},
        {"web.public_url": "ftp://headwater.example"},
    ],
)
def test_settings_that_would_trust_everybody_are_refused(settings: dict[str, str]) -> None:
    with pytest.raises(SettingError):
        load(Given(flags=settings))


async def test_login_always_asks_even_before_there_is_a_user(database_url: str, database: Database) -> None:
    async with api_on(database_url, {"web.login": "always"}) as api:
        assert (await api.get("views")).status == 401
        await add_user(database)
        assert (await (await browser_of(api)).ask("GET", "views")).status == 200
