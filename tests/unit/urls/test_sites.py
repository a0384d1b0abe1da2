"""A site is a host name and a port: what lies beside it on the same machine is somebody else's."""

import pytest

from headwater.errors import UsageError
from headwater.fetch.fetcher import FetchRequest
from headwater.frontier.submit import is_below
from headwater.net.redirects import Hop, next_hop
from headwater.politeness.takedown import parse_takedown
from headwater.sources.source import Profile
from headwater.urls.canonical import canonicalise, site_named
from headwater.urls.scope import Placement, Scope, placement_of


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("http://docs.test/a", "docs.test"),
        ("https://docs.test/a", "docs.test"),
        ("http://docs.test:80/", "docs.test"),
        ("https://docs.test:443/", "docs.test"),
        ("http://docs.test:443/", "docs.test:443"),
        ("http://docs.test:8080/", "docs.test:8080"),
        ("https://docs.test:8080/", "docs.test:8080"),
        ("http://[::1]:8080/", "[::1]:8080"),
    ],
)
def test_a_site_is_what_keys_begin_with(url: str, site: str) -> None:
    place = canonicalise(url)
    assert place.site == site
    assert place.key.split("://")[1].startswith(f"{site}/")


@pytest.mark.parametrize(
    ("written", "site"),
    [
        ("Docs.test", "docs.test"),
        ("docs.test:80", "docs.test"),
        ("docs.test:443", "docs.test"),
        ("docs.test:8080", "docs.test:8080"),
        ("http://docs.test:8080/a", "docs.test:8080"),
        ("[::1]:80", "[::1]"),
    ],
)
def test_a_site_can_be_named_without_a_scheme(written: str, site: str) -> None:
    assert site_named(written).site == site


def test_a_source_is_named_after_its_host_and_port() -> None:
    assert Profile("http://127.0.0.1:8001/").name == "127.0.0.1:8001"
    assert Profile("http://127.0.0.1/").name == "127.0.0.1"


def test_the_pages_of_a_source_lie_at_its_port() -> None:
    scope = Profile("http://127.0.0.1:8001/").scope
    assert placement_of(canonicalise("http://127.0.0.1:8001/a"), scope) is Placement.INSIDE
    assert placement_of(canonicalise("http://127.0.0.1:8002/a"), scope) is Placement.OTHER_HOST
    assert placement_of(canonicalise("http://127.0.0.1/a"), scope) is Placement.OTHER_HOST


def test_a_domain_that_a_person_allows_is_allowed_at_every_port() -> None:
    scope = Scope(domains=frozenset({"docs.test"}))
    assert placement_of(canonicalise("http://old.docs.test:8080/a"), scope) is Placement.INSIDE


def test_a_page_of_another_port_is_not_below_an_address() -> None:
    home = canonicalise("http://127.0.0.1:8001/docs/")
    assert is_below(canonicalise("http://127.0.0.1:8001/docs/a"), home)
    assert not is_below(canonicalise("http://127.0.0.1:8002/docs/a"), home)


@pytest.mark.parametrize(
    "written", ["docs.test:8080", "http://docs.test:8080", "https://docs.test:8080/", "Docs.test:8080"]
)
def test_a_takedown_of_a_port_covers_that_port_only(written: str) -> None:
    takedown = parse_takedown(written)
    assert takedown.name == "docs.test:8080"
    assert takedown.covers(canonicalise("http://docs.test:8080/"))
    assert takedown.covers(canonicalise("https://www.docs.test:8080/a?b=c"))
    assert not takedown.covers(canonicalise("http://docs.test/"))
    assert not takedown.covers(canonicalise("http://docs.test:8081/"))
    assert not takedown.covers(canonicalise("http://a.docs.test:8080/"))


def test_a_takedown_of_a_host_covers_all_its_ports() -> None:
    for written in ("docs.test", "https://docs.test/"):
        takedown = parse_takedown(written)
        assert takedown.covers(canonicalise("http://docs.test:8080/a"))
        assert takedown.covers(canonicalise("http://a.docs.test:8081/a"))


@pytest.mark.parametrize("written", ["docs.test:443", "https://docs.test:443/", "docs.test:80", "http://docs.test:80"])
def test_a_takedown_of_the_usual_port_leaves_the_others(written: str) -> None:
    takedown = parse_takedown(written)
    assert takedown.covers(canonicalise("http://docs.test/a"))
    assert takedown.covers(canonicalise("https://docs.test/"))
    assert not takedown.covers(canonicalise("http://docs.test:8080/"))
    assert parse_takedown(takedown.name) == takedown


def test_what_is_no_port_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match="neither a domain nor a URL"):
        parse_takedown("docs.test:99999")


@pytest.mark.parametrize(("kind", "is_followed"), [("page", False), ("feed", True)])
def test_a_page_is_not_followed_to_another_port(kind: str, is_followed: bool) -> None:
    here = canonicalise("http://127.0.0.1:8001/a")
    hop = next_hop(301, [b"http://127.0.0.1:8002/a"], here, 0)
    assert isinstance(hop, Hop)
    assert FetchRequest(here, kind).follows(hop) is is_followed
