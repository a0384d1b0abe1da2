"""Logins of people: cookies, forged requests, ends, and how failed ones slow down the next."""

import asyncio
import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from argon2 import PasswordHasher
from tests.integration.serve.callers import ApiCaller, Reply, api_on
from tests.integration.serve.people import PASSWORD, Browser, add_user, browser_of, log_in

from headwater.accounts.attempts import FREE_OF_ACCOUNT, FREE_OF_ADDRESS, Attempts
from headwater.accounts.passwords import HASHED, MEMORY_KIB, NOBODYS, Passwords
from headwater.accounts.role import Role
from headwater.database.pool import Database
from headwater.serve.server import forget_visits


@pytest.fixture
async def api(api: ApiCaller, database: Database) -> ApiCaller:
    await add_user(database)
    return api


async def test_a_person_logs_in_sees_who_they_are_and_logs_out(api: ApiCaller, database: Database) -> None:
    answer = await log_in(api)
    assert answer.status == 200
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("headwater=")
    assert cookie.endswith("; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax")
    ann = await browser_of(api)
    told = (await ann.ask("GET", "me")).json
    assert (told["name"], told["role"], told["proof"]) == ("ann", "admin", "session")
    assert told["csrf_token"] == ann.csrf_token
    assert (await ann.ask("POST", "views", {"name": "boats"})).status == 201
    gone = await ann.ask("POST", "logout")
    assert gone.status == 204
    assert gone.headers["set-cookie"].startswith("headwater=; Max-Age=0;")
    assert (await ann.ask("GET", "me")).status == 401
    stored = await database.fetch("select * from web_sessions")
    assert len(stored) == 1, "the other login holds"
    assert ann.cookie.partition("=")[2] not in str(stored)


async def test_logging_out_everywhere_ends_all_logins_of_this_person_only(api: ApiCaller, database: Database) -> None:
    await add_user(database, "ben", Role.VIEWER)
    one, other, ben = await browser_of(api), await browser_of(api), await browser_of(api, "ben")
    assert (await one.ask("POST", "logout?everywhere=true")).status == 204
    assert (await other.ask("GET", "me")).status == 401
    assert (await ben.ask("GET", "me")).status == 200


async def test_where_it_is_reached_by_https_the_cookie_travels_by_nothing_else(
    database_url: str, database: Database
) -> None:
    await add_user(database)
    async with api_on(database_url, {"web.public_url": "https://headwater.example"}) as api:
        cookie = (await log_in(api)).headers["set-cookie"]
        assert cookie.startswith("__Host-headwater=")
        assert cookie.endswith("; Path=/; HttpOnly; SameSite=Lax; Secure")
        ann = await browser_of(api)
        public = {"host": "headwater.example", "origin": "https://headwater.example"}
        assert (await ann.ask("POST", "views", {"name": "boats"}, **public)).status == 201
        unsafe = public | {"origin": "http://headwater.example"}
        assert (await ann.ask("POST", "views", {"name": "ships"}, **unsafe)).status == 403
        plain = ann.cookie.removeprefix("__Host-")
        assert (await api.get("me", cookie=plain)).status == 401, "a name that others can set"


@pytest.mark.parametrize(
    "headers",
    [
        {"x_csrf_token": ""},
        {"x_csrf_token": "A" * 43},
        {"x_csrf_token": "é"},
        {"origin": ""},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://[", "sec_fetch_site": "same-origin"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
async def test_a_request_that_another_page_made_changes_nothing(api: ApiCaller, headers: dict[str, str]) -> None:
    ann = await browser_of(api)
    assert (await ann.ask("POST", "views", {"name": "boats"}, **headers)).status == 403
    assert (await ann.ask("DELETE", "users/ann", **headers)).status == 403
    assert (await ann.ask("GET", "views", **headers)).json == {"views": []}


async def test_the_token_of_another_session_is_no_proof(api: ApiCaller, database: Database) -> None:
    await add_user(database, "ben", Role.ADMIN)
    ann, ben = await browser_of(api), await browser_of(api, "ben")
    forged = replace(ann, csrf_token=ben.csrf_token)
    assert (await forged.ask("POST", "views", {"name": "boats"})).status == 403
    fetched = replace(ann, csrf_token=ann.csrf_token)
    by_fetch = {"origin": "", "sec_fetch_site": "same-origin"}
    assert (await fetched.ask("POST", "views", {"name": "boats"}, **by_fetch)).status == 201


async def test_a_form_may_carry_the_token_in_a_field(api: ApiCaller) -> None:
    """It passes the gate; that a view is no form is another matter."""
    ann = replace(await browser_of(api), csrf_token="")
    token = (await ann.ask("GET", "me")).json["csrf_token"]
    form = {"content_type": "application/x-www-form-urlencoded"}
    assert (await ann.ask("POST", "logout", b"csrf_token=wrong", **form)).status == 403
    assert (await ann.ask("POST", "logout", f"a=b&csrf_token={token}".encode(), **form)).status == 204


async def test_a_page_of_another_site_logs_nobody_in(api: ApiCaller) -> None:
    assert (await log_in(api, origin="https://evil.example")).status == 403
    assert (await log_in(api, sec_fetch_site="cross-site")).status == 403
    text = b'{"name":"ann","password":"' + PASSWORD.encode() + b'"}'
    assert (await api.post("login", text, content_type="text/plain")).status == 422


async def test_a_cookie_that_was_there_before_the_login_is_not_the_login(api: ApiCaller, database: Database) -> None:
    """Session fixation: whoever put it there, it proves nothing afterwards."""
    planted = f"headwater={'A' * 43}"
    answer = await log_in(api, cookie=planted)
    assert answer.headers["set-cookie"].partition(";")[0] != planted
    assert (await api.get("me", cookie=planted)).status == 401
    ann = await browser_of(api)
    again = await log_in(api, cookie=ann.cookie)
    assert again.headers["set-cookie"].partition(";")[0] != ann.cookie
    assert (await ann.ask("GET", "me")).status == 401, "the login before has ended"


@pytest.mark.parametrize(
    "end",
    [
        "update web_sessions set expires_at = now() - interval '1 second'",
        "update web_sessions set last_seen_at = now() - interval '13 hours'",
        "update web_users set is_disabled = true",
        "delete from web_users",
    ],
)
async def test_a_login_ends_when_it_is_old_idle_or_no_longer_wanted(
    api: ApiCaller, database: Database, end: str
) -> None:
    ann = await browser_of(api)
    assert (await ann.ask("GET", "me")).status == 200
    await database.execute(end)
    assert (await api.get("me", cookie=ann.cookie)).status in (200, 401)
    told = await ann.ask("GET", "me")
    assert told.status == 401 or told.json["proof"] == "development"


async def test_a_login_that_is_used_stays(api: ApiCaller, database: Database) -> None:
    ann = await browser_of(api)
    await database.execute("update web_sessions set last_seen_at = now() - interval '11 hours'")
    assert (await ann.ask("GET", "me")).status == 200
    assert await database.fetchval("select now() - last_seen_at < interval '1 minute' from web_sessions")


async def test_a_new_password_or_role_ends_the_logins_of_before(api: ApiCaller, database: Database) -> None:
    await add_user(database, "ben", Role.OPERATOR)
    ann = await browser_of(api)
    for change in ({"password": "another long password"}, {"role": "viewer"}, {"is_disabled": True}):
        password = PASSWORD if "password" in change else "another long password"
        ben = await browser_of(api, "ben", password)
        assert (await ann.ask("PATCH", "users/ben", change)).status == 200
        assert (await ben.ask("GET", "me")).status == 401, change
    assert (await log_in(api, "ben", "another long password")).status == 401, "disabled"
    assert (await ann.ask("GET", "me")).status == 200


async def test_a_person_changes_their_own_password(api: ApiCaller, database: Database) -> None:
    await add_user(database, "ben", Role.VIEWER)
    ben = await browser_of(api, "ben")
    wrong = {"current_password": "not this one at all", "password": "another long password"}
    assert (await ben.ask("POST", "me/password", wrong)).status == 422
    assert (await ben.ask("POST", "me/password", {"current_password": PASSWORD, "password": "short"})).status == 422
    right = {"current_password": PASSWORD, "password": "another long password"}
    assert (await (await browser_of(api, "ben")).ask("POST", "me/password", right)).status == 204
    assert (await log_in(api, "ben")).status == 401
    assert (await log_in(api, "ben", "another long password")).status == 200
    written = await database.fetchval("select string_agg(l::text, '') from audit_log l")
    assert "change_password" in written
    assert PASSWORD not in written
    assert "another long password" not in written


@pytest.mark.parametrize(
    "body",
    [
        {"name": "ann", "password": "x" * 1025},
        {"name": "a" * 64, "password": PASSWORD},
        {"name": "ann"},
        {"name": "ann", "password": PASSWORD, "next": "//evil.example"},
        {"name": ["ann"], "password": PASSWORD},
    ],
)
async def test_a_login_that_is_none_is_told_without_what_was_typed(api: ApiCaller, body: dict[str, object]) -> None:
    answer = await api.post("login", body)
    assert answer.status == 422
    assert PASSWORD.encode() not in answer.body


@pytest.mark.parametrize("password", ["wrong password", PASSWORD + "\0", PASSWORD[:-1], "ä" * 600])
async def test_a_wrong_password_is_refused(api: ApiCaller, password: str) -> None:
    answer = await log_in(api, "ann", password)
    assert answer.status == 401
    assert "set-cookie" not in answer.headers


async def test_a_name_or_password_of_half_letters_is_refused(api: ApiCaller) -> None:
    for body in (
        rb'{"name":"ann","password":"\ud800"}',
        rb'{"name":"\ud800","password":"x"}',
        rb'{"name":"a\u0000","password":"x"}',
    ):
        assert (await api.post("login", body)).status in (401, 422)


async def test_an_unknown_name_gets_the_same_answer_for_the_same_work(api: ApiCaller, database: Database) -> None:
    await add_user(database, "ben", Role.VIEWER)
    await database.execute("update web_users set is_disabled = true where name = 'ben'")
    counts = api.services.figures.counts
    answers, work = [], []
    for name, password in (("ann", "wrong password"), ("nobody", PASSWORD), ("ben", PASSWORD), ("Ann", PASSWORD)):
        before = counts[HASHED]
        answer = await log_in(api, name, password)
        told = {field: value for field, value in answer.json.items() if field != "request_id"}
        answers.append((answer.status, told, set(answer.headers) - {"date"}))
        work.append(counts[HASHED] - before)
    assert all(one == answers[0] for one in answers)
    assert work == [1, 1, 1, 1]


def test_the_hash_of_nobody_costs_as_much_as_any_other() -> None:
    assert not Passwords().is_outdated(NOBODYS)
    assert f"m={MEMORY_KIB}," in NOBODYS


async def test_a_password_hashed_by_weaker_rules_is_hashed_again(api: ApiCaller, database: Database) -> None:
    weak = PasswordHasher(1, 1024, 1).hash(PASSWORD)
    await database.execute("update web_users set password_hash = $1", weak)
    assert (await log_in(api)).status == 200
    stored = await database.fetchval("select password_hash from web_users")
    assert stored != weak
    assert not Passwords().is_outdated(stored)
    assert (await log_in(api)).status == 200


async def test_failed_logins_of_an_account_slow_down_the_next_in_every_process(
    api: ApiCaller, database_url: str, database: Database
) -> None:
    async with api_on(database_url) as other:
        for number in range(FREE_OF_ACCOUNT - 1):
            assert (await log_in((api, other)[number % 2], "ann", "wrong password")).status == 401
        await failed_before(database, "account", FREE_OF_ACCOUNT + 7)
        assert (await log_in(api, "ann", "wrong password")).status == 401
        before = other.services.figures.counts[HASHED]
        blocked = await log_in(other)
        assert blocked.status == 429
        assert 200 < int(blocked.headers["retry-after"]) <= 256
        assert other.services.figures.counts[HASHED] == before, "it costs nothing"
        assert (await log_in(api)).status == 429
    async with api_on(database_url) as restarted:
        assert (await log_in(restarted)).status == 429
        assert (await log_in(restarted, "nobody", "wrong password")).status == 401, "another account"
        await passes(database)
        assert (await log_in(restarted)).status == 200
        assert await database.fetchval("select count(*) from login_attempts where failures > 1") == 1, "forgiven"


async def failed_before(database: Database, kind: str, failures: int) -> None:
    """So often that the next failure makes the next login wait for minutes: no test is quicker than that."""
    await database.execute(
        "update login_attempts set failures = $1, blocked_until = '-infinity' where subject like $2",
        failures,
        f"{kind} %",
    )


async def passes(database: Database) -> None:
    """The time to wait."""
    await database.execute("update login_attempts set blocked_until = now()")


async def test_the_wait_grows_to_some_minutes_and_no_further(database: Database) -> None:
    asked = """select extract(epoch from nullif(blocked_until, '-infinity') - failed_at)::float
               from login_attempts where subject like 'acc%'"""
    attempts, waits = Attempts(database), []
    for _ in range(FREE_OF_ACCOUNT + 10):
        await attempts.begin("ann", "198.51.100.7")
        waits.append(await database.fetchval(asked))
        await passes(database)
    never = None
    assert waits == [*[never] * (FREE_OF_ACCOUNT - 1), 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    await database.execute("update login_attempts set failed_at = now() - interval '25 hours'")
    await attempts.begin("ann", "198.51.100.7")
    assert await database.fetchval(asked) is never, "what failed the day before yesterday does not count"


async def test_many_names_from_one_address_are_slowed_down_together(api: ApiCaller, database: Database) -> None:
    await log_in(api, "nobody", "wrong password")
    await failed_before(database, "address", FREE_OF_ADDRESS + 7)
    assert (await log_in(api, "nobody-else", "wrong password")).status == 401
    assert (await log_in(api)).status == 429
    await passes(database)
    assert (await log_in(api)).status == 200
    asked = "select failures from login_attempts where subject = 'address 127.0.0.1'"
    assert await database.fetchval(asked) == FREE_OF_ADDRESS + 8, "one login hides no guess"


async def test_addresses_of_one_subscriber_are_one(database: Database) -> None:
    for address in ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1", "198.51.100.7", "nonsense"):
        await Attempts(database).begin("ann", address)
        await passes(database)
    rows = await database.fetch("select subject from login_attempts where subject like 'address %' order by subject")
    assert [row["subject"].removeprefix("address ") for row in rows] == [
        "198.51.100.7",
        "2001:db8:0:1::/64",
        "2001:db8:0:2::/64",
        "unknown",
    ]


async def test_many_logins_at_once_are_counted_before_they_are_tried(api: ApiCaller, database: Database) -> None:
    answers = await asyncio.gather(*(log_in(api, "ann", "wrong password") for _ in range(FREE_OF_ACCOUNT - 1)))
    assert {one.status for one in answers} == {401}
    await failed_before(database, "account", FREE_OF_ACCOUNT + 7)
    answers = await asyncio.gather(*(log_in(api, "ann", "wrong password") for _ in range(8)))
    assert sorted(one.status for one in answers) == [401, *[429] * 7]


async def test_old_logins_and_failures_are_forgotten(api: ApiCaller, database: Database) -> None:
    await browser_of(api)
    await log_in(api, "nobody", "wrong password")
    await forget_visits(api.services)
    assert await database.fetchval("select count(*) from web_sessions") == 1
    await database.execute("update web_sessions set last_seen_at = now() - interval '13 hours'")
    await database.execute("update login_attempts set failed_at = now() - interval '25 hours'")
    await forget_visits(api.services)
    assert await database.fetchval("select count(*) from web_sessions") == 0
    assert await database.fetchval("select count(*) from login_attempts") == 0


async def test_an_admin_sees_the_logins_of_a_user_and_ends_one_or_all(api: ApiCaller, database: Database) -> None:
    await add_user(database, "vic", Role.VIEWER)
    ann, first, second = await browser_of(api), await browser_of(api, "vic"), await browser_of(api, "vic")
    listed = (await ann.ask("GET", "users/vic/sessions")).json["sessions"]
    assert [set(one) for one in listed] == [{"id", "address", "created_at", "last_seen_at", "expires_at"}] * 2
    assert (await first.ask("GET", "users/vic/sessions")).status == 403
    page = (await ann.ask("GET", "/console/settings/users/vic")).body.decode()
    assert page.count("/end-session") == 3
    assert (await ann.ask("DELETE", f"users/vic/sessions/{listed[0]['id']}")).status == 204
    assert (await ann.ask("DELETE", f"users/vic/sessions/{listed[0]['id']}")).status == 404
    assert (await ann.ask("DELETE", f"users/ann/sessions/{listed[1]['id']}")).status == 404
    assert [(await one.ask("GET", "me")).status for one in (first, second)] == [200, 401]
    assert (await ann.ask("DELETE", "users/vic/sessions")).status == 204
    assert (await first.ask("GET", "me")).status == 401
    assert (await ann.ask("GET", "me")).status == 200
    own = (await ann.ask("GET", "/console/settings/users/ann")).body.decode()
    assert "(this one)" in own


async def form_of(one: Browser, path: str, **fields: str) -> Reply:
    """As a form of a page sends it."""
    body = urlencode({"csrf_token": one.csrf_token, **fields}).encode()
    return await one.ask("POST", path, body, content_type="application/x-www-form-urlencoded", x_csrf_token="")


async def test_everybody_sees_their_own_logins_and_ends_one_or_all(api: ApiCaller, database: Database) -> None:
    await add_user(database, "vic", Role.VIEWER)
    ann = await browser_of(api)
    here, there, phone = [await browser_of(api, "vic") for _ in range(3)]
    page = (await here.ask("GET", "/console/account")).body.decode()
    assert "viewer" in page
    assert page.count("/console/account/end-session") == 3
    others = (await ann.ask("GET", "users/ann/sessions")).json["sessions"]
    assert (await form_of(here, "/console/account/end-session", id=others[0]["id"])).status == 404
    assert (await ann.ask("GET", "me")).status == 200, "the login of another person"
    own = re.search(r'\(this one\).*?name="id" value="([^"]+)"', page, re.DOTALL)
    assert own
    assert (await form_of(here, "/console/account/end-session", id=own[1])).headers["location"] == "/login"
    assert [(await one.ask("GET", "me")).status for one in (here, there, phone)] == [401, 200, 200]
    asked = await form_of(there, "/console/account/log-out-everywhere")
    assert (asked.status, b"2 logins end, this one too" in asked.body) == (200, True)
    done = await form_of(there, "/console/account/log-out-everywhere", confirmed="yes")
    assert (done.status, done.headers["location"]) == (303, "/login")
    assert [(await one.ask("GET", "me")).status for one in (there, phone, ann)] == [401, 401, 200]


async def test_a_person_gives_itself_another_password_in_the_console(api: ApiCaller, database: Database) -> None:
    await add_user(database, "vic", Role.VIEWER)
    vic = await browser_of(api, "vic")
    new = "another-long-password-of-vic"
    wrong = await form_of(vic, "/console/account/password", current_password="no", password=new)
    assert (wrong.status, b"is another one" in wrong.body, new.encode() in wrong.body) == (422, True, False)
    short = await form_of(vic, "/console/account/password", current_password=PASSWORD, password="short")
    assert short.status == 422
    done = await form_of(vic, "/console/account/password", current_password=PASSWORD, password=new)
    assert (done.status, done.headers["location"]) == (303, "/login")
    assert (await vic.ask("GET", "me")).status == 401
    assert [(await log_in(api, "vic", one)).status for one in (PASSWORD, new)] == [401, 200]
