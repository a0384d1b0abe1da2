"""Which hub an answer names: cases 100 to 104 and 200 of websub.rocks, and what others write."""

import pytest

from headwater.clock import SystemClock
from headwater.discover.feeds.read import read_feed
from headwater.discover.feeds.words import cloud_address
from headwater.discover.items import HubLinks, Reading
from headwater.discover.pages.listing import hub_links_of, parse_page
from headwater.discover.push.links import MOST_LINKS, NamedHub, Protocol, hub_named, is_about, links_in_head
from headwater.urls.canonical import canonicalise

HERE = canonicalise("https://blog.example/feed")
HUB, TOPIC = "https://hub.example/", "https://blog.example/self"
NOTHING = HubLinks()


def head(*values: str) -> list[tuple[bytes, bytes]]:
    return [(b"Link", value.encode()) for value in values]


def websub(hub: str, topic: str) -> NamedHub:
    return NamedHub(Protocol.WEBSUB, hub, topic)


def links_of_feed(text: str, content_type: str = "application/xml") -> HubLinks:
    found = read_feed(text.encode(), content_type, HERE.url, SystemClock().now())
    assert isinstance(found, Reading)
    return HubLinks(found.hub, found.topic, found.cloud)


@pytest.mark.parametrize(
    "values",
    [
        (f'<{HUB}>; rel="hub"', f'<{TOPIC}>; rel="self"'),
        (f'<{HUB}>; rel=hub, <{TOPIC}>; rel=self',),
        (f'<{TOPIC}>;title="a, b; c";REL="SELF" , <{HUB}> ; type="x" ; rel="alternate hub"',),
        ('<https://other.example/>; rel="next"', f"<{HUB}>;rel=hub,<{TOPIC}>;rel=self"),
        ("broken <", f'<{HUB}>; rel="hub", <{TOPIC}>; rel="self"', '<https://second.example/>; rel="hub"'),
    ],
)  # fmt: skip
def test_100_the_head_names_hub_and_topic(values: tuple[str, ...]) -> None:
    assert hub_named(head(*values), NOTHING, HERE) == websub(HUB, TOPIC)


def test_101_the_head_of_a_page_names_them() -> None:
    tree = parse_page(
        f'<html><head><base href="https://blog.example/x/"><link rel="hub" href="{HUB}"><link rel="self" href="/self">'
        '<link rel="hub" href="https://second.example/"></head><body><a rel="hub" href="/no">no</a></body></html>'
    )
    assert tree is not None
    assert hub_named((), hub_links_of(tree, HERE.url), HERE) == websub(HUB, TOPIC)


def test_102_an_atom_feed_names_them() -> None:
    text = (
        f'<feed xmlns="http://www.w3.org/2005/Atom"><title>A</title><link rel="hub" href="{HUB}"/>'
        f'<link rel="self" href="{TOPIC}"/><entry><link href="/1"/></entry></feed>'
    )
    assert hub_named((), links_of_feed(text), HERE) == websub(HUB, TOPIC)


def test_103_an_rss_feed_names_them() -> None:
    text = (
        '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>A</title>'
        f'<atom:link rel="self" href="{TOPIC}"/><atom:link rel="hub" href="{HUB}"/></channel></rss>'
    )
    assert hub_named((), links_of_feed(text), HERE) == websub(HUB, TOPIC)


def test_a_json_feed_names_them() -> None:
    text = (
        '{"version": "https://jsonfeed.org/version/1.1", "title": "A", "items": [], '
        f'"feed_url": "{TOPIC}", "hubs": [{{"type": "WebSub", "url": "{HUB}"}}]}}'
    )
    assert hub_named((), links_of_feed(text, "application/feed+json"), HERE) == websub(HUB, TOPIC)


def test_a_feed_that_is_no_xml_names_them_as_well() -> None:
    text = f'<feed><title>A</title><link rel="hub" href="{HUB}"/><link rel="self" href="{TOPIC}"/><entry></b></feed>'
    assert hub_named((), links_of_feed(text), HERE) == websub(HUB, TOPIC)


def test_104_the_head_comes_before_the_body() -> None:
    body = HubLinks("https://body.example/", "https://blog.example/body")
    assert hub_named(head(f'<{HUB}>; rel="hub", <{TOPIC}>; rel="self"'), body, HERE) == websub(HUB, TOPIC)


def test_200_what_calls_itself_otherwise_is_subscribed_to_by_that_name() -> None:
    assert hub_named((), HubLinks(HUB, "https://mirror.example/feed"), HERE) == websub(
        HUB, "https://mirror.example/feed"
    )


def test_without_a_name_of_its_own_the_topic_is_where_it_answered() -> None:
    assert hub_named((), HubLinks(HUB), HERE) == websub(HUB, HERE.url)


def test_a_cloud_counts_where_there_is_no_hub() -> None:
    cloud = "http://rpc.example:5337/pleaseNotify"
    assert hub_named((), HubLinks(cloud=cloud), HERE) == NamedHub(Protocol.RSSCLOUD, cloud, HERE.url)
    assert hub_named((), HubLinks(HUB, TOPIC, cloud), HERE) == websub(HUB, TOPIC)


def test_what_names_no_hub_has_none() -> None:
    assert hub_named(head(f'<{TOPIC}>; rel="self"'), HubLinks(topic=TOPIC), HERE) is None


@pytest.mark.parametrize(
    "hub", ["javascript:alert(1)", "ftp://hub.example/", "https://user:pass@hub.example/", "https://"]
)
def test_what_cannot_be_asked_is_no_hub(hub: str) -> None:
    assert hub_named(head(f'<{hub}>; rel="hub"'), HubLinks(hub), HERE) is None


def test_a_head_made_to_be_slow_is_read_in_parts() -> None:
    many = ", ".join('<https://a.example/>; rel="x"' for _ in range(10 * MOST_LINKS)) + f', <{HUB}>; rel="hub"'
    assert links_in_head(head(many), HERE) == NOTHING
    assert links_in_head(head("<" * 100_000, ";rel=" * 100_000), HERE) == NOTHING


def test_one_topic_has_several_spellings() -> None:
    assert is_about("https://blog.example/feed", "http://BLOG.example:80/feed/")
    assert not is_about("https://blog.example/feed", "https://blog.example/feed?page=2")
    assert not is_about("no address", "no address")


@pytest.mark.parametrize(
    ("said", "address"),
    [
        ({"domain": "rpc.example", "port": "80", "path": "/notify", "protocol": "http-post"}, "http://rpc.example:80/notify"),
        ({"domain": "rpc.example", "port": "443", "path": "notify", "protocol": "HTTP-POST"}, "https://rpc.example:443/notify"),
        ({"domain": "rpc.example", "port": "80", "path": "/RPC2", "protocol": "xml-rpc"}, ""),
        ({"domain": "evil@rpc.example", "port": "80", "path": "/", "protocol": "http-post"}, ""),
        ({"domain": "rpc.example", "port": "8x", "path": "/", "protocol": "http-post"}, ""),
        ({"port": "80", "path": "/", "protocol": "http-post"}, ""),
        ({}, ""),
    ],
)  # fmt: skip
def test_the_address_of_a_cloud(said: dict[str, str], address: str) -> None:
    assert cloud_address(said) == address


def test_a_feed_names_its_cloud() -> None:
    text = (
        '<rss version="2.0"><channel><title>A</title>'
        '<cloud domain="rpc.example" port="5337" path="/pleaseNotify" registerProcedure="" protocol="http-post"/>'
        "</channel></rss>"
    )
    assert links_of_feed(text).cloud == "http://rpc.example:5337/pleaseNotify"
