from uuid import UUID, uuid4

from headwater.frontier.claim import DOUBTED_EVERY, Shares
from headwater.frontier.entry import EntryOrigin, Lease
from headwater.politeness.slots import StartWindow

SOURCE = uuid4()


def leased(domain: str = "a.example", found_by: UUID | None = SOURCE, *, is_doubted: bool = False) -> Lease:
    return Lease(
        token=uuid4(),
        bucket=0,
        url_hash=b"",
        host=domain,
        url="",
        source_id=SOURCE,
        origin=EntryOrigin.FEED,
        depth=0,
        priority=5,
        retry_count=0,
        fetch_count=0,
        hops=0,
        resume_url=None,
        etag=None,
        last_modified=None,
        content_hash=None,
        window=StartWindow(0, 0, 0),
        domain=domain,
        found_by=found_by,
        is_doubted=is_doubted,
    )


def test_hosts_in_doubt_have_half_of_the_places() -> None:
    shares = Shares(10)
    assert shares.next_allowance().doubted == 5
    held = [leased(is_doubted=True) for _ in range(5)]
    for lease in held:
        shares.take(lease)
    assert shares.next_allowance().doubted == 0
    shares.give_back(held[0])
    assert shares.next_allowance().doubted == 1


def test_a_worker_with_one_place_takes_them_too() -> None:
    assert Shares(1).next_allowance().doubted == 1


def test_now_and_then_one_in_doubt_comes_first_unless_one_is_under_way() -> None:
    shares = Shares(10)
    firsts = [shares.next_allowance().doubted_first for _ in range(2 * DOUBTED_EVERY)]
    assert sum(firsts) == 2
    shares.take(leased(is_doubted=True))
    assert sum(shares.next_allowance().doubted_first for _ in range(2 * DOUBTED_EVERY)) == 0


def test_a_domain_is_full_at_a_quarter_and_a_source_at_half() -> None:
    shares = Shares(12)
    for number in range(3):
        shares.take(leased("a.example"))
        shares.take(leased(f"b{number}.example", uuid4()))
    allowed = shares.next_allowance()
    assert (allowed.full_domains, allowed.full_sources) == (("a.example",), ())
    for number in range(3):
        shares.take(leased(f"c{number}.example"))
    assert shares.next_allowance().full_sources == (SOURCE,)


def test_a_small_worker_leaves_a_domain_two_places() -> None:
    shares = Shares(4)
    shares.take(leased())
    assert shares.next_allowance().full_domains == ()
    shares.take(leased())
    assert shares.next_allowance().full_domains == ("a.example",)


def test_hosts_of_unknown_owners_share_with_nobody() -> None:
    shares = Shares(4)
    for _ in range(4):
        shares.take(leased("", None))
    allowed = shares.next_allowance()
    assert (allowed.full_domains, allowed.full_sources) == ((), ())
