"""Users and tokens through the API."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from tests.integration.serve.callers import ApiCaller, Reply, api_on
from tests.integration.serve.people import PASSWORD, add_user, browser_of, log_in, token_of, with_token

from headwater.accounts.role import Role
from headwater.database.pool import Database
from headwater.serve.access import visits


@pytest.fixture
async def admin(api: ApiCaller, database: Database) -> ApiCaller:
    return with_token(api, await token_of(database, Role.ADMIN))


async def test_a_user_is_added_listed_changed_and_removed(admin: ApiCaller) -> None:
    made = await admin.post("users", {"name": "ann", "role": "admin", "password": PASSWORD})
    assert made.status == 201
    assert made.json | {"name": "ann", "role": "admin", "is_disabled": False, "last_login_at": None} == made.json
    assert made.json["created_by"] == "token:of-admin"
    assert (await admin.post("users", {"name": "ann", "password": PASSWORD})).status == 422, "taken"
    assert (await admin.post("users", {"name": "ben", "password": PASSWORD})).json["role"] == "viewer"
    listed = (await admin.get("users?limit=1")).json
    assert ([one["name"] for one in listed["users"]], listed["cursor"]) == (["ann"], "ann")
    after = (await admin.get("users?limit=1&cursor=ann")).json
    assert ([one["name"] for one in after["users"]], after["cursor"]) == (["ben"], None)
    assert (await admin.patch("users/ben", {"role": "operator"})).json["role"] == "operator"
    assert (await admin.patch("users/ben", {})).status == 422
    assert (await admin.patch("users/nobody", {"role": "viewer"})).status == 404
    assert (await admin.delete("users/ben")).status == 204
    assert (await admin.delete("users/ben")).status == 404
    assert b"argon2" not in (await admin.get("users")).body


@pytest.mark.parametrize(
    "wanted",
    [
        {"name": "Ann", "password": PASSWORD},
        {"name": "", "password": PASSWORD},
        {"name": "ann\0", "password": PASSWORD},
        {"name": "аnn", "password": PASSWORD},  # a Cyrillic а
        {"name": "token:ann", "password": PASSWORD},
        {"name": "a" * 64, "password": PASSWORD},
        {"name": "ann", "password": "elevenletter"[:11]},
        {"name": "ann", "password": "x" * 1_025},
        {"name": "ann", "password": "ä" * 600},
        {"name": "ann", "password": "twelve\0letters"},
        {"name": "ann", "password": PASSWORD, "role": "root"},
        {"name": "ann", "password": PASSWORD, "is_admin": True},
    ],
)
async def test_a_user_that_cannot_be_is_refused(admin: ApiCaller, wanted: dict[str, object]) -> None:
    answer = await admin.post("users", {"role": "admin"} | wanted)
    assert answer.status == 422
    assert str(wanted["password"]).encode() not in answer.body
    assert (await admin.get("users")).json["users"] == []


async def test_nobody_takes_away_their_own_role_and_one_admin_is_left(api: ApiCaller, database: Database) -> None:
    await add_user(database)
    ann, program = await browser_of(api), with_token(api, await token_of(database, Role.ADMIN))
    own = [
        await ann.ask("PATCH", "users/ann", {"role": "operator"}),
        await ann.ask("PATCH", "users/ann", {"is_disabled": True}),
        await ann.ask("DELETE", "users/ann"),
    ]
    assert [(one.status, one.json["detail"]) for one in own] == [(403, "This is your own account.")] * 3
    last = [
        await program.patch("users/ann", {"role": "viewer"}),
        await program.patch("users/ann", {"is_disabled": True}),
        await program.delete("users/ann"),
    ]
    assert [(one.status, one.json["detail"]) for one in last] == [(403, "ann is the last admin.")] * 3
    await add_user(database, "ben", Role.ADMIN)
    assert (await program.delete("users/ann")).status == 204


async def test_two_admins_who_remove_each_other_leave_one(api: ApiCaller, database: Database) -> None:
    for name in ("ann", "ben"):
        await add_user(database, name)
    ann, ben = await browser_of(api), await browser_of(api, "ben")
    done = await asyncio.gather(ann.ask("DELETE", "users/ben"), ben.ask("DELETE", "users/ann"))
    assert min(one.status for one in done) == 204
    assert await database.fetchval("select count(*) from web_users") == 1


async def test_a_token_is_told_once_and_kept_as_its_hash(admin: ApiCaller, database: Database) -> None:
    made = (await admin.post("tokens", {"name": "ci", "role": "operator"})).json
    secret = made.pop("token")
    assert secret.startswith("hw_")
    assert len(secret) == 46
    assert made["prefix"] == secret[:9]
    ends = datetime.fromisoformat(made["expires_at"]) - datetime.fromisoformat(made["created_at"])
    assert timedelta(days=89) < ends < timedelta(days=91)
    assert (await with_token(admin, secret).get("me")).json["name"] == "token:ci"
    listed = await admin.get("tokens")
    assert secret.encode() not in listed.body
    [shown] = [one for one in listed.json["tokens"] if one["name"] == "ci"]
    assert shown["last_used_at"]
    assert shown | {"last_used_at": None} == made
    stored = str([tuple(row) for row in await database.fetch("select * from web_tokens")])
    assert secret not in stored
    assert secret[9:] not in stored


async def test_the_use_of_a_token_is_noted_once_a_minute(admin: ApiCaller, database: Database) -> None:
    asked = "select last_used_at from web_tokens"
    await admin.get("me")
    first = await database.fetchval(asked)
    await admin.get("me")
    assert await database.fetchval(asked) == first
    await database.execute("update web_tokens set last_used_at = now() - interval '2 minutes'")
    await admin.get("me")
    assert await database.fetchval(asked) > first - timedelta(minutes=1)


async def test_a_token_holds_until_it_expires_or_is_revoked(admin: ApiCaller, database: Database) -> None:
    made = (await admin.post("tokens", {"name": "ci", "expires": "never"})).json
    assert made["expires_at"] is None
    assert (await admin.post("tokens", {"name": "ci"})).status == 422, "the name is taken"
    program = with_token(admin, made["token"])
    assert (await program.get("me")).status == 200
    assert (await admin.delete(f"tokens/{made['id']}")).status == 204
    assert (await program.get("me")).status == 401
    assert (await admin.delete(f"tokens/{made['id']}")).status == 404
    again = (await admin.post("tokens", {"name": "ci", "expires": "1y"})).json
    assert (await with_token(admin, again["token"]).get("me")).status == 200
    await database.execute("update web_tokens set expires_at = now() where name = 'ci'")
    assert (await with_token(admin, again["token"]).get("me")).status == 401
    assert len((await admin.get("tokens")).json["tokens"]) == 3, "revoked ones stay in the list"


async def test_a_stream_ends_with_the_leave_to_read_it(
    admin: ApiCaller, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visits, "LOOKED_AT_SECONDS", 0.0)
    reader = with_token(admin, await token_of(database, Role.VIEWER))
    url = f"{admin.address}/api/v1/stream?topics=frontier"
    async with admin.session.get(url, headers=reader.headers) as stream:
        assert stream.status == 200
        async for line in stream.content:
            if line.startswith(b"data:"):
                break
        await database.execute("update web_tokens set revoked_at = now() where role = 'viewer'")
        submitted = await admin.post("frontier/submit", {"url": "https://example.org/secret-page"})
        assert submitted.status == 201
        assert (await stream.content.read()).strip() == b"", "nothing of what came afterwards"


@pytest.mark.parametrize("expires", ["", "soon", "0d", "-1d", "11y", "1e400", "90 days", "never ever"])
async def test_an_end_that_cannot_be_is_refused(admin: ApiCaller, expires: str) -> None:
    assert (await admin.post("tokens", {"name": "ci", "expires": expires})).status == 422


async def test_pages_of_tokens_meet_each_once(admin: ApiCaller) -> None:
    for number in range(4):
        await admin.post("tokens", {"name": f"t{number}"})
    seen, cursor = [], ""
    while cursor is not None:
        page = (await admin.get(f"tokens?limit=2{f'&cursor={cursor}' if cursor else ''}")).json
        seen += [one["name"] for one in page["tokens"]]
        cursor = page["cursor"] and page["cursor"].replace("+", "%2B")
    assert seen == ["t3", "t2", "t1", "t0", "of-admin"]
    for bad in ("nonsense", "2026-01-01|x", "2026-01-01T00:00:00%2B00:00|x", "%00"):
        assert (await admin.get(f"tokens?cursor={bad}")).status == 422


def spoilt(token: str) -> list[str]:
    return [
        "",
        "Bearer",
        "Bearer ",
        f"Bearer {token} {token}",
        f"Bearer {token}x",
        f"Bearer {token[:-1]}",
        "Bearer hw_é",
    ]


async def test_a_token_that_is_not_quite_one_is_refused(admin: ApiCaller) -> None:
    token = admin.headers["authorization"].removeprefix("Bearer ")
    for said in spoilt(token):
        assert (await replace(admin, headers={}).get("views", authorization=said)).status == 401, said
    assert (await replace(admin, headers={}).get("views", authorization=f"bearer  {token}")).status == 200
    changed = token[:-1] + ("A" if token[-1] != "A" else "B")
    assert (await with_token(admin, changed).get("views")).status == 401


async def test_a_token_in_an_address_is_refused(admin: ApiCaller) -> None:
    token = admin.headers["authorization"].removeprefix("Bearer ")
    stranger = replace(admin, headers={})
    for query in (
        f"access_token={token}",
        "token=x",
        "API_KEY=x",
        f"limit={token}",
        f"{token}=1",
        f"q=%68w_{token[3:]}",
    ):
        for caller in (stranger, admin):
            answer: Reply = await caller.get(f"views?{query}")
            assert answer.status == 422, query
            assert token.encode() not in answer.body
    assert (await admin.get("search?q=a%26token%3Dx")).status == 200, "a word that is looked for"


async def test_a_token_needs_neither_origin_nor_csrf_token(admin: ApiCaller) -> None:
    answer = await admin.post(
        "views", {"name": "boats"}, origin="https://elsewhere.example", sec_fetch_site="cross-site"
    )
    assert answer.status == 201


async def test_the_description_says_how_callers_show_who_they_are(admin: ApiCaller) -> None:
    described = (await admin.get("openapi.json")).json
    schemes = described["components"]["securitySchemes"]
    assert (schemes["token"]["scheme"], schemes["session"]["in"]) == ("bearer", "cookie")
    assert described["paths"]["/api/v1/views"]["post"]["security"] == [{"token": []}, {"session": []}]
    assert described["paths"]["/api/v1/login"]["post"]["security"] == []
    assert "WWW-Authenticate" in described["paths"]["/api/v1/views"]["get"]["responses"]["401"]["headers"]


async def test_signs_that_no_text_may_hold_are_no_fault_of_ours(admin: ApiCaller) -> None:
    for method, path in (("PATCH", "users/a%00"), ("DELETE", "users/a%00"), ("GET", "audit?actor=%00")):
        assert (await admin.ask(method, path, {"role": "viewer"} if method == "PATCH" else None)).status == 422


PROXIED = {
    "web.proxy_user_header": "X-Remote-User",
    "web.proxy_role_header": "X-Remote-Role",
    "web.trusted_proxies": "127.0.0.1,10.1.0.0/16",
}


async def test_a_trusted_proxy_says_who_logged_in(database_url: str, database: Database) -> None:
    async with api_on(database_url, PROXIED) as api:
        assert (await api.get("views")).status == 401
        told = (await api.get("me", x_remote_user="Ann Example")).json
        assert (told["name"], told["role"], told["proof"]) == ("Ann Example", "viewer", "proxy")
        admin = {"x_remote_user": "ann@example.org", "x_remote_role": "staff, operator admin"}
        assert (await api.get("me", **admin)).json["role"] == "admin"
        assert (await api.post("views", {"name": "boats"}, **admin)).status == 201
        evil = admin | {"origin": "https://evil.example"}
        assert (await api.post("views", {"name": "ships"}, **evil)).status == 403
        for name in ("a\tb", "x" * 201, "<script>", "ann\x85", "-"):
            assert (await api.get("me", x_remote_user=name)).status == 401, name
        async with api.session.get(
            f"{api.address}/api/v1/me", headers=[("X-Remote-User", "ann"), ("X-Remote-User", "root")]
        ) as twice:
            assert twice.status == 401, "one of the two was sent by the caller"
        await add_user(database, "ann@example.org")
        await database.execute("update web_users set is_disabled = true")
        assert (await api.get("me", **admin)).status == 401


async def test_whom_nobody_trusts_says_nothing(database_url: str, database: Database) -> None:
    elsewhere = PROXIED | {"web.trusted_proxies": "10.1.0.0/16", "web.proxy_role": "admin"}
    async with api_on(database_url, elsewhere) as api:
        assert (await api.get("me", x_remote_user="ann", x_remote_role="admin")).status == 401
        spoofed = {"x_remote_user": "ann", "x_forwarded_for": "10.1.0.1", "x_real_ip": "10.1.0.1"}
        assert (await api.get("me", **spoofed)).status == 401
    none = PROXIED | {"web.proxy_role": "none"}
    async with api_on(database_url, none) as api:
        assert (await api.get("me", x_remote_user="ann")).status == 401
        assert (await api.get("me", x_remote_user="ann", x_remote_role="viewer")).status == 200
    async with api_on(database_url) as api:
        assert (await api.get("me", x_remote_user="ann")).json["proof"] == "development", "no setting names the header"


async def test_addresses_are_believed_from_trusted_proxies_only(database_url: str, database: Database) -> None:
    await add_user(database)
    asked = "select address from audit_log order by id desc limit 1"
    async with api_on(database_url) as api:
        await log_in(api, x_forwarded_for="198.51.100.7")
        assert await database.fetchval(asked) == "127.0.0.1"
    async with api_on(database_url, {"web.trusted_proxies": "127.0.0.1,10.1.0.0/16"}) as api:
        for said, believed in (
            ("198.51.100.7", "198.51.100.7"),
            ("203.0.113.9, 198.51.100.7", "198.51.100.7"),
            ("203.0.113.9, 198.51.100.7, 10.1.2.3", "198.51.100.7"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("::ffff:198.51.100.8", "198.51.100.8"),
            ("198.51.100.7, nonsense", "127.0.0.1"),
            ("", "127.0.0.1"),
        ):
            assert (await log_in(api, x_forwarded_for=said)).status == 200
            assert await database.fetchval(asked) == believed, said
