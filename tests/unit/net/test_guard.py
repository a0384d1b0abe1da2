import socket

import pytest

from headwater.errors import SettingError
from headwater.net.guard import AddressGuard, AllowedPlace, BlockedAddress, parse_allowed_place

PUBLIC = "93.184.216.34"


def guard_allowing(*places: str) -> AddressGuard:
    return AddressGuard(frozenset(map(parse_allowed_place, places)))


def refusal(guard: AddressGuard, address: str, port: int = 80) -> str:
    with pytest.raises(BlockedAddress) as blocked:
        guard.check(address, port)
    return blocked.value.reason


def test_a_public_address_on_a_usual_port_passes() -> None:
    for port in (80, 443, 8080, 8443):
        AddressGuard().check(PUBLIC, port)
    AddressGuard().check("2606:4700::1111", 443)


@pytest.mark.parametrize("port", [0, 22, 25, 5432, 6379, 9200, 11211])
def test_other_ports_of_a_public_address_are_refused(port: int) -> None:
    assert refusal(AddressGuard(), PUBLIC, port) == "port not allowed"


def test_nothing_private_is_allowed_by_default() -> None:
    assert refusal(AddressGuard(), "127.0.0.1") == "loopback"
    assert refusal(AddressGuard(), "fd00::1") == "unique local"


def test_the_refusal_names_the_place_and_the_reason() -> None:
    with pytest.raises(BlockedAddress, match=r"\[::1\]:80 is off limits: loopback"):
        AddressGuard().check("::1", 80)


def test_an_allowed_place_is_allowed_on_its_port_only() -> None:
    guard = guard_allowing("127.0.0.1/32:9000")
    guard.check("127.0.0.1", 9000)
    assert refusal(guard, "127.0.0.1", 9001) == "loopback"
    assert refusal(guard, "127.0.0.1", 80) == "loopback"
    assert refusal(guard, "127.0.0.2", 9000) == "loopback"


def test_an_allowed_place_may_open_a_port_of_a_public_host() -> None:
    guard_allowing(f"{PUBLIC}:8000-8010").check(PUBLIC, 8005)


def test_our_own_listeners_stay_closed_however_they_are_spelt_or_allowed() -> None:
    guard = AddressGuard(
        allow=frozenset({parse_allowed_place("::/0"), parse_allowed_place("0.0.0.0/0")}),
        own_listeners=frozenset({(PUBLIC, 443), ("2606:4700:0::0001", 80)}),
    )
    assert refusal(guard, PUBLIC, 443) == "one of our own listeners"
    assert refusal(guard, "2606:4700::1", 80) == "one of our own listeners"
    guard.check(PUBLIC, 80)


@pytest.mark.parametrize("everywhere", ["0.0.0.0", "::"])
def test_a_listener_at_every_address_is_closed_at_each_of_this_machine(everywhere: str) -> None:
    own = frozenset({(everywhere, 8080)})
    guard = AddressGuard(allow=frozenset({parse_allowed_place("127.0.0.0/8")}), own_listeners=own)
    assert refusal(guard, "127.0.0.9", 8080) == "one of our own listeners"
    guard.check("127.0.0.9", 8081)
    guard.check(PUBLIC, 8080)


def test_a_zone_is_refused_although_its_network_is_allowed() -> None:
    guard = guard_allowing("fe80::/10")
    guard.check("fe80::1", 80)
    assert refusal(guard, "fe80::1%eth0") == "address with a zone"


def test_one_forbidden_address_condemns_the_whole_name() -> None:
    guard = AddressGuard()
    guard.check_all([(PUBLIC, 80), ("2606:4700::1111", 80)])
    for other in ("10.0.0.1", "::1"):
        with pytest.raises(BlockedAddress):
            guard.check_all([(PUBLIC, 80), (other, 80)])


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "localhost.localdomain",
        "metadata.google.internal",
        "METADATA.Google.Internal.",
    ],
)
def test_names_of_this_machine_are_refused_before_they_are_resolved(host: str) -> None:
    with pytest.raises(BlockedAddress):
        AddressGuard().check_host(host)


@pytest.mark.parametrize("host", ["example.com", "notlocalhost", "localhost.example.com", "internal", PUBLIC])
def test_other_names_pass(host: str) -> None:
    AddressGuard().check_host(host)


def test_a_name_is_allowed_with_the_address_it_stands_for() -> None:
    guard_allowing("127.0.0.1:80").check_host("localhost")
    guard_allowing("[::1]:80").check_host("a.localhost")
    guard_allowing("169.254.169.254/32").check_host("metadata.google.internal")
    with pytest.raises(BlockedAddress):
        guard_allowing("10.0.0.0/8").check_host("localhost")


@pytest.mark.parametrize(
    ("text", "spelt"),
    [
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("127.0.0.1", "127.0.0.1/32"),
        ("127.0.0.1/32:8080", "127.0.0.1/32:8080"),
        ("127.0.0.1:8000-8999", "127.0.0.1/32:8000-8999"),
        ("[::1]:80", "[::1/128]:80"),
        ("[fd00::/8]:80", "[fd00::/8]:80"),
        ("[::1]", "::1/128"),
        ("fd00::/8", "fd00::/8"),
        ("::1", "::1/128"),
    ],
)
def test_a_place_is_read_and_written_alike(text: str, spelt: str) -> None:
    place = parse_allowed_place(text)
    assert str(place) == spelt
    assert parse_allowed_place(spelt) == place


@pytest.mark.parametrize(
    "text",
    [
        *("", ":80", "localhost:80", "10.0.0.0/33", "10.0.0", "::1:80:", "[::1:80", "::1]:80", "[]:80", "fe80::1%eth0"),
        *("127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:90-80", "127.0.0.1:http", "127.0.0.1:٨٠"),
        *("127.0.0.1:80,81", " 127.0.0.1", "10.0.0.0/8:80:80", "*"),
    ],
)
def test_a_place_that_cannot_be_read_is_a_setting_error_with_a_fix(text: str) -> None:
    with pytest.raises(SettingError) as error:
        parse_allowed_place(text)
    assert "127.0.0.1/32:8080" in error.value.fix


def test_bits_outside_the_mask_are_named_as_the_mistake() -> None:
    with pytest.raises(SettingError, match="bits set outside its mask"):
        parse_allowed_place("10.0.0.1/8")


def test_the_start_line_says_what_is_open() -> None:
    assert AddressGuard().describe() == "public addresses on ports 80, 443, 8080, 8443; allowed besides: nothing"
    assert guard_allowing("[::1]:80", "10.0.0.0/8").describe().endswith("besides: 10.0.0.0/8, [::1/128]:80")


def test_a_place_with_every_port_is_the_default() -> None:
    assert AllowedPlace(parse_allowed_place("10.0.0.0/8").network) == parse_allowed_place("10.0.0.0/8")


def test_a_socket_is_made_only_for_a_place_that_passes() -> None:
    stream = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "")
    with guard_allowing("127.0.0.1:9").socket_factory((*stream, ("127.0.0.1", 9))) as opened:
        assert opened.getblocking() is False
    with pytest.raises(BlockedAddress):
        guard_allowing("127.0.0.1:9").socket_factory((*stream, ("127.0.0.1", 10)))


def test_the_scope_of_a_socket_address_counts_as_a_zone() -> None:
    place = (socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("2606:4700::1111", 443, 0, 2))
    with pytest.raises(BlockedAddress, match="zone"):
        AddressGuard().socket_factory(place)


@pytest.mark.parametrize(
    ("allowed", "address", "port", "inside"),
    [
        ("10.0.0.0/8", "10.1.2.3", 80, True),
        ("127.0.0.1:8000-8999", "127.0.0.1", 8080, True),
        ("127.0.0.1:8000-8999", "127.0.0.1", 80, False),
        ("[::1]:80", "::1", 80, True),
        ("10.0.0.0/8", "192.168.0.1", 80, False),
        # Allowed for its port, and still everybody's.
        ("93.184.216.34:9000", "93.184.216.34", 9000, False),
        ("0.0.0.0/0", "93.184.216.34", 80, False),
        ("fe80::/10", "fe80::1%eth0", 80, False),
        ("10.0.0.0/8", "example.com", 80, False),
    ],
)
def test_inside_is_what_is_allowed_and_not_public(allowed: str, address: str, port: int, inside: bool) -> None:
    assert AddressGuard(frozenset({parse_allowed_place(allowed)})).is_inside(address, port) is inside
