"""Rows that nobody would like to read: markup, marks of direction, controls, and far too much of all."""

from uuid import UUID

from tests.integration.serve.callers import ApiCaller

NAME = "<script>alert(1)</script>\u202egnp.exe {{7*7}} ${7*7} '\"><img src=x onerror=alert(1)>"
LONG = "<b>long</b> " * 8_000  # 100 kB
# What none of it may become.
MADE_MARKUP = ("<script>alert", "<img", "<b>long", "\u202e", "\x1b")


async def put_hostile_rows(api: ApiCaller) -> tuple[UUID, UUID]:
    """A source, its channel, a run, an event, a pause, and what a stranger asked for; ids of the first two."""
    database = api.services.database
    made = (await api.post("sources", {"url": "https://a.example/", "feed_url": "https://a.example/feed"})).json
    source, channel = UUID(made["id"]), UUID(made["channels"][0]["id"])
    await database.execute("update sources set name = $2, url = 'https://a.example/<b>' where id = $1", source, NAME)
    await database.execute(
        """
        update channels set next_poll_at = now() - interval '2 days', next_reason = $2, consecutive_errors = 5,
                            last_error = $2, error_class = 'not_found' where id = $1
        """,
        channel,
        LONG,
    )
    await database.execute(
        """
        insert into runs (at, id, source_id, channel_id, kind, trigger, status, requests, found, inserted, updated,
                          skipped, errors, duration_ms, message)
        values (now() - interval '1 minute', gen_random_uuid(), $1, $2, 'feed', 'schedule', 'fail', 1, 2, 3, 4, 5, 6,
                789, $3)
        """,
        source,
        channel,
        LONG,
    )
    await database.execute(
        "insert into events (kind, level, actor, source_id, message) values ('<i>odd</i>', 'error', $1, $2, $3)",
        NAME[:60],
        source,
        LONG,
    )
    await database.execute("insert into crawl_pause (set_by, reason) values ($1, $1)", NAME)
    await database.execute(
        """
        insert into takedown_requests (id, place, contact, reason, asker)
        values ($1, $2, $2, $3, 'nobody')
        """,
        UUID(int=3),
        NAME,
        LONG[:2_000],
    )
    return source, channel
