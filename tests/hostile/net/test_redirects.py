"""Section C of the hostile inputs, as far as one answer decides: what its Location means."""

import pytest

from headwater.net.redirects import BrokenRedirect, Flaw, Hop, next_hop
from headwater.urls.canonical import canonicalise

HERE = canonicalise("https://example.com/a")

# A hop is not yet a visit: the target still meets takedown, robots, slot and guard.
ROWS: list[tuple[int, list[bytes], str]] = [
    (52, [b"http://127.0.0.1/"], "http://127.0.0.1/"),
    (52, [b"http://[::1]/"], "http://[::1]/"),
    (53, [b"/a"], Flaw.SELF_LOOP),
    (54, [b"file:///etc/passwd"], "unsupported_scheme"),
    (54, [b"gopher://example.com/"], "unsupported_scheme"),
    (54, [b"javascript:alert(1)"], "unsupported_scheme"),
    (54, [b"data:text/html,x"], "unsupported_scheme"),
    (55, [b"http://example.com/b"], "http://example.com/b"),
    (58, [], Flaw.NO_LOCATION),
    (58, [b""], Flaw.NO_LOCATION),
    (58, [b"  "], Flaw.NO_LOCATION),
    (58, [b"/b", b"/c"], Flaw.SEVERAL_LOCATIONS),
    (58, [b"/b", b""], Flaw.SEVERAL_LOCATIONS),
    (58, [b"/\xe9"], "https://example.com/%C3%A9"),
    (58, [b"/" + b"x" * 100_000], "too_long"),
    (58, [b"../b"], "https://example.com/b"),
    (58, [b"https://user:secret@example.com/"], "userinfo"),
    (58, [b"//user@example.com/"], "userinfo"),
    (58, [b"https://example.com\\@evil.example/"], "backslash"),
    (58, [b"\\\\evil.example/"], "backslash"),
    (58, [b"/b\r\nSet-Cookie: x"], "control_character"),
    (58, [b"/b\x00"], "control_character"),
    (58, [b"http:///evil.example"], "no_host"),
    (58, [b"https://[::1"], "bad_host"),
    (63, [b"http://example.com:99999/"], "bad_port"),
    (63, [b"http://example.com:22/"], "http://example.com:22/"),
]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(("row", "locations", "expected"), ROWS, ids=[f"C{row}-{str(at)[:40]}" for row, at, _ in ROWS])
def test_every_location_has_a_defined_meaning(row: int, locations: list[bytes], expected: str, status: int) -> None:
    match next_hop(status, locations, HERE, 0):
        case Hop(url):
            assert url.url == expected
        case BrokenRedirect(reason):
            assert reason == expected
        case other:
            pytest.fail(f"unexpected {other}")


def test_two_pages_that_point_at_each_other_end_after_five_hops() -> None:
    here, there = canonicalise("https://example.com/a"), canonicalise("https://example.com/b")
    hops = 0
    while isinstance(found := next_hop(302, [there.target.encode()], here, hops), Hop):
        here, there, hops = found.url, here, hops + 1
    assert (found, hops) == (BrokenRedirect(Flaw.TOO_MANY_REDIRECTS), 5)
