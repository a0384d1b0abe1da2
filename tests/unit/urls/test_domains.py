"""Who owns a name."""

import pytest

from headwater.urls.domains import NO_VOICE, Voice, registrable_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.org", "example.org"),
        ("www.Example.org.", "example.org"),
        ("feeds.bbci.co.uk", "bbci.co.uk"),
        ("alice.github.io", "alice.github.io"),
        ("posts.alice.blogspot.com", "alice.blogspot.com"),
        ("news.paper.test", "paper.test"),
        ("github.io", "github.io"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("www.xn--bcher-kva.de", "xn--bcher-kva.de"),
    ],
)
def test_a_registrable_domain_is_the_name_somebody_owns(host: str, domain: str) -> None:
    assert registrable_domain(host) == domain


def test_a_channel_speaks_for_all_hosts_of_its_domain() -> None:
    voice = Voice("paper.test")
    assert voice.covers("paper.test")
    assert voice.covers("feeds.paper.test")
    assert not voice.covers("otherpaper.test")


def test_tenants_of_a_shared_domain_do_not_speak_for_each_other() -> None:
    assert not Voice(registrable_domain("mallory.github.io")).covers("alice.github.io")


def test_a_channel_speaks_for_hosts_an_operator_named_and_those_below() -> None:
    voice = Voice("feedburner.test", frozenset({"paper.test"}))
    assert voice.covers("www.paper.test")
    assert not voice.covers("paper.test.evil.test")


def test_without_a_voice_no_host_is_spoken_for() -> None:
    assert not NO_VOICE.covers("paper.test")
    assert not NO_VOICE.covers("")
