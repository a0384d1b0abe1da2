"""Signatures, leases, forms and words of push."""

import hashlib
import hmac
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs

import pytest

from headwater.chance import Random
from headwater.discover.cadence.hubs import HubRecord
from headwater.discover.push.links import NamedHub, Protocol
from headwater.discover.push.signature import METHODS, is_signed
from headwater.discover.push.subscribing import request_body
from headwater.discover.push.subscription import (
    CLOCKS_APART,
    CLOUD_LEASE,
    LONGEST_LEASE,
    SHORTEST_RENEWAL,
    USUAL_LEASE,
    KnownHub,
    lease_said,
    renewal_after,
)
from headwater.sources.push import PushState, PushWord, may_subscribe, push_as_dict, push_in_words, push_word

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
SECRET, BODY = "a secret of ours", b"<rss/>"


def signed(method: str, secret: str = SECRET, body: bytes = BODY) -> str:
    return f"{method}={hmac.new(secret.encode(), body, getattr(hashlib, method)).hexdigest()}"


@pytest.mark.parametrize("method", METHODS)
def test_a_signature_by_each_method_is_good(method: str) -> None:
    assert is_signed(signed(method), SECRET, BODY)
    assert is_signed(signed(method).upper().replace("SHA", "sha", 1), SECRET, BODY)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "sha256",
        "sha256=",
        signed("sha256", "another"),
        signed("sha256", body=b"<rss></rss>"),
        signed("md5"),
        signed("sha256").replace("sha256", "sha512"),
        "sha256=" + "é" * 64,
        signed("sha256") + "0" * 1_000,
    ],
)
def test_any_other_signature_is_none(header: str) -> None:
    assert not is_signed(header, SECRET, BODY)


def test_a_lease_is_believed_up_to_two_weeks() -> None:
    assert lease_said("60", Protocol.WEBSUB) == timedelta(seconds=60)
    assert lease_said(str(10 * 365 * 86_400), Protocol.WEBSUB) == LONGEST_LEASE
    for nonsense in ("", "-1", "1e9", "９", "1" * 100):
        assert lease_said(nonsense, Protocol.WEBSUB) == USUAL_LEASE
    assert lease_said("", Protocol.RSSCLOUD) == CLOUD_LEASE


def test_a_lease_is_renewed_at_half_of_it_spread_over_a_day() -> None:
    waits = {renewal_after(LONGEST_LEASE, Random(seed)) for seed in range(50)}
    assert min(waits) >= LONGEST_LEASE / 2
    assert max(waits) <= LONGEST_LEASE / 2 + DAY
    assert max(waits) - min(waits) > 12 * HOUR
    assert renewal_after(CLOUD_LEASE, Random(1)) < CLOUD_LEASE


def test_a_lease_of_a_minute_does_not_make_us_ask_every_minute() -> None:
    assert renewal_after(timedelta(seconds=60), Random(1)) == SHORTEST_RENEWAL


def test_only_a_public_https_address_can_be_pushed_to() -> None:
    assert may_subscribe("https://headwater.example.org")
    assert not any(map(may_subscribe, ("", "http://headwater.example.org")))


def test_a_subscription_is_asked_for_with_topic_callback_secret_and_lease() -> None:
    named = NamedHub(Protocol.WEBSUB, "https://hub.example/", "https://blog.example/feed?a=1&b=2")
    form = parse_qs(request_body(named, "https://push.example/below/", "token", SECRET).decode())
    assert form == {
        "hub.mode": ["subscribe"],
        "hub.topic": ["https://blog.example/feed?a=1&b=2"],
        "hub.callback": ["https://push.example/below/push/token"],
        "hub.secret": [SECRET],
        "hub.lease_seconds": ["1209600"],
    }


def test_a_cloud_is_asked_in_its_own_way() -> None:
    named = NamedHub(Protocol.RSSCLOUD, "http://rpc.example:5337/pleaseNotify", "https://blog.example/feed")
    form = parse_qs(request_body(named, "https://push.example", "token", SECRET).decode(), keep_blank_values=True)
    assert form["protocol"] == ["https-post"]
    assert (form["domain"], form["port"], form["path"]) == (["push.example"], ["443"], ["/push/token"])
    assert form["url1"] == ["https://blog.example/feed"]
    assert SECRET not in str(form)


KNOWN = KnownHub(
    NamedHub(Protocol.WEBSUB, "https://hub.example/", "https://blog.example/feed"),
    HubRecord(proofs=3),
    NOW - DAY,
    NOW + DAY,
)


def test_trust_ends_with_the_lease() -> None:
    assert KNOWN.is_trusted_at(NOW)
    assert not KNOWN.is_trusted_at(NOW + 2 * DAY)


def test_what_a_poll_finds_after_a_ping_was_pushed() -> None:
    pinged = replace(KNOWN, record=HubRecord(), pinged_at=NOW - 20 * MINUTE)
    after = pinged.after_poll([NOW - 21 * MINUTE], NOW, NOW - HOUR)
    assert (after.record.proofs, after.record.missed, after.pinged_at) == (1, 0, None)
    assert replace(pinged, pinged_at=None).after_poll([NOW - 21 * MINUTE], NOW, NOW - HOUR).record.missed == 1


def test_what_was_published_after_a_ping_is_no_proof_of_it() -> None:
    pinged = replace(KNOWN, record=HubRecord(), pinged_at=NOW - 20 * MINUTE)
    of_its_own = pinged.after_poll([NOW - 2 * MINUTE], NOW, NOW - HOUR)
    assert (of_its_own.record.proofs, of_its_own.record.missed, of_its_own.pinged_at) == (0, 0, None)
    late = pinged.after_poll([NOW - 18 * MINUTE], NOW, NOW - HOUR)
    assert (late.record.proofs, late.record.missed) == (0, 1), "nobody told of it"
    both = pinged.after_poll([NOW - 21 * MINUTE, NOW - 2 * MINUTE], NOW, NOW - HOUR)
    assert (both.record.proofs, both.record.missed) == (1, 0)
    ahead = pinged.after_poll([NOW - 20 * MINUTE + CLOCKS_APART], NOW, NOW - HOUR)
    assert ahead.record.proofs == 1, "by the publisher's clock"


def test_without_a_lease_nothing_is_proved_and_nothing_missed() -> None:
    lapsed = replace(KNOWN, until=NOW - HOUR)
    assert lapsed.after_poll([NOW - HOUR], NOW, NOW - DAY).record == KNOWN.record
    assert lapsed.after_push([NOW - MINUTE], NOW).record == KNOWN.record


SUBSCRIBED = PushState(
    protocol="websub",
    hub="https://hub.example/",
    topic="https://blog.example/feed",
    state="active",
    reason=None,
    since=NOW - DAY,
    lease_until=NOW + DAY,
    proofs=0,
    needed=3,
    pushes=0,
    missed=0,
    last_push_at=None,
    looked_at=NOW,
)


@pytest.mark.parametrize(
    ("changes", "word", "said"),
    [
        ({}, PushWord.SUBSCRIBED, "subscribed, nothing pushed yet, polling"),
        ({"proofs": 5, "last_push_at": NOW - 3 * MINUTE}, PushWord.PUSHED, "pushed 3 min ago"),
        ({"proofs": 5, "last_push_at": NOW - 50 * HOUR}, PushWord.PUSHED, "pushed 2 d ago"),
        (
            {"proofs": 1, "last_push_at": NOW - 30 * timedelta(seconds=1)},
            PushWord.PROVING,
            "pushed 30 s ago, polling; 1 of 3 pushes in time that trust takes",
        ),
        ({"missed": 4}, PushWord.SILENT, "hub silent, polling"),
        (
            {"missed": 4, "last_push_at": NOW - 5 * HOUR},
            PushWord.SILENT,
            "hub silent or late, polling; last pushed 5 h ago",
        ),
        ({"state": "pending", "since": None, "lease_until": None}, PushWord.PENDING, "subscription pending, polling"),
        ({"state": "wanted", "since": None, "lease_until": None}, PushWord.WANTED, "its hub is not asked yet, polling"),
        (
            {"state": "denied", "reason": "no room", "since": None, "lease_until": None},
            PushWord.DENIED,
            "denied by its hub, polling: no room",
        ),
        (
            {"state": "failed", "reason": "HTTP 503", "since": None, "lease_until": None},
            PushWord.FAILED,
            "its hub cannot be subscribed to, polling: HTTP 503",
        ),
        ({"lease_until": NOW - HOUR}, PushWord.LAPSED, "subscription lapsed, polling"),
    ],
)
def test_the_state_of_push_in_words(changes: dict[str, object], word: PushWord, said: str) -> None:
    state = replace(SUBSCRIBED, **changes)  # type: ignore[arg-type]
    assert push_word(state, NOW) is word
    assert push_in_words(state, NOW) == said


def test_a_channel_without_a_hub_says_nothing_of_push() -> None:
    assert push_in_words(None, NOW) == ""
    assert push_as_dict(None) is None


def test_programs_are_told_the_word_and_the_words() -> None:
    told = push_as_dict(replace(SUBSCRIBED, proofs=3, last_push_at=NOW - 3 * MINUTE))
    assert told is not None
    assert (told["word"], told["says"]) == ("pushed", "pushed 3 min ago")
