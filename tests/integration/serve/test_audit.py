"""The audit log: every change, before it is answered, without secrets, and kept as it was written."""

import asyncio
import json

import asyncpg
import pytest
from tests.integration.serve.callers import ApiCaller, api_on
from tests.integration.serve.people import add_user, browser_of, log_in, token_of, with_token

from headwater.accounts.attempts import of_account
from headwater.accounts.audit import details_of
from headwater.accounts.role import Role
from headwater.database.pool import Database
from headwater.serve.server import forget_visits


async def test_every_change_stands_in_the_log_and_nothing_else(api: ApiCaller, database: Database) -> None:
    await add_user(database)
    token = await token_of(database, Role.OPERATOR)
    ann, program = await browser_of(api), with_token(api, token)
    made = await program.post("views", {"name": "boats", "query": "ferry"})
    assert made.status == 201
    await program.get("views")
    await program.post("views", {"name": "boats"})
    await program.delete("users/ann")
    await program.delete("views/boats")
    lines = (await ann.ask("GET", "audit")).json["audit"]
    assert [(one["actor"], one["action"], one["target"], one["status"]) for one in lines] == [
        ("token:of-operator", "remove_view", "/api/v1/views/boats", 204),
        ("token:of-operator", "add_view", "/api/v1/views", 201),
        ("ann", "log_in", "/api/v1/login", 200),
    ]
    added = lines[1]
    assert (added["role"], added["proof"], added["address"]) == ("operator", "token", "127.0.0.1")
    assert added["request_id"] == made.headers["x-request-id"]
    assert added["details"] == {"body": {"name": "boats", "query": "ferry"}}
    assert lines[2]["details"]["body"] == {"name": "ann", "password": "***"}


async def test_an_agent_that_reads_leaves_no_line_and_one_that_changes_does(api: ApiCaller, database: Database) -> None:
    def called(tool: str, **arguments: str) -> dict[str, object]:
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}

    accepts = {"accept": "application/json, text/event-stream"}
    assert (await api.post("/mcp", called("list_views"), **accepts)).status == 200
    assert await database.fetchval("select count(*) from audit_log") == 0
    assert (await api.post("/mcp", called("queue_url", url="https://new.example/page"), **accepts)).status == 200
    row = await database.fetchrow("select actor, action, details from audit_log")
    assert row is not None
    assert (row["actor"], row["action"]) == ("developer", "mcp")
    assert row["details"]["body"]["params"]["name"] == "queue_url"


async def test_in_development_mode_changes_are_the_developers(api: ApiCaller) -> None:
    await api.post("views", {"name": "boats"})
    [line] = (await api.get("audit")).json["audit"]
    assert (line["actor"], line["proof"]) == ("developer", "development")


async def test_a_refused_login_stands_there_without_what_was_typed(api: ApiCaller, database: Database) -> None:
    await add_user(database)
    await log_in(api, "ann", "wrong password")
    await log_in(api, "my-password-as-name", "x")
    rows = await database.fetch("select actor, role, proof, status, details from audit_log order by id")
    assert [tuple(row) for row in rows] == [("ann", None, "none", 401, {}), ("unknown", None, "none", 401, {})]


async def test_a_line_is_written_before_the_answer_is_sent(api: ApiCaller, database: Database) -> None:
    """While the log cannot be written, nothing is answered."""
    async with database.transaction() as connection:
        await connection.execute("lock table audit_log in exclusive mode")
        asked = asyncio.create_task(api.post("views", {"name": "boats"}))
        while not await database.fetchval("select exists (select from views)"):
            await asyncio.sleep(0.01)
        while not await database.fetchval("select exists (select from pg_locks where not granted)"):
            await asyncio.sleep(0.01)
        assert not asked.done()
    assert (await asked).status == 201
    assert await database.fetchval("select count(*) from audit_log") == 1


async def test_a_change_that_cannot_be_written_down_is_not_answered_as_done(api: ApiCaller, database: Database) -> None:
    await database.execute("alter table audit_log rename to audit_log_elsewhere")
    answer = await api.post("views", {"name": "boats"})
    assert answer.status == 503
    assert answer.json["detail"] == "It was done, and could not be written into the audit log."
    assert (await api.get("views/boats")).status == 200


async def test_no_line_is_changed_and_none_of_the_last_day_is_removed(api: ApiCaller, database: Database) -> None:
    await api.post("views", {"name": "boats"})
    connection = await asyncpg.connect(api.services.dsn)
    for statement in (
        "update audit_log set actor = 'nobody'",
        "delete from audit_log",
        "truncate audit_log",
        "update audit_log set at = now() - interval '2 days'",
    ):
        with pytest.raises(asyncpg.RaiseError, match="kept as it was written"):
            await connection.execute(statement)
    await connection.close()


async def test_lines_are_forgotten_after_their_days(database_url: str, database: Database) -> None:
    await database.execute(
        "insert into audit_log (at, actor, proof, action, target, status, request_id, address)"
        " select now() - make_interval(days => n), 'ann', 'session', 'x', '/', 200, '', ''"
        " from generate_series(1, 12) as n"
    )
    async with api_on(database_url, {"keep.audit_days": "10"}) as api:
        await forget_visits(api.services)
    assert await database.fetchval("select count(*) from audit_log") == 9


async def test_the_log_is_read_by_actor_action_and_time_each_line_once(api: ApiCaller, database: Database) -> None:
    await database.execute(
        "insert into audit_log (at, actor, proof, action, target, status, request_id, address)"
        " select now() - make_interval(hours => n / 2), case n % 2 when 0 then 'ann' else 'ben' end, 'session',"
        " case n % 3 when 0 then 'a' else 'b' end, n::text, 200, '', '' from generate_series(0, 11) as n"
    )

    async def targets(query: str) -> list[int]:
        seen, cursor = [], ""
        while cursor is not None:
            page = (await api.get(f"audit?limit=2&{query}{f'&cursor={cursor}' if cursor else ''}")).json
            seen += [int(one["target"]) for one in page["audit"]]
            cursor = page["cursor"] and page["cursor"].replace("+", "%2B")
        return seen

    assert sorted(await targets("")) == list(range(12))
    assert sorted(await targets("actor=ann")) == [0, 2, 4, 6, 8, 10]
    assert sorted(await targets("action=a")) == [0, 3, 6, 9]
    assert sorted(await targets("action=a&actor=ann")) == [0, 6]
    since = (await database.fetchval("select now() - interval '150 minutes'")).isoformat().replace("+", "%2B")
    assert sorted(await targets(f"since={since}")) == [0, 1, 2, 3, 4, 5]
    assert sorted(await targets(f"since={since}&actor=ben&action=a")) == [3]
    for bad in (
        "cursor=x",
        "cursor=2026-01-01|1",
        "since=yesterday",
        "cursor=2026-01-01T00:00:00Z|99999999999999999999",
    ):
        assert (await api.get(f"audit?{bad}")).status == 422


async def test_large_and_strange_bodies_do_not_break_the_log(api: ApiCaller, database: Database) -> None:
    many = ["x" * 1_000] * 100
    assert (await api.post("views", {"name": "boats", "query": "a\u0000b \U0001f600", "tags": many})).status in (
        201,
        422,
    )
    assert (await api.post("views", {"name": "ships", "tags": many})).status == 201
    row = await database.fetchval("select details from audit_log order by id desc limit 1")
    assert row["body"]["left_out"].endswith("bytes")


@pytest.mark.parametrize(
    "given",
    [
        {"password": "CANARY"},
        {"options": {"api_key": "CANARY", "meili_key": "CANARY", "headers": {"Authorization": "Bearer CANARY"}}},
        {"options": {"secret": ["CANARY"], "cookie": {"a": "CANARY"}}},
        {"url": "https://ann:CANARY@example.org/"},
        {"url": "https://example.org/?api_key=CANARY&x=1"},
        {"parser_hint": json.dumps({"auth": {"type": "bearer", "token": "CANARY"}})},
        {"note": "hw_CANARY" + "x" * 40},
        {"deep": {"a": {"b": {"c": {"d": {"password": "CANARY"}}}}}},
        {"x" * 300 + "CANARY": 1},
        {"texts": ["x" * 250 + "CANARY"]},
    ],
)
def test_secrets_are_masked_wherever_they_stand(given: dict[str, object]) -> None:
    shown = json.dumps(details_of({"body": given}))
    assert "CANARY" not in shown
    assert len(shown) < 1_000


def test_what_is_no_secret_is_shown() -> None:
    given = {"name": "boats", "min_quality": 40, "author": "ann", "keywords": ["a"], "enabled": False, "gone": None}
    assert details_of({"body": given, "query": {}}) == {"body": given}
    assert list(details_of({"body": {str(n): "x" * 190 for n in range(50)}})) == ["left_out"]


async def test_logins_that_have_to_wait_stand_there_once_for_each_wait(api: ApiCaller, database: Database) -> None:
    await add_user(database)
    await database.execute(
        "insert into login_attempts (subject, failures, blocked_until) values ($1, 9, now() + interval '1 minute')",
        of_account("ann"),
    )
    for _ in range(3):
        assert (await log_in(api, password="canary")).status == 429
    lines = await database.fetch("select actor, action, status, details::text from audit_log where status = 429")
    assert [(one["actor"], one["action"]) for one in lines] == [("ann", "log_in")]
    assert "canary" not in lines[0]["details"]
    await database.execute("update login_attempts set blocked_until = now() + interval '2 minutes'")
    await log_in(api)
    assert await database.fetchval("select count(*) from audit_log where status = 429") == 2
