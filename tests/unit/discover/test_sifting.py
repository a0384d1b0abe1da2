"""Which items of an answer are new, which changed, and what the frontier is told of them."""

from datetime import UTC, datetime, timedelta

from headwater.discover.items import Item
from headwater.discover.polls.submit_items import REFUSED, distinct_items, found_from, is_believable, sift, signature_of

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)


def known(*items: Item) -> dict[bytes, bytes]:
    return {one.url.url_hash: one.signature for one in distinct_items(items)[0]}


def test_each_address_is_listed_once_and_what_cannot_be_fetched_is_counted() -> None:
    found, rejected = distinct_items(
        [Item("http://a.test/x"), Item("https://a.test/x/"), Item("ftp://a.test/"), Item("nothing")]
    )
    assert [one.item.url for one in found] == ["http://a.test/x"]
    assert rejected == 2


def test_new_changed_and_known_are_told_apart() -> None:
    old, same = Item("http://a.test/1", "Old", summary="s"), Item("http://a.test/2", "Same")
    now = [Item("http://a.test/1", "New", summary="s"), same, Item("http://a.test/3", "Fresh")]
    sifted = sift(distinct_items(now)[0], known(old, same))
    assert [one.item.title for one in sifted.new] == ["Fresh"]
    assert [one.item.title for one in sifted.changed] == ["New"]
    assert [one.item.title for one in sifted.known] == ["Same"]
    assert [one.item.title for one in sifted.fresh] == ["Fresh", "New"]


def test_a_new_headline_is_a_change_now_but_a_new_teaser_is_none() -> None:
    before = Item("http://a.test/1", "Headline", summary="5 comments")
    teaser = sift(
        distinct_items([Item("http://a.test/1", "Headline", summary="6 comments")])[0], known(before)
    ).changed[0]
    headline = sift(
        distinct_items([Item("http://a.test/1", "Another", summary="5 comments")])[0], known(before)
    ).changed[0]
    assert found_from(teaser, "http://a.test/feed", NOW).changed_at is None
    assert found_from(headline, "http://a.test/feed", NOW).changed_at == NOW
    assert found_from(headline, "http://a.test/feed", NOW, is_believed=False).changed_at is None


def test_what_says_when_it_changed_is_believed() -> None:
    at = NOW - timedelta(hours=3)
    [one] = distinct_items([Item("http://a.test/1", updated_at=at)])[0]
    assert found_from(one, "http://a.test/feed", NOW).changed_at == at


def test_a_date_of_publication_alone_is_no_change() -> None:
    one, other = (Item("http://a.test/1", published_at=NOW - timedelta(days=days)) for days in (1, 2))
    assert signature_of(one) == signature_of(other)


def test_dates_of_change_are_not_believed_when_half_of_a_long_list_has_them() -> None:
    late, early = NOW, NOW - timedelta(days=9)
    since = NOW - timedelta(hours=1)

    def lists(late_ones: int, all_of_them: int) -> bool:
        dates = [late] * late_ones + [early] * (all_of_them - late_ones)
        return is_believable(dates, len(dates), since)

    assert lists(5, 10)
    assert not lists(6, 10)
    assert lists(9, 9)  # too few to tell
    assert is_believable([late] * 20, 20, None)
    assert is_believable([late] * 5, 20, since)


def test_what_was_refused_is_offered_again_and_is_neither_new_nor_changed() -> None:
    refused, same = Item("http://a.test/1", "Refused"), Item("http://a.test/2", "Same")
    memory = known(same) | dict.fromkeys(known(refused), REFUSED)
    sifted = sift(distinct_items([refused, same])[0], memory)
    assert (sifted.new, sifted.changed) == ((), ())
    assert [one.item.title for one in sifted.refused] == ["Refused"]
    assert [one.item.title for one in sifted.fresh] == ["Refused"]
