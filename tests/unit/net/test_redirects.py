import pytest

from headwater.net.redirects import LONGEST_CHAIN, BrokenRedirect, Flaw, Hop, NotARedirect, PermanentRun, next_hop
from headwater.urls.canonical import CanonicalUrl, canonicalise

HERE = canonicalise("https://example.com/news/today?x=1")


def hop(location: str, status: int = 301, current: CanonicalUrl = HERE) -> Hop:
    found = next_hop(status, [location.encode()], current, 0)
    assert isinstance(found, Hop)
    return found


def run_of(start: str, *steps: tuple[int, str]) -> PermanentRun:
    run, current = PermanentRun(), canonicalise(start)
    for status, location in steps:
        taken = hop(location, status, current)
        run, current = run.after(taken), taken.url
    return run


def target_of(run: PermanentRun) -> str | None:
    return run.target.url if run.target else None


@pytest.mark.parametrize(
    ("status", "is_permanent"), [(301, True), (308, True), (302, False), (303, False), (307, False)]
)
def test_five_statuses_redirect_and_two_of_them_for_good(status: int, is_permanent: bool) -> None:
    assert hop("/there", status).is_permanent is is_permanent


@pytest.mark.parametrize("status", [200, 201, 300, 304, 305, 306, 309, 399, 404, 500, 999])
def test_other_statuses_do_not_redirect_whatever_their_location(status: int) -> None:
    assert next_hop(status, [b"/there"], HERE, 0) == NotARedirect()


@pytest.mark.parametrize(
    ("location", "url"),
    [
        ("/there", "https://example.com/there"),
        ("there", "https://example.com/news/there"),
        ("../a", "https://example.com/a"),
        ("?y=2", "https://example.com/news/today?y=2"),
        ("//other.example/a", "https://other.example/a"),
        ("http://other.example", "http://other.example/"),
        ("/there#part", "https://example.com/there"),
        (" /there\t", "https://example.com/there"),
        ("/a b", "https://example.com/a%20b"),
        ("/é", "https://example.com/%C3%A9"),
    ],
)
def test_a_location_is_read_against_where_we_are(location: str, url: str) -> None:
    assert hop(location).url.url == url


def test_a_location_in_latin1_is_read() -> None:
    found = next_hop(302, [b"/caf\xe9"], HERE, 0)
    assert isinstance(found, Hop)
    assert found.url.url == "https://example.com/caf%C3%A9"


def test_a_hop_says_how_far_it_leads() -> None:
    near, port, far = hop("/a"), hop("https://example.com:8443/"), hop("https://www.example.com/")
    assert (near.is_same_host, near.is_same_origin) == (True, True)
    assert (port.is_same_host, port.is_same_origin) == (True, False)
    assert (far.is_same_host, far.is_same_origin) == (False, False)


def test_only_https_to_http_is_a_downgrade() -> None:
    plain = canonicalise("http://example.com/")
    assert hop("http://example.com/news/today").is_downgrade
    assert not hop("https://other.example/").is_downgrade
    assert not hop("https://example.com/", current=plain).is_downgrade
    assert not hop("/a", current=plain).is_downgrade


def test_the_same_page_over_https_is_a_hop_and_no_loop() -> None:
    assert hop("https://example.com/", current=canonicalise("http://example.com/")).is_same_host


@pytest.mark.parametrize("location", ["/news/today?x=1", "#top", "?x=1", "HTTPS://EXAMPLE.com:443/news/today?x=1#a"])
def test_a_redirect_to_itself_is_a_loop(location: str) -> None:
    assert next_hop(302, [location.encode()], HERE, 0) == BrokenRedirect(Flaw.SELF_LOOP)


def test_the_same_location_twice_is_one_location() -> None:
    assert isinstance(next_hop(301, [b"/a", b"/a "], HERE, 0), Hop)
    assert next_hop(301, [b"/a", b"/b"], HERE, 0) == BrokenRedirect(Flaw.SEVERAL_LOCATIONS)


def test_the_chain_ends_after_its_last_allowed_hop() -> None:
    assert isinstance(next_hop(301, [b"/a"], HERE, LONGEST_CHAIN - 1), Hop)
    assert next_hop(301, [b"/a"], HERE, LONGEST_CHAIN) == BrokenRedirect(Flaw.TOO_MANY_REDIRECTS)


@pytest.mark.parametrize(
    ("steps", "target"),
    [
        ([], None),
        ([(301, "/b")], "https://h.example/b"),
        ([(308, "/b")], "https://h.example/b"),
        ([(302, "/b")], None),
        ([(301, "/b"), (308, "/c")], "https://h.example/c"),
        ([(301, "/b"), (302, "/c")], "https://h.example/b"),
        ([(302, "/b"), (301, "/c")], None),
        ([(301, "/b"), (302, "/c"), (301, "/d")], "https://h.example/b"),
        ([(301, "http://h.example/b")], None),
        ([(301, "http://h.example/b"), (301, "https://h.example/c")], None),
        ([(301, "/b"), (301, "http://h.example/c")], "https://h.example/b"),
        ([(301, "https://other.example/b")], "https://other.example/b"),
    ],
)
def test_only_an_unbroken_permanent_run_from_the_start_moves_a_channel(
    steps: list[tuple[int, str]], target: str | None
) -> None:
    assert target_of(run_of("https://h.example/a", *steps)) == target


def test_an_upgrade_to_https_moves_a_channel() -> None:
    assert target_of(run_of("http://h.example/a", (301, "https://h.example/a"))) == "https://h.example/a"
