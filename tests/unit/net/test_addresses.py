from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest

from headwater.net.addresses import (
    FORBIDDEN_V4,
    FORBIDDEN_V6,
    NOT_AN_ADDRESS,
    NOT_GLOBAL_UNICAST,
    ZONE,
    why_forbidden,
)

# Written down a second time on purpose: a range lost from the table would take its test with it.
RANGES = {
    "0.0.0.0/8": "this network",
    "10.0.0.0/8": "private",
    "100.64.0.0/10": "carrier-grade NAT",
    "100.100.100.200/32": "cloud metadata",
    "127.0.0.0/8": "loopback",
    "168.63.129.16/32": "cloud metadata",
    "169.254.0.0/16": "link-local",
    "172.16.0.0/12": "private",
    "192.0.0.0/24": "protocol assignments",
    "192.0.2.0/24": "documentation",
    "192.88.99.0/24": "6to4 relay",
    "192.168.0.0/16": "private",
    "198.18.0.0/15": "benchmarking",
    "198.51.100.0/24": "documentation",
    "203.0.113.0/24": "documentation",
    "224.0.0.0/4": "multicast",
    "240.0.0.0/4": "reserved",
    "255.255.255.255/32": "broadcast",
    "::/128": "unspecified",
    "::1/128": "loopback",
    "::2/127": "IPv4-compatible",
    "::/96": "IPv4-compatible",
    "::ffff:0:0/96": "IPv4-mapped",
    "::ffff:0:0:0/96": "IPv4-translated",
    "64:ff9b::/96": "NAT64",
    "64:ff9b:1::/48": "NAT64",
    "100::/64": "discard",
    "2001::/32": "Teredo",
    "2001:2::/48": "protocol assignments",
    "2001::/23": "protocol assignments",
    "2001:db8::/32": "documentation",
    "2002::/16": "6to4",
    "3fff::/20": "documentation",
    "5f00::/16": "segment routing",
    "fc00::/7": "unique local",
    "fe80::/10": "link-local",
    "fec0::/10": "site-local",
    "ff00::/8": "multicast",
}
# Where a range begins or ends with an address that has a name of its own.
SPECIAL = {"::": "unspecified", "255.255.255.255": "broadcast", "2001::": "Teredo"}
PUBLIC = [
    *("1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.216.34", "100.63.255.255", "100.128.0.0"),
    *("126.255.255.255", "128.0.0.0", "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0"),
    *("172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.1.255", "192.0.3.0", "192.88.98.255"),
    *("192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255"),
    *("198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255"),
    *("2000::", "2001:200::", "2001:db7:ffff::", "2001:db9::", "2001:ffff::", "2003::", "2606:4700::1111"),
    *("3ffe:ffff::", "3fff:1000::", "2a00:1450:4001::1"),
]


@pytest.mark.parametrize(("text", "name"), RANGES.items())
def test_a_range_is_forbidden_from_its_first_address_to_its_last(text: str, name: str) -> None:
    network = ip_network(text)
    for address in (network[0], network[-1]):
        assert why_forbidden(address) == SPECIAL.get(str(address), name)


@pytest.mark.parametrize("address", PUBLIC)
def test_what_lies_just_outside_is_public(address: str) -> None:
    assert why_forbidden(address) is None


def test_each_range_of_the_table_has_a_neighbour_that_is_tested() -> None:
    assert {text for text, _ in (*FORBIDDEN_V4, *FORBIDDEN_V6)} <= RANGES.keys()


@pytest.mark.parametrize("address", ["1::", "1fff:ffff::", "4000::", "5eff::", "5f01::", "e000::", "fbff::", "fe00::"])
def test_ipv6_beyond_global_unicast_is_refused_even_without_a_name(address: str) -> None:
    assert why_forbidden(address) == NOT_GLOBAL_UNICAST


@pytest.mark.parametrize(
    "text", ["", "127.1", "0x7f.0.0.1", "2130706433", "0177.0.0.1", "[::1]", "example.com", "1.2.3"]
)
def test_what_is_not_a_full_address_is_refused(text: str) -> None:
    assert why_forbidden(text) == NOT_AN_ADDRESS


@pytest.mark.parametrize("text", ["fe80::1%eth0", "2606:4700::1111%1"])
def test_a_zone_is_refused_on_any_address(text: str) -> None:
    assert why_forbidden(text) == ZONE
    assert why_forbidden(ip_address(text)) == ZONE


def test_numbers_and_text_get_the_same_answer() -> None:
    assert why_forbidden(IPv4Address("10.0.0.1")) == why_forbidden("10.0.0.1") == "private"
    assert why_forbidden(IPv6Address("fd00::1")) == why_forbidden("fd00::1") == "unique local"
