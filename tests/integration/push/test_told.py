"""Push state wherever people and programs look for it."""

from tests.integration.push.conftest import FEED, HUB, PushStage, feed
from tests.integration.serve.callers import command, command_says

from headwater.accounts.role import Role
from headwater.accounts.tokens import TokenStore
from headwater.database.pool import Database
from headwater.reports.doctor import check_push
from headwater.reports.exposition import exposition
from headwater.settings.groups import WebSettings


async def test_the_api_and_the_command_line_tell_how_things_stand_with_a_hub(
    stage: PushStage, database_url: str
) -> None:
    await stage.follow_and_subscribe()
    await stage.publish(feed("new"))
    token = (await TokenStore(stage.database).add("reader", Role.VIEWER, None, "tester")).secret
    source = await stage.database.fetchval("select source_id from channels where kind = 'feed'")
    told = (await stage.api.get(f"sources/{source}", authorization=f"Bearer {token}")).json
    [push] = [one["push"] for one in told["channels"] if one["push"]]
    assert push["word"] == "proving"
    assert push["says"].startswith("pushed ")
    assert (push["hub"], push["topic"], push["pushes"]) == (HUB, FEED, 1)
    [one] = stage.hub.subscriptions.values()
    assert one.secret not in str(told)
    assert one.callback.rpartition("/")[2] not in str(told)
    shown = (await command_says(database_url, "sources", "show", "http://a.test/")).decode()
    assert f"push: {FEED}: pushed " in shown
    assert f"hub {HUB}" in shown
    explained = (await command_says(database_url, "explain", "http://a.test/")).decode()
    assert "pushed " in explained
    status = (await command_says(database_url, "status")).decode()
    assert "Push      1 channel with a hub, 1 subscribed, 0 pushed so that polls are rare" in status
    assert (await command(database_url, "status"))["push"]["subscribed"] == 1
    figures = (await exposition(stage.database)).decode()
    for state, count in (("named", 1), ("subscribed", 1), ("trusted", 0)):
        assert f'headwater_push_channels{{state="{state}"}} {count}.0' in figures
    assert 0 < float(figures.split("\nheadwater_push_age_seconds ")[1].split("\n")[0]) < 600


async def test_doctor_says_what_hubs_lack(database_url: str, database: Database) -> None:
    here, public = WebSettings(), WebSettings(public_url="https://headwater.example.org")
    assert (await check_push(here, database)).level == "ok"
    await database.execute(
        "with s as (insert into sources (name, url, url_hash) values ('A', 'http://a.test/', sha256('a')) "
        "returning id), "
        "c as (insert into channels (source_id, kind, url, url_hash, bucket, host, is_active) "
        "select id, 'feed', 'http://a.test/feed', sha256('b'), 1, 'a.test', true from s returning id) "
        "insert into subscriptions (channel_id, protocol, hub, hub_host, topic) "
        "select id, 'websub', 'http://hub.test/', 'hub.test', 'http://a.test/feed' from c"
    )
    lacking = await check_push(here, database)
    assert lacking.level == "warning"
    assert "Hubs of 1 channel could push" in lacking.says
    assert "web.public_url" in lacking.fix
    assert (await check_push(public, database)).level == "ok"
