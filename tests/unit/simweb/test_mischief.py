"""Every kind as the steps it decides on, without a socket."""

import gzip
import zlib
from collections.abc import Callable
from datetime import UTC, datetime

import brotli
import pytest
import zstandard
from lxml import etree

from headwater.chance import random_from
from headwater.errors import UsageError
from headwater.simweb.dressing import Wardrobe
from headwater.simweb.message import Page, Request
from headwater.simweb.mischief.bombs import Coding, zeros
from headwater.simweb.mischief.content import FeedDamage, HeavyPage, OddRobots
from headwater.simweb.mischief.pace import EndlessBody, SlowDrip, StallAt
from headwater.simweb.mischief.redirects import Redirect, RedirectChain, RedirectLoop
from headwater.simweb.mischief.registry import KINDS, InTurn, Sometimes, mischief_from_json, mischief_to_json
from headwater.simweb.mischief.replies import Charset, Flapping, Status, Throttle
from headwater.simweb.mischief.stage import Close, Mischief, Scene, Send, Stall, Step, Wait, capped, status_of

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FEED = (
    '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>Harbour é</title>'
    "<item><title>One</title><link>http://a.test/1</link></item></channel></rss>"
).encode()


def scene(nth: int = 0, query: str = "", page: Page | None = None, draw: float = 0.5) -> Scene:
    request = Request("GET", "a.test", "/x", query, {})
    wardrobe = Wardrobe()
    shown = page or Page(b"<p>" + b"word " * 200)
    return Scene(
        request,
        shown,
        nth,
        NOW,
        lambda: draw,
        dress=lambda page: wardrobe.answer(page, request),
        at=lambda path: Page(f'<link rel="canonical" href="http://a.test{path}">'.encode()),
    )


def sent(mischief: Mischief, seen: Scene | None = None, most_bytes: int = 80_000_000) -> bytes:
    steps = capped(mischief.play(seen or scene()), most_bytes)
    return b"".join(step.data for step in steps if isinstance(step, Send))


def header(wire: bytes, name: str) -> list[str]:
    lines = wire.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    return [line.partition(": ")[2] for line in lines if line.lower().startswith(name + ":")]


def location(mischief: Mischief, query: str = "") -> str | None:
    return next(iter(header(sent(mischief, scene(query=query)), "location")), None)


WITH_OTHERS = {
    "in_turn": {"kind": "in_turn", "of": [{"kind": "status"}, {"kind": "normal"}]},
    "sometimes": {"kind": "sometimes", "of": {"kind": "bomb"}},
}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_can_be_written_as_json_and_read_back(kind: str) -> None:
    value = mischief_from_json(WITH_OTHERS.get(kind, {"kind": kind}))
    written = mischief_to_json(value)
    assert written["kind"] == kind
    assert mischief_from_json(written) == value


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_plays_and_is_bounded(kind: str) -> None:
    mischief = mischief_from_json(WITH_OTHERS.get(kind, {"kind": kind}))
    assert len(sent(mischief, most_bytes=1_000_000)) <= 1_000_000


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("status", 'an object with a "kind"'),
        ({"kind": "nonsense"}, "no mischief is called 'nonsense'"),
        ({"kind": "slow_drip", "every_ms": "often"}, "every_ms"),
        ({"kind": "slow_drip", "speed": 1}, "speed"),
        ({"kind": "slow_drip", "bytes": 0}, "bytes"),
        ({"kind": "in_turn", "of": [{"kind": "bomb", "coding": "rar"}]}, "coding"),
        ({"kind": "redirect", "code": 200}, "code"),
    ],
)
def test_wrong_json_is_refused_by_naming_what_is_wrong(given: object, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        mischief_from_json(given)


def test_a_drip_waits_before_each_helping_and_loses_nothing() -> None:
    seen = scene(page=Page(b"0123456789"))
    steps = list(SlowDrip(bytes=4, every_ms=50).play(seen))
    assert [step.seconds for step in steps if isinstance(step, Wait)] == [0.05] * 3
    assert sent(SlowDrip(bytes=4), seen) == seen.wire(seen.page)
    assert sent(SlowDrip(bytes=4, of="head"), seen) == seen.wire(seen.page)


def test_a_stall_is_silent_where_it_should_be() -> None:
    assert list(StallAt("connect").play(scene())) == [Stall()]
    assert sent(StallAt("head")).endswith(b"\r\n\r\n")
    assert 0 < len(sent(StallAt("body")).partition(b"\r\n\r\n")[2]) < 1003


def test_an_endless_body_is_ended_by_the_cap() -> None:
    steps: list[Step] = list(capped(EndlessBody(bytes=1000).play(scene()), 10_000))
    assert steps[-1] == Close()
    assert sum(len(step.data) for step in steps if isinstance(step, Send)) <= 10_000


UNPACK: dict[Coding, Callable[[bytes], bytes]] = {
    "gzip": gzip.decompress,
    "deflate": zlib.decompress,
    "gzip, gzip": lambda data: gzip.decompress(gzip.decompress(data)),
    "zstd": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
    "br": lambda data: bytes(brotli.decompress(data)),
}


@pytest.mark.parametrize("coding", UNPACK)
def test_a_bomb_unpacks_to_what_it_promises(coding: Coding) -> None:
    packed = zeros(coding, 8)
    assert len(packed) < 12_000
    assert UNPACK[coding](packed) == bytes(8 * 1024 * 1024)


def test_throttling_tells_when_in_every_form() -> None:
    forms = [
        Throttle(120),
        Throttle(120, "date"),
        Throttle(0, "words", "-5"),
        Throttle(10**12),
        Throttle(told_as="nothing"),
    ]
    told = [header(sent(form), "retry-after") for form in forms]
    assert told == [["120"], ["Sun, 01 Mar 2026 12:02:00 GMT"], ["-5"], ["1000000000000"], []]


def test_flapping_follows_its_pattern() -> None:
    codes = [status_of(sent(Flapping((503, 200, 500)), scene(nth))) for nth in range(6)]
    assert codes == [503, 200, 500] * 2


def test_kinds_in_turn_and_by_chance() -> None:
    turns = InTurn((Status(500), Status(429)))
    assert [status_of(sent(turns, scene(nth))) for nth in range(4)] == [500, 429, 500, 429]
    often = Sometimes(Status(500), chance=0.3)
    assert [status_of(sent(often, scene(draw=draw))) for draw in (0.29, 0.31)] == [500, 200]


def test_one_seed_gives_one_run() -> None:
    def run(seed: int) -> list[int]:
        draw = random_from(seed).random
        return [status_of(sent(Sometimes(Status(500)), scene(draw=draw()))) for _ in range(20)]

    assert run(7) == run(7)
    assert run(7) != run(8)


def test_redirects_lead_where_they_say() -> None:
    assert location(Redirect("http://169.254.169.254/")) == "http://169.254.169.254/"
    assert location(Redirect("/y", location="absent")) is None
    assert location(Redirect("/y", location="empty")) == ""
    assert header(sent(Redirect("/y", location="two")), "location") == ["/y", "/y?second"]
    assert len(location(Redirect(location="huge")) or "") > 100_000


def test_a_chain_ends_after_its_hops_or_never_and_a_loop_comes_back() -> None:
    assert location(RedirectChain(3), "hop=2") == "/x?hop=3"
    assert status_of(sent(RedirectChain(3), scene(query="hop=3"))) == 200
    assert location(RedirectChain(), "hop=100000") == "/x?hop=100001"
    assert [location(RedirectLoop(2), query) for query in ("", "hop=1")] == ["/x?hop=1", "/x"]
    assert location(RedirectLoop(1)) == "/x"


def test_a_wrong_charset_is_wrong() -> None:
    body = sent(Charset()).partition(b"\r\n\r\n")[2]
    with pytest.raises(UnicodeDecodeError):
        body.decode("utf-8")


def test_heavy_pages_are_as_heavy_as_asked() -> None:
    assert sent(HeavyPage("nested", 25_000)).count(b"<div>") == 25_000
    assert len(sent(HeavyPage("one_line", 50_000_000))) > 50_000_000
    wide = sent(HeavyPage("attributes", 25_000))
    assert b" a0=1" in wide
    assert b" a24999=1" in wide


def test_odd_robots_files_have_their_oddity() -> None:
    assert len(sent(OddRobots("huge"))) > 50_000_000
    assert b"\xef\xbb\xbfUser-agent" in sent(OddRobots("bom"))
    assert b"Disallow: /members/\r" in sent(OddRobots("cr_only"))
    assert b"Disallow: /members/\0\n" in sent(OddRobots("nul"))


def test_damaged_feeds_are_no_longer_well_formed_or_ask_for_trouble() -> None:
    broken = [FeedDamage(how) for how in ("truncated", "bare_ampersand", "wrong_charset", "empty", "deep")]
    for damage in broken:
        body = sent(damage, scene(page=Page(FEED))).partition(b"\r\n\r\n")[2]
        with pytest.raises(etree.XMLSyntaxError):
            etree.fromstring(body, etree.XMLParser(resolve_entities=False))
    assert b"&l9;" in sent(FeedDamage("billion_laughs"))
    assert b"http://a.test/xxe-canary" in sent(FeedDamage("xxe"))
    assert header(sent(FeedDamage("html")), "content-type") == ["text/html; charset=utf-8"]
