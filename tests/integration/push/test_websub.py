"""A feed whose hub pushes: from its first poll to a document that no poll found."""

from tests.integration.push.conftest import FEED, PUBLIC, PushStage, feed


async def test_an_item_that_is_pushed_is_queued_without_a_poll(stage: PushStage) -> None:
    await stage.follow_and_subscribe()
    assert [form["hub.mode"] for form in stage.hub.asked] == ["subscribe"]
    [one] = stage.hub.subscriptions.values()
    assert one.is_confirmed
    assert one.topic == FEED
    assert one.callback.startswith(f"{PUBLIC}/push/")
    assert len(one.secret) < 200
    polls = len(stage.path.visits())
    before = await stage.channel()
    await stage.publish(feed("old", "new"))
    assert "http://a.test/new" in await stage.entries()
    assert len(stage.path.visits()) == polls
    after = await stage.channel()
    assert after["next_poll_at"] == before["next_poll_at"]
    assert after["url"] == before["url"]
    assert (await stage.subscription())["proofs"] == 1
