"""A fetch that fails says whose trouble it is."""

from pathlib import Path

import pytest
from tests.integration.cli.desk import Desk

from headwater.cli.fetch import advice_on


@pytest.fixture
def desk(database_url: str, open_folder: Path) -> Desk:
    return Desk(database_url, open_folder)


def test_a_host_that_does_not_exist_is_said_not_to_and_the_database_is_not_blamed(desk: Desk) -> None:
    said = desk.says("fetch", "https://nowhere.invalid/")
    assert said.code == 1, "5 would say that the database is down"
    assert "There is no host called nowhere.invalid.\n  fix: Check how its name is spelt.\n" in said.err


def test_a_private_address_is_refused_with_the_way_to_allow_it(desk: Desk) -> None:
    said = desk.says("fetch", "http://10.0.0.1/")
    assert said.code == 6
    assert "10.0.0.1:80 is a private address.\n  fix: Allow it: --set network.allow=10.0.0.1:80\n" in said.err
    assert desk.says("config", "check", "--set", "network.allow=10.0.0.1:80").code == 0


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({"problem": "failed", "detail": "1.2.3.4:22 is off limits: port not allowed"}, "Port 22 is not one of"),
        (
            {"why": "robots.txt could not be had (blocked_address: [::1]:80 is off limits: loopback)"},
            "[::1]:80 is a loo",
        ),
        ({"why": "robots.txt could not be had (dns_not_found: Domain name not found)"}, "There is no host called h"),
    ],
)
def test_advice_names_the_cause(result: dict[str, str], told: str) -> None:
    assert advice_on(result, "h.example")[0].startswith(told)


def test_what_is_a_sites_own_business_needs_no_advice() -> None:
    assert advice_on({"outcome": "answered", "status": 404}, "h.example") == []
